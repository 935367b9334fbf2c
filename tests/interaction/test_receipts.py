"""Receipts and explanations through every way in (PRF-1, PRF-2)."""

import pytest

from cloister import Cloister, InvalidRequest, NotFound
from support.clients.entry_points import every_way

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
