"""A profile: the stable facts of a user in one pool, or of a project, grouped and within a token budget, without a model (MEM-16).

A profile quotes what people said, so its text is a marked block of quoted data, as recalled memories are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from cloister.domain.identifiers import MemoryId
from cloister.domain.memory import MemorySource, quoted
from cloister.domain.prompts.speaker import attributed
from cloister.domain.text import CHARACTERS_A_TOKEN

DEFAULT_PROFILE_TOKENS = 300
Group = Literal[
    "identity", "home", "work", "people", "health", "preferences", "possessions", "decisions", "entities", ""
]
_ORDER: dict[Group, int] = {group: position for position, group in enumerate(get_args(Group))}
_OF_SUBJECTS: dict[str, Group] = {
    "name": "identity",
    "age": "identity",
    "birthday": "identity",
    "home": "home",
    "employer": "work",
    "role": "work",
    "job": "work",
    "relationship": "people",
    "relationship status": "people",
    "diet": "preferences",
    "liking": "preferences",
    "habit": "preferences",
}
_OF_CATEGORIES: dict[str, Group] = {
    "name": "identity",
    "self": "identity",
    "place": "home",
    "work": "work",
    "family": "people",
    "health": "health",
    "preference": "preferences",
    "possession": "possessions",
    "decision": "decisions",
}
_UNSTABLE = "plan"
_SOURCES: dict[MemorySource, int] = {"corrected": 0, "written": 1, "imported": 2, "extracted": 2}
_AROUND_A_LINE = 3


class ProfileMemory(NamedTuple):
    """What a profile needs of a memory that is true now. `session` is the outside id of its session, and `user` its user."""

    id: MemoryId
    content: str
    digest: bytes
    subject: str | None
    categories: tuple[str, ...]
    source: MemorySource
    pinned: bool
    valid_from: int
    session: str
    user: str | None


class ProfileFact(NamedTuple):
    """A fact of a profile, once, with all memories that say it; none for an entity. `sessions` are those of the memories."""

    content: str
    memories: tuple[MemoryId, ...]
    group: Group
    user: str | None = None
    sessions: tuple[str, ...] = ()

    def said(self, *, named: bool) -> str:
        """The fact, with the name of its user if `named`. The notes of an entity name their speakers already."""
        return self.content if self.group == "entities" else attributed(self.content, self.user, named=named)

    def line(self, *, named: bool) -> str:
        """The fact as one line of a prompt, with the name of its user if `named`."""
        said = self.said(named=named)
        return f"{self.group.capitalize()}: {said}" if self.group else said


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """The facts that fit the budget, their text for a prompt, and its tokens; without facts the text is empty. `named`: the text
    names users."""

    text: str
    facts: tuple[ProfileFact, ...]
    tokens: int
    named: bool = False


def stable_facts(memories: Iterable[ProfileMemory]) -> list[ProfileFact]:
    """The stable facts, the most important first: pinned ones, then corrected before written before extracted, then those that have
    one value at a time, then newest first. Plans are left out, unless they are pinned. Each fact comes once."""
    ranked = sorted((memory for memory in memories if _is_stable(memory)), key=_rank)
    of_digest: dict[tuple[bytes, str | None], list[ProfileMemory]] = {}
    for memory in ranked:
        of_digest.setdefault((memory.digest, memory.user), []).append(memory)
    return [_fact(same) for same in of_digest.values()]


def with_equal(
    facts: Iterable[ProfileFact], equal: Mapping[MemoryId, Sequence[tuple[MemoryId, str]]]
) -> tuple[ProfileFact, ...]:
    """The facts with all memories that say them: `equal` has those that equal the first memory of a fact, with their sessions."""
    return tuple(
        fact._replace(
            memories=tuple(dict.fromkeys((*fact.memories, *(memory for memory, _ in others)))),
            sessions=tuple(dict.fromkeys((*fact.sessions, *(session for _, session in others)))),
        )
        if (others := equal.get(fact.memories[0], ()) if fact.memories else ())
        else fact
        for fact in facts
    )


def profile_of(
    facts: Sequence[ProfileFact], pinned: Iterable[MemoryId], budget: int, *, named: bool = False
) -> Profile:
    """The facts that fit; they are given in the order of their importance. In the profile pinned facts come first, and the others
    by group. `named`: the text names users, because several of them use the pool."""
    first, chosen = set(pinned), _fitting(facts, budget, named=named)
    while True:
        ordered = sorted(chosen, key=lambda fact: (first.isdisjoint(fact.memories), _ORDER[fact.group]))
        text = quoted(fact.line(named=named) for fact in ordered)
        tokens = -(-len(text) // CHARACTERS_A_TOKEN)
        if tokens <= budget or not chosen:
            return Profile(text=text, facts=tuple(ordered), tokens=tokens, named=named)
        chosen = chosen[:-1]  # quoting has lengthened the text


def _fitting(facts: Sequence[ProfileFact], budget: int, *, named: bool) -> list[ProfileFact]:
    left = budget * CHARACTERS_A_TOKEN - len(quoted([""]))
    chosen: list[ProfileFact] = []
    for fact in facts:
        length = len(fact.line(named=named)) + _AROUND_A_LINE
        if length <= left:
            left -= length
            chosen.append(fact)
        elif left < _AROUND_A_LINE:
            break
    return chosen


def _is_stable(memory: ProfileMemory) -> bool:
    return memory.pinned or _UNSTABLE not in memory.categories


def _fact(same: Sequence[ProfileMemory]) -> ProfileFact:
    """A fact of memories that say the same, the most important first."""
    best = same[0]
    if len(same) == 1:
        return ProfileFact(best.content, (best.id,), _group(best), best.user, (best.session,))
    sessions = tuple(dict.fromkeys(memory.session for memory in same))
    return ProfileFact(best.content, tuple(memory.id for memory in same), _group(best), best.user, sessions)


def _rank(memory: ProfileMemory) -> tuple[bool, int, bool, int, int]:
    return (not memory.pinned, _SOURCES[memory.source], memory.subject is None, -memory.valid_from, -memory.id)


def _group(memory: ProfileMemory) -> Group:
    """The group of a memory, by the key of its fact, else by its categories. In the key a name may precede the kind of fact."""
    for part in () if memory.subject is None else memory.subject.split(":"):
        if part in _OF_SUBJECTS:
            return _OF_SUBJECTS[part]
    for category in memory.categories:
        if category in _OF_CATEGORIES:
            return _OF_CATEGORIES[category]
    return ""
