"""Examples of the OpenAI-compatible routes, from the same household as the others."""

from collections.abc import Mapping

from cloister.interfaces.http.openapi.examples import NEW_MESSAGE, NEW_REPLY, SESSION, Example

OPENAI_EXAMPLES: Mapping[str, Example] = {
    "complete_chat": Example(
        request={
            "model": "any",
            "messages": [{"role": "system", "content": "Be brief."}, NEW_MESSAGE],
            "temperature": 0.2,
            "metadata": {"session_id": SESSION},
        },
        answer={
            "id": "chatcmpl-2c19f0a87b3e54d6",
            "object": "chat.completion",
            "created": 1_777_714_274,
            "model": "llama-3",
            "choices": [
                {
                    "index": 0,
                    "message": {**NEW_REPLY, "refusal": None},
                    "logprobs": None,
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 148, "completion_tokens": 12, "total_tokens": 160},
        },
    ),
    "list_models": Example(
        answer={
            "object": "list",
            "data": [{"id": "llama-3", "object": "model", "created": 0, "owned_by": "cloister"}],
        }
    ),
    "create_embeddings": Example(
        request={"model": "any", "input": ["The ferry leaves at ten past."], "encoding_format": "float"},
        answer={
            "object": "list",
            "model": "wordllama-l2-supercat-256/1",
            "data": [{"object": "embedding", "index": 0, "embedding": [0.0234, -0.0817]}],
            "usage": {"prompt_tokens": 7, "total_tokens": 7},
        },
    ),
}
