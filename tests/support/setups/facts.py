"""Facts that change: an extractor that does as it is told, and a setup in which things are said at given times."""

from collections.abc import Sequence
from dataclasses import dataclass

from cloister.domain.conversation import Draft
from cloister.domain.extraction import NO_GUIDANCE, ExtractedEntity, ExtractedMemory, Guidance, KnownMemory, Statement
from cloister.domain.identifiers import MemoryId, MessageId
from cloister.domain.memory import StoredMemory
from cloister.services.recall.build_context import ContextRequest
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, SteppingClock, settle_house

DAY = 24 * 3_600 * 1_000_000


class Scripted:
    """Takes each message of a user as a memory: `subject = text`, or `text << known text` for one that replaces another. Also names
    the ids in `named`, whoever's they are."""

    name = "scripted"
    languages: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.named: tuple[MemoryId, ...] = ()
        self.shown: list[KnownMemory] = []

    def memories(
        self,
        said: Sequence[Statement],
        known: Sequence[KnownMemory],
        of_user: Sequence[KnownMemory] = (),
        guidance: Guidance = NO_GUIDANCE,
    ) -> list[ExtractedMemory]:
        self.shown = [*known, *of_user]
        return [self._memory(one) for one in said if one.role == "user"]

    def _memory(self, statement: Statement) -> ExtractedMemory:
        subject, equals, text = statement.content.partition(" = ")
        content, _, replaced = (text if equals else statement.content).partition(" << ")
        replaces = tuple(one.id for one in self.shown if one.content == replaced)
        return ExtractedMemory(
            content=content,
            sources=(statement.id,),
            subject=subject if equals else None,
            replaces=(*replaces, *self.named),
        )

    def entities(self, said: Sequence[Statement]) -> list[ExtractedEntity]:
        return []

    def notes(self, said: Sequence[Statement]) -> list[tuple[str, tuple[MessageId, ...]]]:
        return []

    def close(self) -> None:
        """There is nothing to close."""


@dataclass(kw_only=True, slots=True)
class FactSetup(MemorySetup):
    """`at` are days since the clock began."""

    extractor: Scripted

    def state(self, name: str, said: str, at: int) -> MessageId:
        """Said on that day, and extracted."""
        moment = START + at * DAY
        draft = Draft(role="user", content=said, created_at=moment)
        (message,) = self.services.record.messages(self.reach, name, [draft]).messages
        self.services.extraction.extract_now(self.reach, name)
        return message.id

    def memory(self, name: str, content: str) -> StoredMemory:
        """The newest of this text."""
        return [stored for stored in self.stored(name) if stored.memory.content == content][-1]

    def statuses(self, *names: str) -> dict[str, str]:
        """The status of each memory of some sessions, by the last word of its text."""
        return {stored.memory.content.split()[-1]: stored.status for name in names for stored in self.stored(name)}

    def true(self, name: str, question: str = "Tell me about the user", as_of: int | None = None) -> set[str]:
        """What a context holds, by the last word."""
        moment = None if as_of is None else START + as_of * DAY
        request = ContextRequest(question=question, min_relevance=0, as_of=moment)
        found = self.services.context.build(self.reach, name, request)
        return {stored.memory.content.split()[-1] for stored in found.derived.memories}


START = SteppingClock().moment - 1_000 * DAY


def settle_facts(engine: Engine) -> FactSetup:
    extractor = Scripted()
    house = settle_house(engine, extractor=extractor)
    return FactSetup(services=house.services, reach=house.reach, clock=house.clock, extractor=extractor)
