"""What must be recalled, worked out naively in plain dictionaries from the requirements alone: no pools, no index, no SQL."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from cloister.domain.conversation import Role, Status
from cloister.domain.identifiers import MessageId, ProjectId
from cloister.domain.scope import MemberVisibility, Reach


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    id: MessageId
    role: Role
    status: Status
    content: str
    episode: MessageId


@dataclass(kw_only=True, slots=True)
class Conversation:
    """A session: who and where, and what is still remembered of it, in order."""

    name: str
    project: ProjectId | None
    user: str | None
    said: list[Said] = field(default_factory=list[Said])
    episode: MessageId | None = None

    def say(self, identity: MessageId, role: Role, status: Status, content: str) -> None:
        """ISO-9: a user's message opens an episode, everything else joins the open one."""
        if role == "user" or self.episode is None:
            self.episode = identity
        self.said.append(Said(id=identity, role=role, status=status, content=content, episode=self.episode))

    def unsay(self, identity: MessageId) -> None:
        self.said = [said for said in self.said if said.id != identity]
        if not self.said:
            self.episode = None

    def recent(self, limit: int) -> list[MessageId]:
        """CTX-2: the last ones of each role, in order."""
        chosen = [
            said.id
            for role in ("user", "assistant")
            for said in [said for said in self.said if said.role == role][max(0, len(self.said_by(role)) - limit) :]
        ]
        return sorted(chosen)

    def said_by(self, role: str) -> list[Said]:
        return [said for said in self.said if said.role == role]


@dataclass(kw_only=True, slots=True)
class Tenant:
    reach: Reach
    default: ProjectId
    projects: dict[ProjectId, MemberVisibility]
    gone_projects: list[ProjectId] = field(default_factory=list[ProjectId])
    gone_messages: list[MessageId] = field(default_factory=list[MessageId])
    conversations: dict[str, Conversation] = field(default_factory=dict[str, Conversation])

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

    @property
    def usage(self) -> tuple[int, int, int]:
        """ORG-7: how many messages, sessions and projects there are."""
        messages = sum(len(conversation.said) for conversation in self.conversations.values())
        return messages, len(self.conversations), len(self.projects)

    def drop_project(self, project: ProjectId) -> int:
        """ORG-5: nothing is deleted, its sessions are in no project."""
        del self.projects[project]
        self.gone_projects.append(project)
        moved = [one for one in self.conversations.values() if one.project == project]
        for conversation in moved:
            conversation.project = None
        return len(moved)
