"""Making branches without a model: a turn is begun, and ended with the reply that the test gives."""

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft, Message, Session
from cloister.domain.identifiers import MessageId
from cloister.domain.scope import Reach
from cloister.services.chat.turns import NamedSession, TurnRequest


def edit(services: Services, reach: Reach, session: str, message: MessageId, text: str, reply: str) -> list[Message]:
    """Say something else in place of a message; gives the new message and the reply to it."""
    request = TurnRequest(session=session, drafts=[Draft(role="user", content=text)], edits=message)
    turn = services.turns.begin(reach, request)
    answer = services.turns.end(turn, Draft(role="assistant", content=reply))
    assert answer is not None
    return [turn.question, answer]


def answer_again(
    services: Services, reach: Reach, session: str, reply: str, message: MessageId | None = None
) -> Message:
    turn = services.turns.begin_again(reach, NamedSession(session=session), message)
    answer = services.turns.end(turn, Draft(role="assistant", content=reply))
    assert answer is not None
    return answer


def choose(services: Services, reach: Reach, session: str, message: MessageId) -> Session:
    return services.branches.choose(reach, session, message)


def contents(services: Services, reach: Reach, session: str, *, all_branches: bool = False) -> list[str]:
    _, found = services.sessions.messages(reach, session, limit=1_000, all_branches=all_branches)
    return [message.content for message in found]
