"""Tools and thinking pass through in both directions, unchanged; what tools answered is not recorded (DOOR-3)."""

from typing import Any

from support.clients.anthropic_client import AnthropicFront, blocks, message, text_deltas
from support.clients.openai_client import said_in

ASK = "How is the weather in Piran?"
TOOL: Any = {"name": "weather", "input_schema": {"type": "object", "properties": {"town": {"type": "string"}}}}
CALLING = blocks(
    (
        {"type": "thinking", "thinking": "", "signature": ""},
        [
            {"type": "thinking_delta", "thinking": "A "},
            {"type": "thinking_delta", "thinking": "tool."},
            {"type": "signature_delta", "signature": "c2lnbmVk"},
        ],
    ),
    ({"type": "text", "text": ""}, text_deltas("Let me look.")),
    (
        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}},
        [
            {"type": "input_json_delta", "partial_json": '{"town": '},
            {"type": "input_json_delta", "partial_json": '"Piran"}'},
        ],
    ),
    stop_reason="tool_use",
)
CONTENT: Any = [
    {"type": "thinking", "thinking": "A tool.", "signature": "c2lnbmVk"},
    {"type": "text", "text": "Let me look."},
    {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"town": "Piran"}},
]


def test_a_call_comes_whole_and_streamed_and_its_result_is_answered(front: AnthropicFront) -> None:
    tenant = front.tenant()
    asked: Any = {"model": "m", "max_tokens": 9, "tools": [TOOL], "tool_choice": {"type": "auto"}}
    for session in ("whole", "streamed"):
        client: Any = front.client(tenant.key, session)
        front.model.answers(CALLING)
        question: Any = {"role": "user", "content": ASK}
        if session == "whole":
            called = client.messages.create(**asked, messages=[question])
        else:
            with client.messages.stream(**asked, messages=[question]) as stream:
                called = stream.get_final_message()
        assert called.stop_reason == "tool_use"
        assert [block.model_dump(exclude_none=True) for block in called.content] == CONTENT
        assert (front.shown["tools"], front.shown["tool_choice"]) == ([TOOL], {"type": "auto"})

        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "clear, 4711"}]}
        answered: Any = {"role": "user", "content": [result]}
        history: Any = [question, {"role": "assistant", "content": CONTENT}, answered]
        front.model.answers(message("Sunny."))
        client.messages.create(**asked, messages=history)
        assert front.shown["messages"] == history
        assert said_in(tenant, session) == [("user", ASK), ("assistant", "Let me look."), ("assistant", "Sunny.")]

    front.say(tenant.key, "What was the code 4711 in Piran?", "other")
    assert ASK in front.system[-1] and "clear, 4711" not in str(front.shown), "what tools said is not remembered"


def test_a_reply_of_calls_alone_is_answered_and_not_recorded(front: AnthropicFront) -> None:
    tenant = front.tenant()
    front.model.answers(
        blocks(({"type": "tool_use", "id": "t", "name": "weather", "input": {}}, []), stop_reason="tool_use")
    )
    called = front.say(tenant.key, ASK, "here", tools=[TOOL])
    assert [block.type for block in called.content] == ["tool_use"] and called.content[0].input == {}
    assert said_in(tenant, "here") == [("user", ASK)]
    text_and_result: Any = [
        {"type": "tool_result", "tool_use_id": "t", "content": "clear"},
        {"type": "text", "text": "And tomorrow?"},
    ]
    history: Any = [
        {"role": "user", "content": ASK},
        {"role": "assistant", "content": called.content},
        {"role": "user", "content": text_and_result},
    ]
    front.model.answers(message("Rain."))
    front.say(tenant.key, "", "here", messages=history)
    assert said_in(tenant, "here") == [("user", ASK), ("user", "And tomorrow?"), ("assistant", "Rain.")]
