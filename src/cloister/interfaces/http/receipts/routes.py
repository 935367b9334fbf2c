"""Routes of receipts, explanations and exclusions: what was given, why (PRF-1, PRF-2), and what should not be."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field
from starlette.responses import Response

from cloister.domain.identifiers import parse_message_id, parse_receipt_id
from cloister.domain.sessions.exclusions import ExcludedKind
from cloister.interfaces.http.dispatch.callers import Caller, needs
from cloister.interfaces.http.dispatch.cursors import Listing
from cloister.interfaces.http.dispatch.parameters import Cursor, Limit, SessionId
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.openapi import schemas
from cloister.interfaces.http.resources.answers import ExclusionPage, answer, nothing
from cloister.interfaces.http.resources.bodies import Body, Content, MessageId, Name
from cloister.interfaces.python.receipts import shapes
from cloister.interfaces.python.receipts.arguments import checked_form
from cloister.interfaces.python.receipts.exclusion_shapes import Exclusion, exclusion_shape, kind_of, parse_excluded

router = APIRouter(route_class=GuardedRoute, tags=["Recall"])

ReceiptName = Annotated[str, Path(description="The receipt's id.", json_schema_extra=schemas.RECEIPT_ID)]


class ExplainRequest(Body):
    """Either `session_id` and `query`, or `receipt_id`; and the message to explain."""

    message_id: MessageId
    session_id: Name | None = Field(default=None, description="The session whose context is explained, with `query`.")
    query: Content | None = Field(default=None, description="What is asked in the session.")
    receipt_id: Annotated[str, Field(json_schema_extra=schemas.RECEIPT_ID)] | None = Field(
        default=None, description="A receipt that is explained, instead of `session_id` and `query`."
    )


@router.get("/v1/receipts/{receipt_id}", response_model=shapes.Receipt)
@needs("read")
def get_receipt(receipt_id: ReceiptName, caller: Caller) -> Response:
    """Get a receipt: what a reply, a context or a search was given, by which rule, and how many candidates were left out, for which
    reason. The receipt of the reply `msg_…` is `rcpt_…` with the same digits. Words are looked up now: what was forgotten, or is
    in another project, is only counted, and so is everything after the session has moved."""
    return answer(shapes.receipt_shape(caller.services.receipts.get(caller.reach, parse_receipt_id(receipt_id))))


@router.get("/v1/receipts/{receipt_id}/prompt", response_model=shapes.ReceiptPrompt)
@needs("read")
def get_receipt_prompt(receipt_id: ReceiptName, caller: Caller) -> Response:
    """Get the prompt of a reply, message by message, from its receipt. Words are looked up now, as in the receipt: what was
    forgotten, or is in another project, is not in it. `is_exact` says whether this is what the model got, and `missing` what is
    not. A receipt of a context or a search has no prompt: 409."""
    found = caller.services.receipt_prompts.get(caller.reach, parse_receipt_id(receipt_id))
    return answer(shapes.receipt_prompt_shape(found))


_EXCLUSIONS = "/v1/sessions/{external_id}/exclusions"
ExcludedName = Annotated[
    str, Path(description="The id of the message, memory or entity.", json_schema_extra=schemas.EXCLUDED_ID)
]


class NewExclusion(Body):
    """What the session should not recall."""

    kind: ExcludedKind = Field(description="What is excluded.")
    id: Annotated[str, Field(json_schema_extra=schemas.EXCLUDED_ID, description="Its id.")]


@router.get(_EXCLUSIONS, response_model=ExclusionPage)
@needs("read")
def list_exclusions(external_id: SessionId, caller: Caller, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """List what a session does not recall although it is in its pool, the oldest exclusion first. What is in another pool now is
    not listed."""
    listing = Listing("exclusions", caller.reach.tenant, external_id)
    found = caller.services.receipts.exclusions.of_session(caller.reach, external_id, after=listing.pair(cursor))
    page = found[: limit + 1]
    return listing.answer(ExclusionPage, page, limit, shape=exclusion_shape, key=lambda shown: shown.key)


@router.post(_EXCLUSIONS, response_model=Exclusion)
@needs("write")
def exclude(external_id: SessionId, body: NewExclusion, caller: Caller) -> Response:
    """Exclude a message, a memory or an entity from what this session recalls, in contexts, searches and chat: others take its
    place. Other sessions recall it as before. What is excluded already stays so; at most 200 items. What the session cannot recall
    is `not_found`, whether it exists or not. Needs the permission `read` too."""
    caller.key.require("read")
    item = parse_excluded(body.kind, body.id)
    return answer(
        exclusion_shape(caller.services.receipts.exclusions.exclude(caller.reach, external_id, body.kind, item))
    )


@router.delete(_EXCLUSIONS + "/{item_id}", status_code=204, response_model=None)
@needs("write")
def include(external_id: SessionId, item_id: ExcludedName, caller: Caller) -> Response:
    """Let a session recall again what it excludes."""
    caller.key.require("read")
    kind = kind_of(item_id)
    caller.services.receipts.exclusions.include(caller.reach, external_id, kind, parse_excluded(kind, item_id))
    return nothing()


@router.post("/v1/explain", response_model=shapes.Explanation)
@needs("read")
def explain(body: ExplainRequest, caller: Caller) -> Response:
    """Explain why a message is recalled, or not, in a session for a query; or why it was, or was not, by a receipt, and what is
    different now. A message that the session cannot recall is `not_found`, whether it exists or not."""
    explains = caller.services.explain
    named = checked_form(body.session_id, body.query, body.receipt_id)
    message = parse_message_id(body.message_id)
    if isinstance(named, str):
        return answer(shapes.explanation_shape(explains.receipt(caller.reach, parse_receipt_id(named), message)))
    return answer(shapes.explanation_shape(explains.question(caller.reach, *named, message)))
