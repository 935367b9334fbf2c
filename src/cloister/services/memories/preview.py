"""Preview an extraction: what would be kept of given messages in a project (MEM-15). Nothing is stored, counted or published."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cloister.domain.conversation import Draft
from cloister.domain.errors import Forbidden, InvalidRequest, TooLarge
from cloister.domain.extraction import NO_GUIDANCE, ExtractedEntity, ExtractedMemory, Guidance, Statement
from cloister.domain.identifiers import MessageId, ProjectId
from cloister.domain.memory import checked_memory, same_as
from cloister.domain.project_settings import extraction_guidance
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.models.interface import Extractor
from cloister.services.conversations.record import LARGEST_BATCH
from cloister.services.memories.evidence import evidence, extracted_entities, stated_memories, wanted_memories
from cloister.services.memories.languages import language_code
from cloister.storage.interface import Database
from cloister.storage.stores.tenants import ProjectStore


@dataclass(frozen=True, kw_only=True, slots=True)
class PreviewedExtraction:
    """What would be kept. The sources of memories and entities are the positions of messages, which count from zero. The notice
    says what the extractor cannot read, if there is something."""

    memories: tuple[ExtractedMemory, ...]
    entities: tuple[ExtractedEntity, ...]
    notice: str | None


class ExtractionPreview:
    """Reads the settings of one project, and nothing else: no message, no memory."""

    def __init__(self, database: Database, extractor: Extractor, clock: Clock) -> None:
        self._database = database
        self._extractor = extractor
        self._clock = clock

    def preview(self, reach: Reach, drafts: Sequence[Draft], project: ProjectId | None) -> PreviewedExtraction:
        """Extract from the messages as if a new session of the project had said them; no transaction is open meanwhile. Raises
        `ModelUnavailable` if the model does not answer."""
        if not drafts:
            raise InvalidRequest("messages", "must not be empty.")
        if len(drafts) > LARGEST_BATCH:
            raise TooLarge("messages", len(drafts), LARGEST_BATCH, "messages")
        guidance = self._guidance(reach, project)
        now = self._clock()
        said = evidence([_statement(position, draft, now) for position, draft in enumerate(drafts)])
        stated = stated_memories(self._extractor, said, (), (), guidance)
        memories = _each_once(wanted_memories(stated, guidance))
        entities = [] if project is None else extracted_entities(self._extractor, said, guidance, stated)
        return PreviewedExtraction(
            memories=tuple(memories),
            entities=tuple(entities),
            notice=self._notice(said),
        )

    def _guidance(self, reach: Reach, project: ProjectId | None) -> Guidance:
        if project is None and reach.confined_to is not None:
            raise Forbidden("This key is confined to its project: name it, or leave project_id out.")
        if project is None:
            return NO_GUIDANCE
        with self._database.read(reach) as transaction:
            return extraction_guidance(ProjectStore(transaction).get(project).settings)

    def _notice(self, said: Sequence[Statement]) -> str | None:
        """Rules read English only, and say so: messages in other languages are recalled, but give no memories."""
        readable = self._extractor.languages
        if not readable:
            return None
        spoken = {language_code(one.content) for one in said if one.role == "user"}
        if spoken <= {None, *readable}:
            return None
        return (
            "Without a model, memories are extracted from English only. Messages in other languages are recalled as they were "
            "said. Set CLOISTER_MODEL_URL to extract from every language that the model knows."
        )


def _each_once(memories: Sequence[ExtractedMemory]) -> list[ExtractedMemory]:
    """The memories as they would be stored: of equal statements the first (MEM-2)."""
    found: dict[bytes, ExtractedMemory] = {}
    for memory in memories:
        content = checked_memory(memory.content)
        found.setdefault(same_as(content), replace(memory, content=content))
    return list(found.values())


def _statement(position: int, draft: Draft, now: int) -> Statement:
    return Statement(
        id=MessageId(position),
        role=draft.role,
        content=draft.content,
        author=draft.author,
        created_at=now if draft.created_at is None else draft.created_at,
    )
