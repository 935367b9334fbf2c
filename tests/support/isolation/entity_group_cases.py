"""The stores of entities' names, groups, changes and relations, method by method, as `test_store_isolation` runs them."""

from cloister.domain.entity import same_name
from cloister.domain.errors import NotFound, StorageError
from cloister.domain.identifiers import EntityId, SessionId
from cloister.storage.interface import Transaction
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.entity_groups import EntityGroupStore, TouchedEntities
from cloister.storage.stores.entity_relations import RelationStore
from support.isolation.twin_tenants import GARDEN, MOMENT, Case, Home, new_entity

NOTHING = TouchedEntities(left=(), gone=())


def extracted(home: Home) -> tuple[EntityId, SessionId, int]:
    return home.first.entity, home.first.session, MOMENT


def split(transaction: Transaction, home: Home) -> object:
    return EntityGroupStore(transaction).extractions([home.first.entity], home.first.messages)


ENTITY_GROUP_CASES: dict[str, Case] = {
    "EntityStore.merge": Case(act=lambda t, h: EntityStore(t).merge(h.first.entity, h.second.entity), writes=True),
    "EntityGroupStore.name": Case(act=lambda t, h: EntityGroupStore(t).name(h.first.entity), nothing=NotFound),
    "EntityGroupStore.names": Case(
        act=lambda t, h: EntityGroupStore(t).names([h.first.entity, h.second.entity]), nothing=[]
    ),
    "EntityGroupStore.of_entities": Case(
        act=lambda t, h: EntityGroupStore(t).of_entities([h.first.entity, h.second.entity]), nothing=[]
    ),
    "EntityGroupStore.lock": Case(
        act=lambda t, h: EntityGroupStore(t).lock([h.second.entity]), nothing=[], writes=True
    ),
    "EntityGroupStore.locked_names": Case(
        act=lambda t, h: EntityGroupStore(t).locked_names([h.second.entity]), nothing=[], writes=True
    ),
    "EntityGroupStore.set_group": Case(
        act=lambda t, h: EntityGroupStore(t).set_group(h.first.entity, h.second.entity, by_hand=True), writes=True
    ),
    "EntityGroupStore.set_type": Case(
        act=lambda t, h: EntityGroupStore(t).set_type(new_entity(h.first.entity, GARDEN, None), "place"), writes=True
    ),
    "EntityGroupStore.correct": Case(
        act=lambda t, h: EntityGroupStore(t).correct(h.first.entity, name="R", kind=None, notes="n", at=MOMENT),
        writes=True,
    ),
    "EntityGroupStore.copy_correction": Case(
        act=lambda t, h: EntityGroupStore(t).copy_correction(
            new_entity(h.second.entity, h.cellar, "ann"), h.first.entity
        ),
    ),
    "EntityGroupStore.set_deletion": Case(
        act=lambda t, h: EntityGroupStore(t).set_deletion([h.first.entity], MOMENT), writes=True
    ),
    "EntityGroupStore.unmentioned": Case(
        act=lambda t, h: EntityGroupStore(t).unmentioned([h.first.entity, h.second.entity])
    ),
    "EntityGroupStore.remove": Case(
        act=lambda t, h: (EntityStore(t).forget_session(h.first.session), EntityGroupStore(t).remove([h.first.entity]))[
            1
        ],
        writes=True,
    ),
    "EntityGroupStore.after_loss": Case(
        act=lambda t, h: EntityGroupStore(t).after_loss([h.first.entity]), nothing=NOTHING, writes=True
    ),
    "EntityGroupStore.first_names": Case(
        act=lambda t, h: EntityGroupStore(t).first_names([h.first.entity]), nothing=[]
    ),
    "EntityGroupStore.apply_first_names": Case(
        act=lambda t, h: EntityGroupStore(t).apply_first_names([(h.cellar, "ann", same_name("Rosa"))]),
        writes=True,
    ),
    "EntityGroupStore.note_change": Case(
        act=lambda t, h: EntityGroupStore(t).note_change(h.first.entity, None, "delete", [], now=MOMENT),
        nothing=StorageError,
        writes=True,
    ),
    "EntityGroupStore.last_change": Case(
        act=lambda t, h: EntityGroupStore(t).last_change(h.first.entity, since=0), nothing=None
    ),
    "EntityGroupStore.drop_change": Case(act=lambda t, h: dropped(t, h), writes=True),
    "EntityGroupStore.expire": Case(act=lambda t, h: EntityGroupStore(t).expire(MOMENT + 1), writes=True),
    "EntityGroupStore.extractions": Case(act=split, nothing=[]),
    "EntityGroupStore.move_extracted": Case(
        act=lambda t, h: EntityGroupStore(t).move_extracted(extracted(h), h.second.entity), writes=True
    ),
    "EntityGroupStore.mentioned": Case(
        act=lambda t, h: EntityGroupStore(t).mentioned([h.first.entity], h.first.pool, h.first.messages), nothing=[]
    ),
    "EntityGroupStore.mentions": Case(
        act=lambda t, h: EntityGroupStore(t).mentions([h.first.entity], h.first.pool, limit=9), nothing=[]
    ),
    "RelationStore.add": Case(
        act=lambda t, h: RelationStore(t).add(
            h.first.entity,
            "knows",
            h.first.entity,
            session=h.first.session,
            messages=h.first.messages,
            created_at=MOMENT,
        ),
        nothing=StorageError,
        writes=True,
    ),
    "RelationStore.of_entity": Case(
        act=lambda t, h: RelationStore(t).of_entity(EntityId(0), [h.first.entity], h.first.pool), nothing=[]
    ),
    "RelationStore.move": Case(act=lambda t, h: RelationStore(t).move(h.first.entity, h.second.entity), writes=True),
    "RelationStore.give": Case(
        act=lambda t, h: RelationStore(t).give(h.first.entity, h.second.entity, "ann"), writes=True
    ),
    "RelationStore.forget_session": Case(
        act=lambda t, h: RelationStore(t).forget_session(h.first.session), writes=True
    ),
    "RelationStore.forget_message": Case(
        act=lambda t, h: RelationStore(t).forget_message(h.first.messages[0]), writes=True
    ),
}


def dropped(transaction: Transaction, home: Home) -> None:
    """The last change of an entity, by its number; a foreign number is asked for too."""
    groups = EntityGroupStore(transaction)
    change = groups.last_change(home.first.entity, since=0)
    if change is not None:
        groups.drop_change(change.id)
