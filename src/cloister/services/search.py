"""Search one pool by hand: the episodes that match best, each shown by its best message."""

from dataclasses import dataclass

from cloister.domain.context import Item
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import MessageId, ProjectId
from cloister.domain.scope import Reach, Scope
from cloister.domain.text import checked_content, checked_limit, checked_name
from cloister.services.recall import Pick, Recaller
from cloister.services.snapshot import read_snapshot
from cloister.storage.interface import Database, Transaction
from cloister.storage.organisation import Projects
from cloister.storage.sessions import Sessions

HIGHEST_LIMIT = 200
# An exchange is rarely found by more than two of its messages.
_MESSAGES_AN_EPISODE = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where to search: a session's own scope, or a project's pool, or with neither the shared pool; of a user where given."""

    session: str | None = None
    project: ProjectId | None = None
    user_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """An episode, by the best of its messages."""

    episode: MessageId
    item: Item


class Searcher:
    """Finds within one pool; there is no search across pools."""

    def __init__(self, database: Database, recaller: Recaller) -> None:
        self._database = database
        self._recaller = recaller

    def search(self, reach: Reach, question: str, place: Place, limit: int) -> list[Hit]:
        checked_content(question, "query")
        checked_limit(limit, "limit", HIGHEST_LIMIT, lowest=1)
        if place.session is not None and (place.project is not None or place.user_id is not None):
            raise InvalidRequest("session_id", "already says which pool: leave out project_id and user_id.")
        if place.user_id is not None:
            checked_name(place.user_id, "user_id")

        def work(transaction: Transaction) -> list[Hit]:
            picks = [Pick(limit=limit * _MESSAGES_AN_EPISODE)]
            items = self._recaller.best(transaction, _scope(transaction, place), question, picks)
            best: dict[MessageId, Hit] = {}
            for item in items:
                best.setdefault(item.message.episode, Hit(episode=item.message.episode, item=item))
            return list(best.values())[:limit]

        return read_snapshot(self._database, reach, work)


def _scope(transaction: Transaction, place: Place) -> Scope:
    projects = Projects(transaction)
    if place.session is not None:
        session = Sessions(transaction).get(place.session)
        return session.scope("shared" if session.project is None else projects.get(session.project).member_visibility)
    tenant, confined_to = transaction.reach.tenant, transaction.reach.confined_to
    project = place.project or confined_to
    if project is None:
        return Scope(tenant=tenant, project=None, user=place.user_id)
    visibility = projects.get(project).member_visibility
    return Scope(tenant=tenant, project=project, user=place.user_id, visibility=visibility)
