"""ISO-13: whatever a caller asks with, embedders are given no more of it than `asked_part` leaves."""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import pytest

from cloister.domain.conversation import Draft
from cloister.domain.entries.entry import EntryScope
from cloister.domain.entries.operations import search_entries
from cloister.domain.recall.question import asked_part
from cloister.domain.scope import Reach, Scope
from cloister.domain.text import MAX_CONTENT
from cloister.models.interface import Weigh
from cloister.models.static.embedder import StaticEmbedder
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import SearchTarget
from support.databases.engines import Engine
from support.samples.additional_embedder import Synonyms
from support.setups.memories import MemorySetup
from support.setups.replies import receipt_of_reply

LONG = ("roses " * MAX_CONTENT)[:MAX_CONTENT]
LONGEST = len(asked_part(LONG))
Ask = Callable[[MemorySetup], object]


def explain(house: MemorySetup) -> object:
    (said, *_) = house.services.sessions.messages(house.reach, "asks", limit=1)[1]
    return house.services.explain.question(house.reach, "asks", LONG, said.id)


def explain_receipt(house: MemorySetup) -> object:
    id = receipt_of_reply(house, "asks", LONG)
    (said, *_) = house.services.sessions.messages(house.reach, "tells", limit=1)[1]
    return house.services.explain.receipt(house.reach, id, said.id)


def context_of_scope(house: MemorySetup) -> object:
    session = house.services.sessions.get(house.reach, "asks")
    scope = Scope(tenant=house.reach.tenant, session=session.id, project=session.project, user=session.user_id)
    return house.services.context.build_for_scope(house.reach, scope, ContextRequest(question=LONG))


ASKED: Mapping[str, Ask] = {
    "context": lambda house: house.services.context.build(house.reach, "asks", ContextRequest(question=LONG)),
    "context of the last message": lambda house: house.services.context.build(house.reach, "asks", ContextRequest()),
    "context of a new session": context_of_scope,
    "search": lambda house: house.services.search.search(house.reach, LONG, SearchTarget(session="asks"), 10),
    "explain": explain,
    "explain a receipt": explain_receipt,
    "entries": lambda house: house.services.entries.run(
        house.reach, EntryScope(project=None, user=None), [search_entries((), query=LONG)]
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_iso_13_embedders_get_a_bounded_part_of_every_query(
    shared_engine: Engine, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    given: list[str] = []
    embed_query = StaticEmbedder.embed_query

    def note(self: StaticEmbedder, text: str, weigh: Weigh) -> npt.NDArray[np.float32]:
        given.append(text)
        return embed_query(self, text, weigh)

    monkeypatch.setattr(StaticEmbedder, "embed_query", note)
    additional = Synonyms()
    services = shared_engine.services(additional_embedder=additional)
    tenant, _ = services.projects.create_tenant("Household")
    house = MemorySetup(services=services, reach=Reach(tenant=tenant))
    house.session("tells")
    house.session("asks")
    house.say("tells", "The roses are red.")
    services.record.messages(house.reach, "asks", [Draft(role="user", content=LONG)])
    ASKED[name](house)
    assert given, "no embedder was asked"
    assert max(map(len, [*given, *additional.asked])) <= LONGEST
