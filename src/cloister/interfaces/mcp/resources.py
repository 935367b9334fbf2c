"""The resources and the prompt of the MCP server, as text."""

from urllib.parse import unquote

from cloister.domain.errors import InvalidRequest, NotFound
from cloister.domain.prompts.outside_text import harmless
from cloister.domain.prompts.speaker import speaker
from cloister.domain.text import MAX_CONTENT
from cloister.domain.timestamps import iso
from cloister.interfaces.mcp.connection import McpConnection
from cloister.interfaces.mcp.limits import ANSWER_TOKENS, last_lines
from cloister.interfaces.mcp.recalled_context import NOTHING, recall_context
from cloister.interfaces.mcp.tools import CONTEXT_TOKENS, LONGEST_QUERY
from cloister.services.recall.build_context import ContextRequest

CONTEXT = "cloister://context"
SESSIONS = "cloister://sessions/"
SESSION_TEMPLATE = f"{SESSIONS}{{external_id}}"
MEDIA_TYPE = "text/plain"
RECALL = "recall"
TOPIC = "topic"
# What is said of a session, without the heading and the marks around it.
_SAID_TOKENS = ANSWER_TOKENS - 200
# Read of it: enough for one message of any length, which is then cut.
_MOST_READ_TOKENS = 2 * MAX_CONTENT


def read_resource(connection: McpConnection, uri: str) -> str:
    """The text of a resource. A session of another pool is not found, like one that does not exist."""
    if uri == CONTEXT:
        return f"{_heading(connection)}\n\n{recall_context(connection, None, CONTEXT_TOKENS).text}"
    if uri.startswith(SESSIONS) and len(uri) > len(SESSIONS):
        return _session(connection, unquote(uri.removeprefix(SESSIONS)))
    raise NotFound("resource", uri)


def recall_prompt(connection: McpConnection, arguments: dict[str, str] | None) -> str:
    """The prompt `recall`: a question about a topic, with what is remembered about it."""
    given = arguments or {}
    for name in given:
        if name != TOPIC:
            raise InvalidRequest(name[:64], f"is not an argument of {RECALL}, which has {TOPIC}.")
    topic = given.get(TOPIC, "")
    if not topic.strip() or len(topic) > LONGEST_QUERY:
        raise InvalidRequest(TOPIC, f"must be text of 1 to {LONGEST_QUERY:,} characters.")
    recalled = recall_context(connection, topic, CONTEXT_TOKENS)
    return f"What do we know about this: {topic}\n\n{_heading(connection)} This is remembered:\n\n{recalled.text}"


def _session(connection: McpConnection, external_id: str) -> str:
    """The end of a session's conversation, as much as an answer has room for."""
    connection.services.pool_reader.session(connection.reach, external_id)
    room = ContextRequest(semantic_limit=0, budget=_MOST_READ_TOKENS, budget_is_cap=True)
    context = connection.services.context.build(connection.reach, external_id, room)
    said = [
        f"{iso(item.message.created_at)}, {speaker(item.message, item.user, named=context.names_speakers)}: "
        f"{item.message.content}"
        for item in context.current_conversation
    ]
    return f"{_heading(connection)}\n\n{context.quoted(last_lines(said, _SAID_TOKENS)) or NOTHING}"


def _heading(connection: McpConnection) -> str:
    scope = connection.scope
    user = "no user" if scope["user"] is None else f"user {scope['user']!r}"
    line = f"Scope: project {scope['project_name']!r} ({scope['project']}), {user}, session {scope['session']!r}."
    return harmless(line)
