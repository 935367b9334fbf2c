"""The backend of a `Cloister` on a data directory or a PostgreSQL database: calls the services in this process."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from cloister.bootstrap import Services
from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.conversation import Draft
from cloister.domain.identifiers import KeyId, MessageId, ProjectId, TenantId
from cloister.domain.maintenance.backup import BackupReport, StepProgress
from cloister.domain.maintenance.damage import RowCheck
from cloister.domain.maintenance.vacuum import VacuumReport
from cloister.domain.recall.filter_language import filter_identity
from cloister.domain.scope import MemberVisibility, Reach
from cloister.domain.sessions.expected import ExpectedSession
from cloister.domain.sessions.fields import SessionChange, SessionFields, SessionFilter
from cloister.domain.sessions.windows import MessageRange
from cloister.interfaces.audit.report import Audit
from cloister.interfaces.python import derived_shapes, preview_shapes, shapes, tenant_shapes
from cloister.interfaces.python.archives.shapes import Imported, imported_shape
from cloister.interfaces.python.arguments import UNSPECIFIED, ProjectChoice
from cloister.interfaces.python.backends.embedded_derived import EmbeddedDerived, parsed_filter
from cloister.interfaces.python.backends.interface import ContextQuery, ProjectChange, SearchQuery
from cloister.interfaces.python.certificates.shapes import Removed
from cloister.interfaces.python.entries.backends import EmbeddedEntries
from cloister.interfaces.python.files.backends import EmbeddedFiles
from cloister.interfaces.python.items.backends import EmbeddedItems
from cloister.interfaces.python.listing.backends import EmbeddedListings
from cloister.interfaces.python.pages import Branch, Page, PageRequest, branch_identity
from cloister.interfaces.python.recall import shapes as recall_shapes
from cloister.interfaces.python.receipts.backends import EmbeddedReceipts
from cloister.interfaces.python.receipts.hits import Hits
from cloister.interfaces.python.receipts.inline import receipt_fields
from cloister.interfaces.python.sessions.message_cursors import MessageCursors
from cloister.services.erasure.erase_project import ProjectContents
from cloister.services.health import HealthReport
from cloister.services.indexing.reindex import IndexCounts, Progress
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import KINDS, SearchTarget
from cloister.services.tenancy.api_keys import KeyFields


class EmbeddedBackend(
    EmbeddedItems, EmbeddedDerived, EmbeddedEntries, EmbeddedFiles, EmbeddedReceipts, EmbeddedListings
):
    """Works for one tenant, with the services it was given and closes them."""

    def __init__(self, services: Services, reach: Reach) -> None:
        self.services = services
        self.reach = reach

    def close(self) -> None:
        self.services.close()

    def create_session(self, fields: SessionFields, project: ProjectChoice) -> shapes.Session:
        session, _ = self.services.sessions.create(self.reach, replace(fields, project=self._resolved(project)))
        return shapes.session_shape(session)

    def session(self, session_id: str) -> shapes.Session:
        return shapes.session_shape(self.services.sessions.get(self.reach, session_id))

    def sessions(self, project: ProjectChoice, wanted: SessionFilter, page: PageRequest[int]) -> Page[shapes.Session]:
        any_project = project is UNSPECIFIED
        named = None if project is UNSPECIFIED else project
        cursors = self._cursors("sessions", named, any_project, *wanted.identity)
        rows = self.services.sessions.page(
            self.reach,
            limit=page.limit + 1,
            project=named,
            any_project=any_project,
            wanted=wanted,
            before=cursors.pair(page.cursor),
        )
        return cursors.page(
            rows, page.limit, shape=shapes.session_shape, key=lambda session: (session.updated_at, session.id)
        )

    def update_session(self, session_id: str, change: SessionChange) -> shapes.Session:
        return shapes.session_shape(self.services.sessions.change(self.reach, session_id, change))

    def move_session(self, session_id: str, project: ProjectId | None, change: SessionChange) -> shapes.Session:
        return shapes.session_shape(self.services.sessions.move(self.reach, session_id, project, change))

    def preview_move(self, session_id: str, project: ProjectId | None) -> preview_shapes.MovePreview:
        preview = self.services.sessions.preview_move(self.reach, session_id, project, names_users=True)
        return preview_shapes.move_preview_shape(preview)

    def delete_session(self, session_id: str, dry_run: bool) -> shapes.Forgotten:
        gone = self.services.forgetting.session(self.reach, session_id, dry_run=dry_run)
        return shapes.forgotten_shape(gone, self._removed(gone.removal, dry_run))

    def clear_session(self, session_id: str, dry_run: bool, expected: ExpectedSession) -> shapes.Forgotten:
        gone = self.services.forgetting.contents(self.reach, session_id, dry_run=dry_run, expected=expected)
        return shapes.forgotten_shape(gone, self._removed(gone.removal, dry_run))

    def record(
        self, session_id: str, draft: Draft, idempotency_key: str | None, expected: ExpectedSession
    ) -> shapes.Message:
        return self.record_batch(session_id, [draft], idempotency_key, expected)[0]

    def record_batch(
        self, session_id: str, drafts: Sequence[Draft], idempotency_key: str | None, expected: ExpectedSession
    ) -> list[shapes.Message]:
        recorded = self.services.record.messages(
            self.reach, session_id, drafts, idempotency_key=idempotency_key, expected=expected
        )
        return shapes.message_shapes(recorded.messages, recorded.session)

    def record_episode(
        self,
        session_id: str,
        question: Draft,
        answer: Draft,
        idempotency_key: str | None,
        expected: ExpectedSession,
    ) -> shapes.Episode:
        episode = self.services.record.episode(
            self.reach,
            session_id,
            question,
            answer,
            idempotency_key=idempotency_key,
            expected=expected,
        )
        return shapes.episode_shape(episode, session_id)

    def messages(
        self, session_id: str, page: PageRequest[MessageId], asked: MessageRange, branch: Branch
    ) -> Page[shapes.Message]:
        wanted = parsed_filter(page.filter)
        cursors = MessageCursors(self.reach.tenant, session_id, *branch_identity(branch), *filter_identity(wanted))
        with cursors.reading(page.cursor):
            session, window, _ = self.services.message_windows.page(
                self.reach,
                session_id,
                cursors.asked(page.cursor) or asked,
                limit=page.limit,
                filter=wanted,
                all_branches=branch == "all",
            )
        return Page(shapes.message_shapes(window.messages, session), *cursors.of(window))

    def choose_branch(self, session_id: str, message: MessageId) -> shapes.Session:
        return shapes.session_shape(self.services.branches.choose(self.reach, session_id, message))

    def title_session(self, session_id: str, replaces: str | None) -> shapes.Session:
        return shapes.session_shape(self.services.first_use.titles.give(self.reach, session_id, replaces=replaces))

    def forget_message(self, message: MessageId, dry_run: bool) -> Removed:
        return self._removed(self.services.forgetting.message(self.reach, message, dry_run=dry_run), dry_run)

    def context(self, session_id: str, query: ContextQuery) -> recall_shapes.Context:
        request = ContextRequest(
            question=query.query,
            asked_at=query.asked_at,
            as_of=query.as_of,
            min_relevance=query.min_relevance,
            sources=query.sources,
            recent_limit=query.recent_limit,
            semantic_limit=query.semantic_limit,
            budget=query.budget_tokens,
            filter=parsed_filter(query.filter),
        )
        context = self.services.context.build(self.reach, session_id, request)
        return recall_shapes.context_shape(context, self.services.recall_receipts.of_context(self.reach, context, None))

    def search(self, query: SearchQuery) -> Hits:
        is_of_session = query.session_id is not None and query.project is UNSPECIFIED
        project = None if is_of_session else self._resolved(query.project)
        target = SearchTarget(session=query.session_id, project=project, user_id=query.user_id)
        found = self.services.search.find(
            self.reach,
            query.query,
            target,
            query.limit,
            query.kinds,
            min_relevance=query.min_relevance,
            asked_at=query.asked_at,
            as_of=query.as_of,
            filter=parsed_filter(query.filter),
        )
        made = self.services.recall_receipts.of_search(self.reach, found, query.session_id, None)
        return Hits(recall_shapes.hit_shapes(found), stale=found.stale or None, **receipt_fields(made))

    def create_project(self, name: str, visibility: MemberVisibility, allow_duplicate_name: bool) -> shapes.Project:
        created = self.services.projects.create_project(
            self.reach, name, visibility, allow_duplicate_name=allow_duplicate_name
        )
        return shapes.project_shape(created)

    def projects(self, name: str | None, page: PageRequest[int]) -> Page[shapes.Project]:
        cursors = self._cursors("projects", name)
        rows = self.services.projects.projects(
            self.reach, limit=page.limit + 1, after=cursors.pair(page.cursor), name=name
        )
        return cursors.page(
            rows, page.limit, shape=shapes.project_shape, key=lambda project: (project.created_at, project.id)
        )

    def project(self, project: ProjectId) -> shapes.Project:
        return shapes.project_shape(self.services.projects.project(self.reach, project))

    def update_project(self, project: ProjectId, change: ProjectChange) -> shapes.Project:
        return shapes.project_shape(self.services.projects.change_project(self.reach, project, **asdict(change)))

    def preview_visibility(self, project: ProjectId, visibility: MemberVisibility) -> preview_shapes.VisibilityPreview:
        preview = self.services.projects.preview_visibility(self.reach, project, visibility, names_users=True)
        return preview_shapes.visibility_preview_shape(preview)

    def delete_project(self, project: ProjectId, contents: ProjectContents, dry_run: bool) -> shapes.DeletedProject:
        if contents == "delete":
            gone = self.services.erase_project.erase(self.reach, project, dry_run=dry_run)
            return shapes.erased_project_shape(gone, self._removed(gone.removal, dry_run))
        moved = self.services.projects.delete_project(self.reach, project, dry_run=dry_run)
        return shapes.deleted_project_shape(moved, self._removed(moved.removal, dry_run))

    def project_profile(self, project: ProjectId, user_id: str | None, budget: int) -> derived_shapes.Profile:
        found = self.services.profiles.of_project(self.reach, project, user_id=user_id, budget=budget)
        return derived_shapes.profile_shape(found)

    def user_profile(self, user_id: str, project: ProjectChoice, budget: int) -> derived_shapes.Profile:
        found = self.services.profiles.of_user(self.reach, user_id, self._resolved(project), budget=budget)
        return derived_shapes.profile_shape(found)

    def erase_user(self, user_id: str, dry_run: bool) -> tenant_shapes.ErasedUser:
        gone = self.services.erase_user.erase(self.reach, user_id, dry_run=dry_run)
        return tenant_shapes.erased_user_shape(gone, self._removed(gone.removal, dry_run))

    def tenant_settings(self) -> tenant_shapes.TenantSettings:
        return tenant_shapes.TenantSettings(
            retention_days=self.services.retention.of_tenant(self.reach),
            receipt_days=self.services.receipt_expiry.days_of_tenant(self.reach),
        )

    def update_tenant_settings(self, changed: Mapping[str, int | None]) -> tenant_shapes.TenantSettings:
        if "retention_days" in changed:
            self.services.retention.set_of_tenant(self.reach, changed["retention_days"])
        if "receipt_days" in changed:
            self.services.receipt_expiry.set_days_of_tenant(self.reach, changed["receipt_days"])
        return self.tenant_settings()

    def apply_retention(
        self, project: ProjectId | None, dry_run: bool, retention_days: int | None
    ) -> tenant_shapes.Retention:
        retention = self.services.retention
        if dry_run:
            return tenant_shapes.retention_preview_shape(retention.preview(self.reach, project, days=retention_days))
        done = retention.apply(self.reach, project)
        removed = self._removed(done.removal, False) if done.removal.named else None
        return tenant_shapes.retention_shape(done, None if removed is None else removed.certificate)

    def export(self, target: ArchiveTarget) -> Iterator[bytes]:
        return self.services.export.lines(self.reach, target)

    def import_archive(self, lines: Iterator[bytes]) -> Imported:
        return imported_shape(self.services.import_lines.run(self.reach, lines))

    def create_key(self, fields: KeyFields) -> tenant_shapes.CreatedKey:
        return tenant_shapes.created_key_shape(self.services.api_keys.create(self.reach, fields))

    def keys(self, page: PageRequest[int]) -> Page[tenant_shapes.ApiKey]:
        cursors = self._cursors("keys")
        rows = self.services.api_keys.page(self.reach, limit=page.limit + 1, after=cursors.pair(page.cursor))
        return cursors.page(rows, page.limit, shape=tenant_shapes.key_shape, key=lambda key: (key.created_at, key.id))

    def revoke_key(self, key: KeyId) -> None:
        self.services.api_keys.revoke(self.reach, key)

    def usage(self) -> tenant_shapes.Usage:
        return tenant_shapes.usage_shape(self.services.projects.usage(self.reach))

    def reindex(self, everything: bool, progress: Progress | None) -> IndexCounts:
        if progress is None:
            return self.services.reindex.run(everything=everything)
        return self.services.reindex.run(everything=everything, progress=progress)

    def audit(self, progress: Progress | None) -> Audit:
        # Imported here: the server takes longer to load than all of the library.
        from cloister.interfaces.audit.local_app import audit_services

        return audit_services(self.services, self._recalled, progress or (lambda done, of: None))

    def _recalled(self, tenant: TenantId, session_id: str, query: str) -> list[tuple[str, object]]:
        """What the library recalls for a session of any tenant, for an audit."""
        backend = EmbeddedBackend(self.services, Reach(tenant=tenant))
        search = SearchQuery(
            query=query,
            session_id=session_id,
            project=UNSPECIFIED,
            user_id=None,
            kinds=KINDS,
            limit=50,
            min_relevance=0,
        )
        context = backend.context(session_id, ContextQuery(query=query, min_relevance=0))
        return [("context", context), ("search", backend.search(search))]

    def backup(self, target: Path, progress: StepProgress) -> BackupReport:
        return self.services.database.maintenance.backup(target, progress)

    def vacuum(self, progress: StepProgress) -> VacuumReport:
        return self.services.database.maintenance.vacuum(progress)

    def check_rows(self, set_aside: Path | None, progress: StepProgress) -> RowCheck:
        return self.services.integrity.check(set_aside=set_aside, progress=progress)

    def health(self) -> HealthReport:
        return self.services.health.health()

    def schema_version(self) -> int:
        return self.services.health.schema_version()
