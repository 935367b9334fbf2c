"""The library: `Cloister` on a data directory or a PostgreSQL database, in this process. An address opens one elsewhere."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self, cast

from cloister.bootstrap import Services, build_services, open_tenant
from cloister.domain.context import parse_sources
from cloister.domain.conversation import Draft, Role
from cloister.domain.identifiers import (
    ProjectId,
    parse_entity_id,
    parse_memory_id,
    parse_message_id,
    parse_observation_id,
    parse_project_id,
)
from cloister.interfaces.python import derived_shapes, preview_shapes, shapes, tenant_shapes
from cloister.interfaces.python.arguments import (
    NOT_GIVEN,
    draft_of,
    drafts_of,
    page_size,
    project_of,
    tags_of,
)
from cloister.interfaces.python.organisation import OrganisationCalls
from cloister.services.conversations.sessions import SessionChange, SessionFields
from cloister.services.health import HealthReport
from cloister.services.indexing.reindex import IndexCounts, Progress
from cloister.services.recall.search import Kind, SearchTarget
from cloister.settings import read_remote, read_settings


class Cloister(OrganisationCalls):
    """Memory that stays inside its walls. Safe to use from any thread; close it, or use it in a `with`.

    `data` is a directory, a `postgresql://` URL, or the `http://` address of a server, which needs a `key`. `tenant` is the id or
    the name of a tenant of that directory or database; without it, the local one. At a server the key decides.
    """

    _served: ClassVar[type["Cloister"]]

    def __init_subclass__(cls, *, served: bool = False) -> None:
        """The class that is `served` is the one an address opens; it knows this file, and this file need not know it."""
        super().__init_subclass__()
        if served:
            Cloister._served = cls

    def __new__(
        cls,
        data: str | os.PathLike[str] | None = None,
        *,
        key: str | None = None,
        tenant: str | None = None,
        services: Services | None = None,
    ) -> Self:
        remote = cls is Cloister and services is None and read_remote(data, key, tenant=tenant) is not None
        return cast(Self, object.__new__(cls._served if remote else cls))

    def __init__(
        self,
        data: str | os.PathLike[str] | None = None,
        *,
        key: str | None = None,
        tenant: str | None = None,
        services: Services | None = None,
    ) -> None:
        if services is not None:
            self._services, self._reach = services, open_tenant(services, tenant)
            return
        settings = read_settings(data, tenant=tenant)
        self._services = build_services(settings)
        try:
            self._reach = open_tenant(self._services, settings.tenant)
        except BaseException:
            self._services.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Finish what was accepted, and let go of the data. Closing twice is fine."""
        self._services.close()

    # Sessions

    def create_session(
        self,
        external_id: str | None = None,
        *,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        title: str | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
    ) -> shapes.Session:
        """A session, in its project from the first moment: in the default one where none is given, and in none with
        `project_id=None`. The same id with the same fields again is the same session."""
        fields = SessionFields(
            external_id=external_id,
            project=self._project_of(project_id),
            user_id=user_id,
            title=title,
            tags=tags_of(tags),
            metadata=metadata,
        )
        session, _ = self._services.sessions.create(self._reach, fields)
        return shapes.session_shape(session)

    def session(self, session_id: str) -> shapes.Session:
        return shapes.session_shape(self._services.sessions.get(self._reach, session_id))

    def sessions(
        self, *, project_id: str | None = NOT_GIVEN, user_id: str | None = None, limit: int = 50
    ) -> list[shapes.Session]:
        """Newest activity first; of all projects, of one, or with `project_id=None` those in no project."""
        found = self._services.sessions.page(
            self._reach,
            limit=page_size(limit),
            project=None if project_id is NOT_GIVEN else project_of(project_id),
            any_project=project_id is NOT_GIVEN,
            user_id=user_id,
        )
        return [shapes.session_shape(session) for session in found]

    def update_session(
        self,
        session_id: str,
        *,
        title: str | None = None,
        project_id: str | None = NOT_GIVEN,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> shapes.Session:
        """Change what is given. `project_id=None` takes the session out of its project."""
        change = SessionChange(title=title, tags=None if tags is None else tags_of(tags), metadata=metadata)
        sessions = self._services.sessions
        if project_id is NOT_GIVEN:
            changed = sessions.change(self._reach, session_id, change)
        else:
            changed = sessions.move(self._reach, session_id, project_of(project_id), change)
        return shapes.session_shape(changed)

    def preview_move(self, session_id: str, project_id: str | None) -> preview_shapes.MovePreview:
        """What would move along to this project, or out of all with `None`, and how many replies had been given text of the place
        that the session would leave. Nothing is changed."""
        preview = self._services.sessions.preview_move(self._reach, session_id, project_of(project_id))
        return preview_shapes.move_preview_shape(preview)

    def delete_session(self, session_id: str) -> shapes.Forgotten:
        """The session, all that was said in it, and all that derives from that."""
        return shapes.forgotten_shape(self._services.forgetting.session(self._reach, session_id))

    def clear_session(self, session_id: str) -> shapes.Forgotten:
        """All that was said in it, and all that derives from that; the session stays, empty."""
        return shapes.forgotten_shape(self._services.forgetting.contents(self._reach, session_id))

    # What was said

    def record(
        self,
        session_id: str,
        role: Role,
        content: str,
        *,
        author: str | None = None,
        metadata: Mapping[str, object] | None = None,
        created_at: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.Message:
        """One message: durable, and findable, when this returns. `author` names the speaker where the role does not."""
        draft = draft_of(role=role, content=content, author=author, metadata=metadata, created_at=created_at)
        recorded = self._services.record.messages(self._reach, session_id, [draft], idempotency_key=idempotency_key)
        return shapes.message_shape(recorded.messages[0], recorded.session)

    def record_batch(
        self, session_id: str, messages: Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> list[shapes.Message]:
        """Many messages, each with the fields of `record`, in one transaction: all or none."""
        recorded = self._services.record.messages(
            self._reach, session_id, drafts_of(messages), idempotency_key=idempotency_key
        )
        return shapes.message_shapes(recorded.messages, recorded.session)

    def record_episode(
        self, session_id: str, user_message: str, ai_response: str, *, idempotency_key: str | None = None
    ) -> shapes.Episode:
        """Both sides of one exchange."""
        question, answer = Draft(role="user", content=user_message), Draft(role="assistant", content=ai_response)
        episode = self._services.record.episode(
            self._reach, session_id, question, answer, idempotency_key=idempotency_key
        )
        return shapes.episode_shape(episode, session_id)

    def messages(self, session_id: str, *, limit: int = 50, after: str | None = None) -> list[shapes.Message]:
        """In the order they were said, from behind the message `after`."""
        session, page = self._services.sessions.messages(
            self._reach, session_id, limit=page_size(limit), after=None if after is None else parse_message_id(after)
        )
        return shapes.message_shapes(page, session)

    def forget_message(self, message_id: str) -> None:
        self._services.forgetting.message(self._reach, parse_message_id(message_id))

    # Recall

    def context(
        self,
        session_id: str,
        query: str | None = None,
        *,
        recent_limit: int | None = None,
        semantic_limit: int | None = None,
        budget_tokens: int | None = None,
        sources: Sequence[Mapping[str, object]] | None = None,
    ) -> shapes.Context:
        """What was just said here, and what the session's pool knows of the query (or of the user's last message)."""
        context = self._services.context.build(
            self._reach,
            session_id,
            question=query,
            sources=None if sources is None else parse_sources(sources, "sources"),
            recent_limit=recent_limit,
            semantic_limit=semantic_limit,
            budget=budget_tokens,
        )
        return shapes.context_shape(context)

    def search(
        self,
        query: str,
        *,
        session_id: str | None = None,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        kinds: Sequence[Kind] | None = None,
        limit: int = 10,
    ) -> list[shapes.Hit]:
        """The best episodes, memories and entities of one pool, or only of some `kinds`: of a session's pool, else of a project,
        which is the default one where none is given and no project with `project_id=None`; of one user where it is divided.
        Entities are found in a project only."""
        is_of_session = session_id is not None and project_id is NOT_GIVEN
        project = None if is_of_session else self._project_of(project_id)
        place = SearchTarget(session=session_id, project=project, user_id=user_id)
        hits = self._services.search.search(self._reach, query, place, limit, kinds)
        return [shapes.hit_shape(hit) for hit in hits]

    # What is kept of what was said

    def memories(self, session_id: str, *, limit: int = 50, after: str | None = None) -> list[derived_shapes.Memory]:
        """The memories of a session, oldest first, from behind the memory `after`."""
        found = self._services.memories.of_session(
            self._reach, session_id, limit=page_size(limit), behind=None if after is None else parse_memory_id(after)
        )
        return [derived_shapes.memory_shape(stored) for stored in found]

    def user_memories(self, user_id: str, *, limit: int = 50, after: str | None = None) -> list[derived_shapes.Memory]:
        """Merged across all sessions of a user, whatever their projects: for display and audit, not for prompts."""
        found = self._services.memories.of_user(
            self._reach, user_id, limit=page_size(limit), behind=None if after is None else parse_memory_id(after)
        )
        return [derived_shapes.memory_shape(stored) for stored in found]

    def add_memories(
        self, session_id: str, contents: Sequence[str], *, idempotency_key: str | None = None
    ) -> derived_shapes.Appended:
        """Memories written by hand; what the session knows already is counted, not added."""
        appended = self._services.memories.add(self._reach, session_id, contents, idempotency_key=idempotency_key)
        return derived_shapes.appended_shape(appended)

    def forget_memory(self, memory_id: str) -> None:
        self._services.memories.forget(self._reach, parse_memory_id(memory_id))

    def entities(
        self, project_id: str, *, user_id: str | None = None, limit: int = 50, after: str | None = None
    ) -> list[derived_shapes.Entity]:
        """The entities of a project, oldest first, from behind the entity `after`. One with private members is divided by user."""
        found = self._services.entities.page(
            self._reach,
            parse_project_id(project_id),
            user_id=user_id,
            limit=page_size(limit),
            behind=None if after is None else parse_entity_id(after),
        )
        return [derived_shapes.entity_shape(entity) for entity in found]

    def retag_entity(self, entity_id: str, project_id: str, *, user_id: str | None = None) -> derived_shapes.Entity:
        """Into another project: the one way in which an entity ever changes it. Where that project knows the name already, the
        two become one, under the id that is there. In a project with private members it goes to the part of `user_id`."""
        moved = self._services.entities.retag(
            self._reach, parse_entity_id(entity_id), parse_project_id(project_id), user_id=user_id
        )
        return derived_shapes.entity_shape(moved)

    def observations(
        self, session_id: str, *, limit: int = 50, after: str | None = None
    ) -> list[derived_shapes.Observation]:
        """The notes that compress what has fallen out of a session's recent window, in the order in which it was said, from behind
        the note `after`."""
        found = self._services.observations.of_session(
            self._reach,
            session_id,
            limit=page_size(limit),
            behind=None if after is None else parse_observation_id(after),
        )
        return [derived_shapes.observation_shape(stored) for stored in found]

    def extract(self, session_id: str) -> derived_shapes.Extraction:
        """Look now for memories, entities and notes in what nobody has looked at; a server does so by itself."""
        return derived_shapes.extraction_shape(self._services.extraction.extract_now(self._reach, session_id))

    # Care

    def usage(self) -> tenant_shapes.Usage:
        """What the tenant keeps, and how much it may."""
        return tenant_shapes.usage_shape(self._services.projects.usage(self._reach))

    def reindex(self, *, everything: bool = False, progress: Progress | None = None) -> IndexCounts:
        """Rebuild what another embedder or tokeniser indexed, or everything: messages, memories and entities. Says how many."""
        if progress is None:
            return self._services.reindex.run(everything=everything)
        return self._services.reindex.run(everything=everything, progress=progress)

    def backup(self, target: str | os.PathLike[str]) -> None:
        """Write a consistent copy to a new file while others go on reading and writing."""
        self._services.database.maintenance.backup(Path(target))

    def health(self) -> HealthReport:
        """What is stored, whether it is whole, and whether the index keeps up. Reads the whole database."""
        return self._services.health.health()

    def schema_version(self) -> int:
        return self._services.health.schema_version()

    def _project_of(self, project_id: str | None) -> ProjectId | None:
        """ISO-11: what is not given is the tenant's default project."""
        return (
            self._services.projects.default_project(self._reach) if project_id is NOT_GIVEN else project_of(project_id)
        )
