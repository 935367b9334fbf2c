"""`Cloister`, the library: checks arguments and calls a backend, which is a database in this process or a server over HTTP."""

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from cloister.bootstrap import Services, build_services, open_tenant
from cloister.domain.context import parse_sources
from cloister.domain.conversation import Role
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import (
    parse_message_id,
    parse_observation_id,
)
from cloister.domain.recall.relevance import checked_min_relevance
from cloister.domain.sessions.windows import range_of
from cloister.domain.timestamps import checked_time, parse_iso
from cloister.interfaces.python.archives.methods import ArchiveMethods
from cloister.interfaces.python.arguments import (
    NOT_GIVEN,
    checked_user,
    draft_of,
    drafts_of,
    given_filter,
    page_after,
    project_choice,
)
from cloister.interfaces.python.backends.embedded import EmbeddedBackend
from cloister.interfaces.python.backends.interface import Backend, ContextQuery, SearchQuery
from cloister.interfaces.python.backends.remote import RemoteBackend
from cloister.interfaces.python.backends.requests import expected_session
from cloister.interfaces.python.certificates.shapes import Removed
from cloister.interfaces.python.derived_shapes import Extraction, Observation
from cloister.interfaces.python.entities.methods import EntityMethods
from cloister.interfaces.python.entries.methods import EntryMethods
from cloister.interfaces.python.files.methods import FileMethods
from cloister.interfaces.python.items.methods import ItemMethods
from cloister.interfaces.python.listing.methods import ListingMethods
from cloister.interfaces.python.memory_methods import MemoryMethods
from cloister.interfaces.python.organisation import OrganisationMethods
from cloister.interfaces.python.pages import Branch, Page, checked_branch
from cloister.interfaces.python.recall.shapes import Context
from cloister.interfaces.python.receipts.hits import Hits
from cloister.interfaces.python.receipts.methods import ReceiptMethods
from cloister.interfaces.python.sessions.methods import SessionMethods
from cloister.interfaces.python.shapes import Episode, Message, Session
from cloister.services.recall.search import Kind, checked_kinds
from cloister.settings import read_remote, read_settings


