"""Authentication and authorisation: every route declares what it needs, and no handler runs and no body is parsed before that.

The checks have a fixed order: credential, rate limit, permission, user header, project header. Who fails one learns nothing of the
next.
"""

import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, TypeVar, cast

from fastapi import Depends, Request

from cloister.bootstrap import Services
from cloister.domain.access import ApiKey, Permission, refuse_no_project, resolve_project
from cloister.domain.errors import Forbidden, InvalidProjectId, InvalidRequest, Unauthenticated
from cloister.domain.identifiers import NO_PROJECT, ProjectId
from cloister.domain.scope import Reach
from cloister.domain.text import checked_name
from cloister.interfaces.http.console.cookies import refuse_other_origins, token_of
from cloister.interfaces.http.dispatch.limits import ConcurrencyLimit, RateLimit
from cloister.interfaces.http.resources.bodies import Nothing

Need = Permission | Literal["operator", "nothing"]
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
Credential = tuple[Literal["key", "cookie"], str]
"""A credential as it was sent; the same text as a key and as a cookie is two credentials."""
Checked = dict[Credential, ApiKey]
_NEED = "cloister_need"
_NOT_A_USERS = "X-User-ID narrows the request to one user, and this is not a user's: leave the header out."
API_KEY = b"x-api-key"
_AUTHORIZATION = b"authorization"


