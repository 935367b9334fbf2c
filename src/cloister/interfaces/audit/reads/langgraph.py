"""Reads of LangGraph's store: an item, a search, and the list of namespaces."""

from collections.abc import Iterator

from cloister.interfaces.audit.reads.read import LANGGRAPH, Read, View
from cloister.interfaces.audit.targets import NAMESPACE

_STORE = "/langgraph/store"


def langgraph_reads(view: View) -> Iterator[Read]:
    """By headers that name the project and the user; and without the user, as which a key that is bound to one still asks."""
    target = view.target
    if target.scope.project is None:
        return
    headers = {**target.project_header, "X-User-ID": target.user}
    item = f"{_STORE}/items?namespace={NAMESPACE}&key=marker"
    search = {"namespace_prefix": [NAMESPACE]}
    yield view.in_project(LANGGRAPH, "item", "GET", item, headers=headers)
    yield view.in_project(LANGGRAPH, "search", "POST", f"{_STORE}/items/search", search, headers=headers)
    yield view.in_project(LANGGRAPH, "namespaces", "POST", f"{_STORE}/namespaces", {}, headers=headers)
    asked_by_user = [other for other in view.targets if other.shares_project(target) and view.reader.reaches(other)]
    shown = [other for other in asked_by_user if other.user == view.reader.reach.user]
    for name, path, body in (("search", f"{_STORE}/items/search", search), ("namespaces", f"{_STORE}/namespaces", {})):
        yield Read(
            door=LANGGRAPH,
            name=f"{name} without a user",
            method="POST",
            path=path,
            body=body,
            headers=target.project_header,
            allowed=shown,
            expected=shown,
        )
