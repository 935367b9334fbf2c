"""Turns with a span for each recording of the question and of the reply."""

from collections.abc import Sequence

from cloister.domain.context import Context
from cloister.domain.conversation import Draft, Message
from cloister.domain.receipts.receipt import Receipt
from cloister.domain.scope import Reach
from cloister.domain.tracing.interface import Tracer
from cloister.services.chat.reply_buffer import FinishedReply
from cloister.services.chat.turns import Turn, TurnRequest, Turns
from cloister.services.conversations.branches import Branches
from cloister.services.conversations.record import Recorder, note_recorded
from cloister.services.conversations.sessions import Sessions
from cloister.services.events.bus import EventBus
from cloister.services.turn_leases import TurnLeases
from cloister.storage.interface import Database


class TracedTurns(Turns):
    """The turns of an installation with or without tracing."""

    def __init__(
        self,
        database: Database,
        sessions: Sessions,
        recorder: Recorder,
        branches: Branches,
        events: EventBus,
        leases: TurnLeases,
        *,
        tracer: Tracer,
    ) -> None:
        super().__init__(database, sessions, recorder, branches, events, leases)
        self._tracer = tracer

    def begin(self, reach: Reach, request: TurnRequest) -> Turn:
        with self._tracer.memory("create_memory", reach.tenant) as span:
            turn = super().begin(reach, request)
            note_recorded(span, turn.session, turn.messages)
            return turn

    def end(
        self,
        turn: Turn,
        reply: Draft | None,
        *,
        given_recalled_text: bool = False,
        contexts: Sequence[Context] = (),
        outcome: FinishedReply | None = None,
        receipt: Receipt | None = None,
    ) -> Message | None:
        with self._tracer.memory("create_memory", turn.reach.tenant) as span:
            message = super().end(
                turn,
                reply,
                given_recalled_text=given_recalled_text,
                contexts=contexts,
                outcome=outcome,
                receipt=receipt,
            )
            note_recorded(span, turn.session, [] if message is None else [message])
            return message
