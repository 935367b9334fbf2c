"""Makes the throw-away targets of an audit and the keys that ask for them, and removes everything again: sessions of two users in a
divided project, in a shared one and in none, in one or two tenants."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.entries.entry import EntryScope
from cloister.domain.entries.operations import put_entry
from cloister.domain.errors import CloisterError, NotFound
from cloister.domain.files.commands import FileCommand
from cloister.domain.identifiers import KeyId, ProjectId, TenantId, format_key_id
from cloister.domain.receipts.receipt import ReceiptItem
from cloister.domain.scope import MemberVisibility, Reach, Scope
from cloister.interfaces.audit.targets import FILE, NAMESPACE, QUESTION, Reader, Target, new_marker
from cloister.services.conversations.sessions import SessionFields
from cloister.services.memories.corrections import MemoryChange
from cloister.services.tenancy.api_keys import KeyFields

_NAME = "cloister audit"
_READ_WRITE = ("read", "write")
_SETTINGS = {
    # Notes of all sessions of a user are shared in a project, and the prompt has a place for everything.
    "observation_scope": "user",
    "system_prompt": "{PROFILE}\n\n{MEMORY.CONTEXT}\n\n{OBSERVATIONS}\n\n{ENTITIES}\n\n{RELEVANT.HISTORY}",
    # What the audit says is not extracted: a model would cost money.
    "pending_message_count": 1_000,
}


@dataclass(kw_only=True, slots=True)
class Grounds:
    """What an audit made, and has to remove: `tenants` are its own, else everything is in the caller's tenant."""

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
        """Remove everything again; returns what could not be removed, with the reason. If that is interrupted, the notes of the
        error name what is left."""
        left: list[str] = []
        removals = list(self._removals())
        for done, (what, remove) in enumerate(removals):
            try:
                with suppress(NotFound):
                    remove()
            except Exception as error:  # noqa: BLE001 - named in the report; the others are removed all the same
                reason = str(error) if isinstance(error, CloisterError) else repr(error)
                left.append(f"{what}: {reason}")
            except BaseException as error:  # raised again: whoever interrupts is told what is left
                for name in (*left, *(name for name, _ in removals[done:])):
                    error.add_note(f"The audit did not remove {name}.")
                raise
        return left

    def _removals(self) -> Iterator[tuple[str, Callable[[], object]]]:
        """What has to be removed, by name, and how: with the tenants of an audit all goes that is in them."""
        services = self.services
        for tenant in self.tenants:
            yield f"tenant ten_{tenant:016x}", partial(services.tenants.erase, tenant)
        if self.tenants:
            return
        for reach, key in self.keys:
            yield format_key_id(key), partial(services.api_keys.revoke, reach, key)
        for reach, user in self.users:
            yield f"user {user}", partial(services.erase_user.erase, reach, user)
        for (tenant, _), project in self.projects.items():
            whole = Reach(tenant=tenant)
            yield f"project proj_{project:016x}", partial(services.projects.delete_project, whole, project)

    def _new_tenant(self, number: int) -> Reach:
        tenant, _ = self.services.projects.create_tenant(f"{_NAME} {self.run} {number}")
        self.tenants.append(tenant)
        return Reach(tenant=tenant)

    def _prepare_tenant(self, reach: Reach, prefix: str, *, is_whole: bool) -> None:
        users = (f"audit-{self.run}-ann", f"audit-{self.run}-bob")
        self.users += [(reach, user) for user in users]
        scopes: list[tuple[str, ProjectId | None, MemberVisibility]] = [("no project", None, "private")]
        visibilities: tuple[tuple[MemberVisibility, str], ...] = (("private", "divided"), ("shared", "shared"))
        for visibility, name in visibilities:
            made = self.services.projects.create_project(reach, f"{_NAME} {self.run} {name}", visibility)
            self.projects[reach.tenant, visibility] = made.id
            self.services.projects.change_project(reach, made.id, settings=_SETTINGS)
            scopes.append((name, made.id, visibility))
        planted: list[Target] = []
        for name, project, visibility in scopes:
            for user in users:
                who = user.rpartition("-")[2]
                scope = Scope(tenant=reach.tenant, project=project, user=user, visibility=visibility)
                planted.append(self._plant(reach, f"{prefix}{name}, {who}", scope))
        self.targets += [self._with_receipt(reach, target, planted) for target in planted]
        self._make_readers(reach, prefix, users, is_whole=is_whole)

    def _plant(self, reach: Reach, name: str, scope: Scope) -> Target:
        services, marker = self.services, new_marker()
        fields = SessionFields(project=scope.project, user_id=scope.user, title=f"Audit {marker}")
        session, _ = services.sessions.create(reach, fields)
        drafts = [
            Draft(role="user", content=f"My neighbour {marker} plays the cello."),
            Draft(role="assistant", content=f"Noted: the marker of the audit is {marker}."),
        ]
        said = services.record.messages(reach, session.external_id, drafts).messages
        added = services.memories.add(reach, session.external_id, [f"The marker of the audit is {marker}."])
        memory = added.memories[0].memory.id
        services.corrections.correct(reach, memory, MemoryChange(given=frozenset({"pinned"}), pinned=True), by=None)
        command = FileCommand(name="create", texts={"path": FILE, "file_text": marker})
        services.files.run(reach, session.external_id, command)
        # The second one is for lists of namespaces, which show no contents.
        stored = [put_entry(labels, "marker", {"text": marker}) for labels in ((NAMESPACE,), (NAMESPACE, marker))]
        services.entries.run(reach, EntryScope(project=scope.project, user=scope.user), stored)
        notes = services.audit_plants.derive(reach, session, said, marker)
        return Target(
            name=name,
            marker=marker,
            session=session.external_id,
            scope=scope,
            messages=tuple(message.id for message in said),
            memory=memory,
            observation=notes.observation,
            entity=notes.entity,
            response=services.audit_plants.respond(reach, session, *said),
        )

    def _with_receipt(self, reach: Reach, target: Target, planted: Sequence[Target]) -> Target:
        """A receipt that names everything of all targets of the tenant: only what is in the pool of this one may be shown."""
        session = self.services.sessions.get(reach, target.session)
        others = [item for other in planted if other is not target for item in _items(other)]
        kept = self.services.audit_plants.keep_receipt(reach, session, QUESTION, target.messages[0], others)
        return replace(target, receipt=kept)

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
                "browser, bound to ann": KeyFields(name=_NAME, user_id=ann),
            }
        for name, fields in wanted.items():
            created = self.services.api_keys.create(reach, fields)
            self.keys.append((reach, created.key.id))
            self.readers.append(
                Reader(
                    name=f"{prefix}{name}",
                    headers={"authorization": f"Bearer {created.text}"},
                    reach=created.key.reach,
                    is_admin="admin" in created.key.permissions,
                    may_write="write" in created.key.permissions,
                    is_browser=name.startswith("browser"),
                )
            )


def _items(target: Target) -> Iterator[ReceiptItem]:
    for message in target.messages:
        yield ReceiptItem("message", message, "match", 0.5, 0.9)
    yield ReceiptItem("memory", target.memory, "pinned", None, 0.9)
    yield ReceiptItem("observation", target.observation, "note")
    if target.entity is not None:
        yield ReceiptItem("entity", target.entity, "match", None, 0.9)
