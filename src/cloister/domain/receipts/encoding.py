"""Receipts as compact JSON text for storage, and back."""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from cloister.domain.context import RecallTerms, Source, default_sources
from cloister.domain.identifiers import KeyId, MessageId
from cloister.domain.receipts.receipt import (
    REASONS,
    Answered,
    ItemKind,
    Receipt,
    ReceiptItem,
    Rule,
    Sent,
    SentImage,
    SentPart,
)

_KINDS: Mapping[ItemKind, str] = {"message": "m", "memory": "f", "entity": "e", "observation": "o"}
_RULES: Mapping[Rule, str] = {"recent": "r", "match": "b", "pinned": "p", "note": "n", "profile": "u"}
_KINDS_BACK: Mapping[str, ItemKind] = {short: kind for kind, short in _KINDS.items()}
_RULES_BACK: Mapping[str, Rule] = {short: rule for rule, short in _RULES.items()}
# These are columns of their own, or encoded differently.
_COLUMNS = {"pool", "project", "user", "question", "question_id", "sources", "is_stored"}
_TERMS = tuple(field for field in fields(RecallTerms) if field.name not in _COLUMNS)
_DEFAULTS = {
    "fill_floor": None,
    "budget": None,
    "budget_is_cap": False,
    "history": None,
    "as_of": None,
    "limit": None,
    "until": None,
    "kinds": None,
    "is_filtered": False,
    "additional_model": None,
}


def encoded_receipt(receipt: Receipt) -> str:
    """What of a receipt has no column of its own. Fields with their default value are left out."""
    body: dict[str, object] = {
        "i": [_encoded_item(item) for item in receipt.items],
        "x": [receipt.left_out.get(reason, 0) for reason in REASONS],
        "t": receipt.tokens,
        "q": _encoded_terms(receipt.terms),
    }
    if receipt.key is not None:
        body["k"] = receipt.key
    if receipt.sent is not None:
        body["s"] = _encoded_sent(receipt.sent)
    if receipt.answered is not None:
        body["a"] = [getattr(receipt.answered, field.name) for field in fields(Answered)]
    return json.dumps(body, separators=(",", ":"))


def decoded_receipt(text: str, *, kind: str, created_at: int, columns: Mapping[str, Any]) -> Receipt:
    """The receipt of a stored body. `columns` are the fields of its terms that are stored in columns."""
    body = cast(dict[str, Any], json.loads(text))
    given, sent, answered = body["q"], body.get("s"), body.get("a")
    sources = given.pop("sources", None)
    terms = RecallTerms(**columns, **given, sources=default_sources() if sources is None else _sources(sources))
    return Receipt(
        kind=cast(Any, kind),
        created_at=created_at,
        terms=terms,
        items=tuple(map(_decoded_item, body["i"])),
        # Older receipts have fewer reasons.
        left_out=dict(zip(REASONS, [*body["x"], *[0] * len(REASONS)], strict=False)),
        tokens=body["t"],
        key=None if body.get("k") is None else KeyId(body["k"]),
        sent=None if sent is None else _decoded_sent(sent),
        answered=None
        if answered is None
        else Answered(**dict(zip((field.name for field in fields(Answered)), answered, strict=True))),
    )


def _encoded_terms(terms: RecallTerms) -> dict[str, object]:
    given: dict[str, object] = {field.name: getattr(terms, field.name) for field in _TERMS}
    kept = {name: value for name, value in given.items() if name not in _DEFAULTS or _DEFAULTS[name] != value}
    if terms.sources is not None and tuple(terms.sources) != default_sources():
        kept["sources"] = [[each.role, each.method, each.limit, each.conversation_scope] for each in terms.sources]
    return kept


def _sources(given: list[list[Any]]) -> tuple[Source, ...]:
    return tuple(
        Source(role=role, method=method, limit=limit, conversation_scope=scope) for role, method, limit, scope in given
    )


def _encoded_item(item: ReceiptItem) -> list[object]:
    short: list[object] = [_KINDS[item.kind], item.id, _RULES[item.rule], item.score, item.relevance]
    if item.is_excerpt:
        return [*short, 1]
    while short[-1] is None:
        short.pop()
    return short


def _decoded_item(short: list[Any]) -> ReceiptItem:
    kind, number, rule, *rest = short
    score, relevance, excerpt = (*rest, None, None, None)[:3]
    return ReceiptItem(_KINDS_BACK[kind], number, _RULES_BACK[rule], score, relevance, bool(excerpt))


def _encoded_sent(sent: Sent) -> list[object]:
    parts = [[part.role, part.kind, part.characters] for part in sent.parts]
    encoded: list[object] = [
        sent.prompt,
        sent.template,
        sent.placeholders,
        parts,
        sent.more,
        sent.conversation,
        sent.tools,
    ]
    if sent.images:
        return [*encoded, int(sent.is_of_client), sent.images]
    return [*encoded, 1] if sent.is_of_client else encoded


def _decoded_sent(given: list[Any]) -> Sent:
    prompt, template, placeholders, parts, more, conversation, tools, *rest = given
    of_client, images = cast(tuple[int, list[list[Any]]], (*rest, *(0, [])[len(rest) :]))
    return Sent(
        prompt=prompt,
        template=template,
        placeholders=tuple(placeholders),
        parts=tuple(SentPart(role=role, kind=kind, characters=length) for role, kind, length in parts),
        more=more,
        conversation=tuple(map(MessageId, conversation)),
        tools=tools,
        is_of_client=bool(of_client),
        images=tuple(SentImage(*image) for image in images),
    )
