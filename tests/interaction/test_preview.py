"""Preview of an extraction, through every way in (MEM-15)."""

from typing import Any

import pytest

from cloister import Cloister, InvalidRequest, NotFound
from support.clients.entry_points import PROGRAMS, every_way, only


def said(*contents: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": content} for content in contents]


@every_way
def test_mem_15_a_preview_shows_what_would_be_kept_and_keeps_nothing(memory: Cloister) -> None:
    """MEM-15"""
    found = memory.preview_extraction(said("I live in Rome.", "How are you?", "I moved to Oslo."))
    assert [(one.content, one.subject, one.message_positions) for one in found.memories] == [
        ("The user lives in Rome.", "home", (0,)),
        ("The user moved to Oslo.", "home", (2,)),
    ]
    assert found.notice is None
    assert memory.sessions() == []
    german = memory.preview_extraction(said("Ich wohne in Rom und ich habe einen Hund."), project_id=None)
    assert german.memories == ()
    assert german.notice is not None


@only(PROGRAMS)
def test_mem_15_a_preview_follows_the_settings_of_its_project(memory: Cloister) -> None:
    """MEM-15"""
    project = memory.create_project("Garden").project_id
    memory.update_project(project, settings={"unwanted_categories": ["place"], "minimum_importance": 0.1})
    messages = said("I live in Rome.", "I love tea.")
    kept = memory.preview_extraction(messages, project_id=project).memories
    assert [(one.content, one.categories) for one in kept] == [("The user loves tea.", ("preference",))]
    assert len(memory.preview_extraction(messages).memories) == 2
    with pytest.raises(NotFound):
        memory.preview_extraction(messages, project_id="proj_0000000000000000")
    with pytest.raises(InvalidRequest):
        memory.preview_extraction([])
