"""What must be recalled, worked out naively in plain dictionaries from the requirements alone: no pools, no index, no SQL."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from cloister.domain.conversation import Role, Status
from cloister.domain.identifiers import MessageId, ProjectId
from cloister.domain.memory import quoted
from cloister.domain.scope import MemberVisibility, Reach

# A sentence with a fact in it: the rules make a memory of it, and the brother and the firm entities.
FACT = re.compile(r"My brother (Xandor\d+) works at Zentrix\.")
FIRM = "Zentrix"
THRESHOLD = 4
PAST_QUESTION = "what did we say about May 2023?"
"""The only question of the machine that asks about the past: what is no longer true answers it too."""


Part = tuple[ProjectId | None, str | None]
"""What may be recalled together: a project or none, and whose part of it; no user where all share it, or where there is none."""


def without(quotes: Iterable[str], gone: Iterable[str]) -> tuple[str, ...]:
    """MEM-9: the quotations that do not hold the beginning of anything that is gone, whoever said it."""
    keys = [letters(text)[:24] for text in gone]
    return tuple(text for text in quotes if not any(key in letters(text) for key in keys))


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """`content` is what it says in its own words, `project` where the session was then. `quotes` are the texts that a
    reply quotes behind that, and `quoted_of` the part that it quotes; none where that is not any more what it was."""

    id: MessageId
    role: Role
    status: Status
    content: str
    episode: MessageId
    project: ProjectId | None
    quotes: tuple[str, ...] = ()
    quoted_of: Part | None = None

    @property
    def brother(self) -> str | None:
        found = FACT.search(self.content) if self.role == "user" and self.status == "completed" else None
        return None if found is None else found[1]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """What a message says of an entity, in a project or a user's part of it. What one extraction reads of one project in a row is
    one `run`, and told together."""

    run: int

    project: ProjectId
    user: str | None
    name: str
    message: MessageId
    notes: str


@dataclass(kw_only=True, slots=True)
class Kept:
    """What people did with a memory. `home` is the order of those that say where the user lives, of which the last is true."""

    home: int | None = None
    is_retracted: bool = False
    is_expired: bool = False
    is_pinned: bool = False
    is_changed: bool = False
    """Whether a person has changed it, in whatever way, even if that was undone."""
    is_old: bool = False
    """Whether it was written long ago; one that derives from a message is as old as that."""

    @property
    def is_hidden(self) -> bool:
        return self.is_retracted or self.is_expired


@dataclass(kw_only=True, slots=True)
class Conversation:
    """A session: who and where, and what is still remembered of it, in order. `said` is its current branch, `aside` what is on
    others; `parents` are those of all."""

    name: str
    project: ProjectId | None
    user: str | None
    said: list[Said] = field(default_factory=list[Said])
    aside: list[Said] = field(default_factory=list[Said])
    parents: dict[MessageId, MessageId | None] = field(default_factory=dict[MessageId, MessageId | None])
    settled: int = 0
    """The last message that was there when a person deleted a memory: what was read until then is not read again."""
    episode: MessageId | None = None
    checked: set[MessageId] = field(default_factory=set[MessageId])
    is_pending: bool = False
    is_answered: bool = False
    """Whether a turn is running in it."""
    memories: dict[str, MessageId | None] = field(default_factory=dict[str, MessageId | None])
    kept: dict[str, Kept] = field(default_factory=lambda: defaultdict[str, Kept](Kept))
    """By the text of the memory, which is never said twice."""
    corrected: set[str] = field(default_factory=set[str])
    """Texts of memories that a person replaced by others, which an extraction does not bring back."""
    times_cleared: int = 0

    def say(self, identity: MessageId, role: Role, status: Status, content: str) -> None:
        """ISO-9: a user's message opens an episode, everything else joins the open one."""
        if role == "user" or self.episode is None:
            self.episode = identity
        said = Said(id=identity, role=role, status=status, content=content, episode=self.episode, project=self.project)
        self.parents[identity] = self.leaf
        self.said.append(said)

    def answer(self, said: Said) -> None:
        """ISO-12: a reply is of the episode and of the project of its question; the open episode stays."""
        self.parents[said.id] = self.leaf
        self.said.append(said)

    @property
    def leaf(self) -> MessageId | None:
        return self.said[-1].id if self.said else None

    @property
    def everything(self) -> list[Said]:
        """On all branches."""
        return sorted([*self.said, *self.aside], key=lambda said: said.id)

    def path(self, leaf: MessageId | None) -> set[MessageId]:
        path: set[MessageId] = set()
        while leaf is not None:
            path.add(leaf)
            leaf = self.parents[leaf]
        return path

    def newest_below(self, message: MessageId) -> MessageId:
        return max(said.id for said in self.everything if message in self.path(said.id))

    def count(self, roles: Iterable[tuple[Role, Status]]) -> None:
        """MEM-3: after a completed reply, in one request with these others."""
        if ("assistant", "completed") in roles and len(self.unchecked) >= THRESHOLD:
            self.is_pending = True

    @property
    def unchecked(self) -> list[Said]:
        return [said for said in self.said if said.status == "completed" and said.id not in self.checked]

    def unsay(self, identity: MessageId) -> None:
        """What followed it follows its parent."""
        self.said = [said for said in self.said if said.id != identity]
        self.aside = [said for said in self.aside if said.id != identity]
        above = self.parents.pop(identity)
        self.parents = {child: above if parent == identity else parent for child, parent in self.parents.items()}
        if not self.everything:
            self.episode = None
        self.memories = {content: source for content, source in self.memories.items() if source != identity}

    def recent(self, limit: int) -> list[MessageId]:
        """CTX-2: the last ones of each role that came to their end, in order."""
        chosen: list[MessageId] = []
        for role in ("user", "assistant"):
            spoken = [said.id for said in self.said if said.role == role and said.status == "completed"]
            chosen += spoken[max(0, len(spoken) - limit) :]
        return sorted(chosen)


