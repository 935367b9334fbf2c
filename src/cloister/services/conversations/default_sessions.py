"""The session that a connection or a memory tool writes to if it names none: one for each project and user, under a name that
nobody else can guess.

The name is an HMAC with the tenant's secret, which never leaves the database: it is the same in every process and after a restart.
The names of a scope are in an order. The default session is the first of them that is in its scope; one that was moved out is
passed over, and used again when it is back. If none exists, it gets the first name that is free.
"""

import hmac
import json
from dataclasses import dataclass, replace
from typing import NamedTuple

from cloister.domain.errors import Forbidden
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import Reach
from cloister.domain.text import checked_name
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore, TenantStore

_DIGITS = 32
_MOST_NAMES = 64
# A session may have been deleted after another one of its scope had taken its part: so many free names are looked past.
_MOST_FREE = 4


class DefaultSession(NamedTuple):
    """The name of a default session, which need not exist yet, and the scope that it is of."""

    external_id: str
    project: ProjectId | None
    user: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class DefaultSessions:
    """`prefix` is the beginning of all names, and separates the sessions of one interface from those of another."""

    database: Database
    prefix: str

    def of(self, reach: Reach, project: ProjectId | None, user: str | None) -> DefaultSession:
        """The default session of a project, or of none, and of a user that the caller named. Of a bound caller it is that of its
        user. `Forbidden` or `NotFound` for a caller that does not reach the project or the user."""
        if user is not None:
            checked_name(user, "user_id")
        if project is None and reach.confined_to is not None:
            raise Forbidden("This key is confined to its project: it cannot use what is in no project.")
        narrow = replace(reach, user=reach.user_of(user))
        if project is not None:
            with self.database.read(narrow) as transaction:
                ProjectStore(transaction).get(project)
        return DefaultSession(external_id=self.name(narrow, project), project=project, user=narrow.user)

    def name(self, reach: Reach, project: ProjectId | None) -> str:
        """The external id of the default session of a project and of the reach's user, whether it exists or not. Nothing is created
        but the tenant's secret."""
        # A session outside the caller's reach is looked for too: its name is passed over, and nothing else of it is used.
        whole = replace(reach, confined_to=None, user=None)

        def work(transaction: Transaction) -> str | None:
            secret = TenantStore(transaction).secret()
            return None if secret is None else self._first_usable(transaction, secret, project, reach.user)

        with self.database.read(whole) as transaction:
            name = work(transaction)
        if name is None:
            self.database.write(whole, lambda transaction: TenantStore(transaction).ensure_secret())
            with self.database.read(whole) as transaction:
                name = work(transaction)
        assert name is not None
        return name

    def _first_usable(
        self, transaction: Transaction, secret: bytes, project: ProjectId | None, user: str | None
    ) -> str:
        sessions, name = SessionStore(transaction), ""
        free: list[str] = []
        for number in range(_MOST_NAMES):
            name = self._name(secret, project, user, number)
            session = sessions.find(name)
            if session is None:
                free.append(name)
            elif (session.project, session.user_id) == (project, user):
                return name
            if len(free) == _MOST_FREE:
                break
        return free[0] if free else name

    def _name(self, secret: bytes, project: ProjectId | None, user: str | None, number: int) -> str:
        scope = json.dumps([self.prefix, project, user, number]).encode()
        return f"{self.prefix}{hmac.digest(secret, scope, 'sha256').hex()[:_DIGITS]}"
