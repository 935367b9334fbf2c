"""What people do with entities, through every way in (MEM-17)."""

import pytest

from cloister import Cloister
from cloister.domain.errors import Conflict, NotFound


def tell(memory: Cloister, session: str, project: str, *words: str) -> None:
    memory.create_session(session, project_id=project)
    for said in words:
        memory.record(session, "user", said)
        memory.extract(session)


def test_entities_are_shown_corrected_merged_split_deleted_and_restored(memory: Cloister) -> None:
    """MEM-17"""
    garden = memory.create_project("Garden").project_id
    tell(
        memory,
        "s",
        garden,
        "My friend Marta works at Contoso.",
        "My friend Marta Silva sings.",
        "My friend Tita sails.",
    )
    marta, contoso, tita = memory.entities(garden)
    shown = memory.entity(marta.id)
    assert (shown.name, shown.type, shown.aliases) == ("Marta Silva", "person", ("Marta",))
    assert [(each.relation, each.entity_id) for each in shown.relations] == [("works at", contoso.id)]
    sings, works = shown.mentions
    assert shown.relations[0].message_ids == (works.message_id,)
    assert (sings.content, sings.session_id, sings.role) == ("My friend Marta Silva sings.", "s", "user")
    page = memory.entity_mentions(marta.id, limit=1)
    assert page == [sings]
    assert memory.entity_mentions(marta.id, limit=1, cursor=page.next_cursor) == [works]

    merged = memory.merge_entity(tita.id, marta.id)
    assert (merged.id, merged.aliases) == (marta.id, ("Marta", "Tita"))
    with pytest.raises(NotFound):
        memory.entity(tita.id)
    assert memory.restore_entity(tita.id).name == "Tita"

    renamed = memory.update_entity(contoso.id, name="Contoso Ltd", notes="Makes boats.", aliases=["Con"])
    assert (renamed.name, renamed.notes, renamed.aliases) == ("Contoso Ltd", "Makes boats.", ("Contoso", "Con"))
    assert memory.update_entity(contoso.id, type="project").type == "project"

    assert memory.split_entity(marta.id, aliases=["Marta Silva"]).name == "Marta Silva"
    assert memory.restore_entity(marta.id).aliases == ("Marta",)
    other = memory.split_entity(marta.id, message_ids=[works.message_id], name="Marta of Contoso")
    assert [each.message_id for each in other.mentions] == [works.message_id]
    with pytest.raises(Conflict):
        memory.update_entity(marta.id, name="Marta of Contoso")

    memory.delete_entity(tita.id)
    assert tita.id not in [entity.id for entity in memory.entities(garden)]
    assert memory.restore_entity(tita.id).notes == tita.notes
    with pytest.raises(Conflict):
        memory.restore_entity(tita.id)
