"""The methods of `Cloister` for memories."""

from collections.abc import Mapping, Sequence
from typing import Any

from cloister.domain.identifiers import parse_memory_id
from cloister.domain.memory import MemoryStatus
from cloister.domain.text import checked_name
from cloister.domain.timestamps import parse_iso
from cloister.interfaces.python.arguments import (
    NO_NUMBER_GIVEN,
    NOT_GIVEN,
    drafts_of,
    page_after,
    page_request,
    project_choice,
)
from cloister.interfaces.python.backends.interface import Backend
from cloister.interfaces.python.certificates.shapes import Removed
from cloister.interfaces.python.derived_shapes import Appended, Memory, MemoryRevision
from cloister.interfaces.python.pages import Page
from cloister.interfaces.python.preview_shapes import ExtractionPreview
from cloister.services.memories.corrections import MemoryChange
from cloister.services.memories.memories import checked_status
from cloister.services.memories.truth.additions import checked_labels, checked_memories


class MemoryMethods:
    """The part of `Cloister` that is about memories."""

    _backend: Backend

    def memories(
        self,
        session_id: str,
        *,
        limit: int = 50,
        after: str | None = None,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
        status: MemoryStatus | None = None,
    ) -> Page[Memory]:
        """List the memories of a session, oldest first, from a `cursor` or from behind the memory `after`. With a `filter`, as in
        `search`, only those that it lets pass; with a `status` only those that are `active`, `superseded`, `expired` or
        `retracted`."""
        page = page_after(limit, cursor, after, parse_memory_id, filter)
        return self._backend.memories(session_id, page, checked_status(status))

    def user_memories(
        self,
        user_id: str,
        *,
        limit: int = 50,
        after: str | None = None,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
        status: MemoryStatus | None = None,
    ) -> Page[Memory]:
        """List the memories of a user across all sessions and projects, oldest first: for display and audit, not for prompts. With
        a `filter` or a `status`, as in `memories`, only those that it lets pass."""
        user = checked_name(user_id, "user_id")
        page = page_after(limit, cursor, after, parse_memory_id, filter)
        return self._backend.user_memories(user, page, checked_status(status))

    def add_memories(
        self,
        session_id: str,
        contents: Sequence[str],
        *,
        categories: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
        importance: float | None = None,
        idempotency_key: str | None = None,
    ) -> Appended:
        """Add memories by hand. Memories that the session has already are counted as duplicates, not added. Each of the others gets
        the `categories` and the `metadata`, by which a `filter` finds them, and the `importance`, from 0 to 1."""
        labels = checked_labels(categories=categories, metadata=metadata, importance=importance)
        return self._backend.add_memories(session_id, checked_memories(contents), labels, idempotency_key)

    def get_memory(self, memory_id: str) -> Memory:
        """Return a memory by its id, whatever its status."""
        return self._backend.get_memory(parse_memory_id(memory_id))

    def correct_memory(
        self,
        memory_id: str,
        *,
        content: str | None = None,
        importance: float | None = NO_NUMBER_GIVEN,
        expires_at: str | None = NOT_GIVEN,
        pinned: bool | None = None,
        categories: Sequence[str] | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> Memory:
        """Change the fields that are given; the others stay. None removes an `importance` or an `expires_at` (ISO 8601).

        No extraction overwrites or supersedes a memory that was corrected or pinned. A `pinned` memory is in every context of its
        pool.
        """
        fields = {
            "content": content,
            "pinned": pinned,
            "categories": categories,
            "metadata": metadata,
        }
        given = {name for name, value in fields.items() if value is not None}
        given |= {"importance"} if importance is not NO_NUMBER_GIVEN else set()
        given |= {"expires_at"} if expires_at is not NOT_GIVEN else set()
        change = MemoryChange(
            given=frozenset(given),
            content=content,
            importance=importance if "importance" in given else None,
            expires_at=None if expires_at in (None, NOT_GIVEN) else parse_iso(expires_at, "expires_at"),
            pinned=pinned,
            categories=categories,
            metadata=metadata,
        )
        return self._backend.correct_memory(parse_memory_id(memory_id), change)

    def retract_memory(self, memory_id: str) -> Memory:
        """Retract a memory that was never true. It is no longer recalled, and no extraction brings it back; what it superseded is
        true again."""
        return self._backend.retract_memory(parse_memory_id(memory_id))

    def restore_memory(self, memory_id: str) -> Memory:
        """Undo the last correction or retraction of a memory, within a day of it; after that it is a `Conflict`."""
        return self._backend.restore_memory(parse_memory_id(memory_id))

    def memory_history(self, memory_id: str, *, limit: int = 50, cursor: str | None = None) -> Page[MemoryRevision]:
        """List the changes of a memory, oldest first: who made each, when, and what was before. The first is its creation."""
        return self._backend.memory_history(parse_memory_id(memory_id), page_request(limit, cursor))

    def forget_memory(self, memory_id: str, *, dry_run: bool = False) -> Removed:
        """Delete one memory and its history. The messages it derives from stay. Returns its certificate or, with `dry_run`, what
        would go."""
        return self._backend.forget_memory(parse_memory_id(memory_id), dry_run)

    def preview_extraction(
        self, messages: Sequence[Mapping[str, Any]], *, project_id: str | None = NOT_GIVEN
    ) -> ExtractionPreview:
        """Show what an extraction would keep of these messages, and store nothing. Each is a mapping with the arguments of
        `record`; the settings are those of `project_id`, as in `search`.

        Raises `ModelUnavailable` where the model that extracts does not answer.
        """
        return self._backend.preview_extraction(drafts_of(messages), project_choice(project_id))