def needs(need: Need) -> Callable[[Endpoint], Endpoint]:
    """Declare what a route needs of its caller. A handler without this cannot become a route."""

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
    """An admitted caller. `text` is the credential as it was sent; it is used only to derive other keys from it."""

    services: Services
    key: ApiKey
    project_header: str | None
    text: str = field(repr=False)
    check: Callable[[], ApiKey] = field(repr=False, compare=False)
    """Check the credential again: returns the key as it is now, or raises `Unauthenticated`."""

    @property
    def reach(self) -> Reach:
        return self.key.reach

    def project(self, *, required: bool) -> ProjectId:
        """The project of the request: that of the header, else of the key, else the default one if none is `required` (ORG-3)."""
        projects = self.services.projects
        return resolve_project(
            self.project_header,
            pinned=self.key.project,
            confined=self.key.confined,
            required=required,
            default=lambda: projects.default_project(self.reach),
            owns=lambda project: projects.owns(self.reach, project),
        )

    def session_project(self) -> ProjectId | None:
        """The project of a new session in an interface whose bodies cannot say `null`: as `project`, or none if the header says
        `none`, which a confined key may not."""
        if self.project_header == NO_PROJECT:
            refuse_no_project(confined=self.key.confined)
            return None
        return self.project(required=False)

    def check_project(self) -> None:
        """Raise if the project that the header or the key names is not there any more, or not the key's."""
        if self.project_header is not None or self.key.project is not None:
            self.session_project()

    def narrowed_reach(self) -> Reach:
        """The reach of the caller, confined to the project that the header or the key names, if one does."""
        return replace(self.reach, confined_to=self.chosen_project())

    def chosen_project(self) -> ProjectId | None:
        """The project that the header or the key names, or none if neither does."""
        if self.project_header is None and self.key.project is None:
            return None
        return self.project(required=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """Admits callers: checks their credentials and counts their requests."""

    services: Services
    rate_limit: RateLimit
    concurrency_limit: ConcurrencyLimit
    operator_key: str | None

    def admit(
        self, request: Request, need: Permission, checked: Checked | None = None, *, allows_no_project: bool = False
    ) -> CallerInfo:
        """Admit a caller, or raise. `checked` caches credentials that were checked after this request had arrived; one that is
        checked here is added. `allows_no_project`: the project header may be `none`."""
        credential, check = self._credential(request)
        key = None if checked is None else checked.get(credential)
        if key is None:
            key = check()
            if checked is not None:
                checked[credential] = key
        self.rate_limit.count(key.id)
        key.require(need)
        user = _user_header(request)
        if user is not None and need == "admin":
            raise Forbidden(_NOT_A_USERS)
        caller = CallerInfo(
            services=self.services,
            key=narrowed_to(user, key),
            project_header=_project_header(request),
            text=credential[1],
            check=check if user is None else lambda: narrowed_to(user, check()),
        )
        if caller.project_header == NO_PROJECT and allows_no_project:
            caller.check_project()
        elif caller.project_header is not None:
            caller.project(required=True)
        return caller

    def _credential(self, request: Request) -> tuple[Credential, Callable[[], ApiKey]]:
        """The credential of a request, a key or else the cookie of a signed-in browser, and how to check it."""
        access = self.services.api_keys
        token = None if "authorization" in request.headers else token_of(request)
        if token is None:
            text = _bearer(request)
            return ("key", text), lambda: access.authenticate(text)
        refuse_other_origins(request)

        def check() -> ApiKey:
            principal = self.services.sign_ins.principal(token)
            return access.still_valid(principal.tenant, principal.key)

        return ("cookie", token), check

    def admit_operator(self, request: Request) -> None:
        """Admit the operator, or raise: `Forbidden` for a valid key of a tenant, `Unauthenticated` for anything else."""
        if self.operator_key is None:
            raise Forbidden("There is no operator here: the server was started without CLOISTER_OPERATOR_KEY.")
        text = _bearer(request)
        if hmac.compare_digest(text.encode(), self.operator_key.encode()):
            if _user_header(request) is not None:
                raise Forbidden(_NOT_A_USERS)
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
    """The bearer token. A repeated header is refused, since a proxy before this server may have read the other one."""
    given = request.headers.getlist("authorization")
    scheme, _, key = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    if scheme.lower() != "bearer" or not key.strip():
        raise Unauthenticated
    return key.strip()


def with_bearer(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of a request with a key in `x-api-key`, as clients of Anthropic and LangGraph send it, as a bearer token. Two
    different keys become two tokens, which are refused: a proxy before this server may have read the other one."""
    given = list(headers)
    tokens = {value.partition(b" ")[2].strip() for name, value in given if name == _AUTHORIZATION}
    keys = {value.strip() for name, value in given if name == API_KEY}
    return [*given, *((_AUTHORIZATION, b"Bearer " + key) for key in sorted(keys - tokens))]


def narrowed_to(user: str | None, key: ApiKey) -> ApiKey:
    """The key as if it were bound to the user that a request names in X-User-ID; such a key is never an admin's (ORG-10)."""
    if user is None:
        return key
    permissions: tuple[Permission, ...] = ("read", "write") if "admin" in key.permissions else key.permissions
    return replace(key, user=key.reach.user_of(user), permissions=permissions)


def single_header(request: Request, name: str) -> str | None:
    """A header that names whose request it is, as it came. It is refused if it is repeated, since a proxy before this server may
    have read the other one."""
    given = request.headers.getlist(name)
    if len(given) > 1:
        raise InvalidRequest(name, "must come once.")
    return given[0] if given else None


def utf8_header(request: Request, name: str) -> str | None:
    """The same in UTF-8."""
    given = single_header(request, name)
    try:
        return None if given is None else given.encode("latin-1").decode()
    except UnicodeDecodeError:
        raise InvalidRequest(name, "must be UTF-8.") from None


def _user_header(request: Request) -> str | None:
    """The user that narrows the request. A comma is refused: a proxy may have joined two headers, which would be a third user."""
    given = utf8_header(request, "X-User-ID")
    if given is not None and "," in given:
        raise InvalidRequest("X-User-ID", "must be one name without a comma: proxies join repeated headers by commas.")
    return None if given is None else checked_name(given, "X-User-ID")


def _project_header(request: Request) -> str | None:
    """The project header, refused if it is repeated, as the credential is."""
    given = request.headers.getlist("x-project-id")
    if len(given) > 1:
        raise InvalidProjectId(", ".join(given))
    return given[0] if given else None
