"""One request of an audit, and what its answer may and has to show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from cloister.interfaces.audit.targets import Reader, Target

HTTP: Final = "HTTP"
CONSOLE: Final = "console"
OPENAI: Final = "OpenAI"
ANTHROPIC: Final = "Anthropic"
LANGGRAPH: Final = "LangGraph"
MEM0: Final = "mem0"
MCP: Final = "MCP"
EXPORT: Final = "export"
EVENTS: Final = "events"


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """One request. `allowed` are the targets that its answer may show, `expected` those that it has to show: else it is blind.
    `sent` are ids that it sends, which an error may repeat. `is_answered` says whether it has to be answered, or to be refused as
    if what it asks for did not exist; None if either is right. `about` is the name of the target that it asks for."""

    door: str
    name: str
    method: str
    path: str
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    allowed: Sequence[Target] = ()
    expected: Sequence[Target] = ()
    sent: Sequence[str] = ()
    is_answered: bool | None = None
    about: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """One reader and one target, among all `targets`."""

    reader: Reader
    target: Target
    targets: Sequence[Target]

    @property
    def reaches(self) -> bool:
        return self.reader.reaches(self.target)

    @property
    def own(self) -> list[Target]:
        """The target, if the reader reaches it."""
        return [self.target] if self.reaches else []

    @property
    def pool(self) -> list[Target]:
        """What is recalled in the target, if the reader reaches it."""
        return [other for other in self.targets if self.reaches and self.target.shares_pool(other)]

    @property
    def entity(self) -> list[Target]:
        """The target, if the reader may see its entity: that of a shared project is of all users, and not of a key of one."""
        of_one_user = self.target.scope.pool.user is not None
        return self.own if self.reader.reach.user is None or of_one_user else []

    def by_id(self, door: str, name: str, method: str, path: str, body: Any = None, **given: Any) -> Read:
        """Asks for what belongs to the target by its id: shown if the reader reaches it, else refused as if it were missing."""
        fields: dict[str, Any] = {
            "allowed": self.own,
            "expected": self.own,
            "sent": self.target.traces[1:],
            "is_answered": self.reaches,
            "about": self.target.name,
            **given,
        }
        return Read(door=door, name=name, method=method, path=path, body=body, **fields)

    def recalled(self, door: str, name: str, path: str, body: Any, **given: Any) -> Read:
        """Asks for what the target recalls: of its pool, if the reader reaches it."""
        return self.by_id(door, name, "POST", path, body, **{"allowed": self.pool, **given})

    def in_project(self, door: str, name: str, method: str, path: str, body: Any = None, **given: Any) -> Read:
        """Asks by the project and the user of the target, without an id of it. An empty answer and a refusal are both right for
        who does not reach it."""
        fields: dict[str, Any] = {
            "allowed": self.own,
            "expected": self.own,
            "is_answered": True if self.reaches else None,
            "about": self.target.name,
            **given,
        }
        return Read(door=door, name=name, method=method, path=path, body=body, **fields)