class Cloister(
    SessionMethods,
    ItemMethods,
    FileMethods,
    EntryMethods,
    ReceiptMethods,
    MemoryMethods,
    ListingMethods,
    EntityMethods,
    OrganisationMethods,
    ArchiveMethods,
):
    """Memory for AI assistants that stays inside its walls. Safe to use from any thread; close it, or use it in a `with`.

    `data` is a directory, a `postgresql://` URL, or the `http://` address of a server, which needs a `key`; without it,
    CLOISTER_DATA, else the user's data directory. `tenant` is the id or the name of a tenant of that directory or database; without
    it, the local one. At a server the key says which tenant it is.

    Every method may raise `InvalidRequest` for a wrong argument, `NotFound` for an id that does not exist for this caller, and
    `Closed` after `close`. At a server also `Forbidden` and `Unauthenticated` for the key, `RateLimited` and `Overloaded`, and
    `ServerError` where the server fails or cannot be reached.

    Lists come in pages of at most 200. A `Page` is a list; its `next_cursor` is the `cursor` that asks for the next page.
    """

    def __init__(
        self,
        data: str | os.PathLike[str] | None = None,
        *,
        key: str | None = None,
        tenant: str | None = None,
        services: Services | None = None,
    ) -> None:
        self._backend = _open_backend(data, key, tenant, services)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Finish the calls under way, and close the database or the connections to the server. Closing twice is fine."""
        self._backend.close()

    # Messages

    def record(
        self,
        session_id: str,
        role: Role,
        content: str,
        *,
        author: str | None = None,
        categories: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
        created_at: str | None = None,
        idempotency_key: str | None = None,
        if_unmoved_since: str | None = None,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
    ) -> Message:
        """Record one message: durable, and ready to be recalled, when this returns.

        `role` is `user`, `assistant`, `system` or `tool`; `author` names the speaker where the role does not. `categories` (at most
        16) and `metadata` are labels that filters can ask for. `created_at` is an ISO 8601 time; without it, now. A repeated call
        with the same `idempotency_key` returns the first message again; with other arguments it is an `IdempotencyMismatch`.
        `if_unmoved_since` is the `unmoved_token` of the context that a reply was given: if the session was moved or created anew
        since, or its project shared or divided, this is a `Conflict`, and nothing is recorded. So it is if the session is not in
        `project_id` (None is no project) or not of `user_id`, where they are given.
        """
        draft = draft_of(
            role=role,
            content=content,
            author=author,
            categories=categories,
            metadata=metadata,
            created_at=created_at,
        )
        expected = expected_session(project_choice(project_id), checked_user(user_id), if_unmoved_since)
        return self._backend.record(session_id, draft, idempotency_key, expected)

    def record_batch(
        self,
        session_id: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        idempotency_key: str | None = None,
        if_unmoved_since: str | None = None,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
    ) -> list[Message]:
        """Record several messages in one transaction: all or none. Each is a mapping with the arguments of `record`; the
        conditions are those of `record`, one for all."""
        expected = expected_session(project_choice(project_id), checked_user(user_id), if_unmoved_since)
        return self._backend.record_batch(session_id, drafts_of(messages), idempotency_key, expected)

    def record_episode(
        self,
        session_id: str,
        user_message: str,
        ai_response: str,
        *,
        idempotency_key: str | None = None,
        if_unmoved_since: str | None = None,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
    ) -> Episode:
        """Record a message of the user and the assistant's reply to it, as one episode. The conditions are those of `record`."""
        question = draft_of(role="user", content=user_message)
        answer = draft_of(role="assistant", content=ai_response)
        expected = expected_session(project_choice(project_id), checked_user(user_id), if_unmoved_since)
        return self._backend.record_episode(session_id, question, answer, idempotency_key, expected)

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
    ) -> Page[Message]:
        """List the messages of a session in the order they were said, from a `cursor` or from behind the message `after`; or the
        page `before` a message, with `"end"` the last one, or the page `around` a message. The `previous_cursor` of the page asks
        for older messages. With a `filter`, as in `search`, only those that it lets pass. With `branch="all"` those of all
        branches, not only the current."""
        page = page_after(limit, cursor, after, parse_message_id, filter)
        return self._backend.messages(session_id, page, range_of(after, before, around), checked_branch(branch))

    def choose_branch(self, session_id: str, message_id: str) -> Session:
        """Make the branch of a session that contains a message the current one, down to the newest message below it.

        Messages of other branches are kept, but are neither recalled nor extracted until their branch is chosen again. A reply that
        is being made in the session is a `TurnInProgress`.
        """
        return self._backend.choose_branch(session_id, parse_message_id(message_id))

    def title_session(self, session_id: str, *, replaces: str | None = None) -> Session:
        """Give a session a title that the chat model makes of its first exchange, of at most eight words.

        A session that has a title keeps it, unless that is `replaces`. Raises `Conflict` without a finished reply, and
        `ModelUnavailable` if no model is connected or it does not answer.
        """
        return self._backend.title_session(session_id, replaces)

    def forget_message(self, message_id: str, *, dry_run: bool = False) -> Removed:
        """Delete one message, with the memories and observations that derive from it. Returns its certificate or, with `dry_run`,
        what would go."""
        return self._backend.forget_message(parse_message_id(message_id), dry_run)

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
        min_relevance: float | None = None,
        asked_at: str | None = None,
        as_of: str | None = None,
        filter: Mapping[str, object] | None = None,
    ) -> Context:
        """Build the context for the next reply: the session's recent messages, and what its pool knows about the query.

        Without `query` it is the user's last message. `recent_limit` and `semantic_limit` count messages of each role;
        `budget_tokens` limits the whole, and is filled with what is related. `sources` replaces the project's own: each has `role`,
        `method`, `limit` and `conversation_scope`. What is less relevant than `min_relevance` is left out: without it, less than
        the project's setting; 0 leaves nothing out. `asked_at` (ISO 8601) is when the query is asked, by default now: "last week"
        is relative to it. `as_of` (ISO 8601) asks for the memories that were true then, and not now. A `filter`, as in `search`,
        applies to all that is recalled, and not to the session's recent messages.
        """
        request = ContextQuery(
            query=query,
            recent_limit=recent_limit,
            semantic_limit=semantic_limit,
            budget_tokens=budget_tokens,
            sources=None if sources is None else parse_sources(sources, "sources"),
            min_relevance=None if min_relevance is None else checked_min_relevance(min_relevance),
            asked_at=None if asked_at is None else parse_iso(asked_at, "asked_at"),
            as_of=None if as_of is None else checked_time(parse_iso(as_of, "as_of"), "as_of"),
            filter=given_filter(filter),
        )
        return self._backend.context(session_id, request)

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
        """Find the episodes, memories and entities of one pool that match best.

        The pool is that of `session_id`, else of `project_id`: without it the key's project, else the default project, with None no
        project. `user_id` says whose part to search where a pool is divided by user. `kinds` keeps only `episodes`, `memories` or
        `entities`; entities are found in projects only. The best `limit` hits are returned; there are no further pages.
        `min_relevance`, `asked_at` and `as_of` are as in `context`. With a `filter`, such as `{"role": "user", "category":
        "travel"}`, only what it lets pass is ranked: see the how-to page on filters. The list has the `receipt` of the search.
        """
        request = SearchQuery(
            query=query,
            session_id=session_id,
            project=project_choice(project_id),
            user_id=user_id,
            kinds=checked_kinds(kinds),
            limit=limit,
            min_relevance=None if min_relevance is None else checked_min_relevance(min_relevance),
            asked_at=None if asked_at is None else parse_iso(asked_at, "asked_at"),
            as_of=None if as_of is None else checked_time(parse_iso(as_of, "as_of"), "as_of"),
            filter=given_filter(filter),
        )
        return self._backend.search(request)

    # What is extracted from messages

    def observations(
        self,
        session_id: str,
        *,
        limit: int = 50,
        after: str | None = None,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
    ) -> Page[Observation]:
        """List the observations of a session: notes that compress messages older than its recent window, in their order.

        From a `cursor` or from behind the observation `after`. With a `filter`, as in `search`, only those that it lets pass.
        """
        return self._backend.observations(session_id, page_after(limit, cursor, after, parse_observation_id, filter))

    def extract(self, session_id: str) -> Extraction:
        """Extract memories, entities and observations from the new messages of a session now. A server does so by itself.

        Raises `ModelUnavailable` where the model that extracts does not answer.
        """
        return self._backend.extract(session_id)


