"""The audit (PRF-3): makes throw-away targets and keys, asks for their markers through every door, and removes everything again."""

import secrets
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.errors import CloisterError
from cloister.domain.identifiers import TenantId
from cloister.domain.reply import QUOTING_MODEL
from cloister.domain.scope import Reach
from cloister.interfaces.audit.app_client import AppAnswer, AppClient
from cloister.interfaces.audit.grounds import Grounds
from cloister.interfaces.audit.reads.chats import chats
from cloister.interfaces.audit.reads.everything import reads_of
from cloister.interfaces.audit.reads.read import ANTHROPIC, CONSOLE, EVENTS, HTTP, MCP, Read, View
from cloister.interfaces.audit.report import Audit, NotAsked, Sightings
from cloister.interfaces.audit.targets import QUESTION, Reader, Target
from cloister.interfaces.mcp.extra import HOW_TO_INSTALL, is_installed

Progress = Callable[[int, int], None]
LibraryReads = Callable[[TenantId, str, str], Sequence[tuple[str, object]]]
"""Recalls for a session of a tenant what fits a question, through the library: the names of its methods, and what they return."""
_ANSWERED: Final = 200
_UNAVAILABLE: Final = 503
_TOO_MANY: Final = 429
_MOST_RETRIES: Final = 50
_LARGEST_POOL: Final = 20_000
_EVENT_SECONDS: Final = 2.0
_INDEX: Final = "index"
_LIBRARY: Final = "library"