@dataclass(kw_only=True, slots=True)
class Tenant:
    reach: Reach
    default: ProjectId
    projects: dict[ProjectId, MemberVisibility]
    gone_projects: list[ProjectId] = field(default_factory=list[ProjectId])
    gone_messages: list[MessageId] = field(default_factory=list[MessageId])
    conversations: dict[str, Conversation] = field(default_factory=dict[str, Conversation])
    mentions: list[Mention] = field(default_factory=list[Mention])
    runs: int = 0
    shares_notes: set[ProjectId] = field(default_factory=set[ProjectId])
    withdrawn: set[str] = field(default_factory=set[str])
    """Texts of memories that somebody changed or deleted, which the notes on entities may leave out."""

    def may_recall(self, asking: Conversation, other: Conversation) -> bool:
        """ISO-3, ISO-10, in the words of the requirements."""
        if asking.project != other.project:
            return False
        if asking.project is not None and self.projects[asking.project] == "shared":
            return True
        return asking.user == other.user

    def pool(self, asking: Conversation) -> Iterator[tuple[Conversation, Said]]:
        """All that may be recalled from a conversation: completed messages of every conversation it may recall."""
        for other in self.conversations.values():
            if self.may_recall(asking, other):
                yield from ((other, said) for said in other.said if said.status == "completed")

    def part(self, asking: Conversation) -> Part:
        """ISO-3, ISO-10: what a conversation may recall, by its name."""
        is_shared = asking.project is not None and self.projects[asking.project] == "shared"
        return asking.project, None if is_shared else asking.user

    def shown(self, conversation: Conversation, said: Said) -> str:
        """ISO-12: what a reply quotes is shown only where it was recalled."""
        is_there = said.quoted_of is not None and said.quoted_of == self.part(conversation)
        return f"{said.content} {quoted(said.quotes)}" if said.quotes and is_there else said.content

    @property
    def usage(self) -> tuple[int, int, int]:
        """ORG-7: how many messages, sessions and projects there are."""
        messages = sum(len(conversation.everything) for conversation in self.conversations.values())
        return messages, len(self.conversations), len(self.projects)

    def drop_project(self, project: ProjectId) -> int:
        """ORG-5: nothing is deleted, its sessions are in no project."""
        del self.projects[project]
        self.gone_projects.append(project)
        moved = [one for one in self.conversations.values() if one.project == project]
        for conversation in moved:
            conversation.project = None
        return len(moved)

    def erase_user(self, user: str) -> tuple[int, int, int]:
        """ORG-9: the sessions of the user, and the user's parts of projects. How many sessions, messages and memories those are."""
        counts = self._erase([one for one in self.conversations.values() if one.user == user])
        self.mentions = [mention for mention in self.mentions if mention.user != user]
        return counts

    def erase_project(self, project: ProjectId) -> tuple[int, int, int]:
        """ORG-5: the sessions that are in it now, and its entities, whoever mentioned them."""
        counts = self._erase([one for one in self.conversations.values() if one.project == project])
        self.mentions = [mention for mention in self.mentions if mention.project != project]
        del self.projects[project]
        self.gone_projects.append(project)
        return counts

    def _erase(self, gone: list[Conversation]) -> tuple[int, int, int]:
        counts = len(gone), sum(len(one.everything) for one in gone), sum(len(one.memories) for one in gone)
        for conversation in gone:
            del self.conversations[conversation.name]
        for conversation in gone:
            self.clear(conversation)
        return counts

    # What derives

    def extract(self, conversation: Conversation) -> None:
        """MEM-5, MEM-6: of everything unchecked; entities go to the project in which it was said, if there still is one (ISO-6)."""
        project = None
        for said in conversation.unchecked:
            if said.project != project:
                project = said.project
                self.runs += 1
            conversation.checked.add(said.id)
            if said.brother is None:
                continue
            notes = f"The user's brother {said.brother} works at {FIRM}."
            if notes not in conversation.corrected:
                conversation.memories.setdefault(notes, said.id)
            if said.project is not None and said.project in self.projects:
                user = self.member(said.project, conversation.user)
                self.mentions += [
                    Mention(run=self.runs, project=said.project, user=user, name=name, message=said.id, notes=notes)
                    for name in (said.brother, FIRM)
                ]
        self.runs += 1
        conversation.is_pending = False

    def set_visibility(self, project: ProjectId, visibility: MemberVisibility) -> None:
        """ISO-10: entities are divided by who mentioned them, or joined. What was quoted of the pool of all is not shown
        again, in any session, wherever that is, even if the project is shared again (ISO-12)."""
        if visibility == self.projects[project]:
            return
        self.projects[project] = visibility
        speakers = {said.id: one.user for one in self.conversations.values() for said in one.everything}
        self.mentions = [
            replace(one, user=self.member(project, speakers[one.message])) if one.project == project else one
            for one in self.mentions
        ]
        if visibility == "private":
            for conversation in self.conversations.values():
                conversation.said, conversation.aside = (
                    [replace(said, quoted_of=None) if said.quoted_of == (project, None) else said for said in some]
                    for some in (conversation.said, conversation.aside)
                )

    def member(self, project: ProjectId, user: str | None) -> str | None:
        """ISO-10: whose part of a project something is in."""
        return user if self.projects[project] == "private" else None

    def entities(self, project: ProjectId | None, user: str | None) -> dict[str, set[str]]:
        """ISO-3, ISO-10: each with its notes; none outside a project."""
        found: dict[str, set[str]] = {}
        if project is not None and project in self.projects:
            part = self.member(project, user)
            for mention in self.mentions:
                if (mention.project, mention.user) == (project, part):
                    found.setdefault(mention.name, set()).add(mention.notes)
        return found

    def retag(self, name: str, old: tuple[ProjectId, str | None], new: ProjectId) -> None:
        user = self.member(new, old[1])
        self.mentions = [
            replace(one, project=new, user=user) if (one.project, one.user, one.name) == (*old, name) else one
            for one in self.mentions
        ]

    def recallable_memories(self, asking: Conversation, question: str) -> set[str]:
        """MEM-12, MEM-13: those that are true now. Of where somebody lives the last that stands, of each person; sessions without a
        user are a person each. A question about the past is answered by all that stand."""
        with_past = question == PAST_QUESTION
        found: set[str] = set()
        homes: dict[str, tuple[int, str]] = {}
        for other in self.conversations.values():
            if not self.may_recall(asking, other):
                continue
            for content in other.memories:
                kept = other.kept[content]
                if kept.home is None or with_past:
                    found |= set() if kept.is_hidden else {content}
                elif not kept.is_retracted:
                    person = f"session {other.name}" if other.user is None else f"user {other.user}"
                    homes[person] = max(homes.get(person, (0, "")), (kept.home, content))
        hidden = {
            content for one in self.conversations.values() for content, kept in one.kept.items() if kept.is_hidden
        }
        return found | {content for _, content in homes.values()} - hidden

    def pinned(self, memories: set[str]) -> set[str]:
        return {
            content
            for one in self.conversations.values()
            for content, kept in one.kept.items()
            if kept.is_pinned and content in memories
        }

    def sharing_notes(self, asking: Conversation) -> list[Conversation]:
        """TAB-7: those whose notes a session is shown."""
        if asking.user is None or asking.project not in self.shares_notes:
            return [asking]
        others = self.conversations.values()
        return [other for other in others if self.may_recall(asking, other) and other.user == asking.user]

    def memories_of_project(self, project: ProjectId) -> int:
        return sum(len(one.memories) for one in self.conversations.values() if one.project == project)

    def unsay(self, conversation: Conversation, message: MessageId) -> None:
        """MEM-9: with what quotes it, wherever that is now; also what quotes it from the time when its project was private."""
        gone = [said.content for said in conversation.everything if said.id == message]
        parts = (self.part(conversation), (conversation.project, conversation.user))
        conversation.unsay(message)
        for other in self.conversations.values():
            other.said, other.aside = (
                [replace(said, quotes=without(said.quotes, gone)) if said.quoted_of in parts else said for said in some]
                for some in (other.said, other.aside)
            )
        self.gone_messages.append(message)
        together = {(one.run, one.name) for one in self.mentions if one.message == message}
        self.mentions = [one for one in self.mentions if (one.run, one.name) not in together]

    def forget_old(self, conversation: Conversation, old: set[MessageId]) -> None:
        """MEM-18: messages, what derives from them, and memories that were written long ago."""
        for message in sorted(old):
            self.unsay(conversation, message)
        gone = {content for content in conversation.memories if conversation.kept[content].is_old}
        conversation.memories = {
            content: source for content, source in conversation.memories.items() if content not in gone
        }

    @property
    def known_entities(self) -> set[tuple[ProjectId, str | None, str]]:
        """Each in its part of its project."""
        return {(one.project, one.user, one.name) for one in self.mentions if one.project in self.projects}

    def clear(self, conversation: Conversation) -> None:
        """MEM-9. Nobody answers what is not there, and every receipt of the session goes with it."""
        conversation.is_answered = False
        conversation.times_cleared += 1
        for said in conversation.everything:
            self.unsay(conversation, said.id)
        conversation.memories.clear()

    def switch(self, conversation: Conversation, leaf: MessageId | None) -> None:
        """Another branch is current. What derives from what is not on it is gone, but for what people changed; all that lost
        something is read again when it is on it, unless a person deleted a memory of the session since it was said."""
        path = conversation.path(leaf)
        leaving = {said.id for said in conversation.said} - path
        arriving = {said.id for said in conversation.aside} & path
        if not leaving and not arriving:
            return
        conversation.memories = {
            content: source
            for content, source in conversation.memories.items()
            if source not in leaving or conversation.kept[content].is_changed
        }
        together = {(one.run, one.name) for one in self.mentions if one.message in leaving}
        losing = {one.message for one in self.mentions if (one.run, one.name) in together}
        self.mentions = [one for one in self.mentions if (one.run, one.name) not in together]
        unsettled = {one for one in losing if one > conversation.settled}
        conversation.checked -= leaving | unsettled
        conversation.checked |= {one for one in arriving if one <= conversation.settled}
        everything = conversation.everything
        conversation.said = [said for said in everything if said.id in path]
        conversation.aside = [said for said in everything if said.id not in path]
        conversation.episode = conversation.said[-1].episode if conversation.said else None
        if arriving or losing - leaving:
            conversation.is_pending = True
