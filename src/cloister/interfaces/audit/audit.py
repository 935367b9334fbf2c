"""The audit (PRF-3): makes throw-away targets and keys, asks for their markers through every door, and removes everything again."""

import secrets
import time
from collections.abc import Callable, Sequence
from typing import Final

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.errors import CloisterError
from cloister.domain.identifiers import TenantId
from cloister.domain.scope import Reach
from cloister.interfaces.audit.app_client import AppAnswer, AppClient
from cloister.interfaces.audit.reads import EVENTS, MCP, Read, chats, lists, reads_of_target
from cloister.interfaces.audit.report import Audit, NotAsked, Sightings
from cloister.interfaces.audit.targets import QUESTION, Grounds, Reader, Target
from cloister.interfaces.mcp.extra import HOW_TO_INSTALL, is_installed

Progress = Callable[[int, int], None]
LibraryReads = Callable[[TenantId, str, str], Sequence[tuple[str, object]]]
"""Recalls for a session of a tenant what fits a question, through the library: the names of its methods, and what they return."""
_REFUSED: Final = 400
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
        except BaseException as error:
            for what in self._grounds.clean_up():
                error.add_note(f"The audit could not remove {what}.")
            raise
        return sightings.report(self._grounds.clean_up(), max(1, len(self._grounds.tenants)))

    def _ask_everything(self) -> Sightings:
        targets, readers = self._grounds.targets, self._grounds.readers
        sightings = Sightings(targets=targets)
        # Replies quote what was recalled for them, and are stored: they are asked for last.
        asked = [(reader, read) for reader in readers for read in self._reads(reader)]
        asked += [(reader, read) for reader in readers for read in self._chats(reader)]
        if self._library is None:
            reason = "It works on the data itself: run `cloister audit` where the data is."
            sightings.not_asked.append(NotAsked(door=_LIBRARY, reason=reason))
        if not is_installed():
            sightings.not_asked.append(NotAsked(door=MCP, reason=HOW_TO_INSTALL))
            asked = [(reader, read) for reader, read in asked if read.door != MCP]
        if any(target.entity is None and target.scope.project is not None for target in targets):
            reason = "A model extracts entities here; it was not asked to."
            sightings.not_asked.append(NotAsked(door="entities", reason=reason))
        for done, (reader, read) in enumerate(asked):
            self._progress(done, len(asked))
            answer = self._answer(reader, read)
            expected = read.expected if answer.status < _REFUSED or read.expected else ()
            sightings.add(
                reader.name, read.door, read.name, answer.text, allowed=read.allowed, expected=expected, sent=read.sent
            )
        self._ask_events(sightings)
        for target in targets:
            self._ask_index(sightings, target)
            if self._library is not None:
                self._ask_library(sightings, target, self._library)
        self._progress(len(asked), len(asked))
        return sightings

    def _reads(self, reader: Reader) -> list[Read]:
        """Of another tenant one target is asked for: the others would be refused by the same check."""
        targets = self._grounds.targets
        inside = [target for target in targets if target.tenant == reader.reach.tenant]
        outside = [target for target in targets if target.tenant != reader.reach.tenant][-1:]
        found = [read for target in (*inside, *outside) for read in reads_of_target(reader, target, targets)]
        return [*found, *lists(reader, targets)]

    def _chats(self, reader: Reader) -> list[Read]:
        """Questions that are answered with a reply. A model is asked in two targets only, since it costs money."""
        targets = self._grounds.targets
        inside = [target for target in targets if target.tenant == reader.reach.tenant]
        if reader.is_admin:
            is_free = self._services.chat.model.name == "recall-only" and reader.reach.tenant == targets[0].tenant
            chosen = inside if is_free else inside[:2]
        else:
            chosen = [target for target in inside if not reader.reaches(target)][:1] if reader.may_write else []
        return [read for target in chosen for read in chats(reader, target, targets)]

    def _answer(self, reader: Reader, read: Read) -> AppAnswer:
        """Waits where the server limits how many requests a key may make."""
        for _ in range(_MOST_RETRIES):
            answer = self._client.ask(read.method, read.path, reader.key, read.body, read.headers)
            if answer.status != _TOO_MANY:
                return answer
            time.sleep(0.2)
        raise CloisterError("The server refuses the requests of the audit with 429: raise its limits, or try later.")

    def _ask_events(self, sightings: Sightings) -> None:
        """Every reader follows the events while something is said in every target."""
        targets, readers = self._grounds.targets, self._grounds.readers
        streams = [(reader, self._client.open_stream("/v1/events", reader.key)) for reader in readers]
        for target in targets:
            once_more = Draft(role="user", content=f"Once more: {target.marker}.")
            self._services.record.messages(Reach(tenant=target.tenant), target.session, [once_more])
        deadline = time.monotonic() + _EVENT_SECONDS
        for reader, stream in streams:
            own = [target for target in targets if reader.reaches(target)]
            while time.monotonic() < deadline and any(
                target.session.encode() not in b"".join(stream.sent) for target in own
            ):
                time.sleep(0.01)
        for reader, stream in streams:
            own = [target for target in targets if reader.reaches(target)]
            shown = self._client.close_stream(stream).text
            sightings.add(reader.name, EVENTS, "events", shown, allowed=own, expected=own)

    def _ask_index(self, sightings: Sightings, target: Target) -> None:
        """What the index names before storage is asked, which would hide what is not of the pool."""
        targets = self._grounds.targets
        named = self._services.index_probe.named(Reach(tenant=target.tenant), target.scope, QUESTION, _LARGEST_POOL)
        if named is None:
            reason = f"A pool has more than {_LARGEST_POOL:,} messages."
            sightings.not_asked.append(NotAsked(door=_INDEX, reason=reason))
            return
        ids = set(named)
        seen = [other for other in targets if not ids.isdisjoint(other.messages)]
        pool = [other for other in targets if target.shares_pool(other)]
        sightings.note("index", _INDEX, f"messages of {target.name}", seen, allowed=pool, expected=[target])

    def _ask_library(self, sightings: Sightings, target: Target, library: LibraryReads) -> None:
        """The library reaches the whole tenant, and recalls from one pool all the same."""
        pool = [other for other in self._grounds.targets if target.shares_pool(other)]
        for name, shown in library(target.tenant, target.session, QUESTION):
            read = f"{name} in {target.name}"
            sightings.add("library", _LIBRARY, read, repr(shown), allowed=pool, expected=[target])
