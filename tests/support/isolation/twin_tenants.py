"""Two tenants that hold the same things under the same names, as far as the schema lets ids be the same."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

from cloister.domain.access import ApiKey
from cloister.domain.context import RecallTerms
from cloister.domain.conversation import Message, Session
from cloister.domain.entity import EntityName, same_name
from cloister.domain.entries.entry import EntryScope
from cloister.domain.files.tree import Stored
from cloister.domain.identifiers import (
    EntityId,
    KeyId,
    MemoryId,
    MessageId,
    ObservationId,
    PoolId,
    ProjectId,
    ReceiptId,
    SessionId,
    TenantId,
    message_id,
    new_entity_id,
    new_key_id,
    new_memory_id,
    new_observation_id,
    new_project_id,
    new_session_id,
    new_tenant_id,
)
from cloister.domain.memory import Memory, same_as
from cloister.domain.observation import Observation
from cloister.domain.receipts.receipt import Receipt, ReceiptItem
from cloister.domain.scope import MemberVisibility, PoolKey, Reach, Scope
from cloister.domain.truth.revision import state_of
from cloister.index import terms
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.archived_rows import ArchivedRows
from cloister.storage.stores.branches.branches import BranchStore
from cloister.storage.stores.branches.withdrawals import SettledStore, WithdrawalStore
from cloister.storage.stores.certificates.readers import ReaderStore
from cloister.storage.stores.certificates.removals import RemovalStore, TenantRemovalStore
from cloister.storage.stores.changes import ChangeStore
from cloister.storage.stores.copying.carried_rows import CarriedRows
from cloister.storage.stores.entities import EntityStore, StoredEntities
from cloister.storage.stores.entity_groups import EntityGroupStore
from cloister.storage.stores.entity_relations import RelationStore
from cloister.storage.stores.entries.archived_entries import ArchivedEntries
from cloister.storage.stores.entries.entries import EntryStore, NewEntry, TenantEntryStore
from cloister.storage.stores.erasure import ProjectErasureStore, RetentionStore, TenantErasureStore, UserErasureStore
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.files.archived_files import ArchivedFiles
from cloister.storage.stores.files.project_trees import ProjectTrees
from cloister.storage.stores.files.trees import FileStore
from cloister.storage.stores.filters import FilterStore
from cloister.storage.stores.idempotency import FirstAnswer, IdempotencyStore
from cloister.storage.stores.imported_rows import ImportedRows
from cloister.storage.stores.indexing.derived_index_rows import EntityIndexStore, MemoryIndexStore
from cloister.storage.stores.indexing.index_rows import IndexStore
from cloister.storage.stores.indexing.vectors import PoolVectors, VectorStore
from cloister.storage.stores.integrity.text_rows import TextRowStore
from cloister.storage.stores.items import ItemRow, ItemStore, ResponseRow, ResponseStore
from cloister.storage.stores.keys import ApiKeyStore, SignInStore, StoredSignIn
from cloister.storage.stores.listing.activity import ActivityStore
from cloister.storage.stores.listing.listed_memories import ListedMemoryStore
from cloister.storage.stores.memories import MemoryStore, ProfileStore, StoredMemories
from cloister.storage.stores.messages import Indexed, MessageStore
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.pools import PoolStore, StoredPool
from cloister.storage.stores.receipts.exclusions import ExclusionStore
from cloister.storage.stores.receipts.receipts import ReceiptStore
from cloister.storage.stores.receipts.templates import TemplateStore
from cloister.storage.stores.revisions import RevisionStore
from cloister.storage.stores.sessions import LockedSession, NewSession, SessionStore
from cloister.storage.stores.supersession import ReplacementStore, SupersessionStore
from cloister.storage.stores.tenants import ProjectStore, TenantStore
from cloister.storage.stores.turns import TurnStore
from cloister.storage.stores.usage import UsageStore
from support.databases.engines import Engine

STORES = (
    TenantStore,
    ProjectStore,
    SessionStore,
    MessageStore,
    PoolStore,
    StoredPool,
    IdempotencyStore,
    IndexStore,
    ApiKeyStore,
    UsageStore,
    ReceiptStore,
    TemplateStore,
    ActivityStore,
    ListedMemoryStore,
    ExclusionStore,
    MemoryStore,
    StoredMemories,
    ProfileStore,
    SupersessionStore,
    ReplacementStore,
    RevisionStore,
    EntityStore,
    StoredEntities,
    EntityGroupStore,
    RelationStore,
    ObservationStore,
    ExtractionStore,
    BranchStore,
    WithdrawalStore,
    SettledStore,
    ChangeStore,
    TurnStore,
    MemoryIndexStore,
    EntityIndexStore,
    UserErasureStore,
    ProjectErasureStore,
    TenantErasureStore,
    RetentionStore,
    VectorStore,
    PoolVectors,
    FilterStore,
    ArchivedRows,
    ImportedRows,
    CarriedRows,
    ItemStore,
    ResponseStore,
    FileStore,
    ProjectTrees,
    ArchivedFiles,
    ArchivedEntries,
    EntryStore,
    TenantEntryStore,
    ReaderStore,
    RemovalStore,
    TenantRemovalStore,
    TextRowStore,
    SignInStore,
)
MOMENT = 1_700_000_000_000_000
ITEM = "fc_0000000000000007"
GENERATION = 1
CLAIM = 77
MODEL = 1
VECTOR = b"\x00\x3c\x00\x00"
# Both tenants have a project of this very id.
GARDEN = ProjectId(101)
WORDS = "The roses need water."
SUBJECT = "garden"
INDEXED = Indexed(generation=GENERATION, terms=terms.encode(WORDS), vector=bytes(512), tokens=5, indexed_at=MOMENT)


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A session with two messages, and where it is: `first` in the garden, `second` in the cellar, `third` in no project. From its
    first message came a memory, a note and, in a project, an entity; before it was where it is, it was in no project."""

    name: str
    project: ProjectId | None
    visibility: MemberVisibility
    pool: PoolId
    session: SessionId
    memory: MemoryId
    entity: EntityId
    observation: ObservationId

    @property
    def member(self) -> str | None:
        """Whose part of a private project it is."""
        return "ann" if self.visibility == "private" else None

    @property
    def messages(self) -> list[MessageId]:
        return [message_id(self.session, 1), message_id(self.session, 2)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Home:
    tenant: TenantId
    cellar: ProjectId
    key: KeyId
    places: tuple[Place, ...]

    @property
    def reach(self) -> Reach:
        return Reach(tenant=self.tenant)

    @property
    def first(self) -> Place:
        return self.places[0]

    @property
    def second(self) -> Place:
        return self.places[1]

    def scope(self, place: Place) -> Scope:
        return Scope(tenant=self.tenant, project=place.project, user="ann", visibility=place.visibility)

    def tail(self, place: Place) -> LockedSession:
        session = Session(
            id=place.session,
            tenant=self.tenant,
            external_id=place.name,
            project=place.project,
            pool=place.pool,
            user_id="ann",
            title=None,
            tags=(),
            metadata={},
            message_count=2,
            created_at=MOMENT,
            updated_at=MOMENT,
        )
        return LockedSession(session=session, next_sequence=3, episode=place.messages[1])

    @property
    def own_ids(self) -> set[int]:
        """Every id that no other tenant has."""
        found = {int(self.tenant), int(self.cellar), int(self.key)}
        for place in self.places:
            found |= {int(place.pool), int(place.session), *map(int, place.messages)}
            found |= {int(place.memory), int(place.entity), int(place.observation), first_entry(place.session)}
        return found


Act = Callable[[Transaction, Home], Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """`act` uses the ids of the home it is given. `nothing` is what it answers to foreign ones: a value, or an error it raises.

    Without `nothing` the method takes no id that could be foreign, or one that may be the same in two tenants: then its answer
    is only searched for what is not ours.
    """

    act: Act
    nothing: Any = ...
    writes: bool = False

    @property
    def refusal(self) -> type[Exception] | None:
        return cast(type[Exception], self.nothing) if isinstance(self.nothing, type) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """Two new tenants among those of all the tests before."""

    engine: Engine
    database: Database
    ours: Home
    theirs: Home


def pools(transaction: Transaction) -> PoolStore:
    return PoolStore(transaction, GENERATION)


def public_methods(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}


def methods_of_stores() -> set[str]:
    return {f"{store.__name__}.{method}" for store in STORES for method in public_methods(store)}


def foreign(answer: object, home: Home) -> set[int]:
    """Ids of another home that an answer shows anywhere."""
    return {int(number) for number in re.findall(r"\d{6,}", repr(answer))} & home.own_ids


def settle_home(database: Database) -> Home:
    tenant, cellar = new_tenant_id(), new_project_id()
    database.maintenance.write("insert_embedding_model", name="model", now=MOMENT)
    return database.write(Reach(tenant=tenant), lambda transaction: _settle(transaction, tenant, cellar))


def _settle(transaction: Transaction, tenant: TenantId, cellar: ProjectId) -> Home:
    TenantStore(transaction).add("Household", MOMENT)
    projects = ProjectStore(transaction)
    projects.add(GARDEN, name="Garden", is_default=True, member_visibility="shared", created_at=MOMENT)
    projects.add(cellar, name="Cellar", is_default=False, member_visibility="private", created_at=MOMENT)
    places = (
        _place(transaction, "first", GARDEN, "shared"),
        _place(transaction, "second", cellar, "private"),
        _place(transaction, "third", None, "shared"),
    )
    key = new_key(tenant, cellar)
    assert ApiKeyStore(transaction).add(key, bytes(32))
    assert ApiKeyStore(transaction).add(replace(new_key(tenant, None), user="ann"), bytes(32))
    _keep_answers(transaction, places[0], key.id)
    IndexStore(transaction, GENERATION).note_removal(places[0].session)
    SignInStore(transaction).add(
        "browser", sign_in_digest(key.id), StoredSignIn(key.id, MOMENT + 1), now=MOMENT, most=1
    )
    return Home(tenant=tenant, cellar=cellar, key=key.id, places=places)


def sign_in_digest(key: KeyId) -> bytes:
    return b"%032d" % key


def _keep_answers(transaction: Transaction, place: Place, key: KeyId) -> None:
    """Two tenants have the same requests, about a session and a key of their own."""
    store = IdempotencyStore(transaction)
    store.find(b"once", MOMENT)
    first, last = place.messages[0], place.messages[-1]
    for request, answer in {
        b"once": FirstAnswer("messages", f"[{first}]", session=place.session, first_id=first, last_id=last),
        b"items": FirstAnswer("items", f'["{ITEM}"]', session=place.session, first_id=first, last_id=last),
        b"memory": FirstAnswer("memories", f"[{place.memory}]", session=place.session),
        b"key": FirstAnswer("keys", f"[{key}]", first_id=key, last_id=key),
    }.items():
        assert store.keep(request, b"fingerprint", answer, expires_at=MOMENT + 1)


def _place(transaction: Transaction, name: str, project: ProjectId | None, visibility: MemberVisibility) -> Place:
    pools = PoolStore(transaction, GENERATION)
    pool = pools.ensure(PoolKey(project=project, user=None if project == GARDEN else "ann"))
    session = new_session_id()
    assert SessionStore(transaction).add(new_session(session, name, project, pool, pools.raise_version(pool)))
    asked, reply = new_message(session, 1), new_message(session, 2)._replace(recalled_pool=pool)
    MessageStore(transaction).append([(asked, INDEXED), (reply, INDEXED)])
    tail = SessionStore(transaction).lock(name)
    SessionStore(transaction).note_appends([(tail.grown(2, message_id(session, 2), leaf=reply.id), 1)], MOMENT)
    SessionStore(transaction).make_due(session, MOMENT)
    place = Place(
        name=name,
        project=project,
        visibility=visibility,
        pool=pool,
        session=session,
        memory=new_memory_id(),
        entity=new_entity_id(),
        observation=new_observation_id(),
    )
    _derive(transaction, place)
    VectorStore(transaction, MODEL).add({session: [(asked.id, VECTOR)]})
    _add_items(transaction, place)
    FileStore(transaction, session, place.pool).apply([Stored(("notes.txt",), f"Of {name}.")], MOMENT)
    entry = new_entry(first_entry(session), "roses")
    EntryStore(transaction, EntryScope(project=project, user="ann"), MOMENT).put([entry])
    return place


def first_item(session: SessionId) -> int:
    """The id of an item of a session, which no other session has."""
    return session << 21 | 1_000_000


def first_response(session: SessionId) -> int:
    """The id of a response of a session, which no other session has."""
    return session << 21 | 2_000_000


def first_receipt(session: SessionId) -> ReceiptId:
    """The id of a receipt of a session, which no other session has."""
    return ReceiptId(session << 21 | 4_000_000)


def new_receipt(place: "Place", question: str | None = "roses?") -> Receipt:
    """A receipt of a context that was given a message, a memory and an observation of the place."""
    return Receipt(
        kind="context",
        created_at=MOMENT,
        terms=RecallTerms(
            pool=place.pool,
            version=1,
            project=place.project,
            user=place.member,
            asked_at=MOMENT,
            floor=0.2,
            question=question,
        ),
        items=(
            ReceiptItem("message", place.messages[0], "match", 1.5, 0.9),
            ReceiptItem("memory", place.memory, "pinned"),
        ),
        left_out={"limit": 1},
        tokens=9,
    )


def _keep_template(transaction: Transaction, place: "Place") -> int | None:
    return TemplateStore(transaction).keep(place.project, "digest", f"Answer like {place.name}.")


def first_entry(session: SessionId) -> int:
    """The id of an entry of the user of a session, which no other session has."""
    return session << 21 | 3_000_000


def new_entry(entry: int, key: str) -> NewEntry:
    """An entry that expires, with a vector."""
    return NewEntry(entry, ("notes", "ann"), key, '{"text": "roses"}', 5, ("$",), "model", bytes(8))


def _add_items(transaction: Transaction, place: Place) -> None:
    """What the first message's item has besides its text, a tool call after the second, and a response."""
    asked, reply = place.messages
    item, response = first_item(place.session), first_response(place.session)
    ItemStore(transaction, place.session, place.pool).add(
        [
            ItemRow(asked, 0, asked, None, place.pool, '{"item": {"role": "user", "content": null}, "lengths": [21]}'),
            ItemRow(reply, 1, item, response, place.pool, '{"type": "function_call", "call_id": "c"}'),
        ]
    )
    row = ResponseRow(session=place.name, question=asked, reply=reply, owns_messages=False, body="{}")
    ResponseStore(transaction).add(response, place.session, row)
    searched = replace(new_receipt(place), kind="search")
    ReceiptStore(transaction).add(ReceiptId(first_receipt(place.session) ^ 1), searched, session=None)
    replied, template = replace(new_receipt(place), kind="reply"), _keep_template(transaction, place)
    ReceiptStore(transaction).add(
        ReceiptId(reply), replied, session=place.session, question=asked, reply=reply, template=template
    )
    ExclusionStore(transaction, place.session).add("message", asked, MOMENT)
    ReceiptStore(transaction).add(
        first_receipt(place.session),
        new_receipt(place),
        session=place.session,
        question=asked,
        reply=reply,
        expires_at=MOMENT + 1_000,
    )


def _derive(transaction: Transaction, place: Place) -> None:
    source = place.messages[0]
    assert MemoryStore(transaction).add(new_memory(place.memory, place.session, source), same_as(WORDS), INDEXED)
    MemoryStore(transaction).count(place.session, 1)
    ReplacementStore(transaction).add([(place.memory, place.memory)])
    revised = state_of(new_memory(place.memory, place.session))
    RevisionStore(transaction, place.memory).add("correct", revised, by=None, at=MOMENT, replaced=same_as("Tulips."))
    if place.project is not None:
        entities = EntityStore(transaction)
        assert entities.add(new_entity(place.entity, place.project, place.member), same_name("Rosa"), INDEXED)
        entities.mention(place.entity, place.session, [source], "needs water", MOMENT)
        RelationStore(transaction).add(
            place.entity, "knows", place.entity, session=place.session, messages=[source], created_at=MOMENT
        )
        EntityGroupStore(transaction).note_change(place.entity, None, "delete", [[place.entity]], now=MOMENT)
        entities.note_change(place.project)
    ObservationStore(transaction).add(new_observation(place.observation, place.session, source), source, source)
    extraction = ExtractionStore(transaction)
    extraction.note_past(place.session, source, None)
    assert extraction.claim(place.session, CLAIM, now=MOMENT, until=MOMENT + 1)
    extraction.finish(place.session, CLAIM, checked=0, observed=source, threshold=1, now=MOMENT)


def new_memory(memory: MemoryId, session: SessionId, *sources: MessageId, content: str = WORDS) -> Memory:
    return Memory(
        id=memory,
        session=session,
        content=content,
        importance=0.5,
        sources=sources,
        created_at=MOMENT,
        valid_from=MOMENT,
        source="extracted",
        subject=SUBJECT,
        categories=("decision",),
    )


def new_entity(entity: EntityId, project: ProjectId, user: str | None, name: str = "Rosa") -> EntityName:
    return EntityName(id=entity, project=project, user=user, name=name, type="person", created_at=MOMENT)


def new_observation(observation: ObservationId, session: SessionId, source: MessageId) -> Observation:
    return Observation(
        id=observation, session=session, content=WORDS, sources=(source,), said_at=MOMENT, created_at=MOMENT
    )


def new_key(tenant: TenantId, project: ProjectId | None) -> ApiKey:
    return ApiKey(
        id=new_key_id(),
        tenant=tenant,
        name="Gardener",
        project=project,
        confined=False,
        permissions=("read",),
        created_at=MOMENT,
    )


def new_session(session: SessionId, name: str, project: ProjectId | None, pool: PoolId, version: int = 1) -> NewSession:
    return NewSession(
        id=session,
        external_id=name,
        project=project,
        pool=pool,
        user_id="ann",
        title="Roses",
        tags=("red",),
        metadata="{}",
        version=version,
        created_at=MOMENT,
    )


def new_message(session: SessionId, sequence: int, content: str = WORDS) -> Message:
    identity = message_id(session, sequence)
    return Message(
        id=identity,
        session=session,
        role="user" if sequence % 2 else "assistant",
        content=content,
        author="Ann" if sequence % 2 else None,
        status="completed",
        episode=message_id(session, sequence - 1 if sequence % 2 == 0 else sequence),
        is_memory_checked=False,
        tokens=5,
        metadata={},
        created_at=MOMENT + sequence,
    )
