"""What derives from messages, for a `Cloister` on a data directory or a database: memories, entities, observations, extraction."""

from collections.abc import Sequence

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.erasure import Removal
from cloister.domain.identifiers import EntityId, MemoryId, ObservationId, ProjectId
from cloister.domain.memory import MemoryStatus, StoredMemory
from cloister.domain.recall.filter import Filter
from cloister.domain.recall.filter_language import filter_identity
from cloister.domain.scope import Reach
from cloister.interfaces.python import derived_shapes, preview_shapes
from cloister.interfaces.python.arguments import UNSPECIFIED, ProjectChoice
from cloister.interfaces.python.certificates.shapes import Removed, certificate_shape, rows_shape
from cloister.interfaces.python.pages import GivenFilter, ListCursors, Page, PageRequest
from cloister.services.memories.corrections import MemoryChange
from cloister.services.memories.entity_changes import Correction, EntitySplit
from cloister.services.memories.truth.additions import MemoryLabels


class EmbeddedDerived:
    """Part of the embedded backend."""

    services: Services
    reach: Reach

    def memories(
        self, session_id: str, page: PageRequest[MemoryId], status: MemoryStatus | None
    ) -> Page[derived_shapes.Memory]:
        cursors = self._cursors("memories", session_id, status, *filter_identity(parsed_filter(page.filter)))
        start = cursors.pair(page.cursor)
        rows = self.services.memories.of_session(
            self.reach,
            session_id,
            limit=page.limit + 1,
            after=start,
            behind=None if start else page.after,
            filter=parsed_filter(page.filter),
            status=status,
        )
        return _memory_page(cursors, rows, page.limit)

    def user_memories(
        self, user_id: str, page: PageRequest[MemoryId], status: MemoryStatus | None
    ) -> Page[derived_shapes.Memory]:
        cursors = self._cursors("user memories", user_id, status, *filter_identity(parsed_filter(page.filter)))
        start = cursors.pair(page.cursor)
        rows = self.services.memories.of_user(
            self.reach,
            user_id,
            limit=page.limit + 1,
            after=start,
            behind=None if start else page.after,
            filter=parsed_filter(page.filter),
            status=status,
        )
        return _memory_page(cursors, rows, page.limit)

    def add_memories(
        self, session_id: str, contents: Sequence[str], labels: MemoryLabels, idempotency_key: str | None
    ) -> derived_shapes.Appended:
        appended = self.services.memories.add(
            self.reach, session_id, contents, labels=labels, idempotency_key=idempotency_key
        )
        return derived_shapes.appended_shape(appended)

    def get_memory(self, memory: MemoryId) -> derived_shapes.Memory:
        return derived_shapes.memory_shape(self.services.corrections.get(self.reach, memory))

    def correct_memory(self, memory: MemoryId, change: MemoryChange) -> derived_shapes.Memory:
        return derived_shapes.memory_shape(self.services.corrections.correct(self.reach, memory, change, by=None))

    def retract_memory(self, memory: MemoryId) -> derived_shapes.Memory:
        return derived_shapes.memory_shape(self.services.corrections.retract(self.reach, memory, by=None))

    def restore_memory(self, memory: MemoryId) -> derived_shapes.Memory:
        return derived_shapes.memory_shape(self.services.corrections.restore(self.reach, memory, by=None))

    def memory_history(self, memory: MemoryId, page: PageRequest[int]) -> Page[derived_shapes.MemoryRevision]:
        cursors = self._cursors("history of a memory", memory)
        rows = self.services.corrections.history(
            self.reach, memory, limit=page.limit + 1, after=cursors.pair(page.cursor)
        )
        return cursors.page(
            rows,
            page.limit,
            shape=derived_shapes.revision_shape,
            key=lambda revision: (revision.changed_at, revision.id),
        )

    def _removed(self, removal: Removal, dry_run: bool) -> Removed:
        """The answer of a removal: its certificate, or what it would remove."""
        if dry_run:
            return Removed(would_remove=rows_shape(removal))
        return Removed(certificate=certificate_shape(self.services.certification.certify(self.reach, removal)))

    def forget_memory(self, memory: MemoryId, dry_run: bool) -> Removed:
        return self._removed(self.services.memories.forget(self.reach, memory, dry_run=dry_run), dry_run)

    def entities(
        self, project: ProjectId, user_id: str | None, page: PageRequest[EntityId]
    ) -> Page[derived_shapes.Entity]:
        wanted = parsed_filter(page.filter)
        cursors = self._cursors("entities", project, user_id, *filter_identity(wanted))
        start = cursors.pair(page.cursor)
        rows = self.services.entities.page(
            self.reach,
            project,
            user_id=user_id,
            limit=page.limit + 1,
            after=start,
            behind=None if start else page.after,
            filter=wanted,
        )
        return cursors.page(
            rows, page.limit, shape=derived_shapes.entity_shape, key=lambda entity: (entity.created_at, entity.id)
        )

    def entity(self, entity: EntityId) -> derived_shapes.EntityDetail:
        return derived_shapes.entity_detail_shape(self.services.entities.get(self.reach, entity))

    def entity_mentions(self, entity: EntityId, page: PageRequest[int]) -> Page[derived_shapes.EntityMention]:
        wanted = parsed_filter(page.filter)
        cursors = self._cursors("mentions of an entity", entity, *filter_identity(wanted))
        rows = self.services.entities.mentions(
            self.reach, entity, limit=page.limit + 1, before=cursors.pair(page.cursor), filter=wanted
        )
        return cursors.page(rows, page.limit, shape=derived_shapes.mention_shape, key=lambda mention: mention.cursor)

    def update_entity(self, entity: EntityId, correction: Correction) -> derived_shapes.EntityDetail:
        corrected = self.services.entity_changes.correct(self.reach, entity, correction)
        return derived_shapes.entity_detail_shape(corrected)

    def delete_entity(self, entity: EntityId, dry_run: bool) -> Removed:
        return self._removed(self.services.entity_changes.delete(self.reach, entity, dry_run=dry_run), dry_run)

    def merge_entity(self, entity: EntityId, into: EntityId) -> derived_shapes.EntityDetail:
        return derived_shapes.entity_detail_shape(self.services.entity_changes.merge(self.reach, entity, into))

    def split_entity(self, entity: EntityId, split: EntitySplit) -> derived_shapes.EntityDetail:
        return derived_shapes.entity_detail_shape(self.services.entity_changes.split(self.reach, entity, split))

    def restore_entity(self, entity: EntityId) -> derived_shapes.EntityDetail:
        return derived_shapes.entity_detail_shape(self.services.entity_undo.restore(self.reach, entity))

    def retag_entity(self, entity: EntityId, project: ProjectId, user_id: str | None) -> derived_shapes.Entity:
        moved = self.services.entities.retag(self.reach, entity, project, user_id=user_id, is_admin=True)
        return derived_shapes.entity_shape(moved.entity)

    def observations(self, session_id: str, page: PageRequest[ObservationId]) -> Page[derived_shapes.Observation]:
        wanted = parsed_filter(page.filter)
        cursors = self._cursors("observations", session_id, *filter_identity(wanted))
        start = cursors.pair(page.cursor)
        rows = self.services.observations.of_session(
            self.reach,
            session_id,
            limit=page.limit + 1,
            after=start,
            behind=None if start else page.after,
            filter=wanted,
        )
        return cursors.page(
            rows,
            page.limit,
            shape=derived_shapes.observation_shape,
            key=lambda stored: (stored.observation.said_at, stored.observation.id),
        )

    def preview_extraction(self, drafts: Sequence[Draft], project: ProjectChoice) -> preview_shapes.ExtractionPreview:
        found = self.services.extraction_preview.preview(self.reach, drafts, self._resolved(project))
        return preview_shapes.extraction_preview_shape(found)

    def extract(self, session_id: str) -> derived_shapes.Extraction:
        return derived_shapes.extraction_shape(self.services.extraction.extract_now(self.reach, session_id))

    def _resolved(self, project: ProjectChoice) -> ProjectId | None:
        """Where no project is named, it is the tenant's default project (ISO-11)."""
        return self.services.projects.default_project(self.reach) if project is UNSPECIFIED else project

    def _cursors(self, name: str, *filters: int | str | None) -> ListCursors:
        return ListCursors(name, self.reach.tenant, *filters)


def parsed_filter(filter: GivenFilter | None) -> Filter | None:
    return None if filter is None else filter.parsed


def _memory_page(cursors: ListCursors, rows: Sequence[StoredMemory], limit: int) -> Page[derived_shapes.Memory]:
    return cursors.page(
        rows, limit, shape=derived_shapes.memory_shape, key=lambda stored: (stored.memory.created_at, stored.memory.id)
    )
