"""`POST /org/model/test`: whether the configured model answers. Nothing is stored, and nothing that is remembered is sent."""

import asyncio
import time
from contextlib import aclosing

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cloister.domain.errors import CloisterError
from cloister.domain.reply import ChatRequest, TextDelta
from cloister.interfaces.http.dispatch.callers import Caller, NoBody, needs
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.resources.answers import answer
from cloister.services.chat.converse import Chat

router = APIRouter(route_class=GuardedRoute, tags=["Organisation"])
_SECONDS = 20.0
_QUESTION = "Reply with the word OK."
_NO_MODEL = "No model is connected: set CLOISTER_MODEL_URL, and start the server again."


class ModelTest(BaseModel):
    """Whether the model answered a short question, after how many seconds its first words came, and what to do if not."""

    ok: bool
    model: str | None
    seconds: float | None
    detail: str


class _ModelTestResponse(Response):
    """Asks on the event loop, because the model is on another server."""

    def __init__(self, chat: Chat) -> None:
        super().__init__()
        self._chat = chat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await answer(await _tested(self._chat))(scope, receive, send)


@router.post("/org/model/test", response_model=ModelTest)
@needs("admin")
def test_model(caller: Caller, _: NoBody) -> Response:
    """Ask the configured model for one short reply, for at most 20 seconds. A model that does not answer is no error of this
    request: `ok` is false then, and `detail` says why."""
    return _ModelTestResponse(caller.services.chat)


async def _tested(chat: Chat) -> ModelTest:
    if chat.quotes_only:
        return ModelTest(ok=False, model=None, seconds=None, detail=_NO_MODEL)
    model, began = chat.model, time.monotonic()
    chosen = [model.name]
    request = ChatRequest(messages=[{"role": "user", "content": _QUESTION}], chosen=chosen.append)
    try:
        async with asyncio.timeout(_SECONDS), aclosing(model.stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, TextDelta):
                    break
            else:
                return ModelTest(ok=False, model=chosen[-1], seconds=None, detail="The model answered without a word.")
    except TimeoutError:
        return ModelTest(ok=False, model=chosen[-1], seconds=None, detail=f"No answer within {_SECONDS:.0f} s.")
    except CloisterError as error:
        return ModelTest(ok=False, model=chosen[-1], seconds=None, detail=str(error))
    seconds = round(time.monotonic() - began, 3)
    return ModelTest(ok=True, model=chosen[-1], seconds=seconds, detail="The model answers.")
