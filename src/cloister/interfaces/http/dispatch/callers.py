"""Who is calling: a route says what it needs, and no handler runs, nor is a body looked at, before its caller has shown it.

The order is fixed: credential, rate, permission, project header. What comes later in the order is not told to who fails earlier.
"""

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, TypeVar, cast

from fastapi import Depends, Request

from cloister.bootstrap import Services
from cloister.domain.access import ApiKey, Permission, resolve_project
from cloister.domain.errors import Forbidden, InvalidProjectId, Unauthenticated
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import Reach
from cloister.interfaces.http.console.cookies import refuse_other_origins, token_of
from cloister.interfaces.http.console.sign_ins import SignIns
from cloister.interfaces.http.dispatch.limits import ConcurrencyLimit, RateLimit
from cloister.interfaces.http.resources.bodies import Nothing

Need = Permission | Literal["operator", "nothing"]
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
Credential = tuple[Literal["key", "cookie"], str]
"""As it came; the same text as a key and as a cookie would be two."""
Checked = dict[Credential, ApiKey]
_NEED = "cloister_need"


def needs(need: Need) -> Callable[[Endpoint], Endpoint]:
    """What a route asks of its caller. A route that does not say cannot be added."""

    def marked(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _NEED, need)
        return endpoint

    return marked


def need_of(endpoint: Callable[..., Any]) -> Need:
    need = getattr(endpoint, _NEED, None)
    if need is None:
        raise TypeError(f"{endpoint.__qualname__} does not say what it needs of its caller")
    return cast(Need, need)


@dataclass(frozen=True, kw_only=True, slots=True)
class CallerInfo:
    """An admitted caller. `text` is the credential as it came; it leaves this object only to derive another key from it."""

    services: Services
    key: ApiKey
    project_header: str | None
    text: str = field(repr=False)
    check: Callable[[], ApiKey] = field(repr=False, compare=False)
    """Whether that credential still stands: the key as it is now, or `Unauthenticated`."""

    @property
    def reach(self) -> Reach:
        return self.key.reach

    def project(self, *, required: bool) -> ProjectId:
        """ORG-3."""
        organise = self.services.projects
        return resolve_project(
            self.project_header,
            pinned=self.key.project,
            confined=self.key.confined,
            required=required,
            default=lambda: organise.default_project(self.reach),
            owns=lambda project: organise.owns(self.reach, project),
        )

    def narrowed_reach(self) -> Reach:
        """What the caller may reach, inside the project that the header or the key names, where one does."""
        return replace(self.reach, confined_to=self.chosen_project())

    def chosen_project(self) -> ProjectId | None:
        """The project that the header or the key names, or none where neither does."""
        if self.project_header is None and self.key.project is None:
            return None
        return self.project(required=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """What is needed to admit callers."""

    services: Services
    rate_limit: RateLimit
    under_way: ConcurrencyLimit
    sign_ins: SignIns
    operator_key: str | None

    def admit(self, request: Request, need: Permission, checked: Checked | None = None) -> CallerInfo:
        """`checked` are the credentials that were checked since this request arrived; what is checked here is added to them."""
        credential, check = self._credential(request)
        key = None if checked is None else checked.get(credential)
        if key is None:
            key = check()
            if checked is not None:
                checked[credential] = key
        self.rate_limit.count(key.id)
        key.require(need)
        caller = CallerInfo(
            services=self.services, key=key, project_header=_project_header(request), text=credential[1], check=check
        )
        if caller.project_header is not None:
            caller.project(required=True)
        return caller

    def _credential(self, request: Request) -> tuple[Credential, Callable[[], ApiKey]]:
        """A key, or else the cookie of a browser that was signed in with one, and how it is checked."""
        access = self.services.api_keys
        token = None if "authorization" in request.headers else token_of(request)
        if token is None:
            text = _bearer(request)
            return ("key", text), lambda: access.authenticate(text)
        refuse_other_origins(request)
        self.sign_ins.extend(token)

        def check() -> ApiKey:
            principal = self.sign_ins.principal(token)
            return access.still_valid(principal.tenant, principal.key)

        return ("cookie", token), check

    def admit_operator(self, request: Request) -> None:
        """A tenant's key is told that it is the wrong one; what is no key at all is told nothing."""
        if self.operator_key is None:
            raise Forbidden("There is no operator here: the server was started without CLOISTER_OPERATOR_KEY.")
        text = _bearer(request)
        if hmac.compare_digest(text.encode(), self.operator_key.encode()):
            return
        self.rate_limit.count(self.services.api_keys.authenticate(text).id)
        raise Forbidden("This needs the operator's key, and the one that came is a tenant's.")


def caller_of(request: Request) -> CallerInfo:
    """The admitted caller of a request, as a dependency of a handler."""
    return request.state.caller


def services_of(request: Request) -> Services:
    """The services of the app, as a dependency of a handler."""
    return cast(Gate, request.app.state.gate).services


def read_no_body() -> Nothing:
    """Marks a handler that needs no body; `arguments.py` reads what came, and refuses unknown fields."""
    return Nothing()


Caller = Annotated[CallerInfo, Depends(caller_of)]
AllServices = Annotated[Services, Depends(services_of)]
NoBody = Annotated[Nothing, Depends(read_no_body)]
"""No body is described, and still unknown fields are refused: a caller who sends some believes that they do something."""


def _bearer(request: Request) -> str:
    """A header that comes twice would mean one thing here and another to whoever stands before us."""
    given = request.headers.getlist("authorization")
    scheme, _, key = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    if scheme.lower() != "bearer" or not key.strip():
        raise Unauthenticated
    return key.strip()


def _project_header(request: Request) -> str | None:
    """Once only, as the credential."""
    given = request.headers.getlist("x-project-id")
    if len(given) > 1:
        raise InvalidProjectId(", ".join(given))
    return given[0] if given else None