class AuditRun:
    """One audit of a running app and its services. With a `reach` everything is made in that tenant; without, in two tenants of its
    own, of which each is asked for the other's markers too."""

    def __init__(
        self,
        services: Services,
        client: AppClient,
        reach: Reach | None,
        *,
        progress: Progress = lambda done, of: None,
        library: LibraryReads | None = None,
    ) -> None:
        self._services = services
        self._client = client
        self._reach = reach
        self._progress = progress
        self._library = library
        self._grounds = Grounds(services=services, run=secrets.token_hex(4))

    def run(self) -> Audit:
        """Whatever happens, also if it is interrupted, what was made is removed again; an error names what could not be."""
        try:
            self._grounds.prepare(self._reach)
            sightings = self._ask_everything()
        except BaseException as error:  # raised again: what the audit created is removed, however it ended
            for what in self._grounds.clean_up():
                error.add_note(f"The audit could not remove {what}.")
            raise
        return sightings.report(self._grounds.clean_up(), max(1, len(self._grounds.tenants)))

    def _ask_everything(self) -> Sightings:
        sightings = Sightings(targets=self._grounds.targets)
        self._progress(0, 1)
        with self._signed_in(sightings) as readers:
            # Replies quote what was recalled for them, and are stored: they are asked for last.
            asked = [(reader, read) for reader in readers for read in self._reads(reader)]
            replies = [(reader, read) for reader in readers for read in self._chats(reader)]
            if fault := self._missing_messages(replies):
                sightings.not_asked.append(NotAsked(door=f"{ANTHROPIC}, messages", reason=fault))
                replies = [each for each in replies if each[1].door != ANTHROPIC or not each[1].is_answered]
            asked += replies
            if not is_installed():
                sightings.not_asked.append(NotAsked(door=MCP, reason=HOW_TO_INSTALL))
                asked = [(reader, read) for reader, read in asked if read.door != MCP]
            for done, (reader, read) in enumerate(asked):
                self._progress(done, len(asked))
                sightings.add(reader.name, read, self._answer(reader, read))
            self._ask_events(sightings, readers)
        if self._library is None:
            reason = "It works on the data itself: run `cloister audit` where the data is."
            sightings.not_asked.append(NotAsked(door=_LIBRARY, reason=reason))
        for target in self._grounds.targets:
            self._ask_index(sightings, target)
            if self._library is not None:
                self._ask_library(sightings, target, self._library)
        self._progress(len(asked), len(asked))
        return sightings

    @contextmanager
    def _signed_in(self, sightings: Sightings) -> Generator[list[Reader]]:
        """The readers, those that are browsers with the cookie that the console gave them for their key; they are signed out at
        the end. Where a browser is not let in, because of the name of the server, the report says so."""
        readers: list[Reader] = []
        for reader in self._grounds.readers:
            headers = self._client.sign_in(reader.headers) if reader.is_browser else reader.headers
            if isinstance(headers, str):
                reason = f"A browser could not be signed in: {headers}"
                sightings.not_asked.append(NotAsked(door=CONSOLE, reason=reason))
            else:
                readers.append(replace(reader, headers=headers))
        try:
            yield readers
        finally:
            for reader in readers:
                if reader.is_browser:
                    self._client.ask("POST", "/console/sign-out", reader.headers)

    def _reads(self, reader: Reader) -> list[Read]:
        return reads_of(reader, self._grounds.targets, with_tenant=bool(self._grounds.tenants))

    def _chats(self, reader: Reader) -> list[Read]:
        """Questions that are answered with a reply. A model is asked in two targets only, since it costs money."""
        targets = self._grounds.targets
        inside = [target for target in targets if target.tenant == reader.reach.tenant]
        is_quoted = self._services.chat.model.name == QUOTING_MODEL
        if reader.is_admin:
            chosen = inside if is_quoted and reader.reach.tenant == targets[0].tenant else inside[:2]
        else:
            chosen = [target for target in inside if not reader.reaches(target)][:1] if reader.may_write else []
        views = [View(reader=reader, target=target, targets=targets) for target in chosen]
        found = [read for view in views for read in chats(view, is_quoted=is_quoted)]
        if not reader.is_browser:
            return found
        return [replace(read, door=CONSOLE) for read in found if read.door == HTTP]

    def _missing_messages(self, replies: Sequence[tuple[Reader, Read]]) -> str | None:
        """Why the model's server answers no request in Anthropic's form, which many do not know, so that no reply can be shown."""
        if self._services.chat.model.name == QUOTING_MODEL:
            return None
        for reader, read in replies:
            if read.door == ANTHROPIC and read.is_answered:
                status = self._answer(reader, read).status
                return "The model's server answered no request in this form." if status == _UNAVAILABLE else None
        return None

    def _answer(self, reader: Reader, read: Read) -> AppAnswer:
        """Waits where the server limits how many requests a key may make."""
        for _ in range(_MOST_RETRIES):
            answer = self._client.ask(read.method, read.path, {**reader.headers, **read.headers}, read.body)
            if answer.status != _TOO_MANY:
                return answer
            time.sleep(0.2)
        raise CloisterError("The server refuses the requests of the audit with 429: raise its limits, or try later.")

    def _ask_events(self, sightings: Sightings, readers: Sequence[Reader]) -> None:
        """Every reader follows the events while something is said in every target."""
        targets = self._grounds.targets
        streams = [(reader, self._client.open_stream("/v1/events", reader.headers)) for reader in readers]
        for target in targets:
            once_more = Draft(role="user", content=f"Once more: {target.marker}.")
            self._services.record.messages(Reach(tenant=target.tenant), target.session, [once_more])
        deadline = time.monotonic() + _EVENT_SECONDS
        for reader, stream in streams:
            own = reader.reached(targets)
            while time.monotonic() < deadline and any(
                target.session.encode() not in b"".join(stream.sent) for target in own
            ):
                time.sleep(0.01)
        for reader, stream in streams:
            own = reader.reached(targets)
            read = Read(
                door=EVENTS,
                name="events",
                method="GET",
                path="/v1/events",
                allowed=own,
                expected=own,
                is_answered=True,
            )
            sightings.add(reader.name, read, self._client.close_stream(stream))

    def _ask_index(self, sightings: Sightings, target: Target) -> None:
        """What the index names before storage is asked, which would hide what is not of the pool."""
        targets = self._grounds.targets
        named = self._services.index_probe.named(Reach(tenant=target.tenant), target.scope, QUESTION, _LARGEST_POOL)
        if named is None:
            reason = f"A pool has more than {_LARGEST_POOL:,} messages."
            sightings.not_asked.append(NotAsked(door=_INDEX, reason=reason))
            return
        seen = [other for other in targets if not named.messages.isdisjoint(other.messages)]
        pool = [other for other in targets if target.shares_pool(other)]
        sightings.note("index", _INDEX, f"messages of {target.name}", seen, allowed=pool, expected=[target])

    def _ask_library(self, sightings: Sightings, target: Target, library: LibraryReads) -> None:
        """The library reaches the whole tenant, and recalls from one pool all the same."""
        pool = [other for other in self._grounds.targets if target.shares_pool(other)]
        for name, shown in library(target.tenant, target.session, QUESTION):
            read = Read(
                door=_LIBRARY,
                name=f"{name} in {target.name}",
                method="",
                path="",
                allowed=pool,
                expected=[target],
            )
            sightings.add("library", read, AppAnswer(status=_ANSWERED, text=repr(shown)))