class _RemoteType(type):
    """Makes every `Cloister` that was opened at an address an instance of `RemoteCloister`."""

    def __instancecheck__(cls, instance: object) -> bool:
        is_remote = isinstance(instance, Cloister) and isinstance(instance._backend, RemoteBackend)  # pyright: ignore[reportPrivateUsage]
        return super().__instancecheck__(instance) or (cls is RemoteCloister and is_remote)


class RemoteCloister(Cloister, metaclass=_RemoteType):
    """A `Cloister` at the `http://` address of a server; anything else as `data` is refused. `Cloister` opens addresses too."""

    def __init__(
        self,
        data: str | os.PathLike[str] | None = None,
        *,
        key: str | None = None,
        tenant: str | None = None,
        services: Services | None = None,
    ) -> None:
        if services is not None or read_remote(data, key, tenant=tenant) is None:
            raise InvalidRequest("data", "must be the http:// address of a server, and nothing else.")
        super().__init__(data, key=key, tenant=tenant)


def _open_backend(
    data: str | os.PathLike[str] | None, key: str | None, tenant: str | None, services: Services | None
) -> Backend:
    if services is not None:
        return EmbeddedBackend(services, open_tenant(services, tenant))
    if (remote := read_remote(data, key, tenant=tenant)) is not None:
        return RemoteBackend(remote)
    settings = read_settings(data, tenant=tenant)
    opened = build_services(settings)
    try:
        return EmbeddedBackend(opened, open_tenant(opened, settings.tenant))
    except BaseException:  # raised again: nobody else knows that the database is open
        opened.close()
        raise
