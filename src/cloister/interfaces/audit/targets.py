"""The throw-away targets of an audit: sessions of two users in a divided project, in a shared one and in none, in one or two
tenants, each with a marker that occurs nowhere else; and the keys that ask. Everything is removed again."""

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.entries.entry import EntryScope
from cloister.domain.entries.operations import put_entry
from cloister.domain.errors import CloisterError, NotFound
from cloister.domain.files.commands import FileCommand
from cloister.domain.identifiers import EntityId, KeyId, MemoryId, MessageId, ProjectId, TenantId, format_key_id
from cloister.domain.scope import MemberVisibility, Reach, Scope
from cloister.services.conversations.sessions import SessionFields
from cloister.services.tenancy.api_keys import KeyFields

QUESTION = "Who plays the cello, and what is the marker of the audit?"
NAMESPACE = ("cloister-audit",)
_LETTERS = "bcdfghklmnprstvz"
_VOWELS = "aeiou"
_NAME = "cloister audit"
_READ_WRITE = ("read", "write")


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A session with its marker. `messages`, `memory` and `entity` are what was stored of it; there is no entity outside a
    project, nor where a model extracts entities."""

    name: str
    marker: str
    session: str
    scope: Scope
    messages: tuple[MessageId, ...]
    memory: MemoryId
    entity: EntityId | None

    @property
    def tenant(self) -> TenantId:
        return self.scope.tenant

    @property
    def user(self) -> str:
        assert self.scope.user is not None
        return self.scope.user

    def shares_pool(self, other: "Target") -> bool:
        return self.tenant == other.tenant and self.scope.pool == other.scope.pool


@dataclass(frozen=True, kw_only=True, slots=True)
class Reader:
    """A key, by the name that the report gives it, with what it reaches. `key` is its text."""

    name: str
    key: str = field(repr=False)
    reach: Reach
    is_admin: bool
    may_write: bool

    def reaches(self, target: Target) -> bool:
        return self.reach.covers(target.scope)


@dataclass(kw_only=True, slots=True)
class Grounds:
    """What an audit made, and has to remove: `tenants` are its own, else everything is in `reach`."""

    services: Services
    run: str
    targets: list[Target] = field(default_factory=list[Target])
    readers: list[Reader] = field(default_factory=list[Reader])
    projects: dict[tuple[TenantId, MemberVisibility], ProjectId] = field(
        default_factory=dict[tuple[TenantId, MemberVisibility], ProjectId]
    )
    tenants: list[TenantId] = field(default_factory=list[TenantId])
    users: list[tuple[Reach, str]] = field(default_factory=list[tuple[Reach, str]])
    keys: list[tuple[Reach, KeyId]] = field(default_factory=list[tuple[Reach, KeyId]])

    def prepare(self, reach: Reach | None) -> None:
        """Make the targets and the keys: in the caller's tenant, or without a reach in two tenants of their own."""
        reaches = [reach] if reach is not None else [self._new_tenant(number) for number in (1, 2)]
        for number, each in enumerate(reaches, 1):
            prefix = "" if len(reaches) == 1 else f"tenant {number}: "
            self._prepare_tenant(each, prefix, is_whole=number == 1)
        self.services.queue.drain()

    def clean_up(self) -> list[str]:
        """Remove everything again; returns what could not be removed, with the reason."""
        left: list[str] = []

        def attempt(what: str, remove: Callable[[], object]) -> None:
            try:
                with suppress(NotFound):
                    remove()
            except CloisterError as error:
                left.append(f"{what}: {error}")

        for tenant in self.tenants:
            attempt(f"tenant ten_{tenant:016x}", lambda tenant=tenant: self.services.tenants.erase(tenant))
        if self.tenants:
            return left
        for reach, key in self.keys:
            attempt(format_key_id(key), lambda reach=reach, key=key: self.services.api_keys.revoke(reach, key))
        for reach, user in self.users:
            attempt(f"user {user}", lambda reach=reach, user=user: self.services.erase_user.erase(reach, user))
        for (tenant, _), project in self.projects.items():
            whole = Reach(tenant=tenant)
            attempt(
                f"project proj_{project:016x}",
                lambda whole=whole, project=project: self.services.projects.delete_project(whole, project),
            )
        return left

    def _new_tenant(self, number: int) -> Reach:
        tenant, _ = self.services.projects.create_tenant(f"{_NAME} {self.run} {number}")
        self.tenants.append(tenant)
        return Reach(tenant=tenant)

    def _prepare_tenant(self, reach: Reach, prefix: str, *, is_whole: bool) -> None:
        users = (f"audit-{self.run}-ann", f"audit-{self.run}-bob")
        self.users += [(reach, user) for user in users]
        targets: list[tuple[str, ProjectId | None, MemberVisibility]] = [("no project", None, "private")]
        for visibility, name in (("private", "divided"), ("shared", "shared")):
            made = self.services.projects.create_project(
                reach, f"{_NAME} {self.run} {name}", "private" if visibility == "private" else "shared"
            )
            self.projects[reach.tenant, made.member_visibility] = made.id
            targets.append((name, made.id, made.member_visibility))
        for name, project, visibility in targets:
            for user in users:
                who = user.rpartition("-")[2]
                scope = Scope(tenant=reach.tenant, project=project, user=user, visibility=visibility)
                self.targets.append(self._plant(reach, f"{prefix}{name}, {who}", scope))
        self._make_readers(reach, prefix, users, is_whole=is_whole)

    def _plant(self, reach: Reach, name: str, scope: Scope) -> Target:
        services, marker = self.services, _new_marker()
        fields = SessionFields(project=scope.project, user_id=scope.user, title=f"Audit {marker}")
        session, _ = services.sessions.create(reach, fields)
        drafts = [
            Draft(role="user", content=f"My neighbour {marker} plays the cello."),
            Draft(role="assistant", content=f"Noted: the marker of the audit is {marker}."),
        ]
        recorded = services.record.messages(reach, session.external_id, drafts)
        added = services.memories.add(reach, session.external_id, [f"The marker of the audit is {marker}."])
        command = FileCommand(name="create", texts={"path": "/memories/audit.txt", "file_text": marker})
        services.files.run(reach, session.external_id, command)
        if scope.project is not None:
            stored = put_entry(NAMESPACE, "marker", {"text": marker})
            services.entries.run(reach, EntryScope(project=scope.project, user=scope.user), [stored])
        return Target(
            name=name,
            marker=marker,
            session=session.external_id,
            scope=scope,
            messages=tuple(message.id for message in recorded.messages),
            memory=added.memories[0].memory.id,
            entity=self._entity(reach, session.external_id, scope, marker),
        )

    def _entity(self, reach: Reach, session: str, scope: Scope, marker: str) -> EntityId | None:
        """Extract the entity by rules; a model is not asked, since it costs money and may find none."""
        if scope.project is None or not self.services.extractor.name.startswith("rules/"):
            return None
        self.services.extraction.extract_now(reach, session)
        user = scope.pool.user
        found = self.services.entities.page(reach, scope.project, user_id=user, limit=200)
        return next((entity.id for entity in found if marker in entity.name), None)

    def _make_readers(self, reach: Reach, prefix: str, users: tuple[str, str], *, is_whole: bool) -> None:
        ann, bob = users
        divided, shared = self.projects[reach.tenant, "private"], self.projects[reach.tenant, "shared"]
        wanted: dict[str, KeyFields] = {
            "admin key": KeyFields(name=_NAME, permissions=(*_READ_WRITE, "admin")),
            "bound to ann": KeyFields(name=_NAME, user_id=ann),
        }
        if is_whole:
            wanted |= {
                "bound to bob": KeyFields(name=_NAME, user_id=bob),
                "confined to divided": KeyFields(name=_NAME, project=divided, confined=True),
                "confined to shared": KeyFields(name=_NAME, project=shared, confined=True),
                "both, divided and ann": KeyFields(name=_NAME, project=divided, confined=True, user_id=ann),
                "read-only": KeyFields(name=_NAME, permissions=("read",)),
            }
        for name, fields in wanted.items():
            created = self.services.api_keys.create(reach, fields)
            self.keys.append((reach, created.key.id))
            self.readers.append(
                Reader(
                    name=f"{prefix}{name}",
                    key=created.text,
                    reach=created.key.reach,
                    is_admin="admin" in created.key.permissions,
                    may_write="write" in created.key.permissions,
                )
            )


def _new_marker() -> str:
    """A word that reads like a name, so that rules take it for one, and that nobody ever said: about 60 random bits."""
    syllables = [secrets.choice(_LETTERS) + secrets.choice(_VOWELS) for _ in range(10)]
    return "Zq" + "".join(syllables)
