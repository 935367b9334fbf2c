"""`cloister receipts show`, `cloister receipts prompt` and `cloister explain`: what was given, and why."""

from typing import Annotated

import typer
from rich.console import RenderableType

from cloister.interfaces.cli.options import with_library
from cloister.interfaces.cli.terminal import answer, counted, details, minute, quotation
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.receipts.shapes import Explanation, Receipt, SentPrompt, StoredReceiptItem
from cloister.interfaces.python.shapes import as_json

app = typer.Typer(
    no_args_is_help=True, help="Show what replies, contexts and searches were given.", rich_markup_mode=None
)
_REASONS = {
    "limit": "beyond the limit",
    "weak": "weak",
    "duplicate": "duplicate",
    "budget": "beyond the budget",
    "quotation": "quotations only",
    "excluded": "excluded by the session",
}


@app.callback()
def receipts() -> None:
    """Show what replies, contexts and searches were given."""


@app.command("show")
@with_library
def show_receipt(
    memory: Cloister,
    json: bool,
    receipt_id: Annotated[
        str, typer.Argument(metavar="ID", help="The receipt's id: rcpt_… with the digits of the reply (msg_…).")
    ],
) -> None:
    """Show the receipt of a reply, a context or a search.

    What was forgotten since, or is in another project, is only counted.
    """
    found = memory.receipt(receipt_id)
    answer(
        as_json(found),
        json,
        details(_facts(found)),
        "",
        *(
            map(_item, found.items)
            if found.items
            else ["    nothing is shown" if found.given else "    nothing was given"]
        ),
        *(f"    {line}" for line in found.summary),
        _left_out(found),
    )


@app.command("prompt")
@with_library
def show_prompt(
    memory: Cloister,
    json: bool,
    receipt_id: Annotated[str, typer.Argument(metavar="ID", help="The receipt's id (rcpt_…).")],
) -> None:
    """Show the prompt of a reply, as the model got it.

    Words are looked up now: what was forgotten since, or is in another project, is not shown. It is said if something has changed.
    """
    found = memory.receipt_prompt(receipt_id)
    exact = "This is what the model got." if found.is_exact else "Not exactly what the model got:"
    answer(
        as_json(found),
        json,
        *(part for message in found.messages for part in (quotation([message.role], message.content), "")),
        exact,
        *(f"    {line}" for line in found.missing),
    )


@with_library
def explain(
    memory: Cloister,
    json: bool,
    message_id: Annotated[str, typer.Argument(metavar="MESSAGE", help="The message's id (msg_…).")],
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="The session that asks, with --query.")
    ] = None,
    query: Annotated[str | None, typer.Option("--query", metavar="TEXT", help="What is asked, with --session.")] = None,
    receipt: Annotated[
        str | None, typer.Option("--receipt", metavar="ID", help="A receipt (rcpt_…), instead of these two.")
    ] = None,
) -> None:
    """Explain why a message is recalled, or not.

    Of a session and a query it is said for now, of a receipt for then, with what is different now.
    """
    found = memory.explain(message_id, session_id=session, query=query, receipt_id=receipt)
    answer(as_json(found), json, f"{found.reason}: {found.detail}", details(_explained(found)))


def _facts(found: Receipt) -> list[tuple[str, str]]:
    facts = [("receipt", found.id), ("of", found.kind), ("created", minute(found.created_at))]
    for name, value in (("session", found.session_id), ("reply", found.message_id), ("key", found.key_id)):
        if value is not None:
            facts.append((name, value))
    if found.pool is not None:
        where = found.pool.project_id or "no project"
        facts.append(("pool", f"{where}, version {found.pool.version}, now {found.pool.version_now}"))
    if found.reply is not None:
        facts.append(("model", f"{found.reply.model}, {found.reply.status}"))
    if found.sent is not None:
        facts.append(("prompt", "; ".join([found.sent.prompt, *_placeholders(found.sent)])))
        images = [f", {counted(len(found.sent.images), 'image')}"] if found.sent.images else []
        messages = counted(len(found.sent.parts) + found.sent.more_parts, "message")
        facts.append(("sent", f"{''.join([messages, *images])} to the model"))
    return facts


def _placeholders(sent: SentPrompt) -> list[str]:
    if sent.placeholders is None:
        return []
    return [", ".join(sent.placeholders) or "no placeholder: nothing that is remembered was given"]


def _item(item: StoredReceiptItem) -> RenderableType:
    about = [item.kind, item.id, item.rule]
    if item.is_changed:
        about.append("changed since")
    if item.relevance is not None:
        about.append(f"relevance {item.relevance:.2f}, {item.strength}")
    return quotation(about, item.content)


def _left_out(found: Receipt) -> str:
    counts = [f"{found.left_out[reason]:,} {words}" for reason, words in _REASONS.items() if found.left_out[reason]]
    return f"{counted(found.given, 'item')} given; left out: {', '.join(counts) or 'nothing'}."


def _explained(found: Explanation) -> list[tuple[str, str]]:
    facts = [("message", found.message_id), ("recalled", "yes" if found.recalled else "no")]
    if found.rank is not None:
        facts.append(("rank", str(found.rank)))
    if found.relevance is not None:
        facts.append(("relevance", f"{found.relevance:.2f}"))
    facts += [(name, f"{value:.3f}") for name, value in found.parts.items()]
    if found.changed is not None:
        changed = found.changed
        facts.append(("now", f"{changed.reason}, pool version {changed.version_now} (was {changed.version_then})"))
        facts.append(("entered", ", ".join(changed.entered) or "nothing"))
        facts.append(("dropped", ", ".join(changed.dropped) or "nothing"))
    return facts
