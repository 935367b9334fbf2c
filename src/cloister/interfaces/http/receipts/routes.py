"""Routes of receipts and explanations: what was given, and why (PRF-1, PRF-2)."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field
from starlette.responses import Response

from cloister.domain.identifiers import parse_message_id, parse_receipt_id
from cloister.interfaces.http.dispatch.callers import Caller, needs
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.openapi import schemas
from cloister.interfaces.http.resources.answers import answer
from cloister.interfaces.http.resources.bodies import Body, Content, MessageId, Name
from cloister.interfaces.python.receipts import shapes
from cloister.interfaces.python.receipts.arguments import checked_form

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
