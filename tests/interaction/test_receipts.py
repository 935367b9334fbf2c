"""Receipts and explanations through every way in (PRF-1, PRF-2)."""

import json
from pathlib import Path

import pytest

from cloister import Cloister, Conflict, InvalidRequest, NotFound
from cloister.interfaces.python.shapes import as_json
from support.clients.command_line import CommandLine
from support.clients.entry_points import PROGRAMS, every_way, only

GATE, QUESTION = "The gate code is 4417.", "What is the gate code?"


@every_way
def test_prf_1_and_2_mean_the_same_through_every_way_in(memory: Cloister) -> None:
    memory.create_session("tells")
    memory.create_session("asks")
    said = memory.record("tells", "user", GATE)
    receipt = memory.context("asks", QUESTION).receipt
    assert receipt is not None
    assert [(item.kind, item.id, item.rule, item.strength) for item in receipt.items] == [
        ("message", said.id, "match", "strong")
    ]
    found = memory.explain(said.id, session_id="asks", query=QUESTION)
    assert (found.recalled, found.rank, found.reason) == (True, 1, "recalled")
    missing = "rcpt_00000000000000aa"
    with pytest.raises(NotFound, match="There is no receipt"):
        memory.receipt(missing)
    with pytest.raises(NotFound, match="There is no message"):
        memory.explain("msg_00000000000000aa", session_id="asks", query=QUESTION)
    with pytest.raises(InvalidRequest):
        memory.explain(said.id, session_id="asks", query=QUESTION, receipt_id=missing)
    with pytest.raises(InvalidRequest):
        memory.explain(said.id, session_id="asks")


@only(PROGRAMS)
def test_prf_1_a_stored_receipt_is_the_same_through_every_program(memory: Cloister) -> None:
    """A receipt of a context has no prompt: nothing was sent to a model."""
    project = memory.create_project("Garden")
    memory.update_project(project.project_id, settings={"store_receipts": True})
    for name in ("tells", "asks"):
        memory.create_session(name, project_id=project.project_id)
    said = memory.record("tells", "user", GATE)
    context = memory.context("asks", QUESTION)
    assert context.receipt_id is not None and context.receipt is not None
    found = memory.receipt(context.receipt_id)
    assert (found.id, found.kind, found.session_id, found.query) == (context.receipt_id, "context", "asks", QUESTION)
    assert [(item.id, item.content, item.is_changed) for item in found.items] == [(said.id, GATE, False)]
    assert (found.left_out, found.tokens) == (context.receipt.left_out, context.receipt.tokens)
    assert context.receipt.left_out == {
        "limit": 0,
        "weak": 0,
        "duplicate": 0,
        "budget": 0,
        "quotation": 0,
        "excluded": 0,
    }
    with pytest.raises(Conflict, match="only replies have a prompt"):
        memory.receipt_prompt(context.receipt_id)
    with pytest.raises(NotFound, match="There is no receipt"):
        memory.receipt_prompt("rcpt_00000000000000aa")


def test_prf_1_the_commands_show_a_stored_receipt(tmp_path: Path) -> None:
    shell = CommandLine(data=str(tmp_path))
    with Cloister(tmp_path) as memory:
        memory.update_project(memory.projects()[0].project_id, settings={"store_receipts": True})
        for name in ("tells", "asks"):
            memory.create_session(name)
        memory.record("tells", "user", GATE)
        id = memory.context("asks", QUESTION).receipt_id
        assert id is not None
        found = as_json(memory.receipt(id))
    assert shell.json("receipts", "show", id) == json.loads(json.dumps(found))
    assert GATE in shell.run("receipts", "show", id).stdout
    assert "only replies have a prompt" in shell.run("receipts", "prompt", id, code=1).stderr


@every_way
def test_an_item_is_excluded_listed_and_included_through_every_way_in(memory: Cloister) -> None:
    memory.create_session("tells")
    memory.create_session("asks")
    said = memory.record("tells", "user", GATE)
    made = memory.exclude("asks", said.id)
    assert (made.kind, made.id, made.content, made.session_id) == ("message", said.id, GATE, "tells")
    assert list(memory.exclusions("asks")) == [made] and memory.exclude("asks", said.id) == made
    context = memory.context("asks", QUESTION)
    assert context.relevant_history == () or list(context.relevant_history) == []
    assert context.receipt is not None and context.receipt.left_out["excluded"] == 1
    assert memory.explain(said.id, session_id="asks", query=QUESTION).reason == "excluded"
    memory.include("asks", said.id)
    assert list(memory.exclusions("asks")) == []
    assert [item.id for item in memory.context("asks", QUESTION).relevant_history] == [said.id]
    with pytest.raises(NotFound, match="There is no exclusion"):
        memory.include("asks", said.id)
    with pytest.raises(NotFound, match="There is no message"):
        memory.exclude("asks", "msg_00000000000000aa")
    with pytest.raises(NotFound, match="There is no session"):
        memory.exclude("nobody", said.id)
