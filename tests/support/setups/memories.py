"""A Cloister with one tenant, in which tests say things and look at what was derived from them."""

from dataclasses import dataclass, field

from cloister.bootstrap import Services
from cloister.domain.context import Context
from cloister.domain.conversation import Draft, Message, Session
from cloister.domain.entity import Entity
from cloister.domain.identifiers import ProjectId
from cloister.domain.memory import StoredMemory
from cloister.domain.scope import MemberVisibility, Reach
from cloister.domain.usage import Limits
from cloister.index.interface import Index
from cloister.models.interface import Extractor
from cloister.services.conversations.sessions import SessionFields
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import SearchTarget
from support.databases.engines import Engine

SECOND = 1_000_000
HOUR = 3_600 * SECOND
EVERYTHING = 200


@dataclass(slots=True)
class SteppingClock:
    """Stands still until it is moved, but for a microsecond with every look."""

    moment: int = 1_700_000_000 * SECOND

    def __call__(self) -> int:
        self.moment += 1
        return self.moment


@dataclass(kw_only=True, slots=True)
class MemorySetup:
    services: Services
    reach: Reach
    clock: SteppingClock = field(default_factory=SteppingClock)

    def project(self, name: str = "Garden", visibility: MemberVisibility = "shared", **settings: object) -> ProjectId:
        made = self.services.projects.create_project(self.reach, name, visibility, allow_duplicate_name=True).id
        if settings:
            self.services.projects.change_project(self.reach, made, settings=settings)
        return made

    def session(self, name: str, project: ProjectId | None = None, user: str | None = None) -> None:
        fields = SessionFields(external_id=name, project=project, user_id=user)
        self.services.sessions.create(self.reach, fields)

    def find(self, name: str) -> Session:
        return self.services.sessions.get(self.reach, name)

    def say(self, name: str, *words: str, reply: str = "I see.") -> list[Message]:
        """Each as a user, each answered; gives what the user said."""
        drafts = [
            draft
            for content in words
            for draft in (Draft(role="user", content=content), Draft(role="assistant", content=reply))
        ]
        return list(self.services.record.messages(self.reach, name, drafts).messages)[::2]

    def say_reply(self, name: str, question: str, reply: str) -> Message:
        """A question and its reply; gives the reply."""
        drafts = [Draft(role="user", content=question), Draft(role="assistant", content=reply)]
        return self.services.record.messages(self.reach, name, drafts).messages[1]

    def tell(self, name: str, *words: str) -> list[Message]:
        """Said and extracted."""
        said = self.say(name, *words)
        self.services.extraction.extract_now(self.reach, name)
        return said

    def move(self, name: str, project: ProjectId | None) -> None:
        self.services.sessions.move(self.reach, name, project)

    def stored(self, name: str) -> list[StoredMemory]:
        return self.services.memories.of_session(self.reach, name, limit=EVERYTHING)

    def memories(self, name: str) -> list[str]:
        return [stored.memory.content for stored in self.stored(name)]

    def of_user(self, user: str) -> list[str]:
        found = self.services.memories.of_user(self.reach, user, limit=EVERYTHING)
        return [stored.memory.content for stored in found]

    def entities(self, project: ProjectId, user: str | None = None) -> list[Entity]:
        return self.services.entities.page(self.reach, project, user_id=user, limit=EVERYTHING)

    def names(self, project: ProjectId, user: str | None = None) -> list[str]:
        return [entity.name for entity in self.entities(project, user)]

    def notes(self, name: str) -> list[str]:
        found = self.services.observations.of_session(self.reach, name, limit=EVERYTHING)
        return [stored.observation.content for stored in found]

    def context(self, name: str, question: str) -> Context:
        """The context with everything that the pool has, however weak."""
        return self.services.context.build(self.reach, name, ContextRequest(question=question, min_relevance=0))

    def recalled(self, name: str, question: str) -> list[str]:
        return [stored.memory.content for stored in self.context(name, question).derived.memories]

    def recalled_entities(self, name: str, question: str) -> list[str]:
        return [entity.name for entity in self.context(name, question).derived.entities]

    def recalled_notes(self, name: str, question: str = "anything") -> list[str]:
        return [stored.observation.content for stored in self.context(name, question).derived.observations]

    def searched(self, question: str, place: SearchTarget) -> list[str]:
        """Every word that a search of every kind shows."""
        hits = self.services.search.search(
            self.reach, question, place, 50, kinds=("episodes", "memories", "entities"), min_relevance=0
        )
        return [repr(hit) for hit in hits]

    def is_pending(self, name: str) -> bool:
        return self.find(name).memory_job_pending

    def checked(self, name: str) -> list[bool]:
        _, page = self.services.sessions.messages(self.reach, name, limit=EVERYTHING)
        return [message.is_memory_checked for message in page]


def settle_house(
    engine: Engine, *, extractor: Extractor | None = None, index: Index | None = None, limits: Limits | None = None
) -> MemorySetup:
    clock = SteppingClock()
    services = engine.services(clock=clock, extractor=extractor, index=index, limits=limits)
    tenant, _ = services.projects.create_tenant("MemorySetup")
    return MemorySetup(services=services, reach=Reach(tenant=tenant), clock=clock)


def long_talk(facts: int) -> list[str]:
    """Enough of it to fall out of the recent window: facts that stand alone, each with a name of its own."""
    return [f"My brother Xandor{number} works at Zentrix{number} in Vienna since March." for number in range(facts)]


def settle_beside(engine: Engine, house: MemorySetup) -> MemorySetup:
    """Another process's view of the same house."""
    return MemorySetup(services=engine.services(clock=house.clock), reach=house.reach, clock=house.clock)
