"""The command line under the names of the library: every call is a command with `--json`, and its answer is what that prints. What
no command can say has no method here."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter

from cloister.domain.conversation import Role
from cloister.domain.memory import MemoryStatus
from cloister.domain.scope import DEFAULT_VISIBILITY, MemberVisibility
from cloister.interfaces.python import derived_shapes, preview_shapes, shapes, tenant_shapes
from cloister.interfaces.python.arguments import NO_NUMBER_GIVEN, NOT_GIVEN
from cloister.interfaces.python.certificates.shapes import Removed
from cloister.interfaces.python.listing.shapes import Activity, TimelineEntry
from cloister.interfaces.python.pages import Branch, Page
from cloister.interfaces.python.recall import shapes as recall_shapes
from cloister.interfaces.python.receipts.exclusion_shapes import Exclusion
from cloister.interfaces.python.receipts.hits import Hits
from cloister.interfaces.python.receipts.shapes import Explanation, Receipt, ReceiptPrompt
from cloister.services.erasure.erase_project import ProjectContents
from cloister.services.recall.search import Kind
from support.clients.command_line import CommandLine
from support.clients.refusals import refusal

T = TypeVar("T")


class OverCommands:
    def __init__(self, shell: CommandLine) -> None:
        self._shell = shell

    def create_project(
        self,
        name: str,
        *,
        member_visibility: MemberVisibility = DEFAULT_VISIBILITY,
        allow_duplicate_name: bool = False,
    ) -> shapes.Project:
        options = [*_options(members=member_visibility), *(["--allow-duplicate-name"] if allow_duplicate_name else [])]
        return self._one(shapes.Project, "projects", "create", name, *options)

    def projects(self, *, name: str | None = None, limit: int = 50, cursor: str | None = None) -> Page[shapes.Project]:
        return self._many(shapes.Project, "projects", "list", *_options(name=name, limit=limit, after=cursor))

    def project(self, project_id: str) -> shapes.Project:
        return self._one(shapes.Project, "projects", "show", project_id)

    def update_project(self, project_id: str, *, member_visibility: MemberVisibility) -> shapes.Project:
        return self._one(shapes.Project, "projects", "members", project_id, member_visibility, "--yes")

    def preview_visibility(
        self, project_id: str, member_visibility: MemberVisibility
    ) -> preview_shapes.VisibilityPreview:
        return self._one(
            preview_shapes.VisibilityPreview, "projects", "members", project_id, member_visibility, "--dry-run"
        )

    def delete_project(
        self, project_id: str, *, contents: ProjectContents = "keep", dry_run: bool = False
    ) -> shapes.DeletedProject:
        options = ["--dry-run" if dry_run else "--yes", *(["--with-contents"] if contents == "delete" else [])]
        return self._one(shapes.DeletedProject, "projects", "delete", project_id, *options)

    def erase_user(self, user_id: str, *, dry_run: bool = False) -> tenant_shapes.ErasedUser:
        return self._one(tenant_shapes.ErasedUser, "users", "erase", user_id, "--dry-run" if dry_run else "--yes")

    def user_profile(
        self, user_id: str, *, project_id: str | None = NOT_GIVEN, budget_tokens: int | None = None
    ) -> derived_shapes.Profile:
        options = _options(project=_project(project_id), budget=budget_tokens)
        return self._one(derived_shapes.Profile, "users", "profile", user_id, *options)

    def project_profile(
        self, project_id: str, *, user_id: str | None = None, budget_tokens: int | None = None
    ) -> derived_shapes.Profile:
        options = _options(user=user_id, budget=budget_tokens)
        return self._one(derived_shapes.Profile, "projects", "profile", project_id, *options)

    def create_session(
        self,
        external_id: str | None = None,
        *,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        title: str | None = None,
        tags: Sequence[str] = (),
    ) -> shapes.Session:
        named = () if external_id is None else (external_id,)
        options = _options(project=_project(project_id), user=user_id, title=title)
        tagged = [part for tag in tags for part in ("--tag", tag)]
        return self._one(shapes.Session, "sessions", "create", *named, *options, *tagged)

    def session(self, session_id: str) -> shapes.Session:
        return _shaped(shapes.Session, self._printed("sessions", "show", session_id)["session"])

    def sessions(
        self,
        *,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[shapes.Session]:
        project = None if project_id is NOT_GIVEN else project_id or "none"
        options = _options(project=project, user=user_id, limit=limit, after=cursor)
        flags = [
            f"--{'' if value else 'not-'}{name}"
            for name, value in (("pinned", pinned), ("archived", archived))
            if value is not None
        ]
        return self._many(shapes.Session, "sessions", "list", *options, *flags)

    def move_session(self, session_id: str, project_id: str | None) -> shapes.Session:
        return self.update_session(session_id, project_id=project_id)

    def update_session(
        self,
        session_id: str,
        *,
        project_id: str | None = NOT_GIVEN,
        pinned: bool | None = None,
        archived: bool | None = None,
        system_prompt: str | None = NOT_GIVEN,
    ) -> shapes.Session:
        if project_id is not NOT_GIVEN:
            return self._one(shapes.Session, "sessions", "move", session_id, project_id or "none")
        flags = [
            f"--{'' if value else 'un'}{name}"
            for name, value in (("pin", pinned), ("archive", archived))
            if value is not None
        ]
        prompt = [] if system_prompt is NOT_GIVEN else ["--prompt", system_prompt or "none"]
        return self._one(shapes.Session, "sessions", "set", session_id, *flags, *prompt)

    def preview_move(self, session_id: str, project_id: str | None) -> preview_shapes.MovePreview:
        return self._one(preview_shapes.MovePreview, "sessions", "move", session_id, project_id or "none", "--dry-run")

    def delete_session(self, session_id: str, *, dry_run: bool = False) -> shapes.Forgotten:
        return self._one(shapes.Forgotten, "forget", session_id, "--dry-run" if dry_run else "--yes")

    def clear_session(self, session_id: str, *, dry_run: bool = False) -> shapes.Forgotten:
        return self._one(shapes.Forgotten, "sessions", "clear", session_id, "--dry-run" if dry_run else "--yes")

    def record(
        self, session_id: str, role: Role, content: str, *, author: str | None = None, categories: Sequence[str] = ()
    ) -> shapes.Message:
        labels = [part for category in categories for part in ("--category", category)]
        return self._one(shapes.Message, "record", session_id, content, *_options(role=role, author=author), *labels)

    def record_episode(self, session_id: str, user_message: str, ai_response: str) -> shapes.Episode:
        """A question and its reply make an episode, which is known by the question."""
        question = self.record(session_id, "user", user_message)
        reply = self.record(session_id, "assistant", ai_response)
        return shapes.Episode(
            id=question.id.replace("msg_", "ep_"),
            session_id=session_id,
            message_ids=(question.id, reply.id),
            created_at=question.created_at,
        )

    def messages(
        self,
        session_id: str,
        *,
        limit: int = 50,
        after: str | None = None,
        before: str | None = None,
        around: str | None = None,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
        branch: Branch = "current",
    ) -> Page[shapes.Message]:
        window = {"after": cursor or after, "before": before, "around": around}
        options = [*_options(limit=limit, filter=_text(filter), **window)]
        options += ["--all-branches"] if branch == "all" else []
        printed, more = self._printed_page("sessions", "show", session_id, *options)
        return Page((_shaped(shapes.Message, message) for message in printed["messages"]), more)

    def choose_branch(self, session_id: str, message_id: str) -> shapes.Session:
        return self._one(shapes.Session, "sessions", "branch", session_id, message_id)

    def title_session(self, session_id: str, *, replaces: str | None = None) -> shapes.Session:
        return self._one(shapes.Session, "sessions", "title", session_id, *_options(replaces=replaces))

    def forget_message(self, message_id: str, *, dry_run: bool = False) -> Removed:
        return self._one(Removed, "forget", "--message", message_id, "--dry-run" if dry_run else "--yes")

    def context(
        self,
        session_id: str,
        query: str | None = None,
        *,
        recent_limit: int | None = None,
        semantic_limit: int | None = None,
        budget_tokens: int | None = None,
        min_relevance: float | None = None,
        asked_at: str | None = None,
        as_of: str | None = None,
        filter: Mapping[str, object] | None = None,
    ) -> recall_shapes.Context:
        asked = () if query is None else (query,)
        limits = _options(recent=recent_limit, semantic=semantic_limit, budget=budget_tokens)
        options = [*limits, *_recall_options(min_relevance, asked_at, as_of), *_options(filter=_text(filter))]
        return self._one(recall_shapes.Context, "context", session_id, *asked, *options)

    def search(
        self,
        query: str,
        *,
        session_id: str | None = None,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        kinds: Sequence[Kind] | None = None,
        limit: int = 10,
        min_relevance: float | None = None,
        asked_at: str | None = None,
        as_of: str | None = None,
        filter: Mapping[str, object] | None = None,
    ) -> Hits:
        target = _options(session=session_id, project=_project(project_id), user=user_id, limit=limit)
        options = [*target, *_recall_options(min_relevance, asked_at, as_of), *_options(filter=_text(filter))]
        return Hits(
            self._many(
                recall_shapes.Hit,
                "search",
                query,
                *options,
                *(part for kind in kinds or () for part in ("--kind", kind)),
            )
        )

    def receipt(self, receipt_id: str) -> Receipt:
        return self._one(Receipt, "receipts", "show", receipt_id)

    def exclude(self, session_id: str, item_id: str) -> Exclusion:
        return self._one(Exclusion, "sessions", "exclude", session_id, item_id)

    def include(self, session_id: str, item_id: str) -> None:
        self._printed("sessions", "include", session_id, item_id)

    def exclusions(self, session_id: str, *, limit: int = 50, cursor: str | None = None) -> Page[Exclusion]:
        return self._many(Exclusion, "sessions", "exclusions", session_id, *_options(limit=limit, after=cursor))

    def receipt_prompt(self, receipt_id: str) -> ReceiptPrompt:
        return self._one(ReceiptPrompt, "receipts", "prompt", receipt_id)

    def explain(
        self,
        message_id: str,
        *,
        session_id: str | None = None,
        query: str | None = None,
        receipt_id: str | None = None,
    ) -> Explanation:
        options = _options(session=session_id, query=query, receipt=receipt_id)
        return self._one(Explanation, "explain", message_id, *options)

    def memories(
        self,
        session_id: str,
        *,
        limit: int = 50,
        after: str | None = None,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
        status: MemoryStatus | None = None,
    ) -> Page[derived_shapes.Memory]:
        options = _options(limit=limit, after=cursor or after, filter=_text(filter), status=status)
        return self._many(derived_shapes.Memory, "memories", "list", session_id, *options)

    def user_memories(
        self,
        user_id: str,
        *,
        limit: int = 50,
        after: str | None = None,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
        status: MemoryStatus | None = None,
    ) -> Page[derived_shapes.Memory]:
        options = _options(user=user_id, limit=limit, after=cursor or after, filter=_text(filter), status=status)
        return self._many(derived_shapes.Memory, "memories", "list", *options)

    def project_memories(
        self,
        project_id: str | None = NOT_GIVEN,
        *,
        user_id: str | None = None,
        users: Literal["all"] | None = None,
        status: MemoryStatus | None = None,
        pinned: bool | None = None,
        query: str | None = None,
        filter: Mapping[str, object] | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[derived_shapes.Memory]:
        options = _options(user=user_id, query=query, status=status, filter=_text(filter), limit=limit, after=cursor)
        options += ["--all-users"] if users else []
        options += [] if pinned is None else ["--pinned" if pinned else "--not-pinned"]
        return self._many(derived_shapes.Memory, "projects", "memories", project_id or "none", *options)

    def project_timeline(
        self,
        project_id: str,
        *,
        user_id: str | None = None,
        users: Literal["all"] | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[TimelineEntry]:
        options = [*_options(user=user_id, limit=limit, after=cursor), *(["--all-users"] if users else [])]
        return self._many(TimelineEntry, "projects", "timeline", project_id, *options)

    def user_timeline(self, user_id: str, *, limit: int = 50, cursor: str | None = None) -> Page[TimelineEntry]:
        return self._many(TimelineEntry, "users", "timeline", user_id, *_options(limit=limit, after=cursor))

    def project_activity(
        self,
        project_id: str,
        *,
        user_id: str | None = None,
        users: Literal["all"] | None = None,
        days: int = 30,
    ) -> Activity:
        options = [*_options(user=user_id, days=days), *(["--all-users"] if users else [])]
        return self._one(Activity, "projects", "activity", project_id, *options)

    def user_activity(self, user_id: str, *, days: int = 30) -> Activity:
        return self._one(Activity, "users", "activity", user_id, *_options(days=days))

    def add_memories(
        self,
        session_id: str,
        contents: Sequence[str],
        *,
        categories: Sequence[str] = (),
        importance: float | None = None,
    ) -> derived_shapes.Appended:
        options = [part for category in categories for part in ("--category", category)]
        options += [] if importance is None else ["--importance", str(importance)]
        return self._one(derived_shapes.Appended, "memories", "add", session_id, *contents, *options)

    def get_memory(self, memory_id: str) -> derived_shapes.Memory:
        return self._one(derived_shapes.Memory, "memories", "show", memory_id)

    def correct_memory(
        self,
        memory_id: str,
        *,
        content: str | None = None,
        importance: float | None = NO_NUMBER_GIVEN,
        expires_at: str | None = NOT_GIVEN,
        pinned: bool | None = None,
        categories: Sequence[str] | None = None,
    ) -> derived_shapes.Memory:
        options = [] if content is None else [content]
        options += (
            [] if importance is NO_NUMBER_GIVEN else ["--importance", "none" if importance is None else str(importance)]
        )
        options += [] if expires_at is NOT_GIVEN else ["--expires", expires_at or "never"]
        options += [] if pinned is None else ["--pin" if pinned else "--unpin"]
        options += [part for category in categories or () for part in ("--category", category)]
        return self._one(derived_shapes.Memory, "memories", "correct", memory_id, *options)

    def retract_memory(self, memory_id: str) -> derived_shapes.Memory:
        return self._one(derived_shapes.Memory, "memories", "retract", memory_id)

    def restore_memory(self, memory_id: str) -> derived_shapes.Memory:
        return self._one(derived_shapes.Memory, "memories", "restore", memory_id)

    def memory_history(
        self, memory_id: str, *, limit: int = 50, cursor: str | None = None
    ) -> Page[derived_shapes.MemoryRevision]:
        options = _options(limit=limit, after=cursor)
        return self._many(derived_shapes.MemoryRevision, "memories", "history", memory_id, *options)

    def forget_memory(self, memory_id: str, *, dry_run: bool = False) -> Removed:
        return self._one(Removed, "memories", "forget", memory_id, "--dry-run" if dry_run else "--yes")

    def entities(
        self,
        project_id: str,
        *,
        user_id: str | None = None,
        limit: int = 50,
        after: str | None = None,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
    ) -> Page[derived_shapes.Entity]:
        options = _options(user=user_id, limit=limit, after=cursor or after, filter=_text(filter))
        return self._many(derived_shapes.Entity, "entities", "list", project_id, *options)

    def entity(self, entity_id: str) -> derived_shapes.EntityDetail:
        return self._one(derived_shapes.EntityDetail, "entities", "show", entity_id)

    def entity_mentions(
        self,
        entity_id: str,
        *,
        limit: int = 50,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
    ) -> Page[derived_shapes.EntityMention]:
        options = _options(limit=limit, after=cursor, filter=_text(filter))
        return self._many(derived_shapes.EntityMention, "entities", "mentions", entity_id, *options)

    def update_entity(
        self,
        entity_id: str,
        *,
        name: str | None = None,
        type: str | None = None,
        notes: str | None = None,
        aliases: Sequence[str] | None = None,
    ) -> derived_shapes.EntityDetail:
        named = [part for alias in aliases or () for part in ("--alias", alias)]
        options = [*_options(name=name, type=type, notes=notes), *named]
        return self._one(derived_shapes.EntityDetail, "entities", "update", entity_id, *options)

    def delete_entity(self, entity_id: str, *, dry_run: bool = False) -> Removed:
        return self._one(Removed, "entities", "delete", entity_id, "--dry-run" if dry_run else "--yes")

    def merge_entity(self, entity_id: str, into: str) -> derived_shapes.EntityDetail:
        return self._one(derived_shapes.EntityDetail, "entities", "merge", entity_id, into)

    def split_entity(
        self,
        entity_id: str,
        *,
        aliases: Sequence[str] | None = None,
        message_ids: Sequence[str] | None = None,
        name: str | None = None,
    ) -> derived_shapes.EntityDetail:
        named = [part for alias in aliases or () for part in ("--alias", alias)]
        said = [part for message in message_ids or () for part in ("--message", message)]
        options = [*_options(name=name), *named, *said]
        return self._one(derived_shapes.EntityDetail, "entities", "split", entity_id, *options)

    def restore_entity(self, entity_id: str) -> derived_shapes.EntityDetail:
        return self._one(derived_shapes.EntityDetail, "entities", "restore", entity_id)

    def retag_entity(self, entity_id: str, project_id: str, *, user_id: str | None = None) -> derived_shapes.Entity:
        return self._one(derived_shapes.Entity, "entities", "retag", entity_id, project_id, *_options(user=user_id))

    def observations(
        self,
        session_id: str,
        *,
        limit: int = 50,
        after: str | None = None,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
    ) -> Page[derived_shapes.Observation]:
        options = _options(limit=limit, after=cursor or after, filter=_text(filter))
        return self._many(derived_shapes.Observation, "observations", session_id, *options)

    def preview_extraction(
        self, messages: Sequence[Mapping[str, Any]], *, project_id: str | None = NOT_GIVEN
    ) -> preview_shapes.ExtractionPreview:
        contents = [str(message["content"]) for message in messages]
        options = _options(project=_project(project_id))
        return self._one(preview_shapes.ExtractionPreview, "memories", "preview", *contents, *options)

    def extract(self, session_id: str) -> derived_shapes.Extraction:
        return self._one(derived_shapes.Extraction, "extract", session_id)

    def _printed(self, *arguments: str) -> Any:
        return self._printed_page(*arguments)[0]

    def _printed_page(self, *arguments: str) -> tuple[Any, str | None]:
        """What is printed, and the `--after` that the hint of a next page names."""
        outcome = self._shell.attempt(*arguments, "--json")
        if outcome.code == 0:
            more = re.search(r"There are more: add --after (\S+), or --all", outcome.stderr)
            return json.loads(outcome.stdout), more and more[1]
        assert (outcome.code, outcome.stdout) == (1, ""), outcome
        refused = json.loads(outcome.stderr)
        raise refusal(refused["code"], refused["detail"])

    def _one(self, kind: type[T], *arguments: str) -> T:
        return _shaped(kind, self._printed(*arguments))

    def _many(self, kind: type[T], *arguments: str) -> Page[T]:
        printed, more = self._printed_page(*arguments)
        return Page((_shaped(kind, entry) for entry in printed), more)


def _project(given: str | None) -> str | None:
    return None if given is NOT_GIVEN else given or "none"


def _recall_options(min_relevance: float | None, asked_at: str | None, as_of: str | None) -> list[str]:
    floor = [] if min_relevance is None else ["--min-relevance", str(min_relevance)]
    times = (("--asked-at", asked_at), ("--as-of", as_of))
    return [*floor, *(part for name, time in times if time is not None for part in (name, time))]


def _text(filter: Mapping[str, object] | None) -> str | None:
    return None if filter is None else json.dumps(filter)


def _options(**given: str | int | None) -> list[str]:
    return [part for name, value in given.items() if value is not None for part in (f"--{name}", str(value))]


def _shaped(kind: type[T], printed: Any) -> T:
    return TypeAdapter(kind).validate_python(printed)
