"""mem0's filters through its client (DOOR-5): AND, OR, NOT, every operator, in lists and in searches alike."""

from collections.abc import Callable
from typing import Any

import pytest

from cloister.domain.errors import InvalidRequest
from cloister.interfaces.http.mem0.filters import DEEPEST, MOST_CONDITIONS, MOST_VALUES, parse_filters
from support.clients.mem0_client import memories
from support.servers.http_server import Server

ADA = {"user_id": "ada"}
# What is added, by the first word of its text.
ADDED: dict[str, dict[str, Any]] = {
    "Apples": {"run_id": "monday", "agent_id": "cook", "metadata": {"size": 3, "tags": ["red", "Sweet"]}},
    "Bread": {"run_id": "monday", "app_id": "menu", "metadata": {"size": 7, "kind": "Rye"}},
    "Cheese": {"run_id": "tuesday", "metadata": {"size": 10, "kind": "goat", "old": True}},
    "Dates": {"agent_id": "guest", "timestamp": 1_600_000_000},
}
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "one user": (ADA, "ABCD"),
    "another user": ({"user_id": "bob"}, "E"),
    "no user": ({"agent_id": "cook"}, ""),
    "a user and a run": ({**ADA, "run_id": "monday"}, "AB"),
    "a run alone": ({"run_id": "tuesday"}, "C"),
    "runs in": ({"run_id": {"in": ["monday", "tuesday", "never"]}}, "ABC"),
    "any run": ({**ADA, "run_id": "*"}, "ABC"),
    "no run": ({**ADA, "run_id": None}, "D"),
    "a run of another user": ({"AND": [ADA, {"run_id": "of-bob"}]}, ""),
    "AND": ({"AND": [ADA, {"agent_id": "cook"}]}, "A"),
    "OR": ({"AND": [ADA, {"OR": [{"agent_id": "cook"}, {"app_id": "menu"}]}]}, "AB"),
    "OR of users": ({"OR": [ADA, {"user_id": "bob"}]}, "ABCDE"),
    "users in": ({"user_id": {"in": ["bob", "nobody"]}}, "E"),
    "NOT": ({"AND": [ADA, {"NOT": {"run_id": "monday"}}]}, "CD"),
    "NOT of several": ({"AND": [ADA, {"NOT": [{"run_id": "monday"}, {"agent_id": "guest"}]}]}, "C"),
    "ne": ({"AND": [ADA, {"agent_id": {"ne": "cook"}}]}, "BCD"),
    "any agent": ({**ADA, "agent_id": "*"}, "AD"),
    "metadata": ({**ADA, "metadata": {"size": 7}}, "B"),
    "metadata of another type": ({**ADA, "metadata": {"size": "7"}}, ""),
    "metadata, two entries": ({**ADA, "metadata": {"size": 10, "old": True}}, "C"),
    "metadata in": ({**ADA, "metadata": {"size": {"in": [3, 10]}}}, "AC"),
    "metadata ne": ({**ADA, "metadata": {"kind": {"ne": "goat"}}}, "ABD"),
    "metadata, any value": ({**ADA, "metadata": {"kind": "*"}}, "BC"),
    "gt": ({**ADA, "metadata": {"size": {"gt": 7}}}, "C"),
    "gte and lt": ({**ADA, "metadata": {"size": {"gte": 3, "lt": 10}}}, "AB"),
    "lte": ({**ADA, "metadata": {"size": {"lte": 3}}}, "A"),
    "contains": ({**ADA, "metadata": {"kind": {"contains": "oa"}}}, "C"),
    "contains, in a list": ({**ADA, "metadata": {"tags": {"contains": "red"}}}, "A"),
    "icontains": ({**ADA, "metadata": {"kind": {"icontains": "rY"}}}, "B"),
    "icontains, in a list": ({**ADA, "metadata": {"tags": {"icontains": "sweet"}}}, "A"),
    "keywords": ({**ADA, "keywords": {"icontains": "CHEESE"}}, "C"),
    "created before": ({**ADA, "created_at": {"lt": "2021-01-01"}}, "D"),
    "created between": ({**ADA, "created_at": {"gte": "2020-09-13T12:26:40Z", "lte": 1_600_000_000}}, "D"),
    "changed since": ({**ADA, "updated_at": {"gt": "2021-01-01T00:00:00Z"}}, "ABC"),
    "ids": ({**ADA, "memory_ids": ["mem_0000000000000001"]}, ""),
    "categories": ({**ADA, "categories": {"in": ["food"]}}, ""),
}


@pytest.fixture(scope="module")
def client(memory_client: Callable[..., Any], sqlite_service: Server) -> Any:
    made = memory_client(sqlite_service.address, sqlite_service.new_tenant().key)
    for text, fields in ADDED.items():
        made.add(f"{text} are in the larder.", user_id="ada", infer=False, **fields)
    made.add("Eggs are in the larder.", user_id="bob", run_id="of-bob", infer=False)
    return made


@pytest.mark.parametrize("case", CASES)
def test_a_filter_lets_the_same_memories_pass_in_lists_and_searches(client: Any, case: str) -> None:
    """MEM-14: applied before ranking, so that a search with a small limit finds what passes."""
    filters, expected = CASES[case]
    assert sorted(text[0] for text in memories(client.get_all(filters=filters))) == list(expected)
    found = client.search("What is in the larder?", filters=filters, threshold=0, top_k=len(expected) or 1)
    assert sorted(text[0] for text in memories(found)) == list(expected)


def test_options_filter_too(client: Any) -> None:
    assert [text[0] for text in memories(client.get_all(filters=ADA, end_date="2021-01-01"))] == ["D"]
    assert [text[0] for text in memories(client.get_all(filters=ADA, start_date="2021-01-01", page_size=1))] == ["C"]
    assert client.get_all(filters=ADA, categories=["food"])["results"] == []
    (found,) = client.search("Who is a guest?", filters={**ADA, "agent_id": "guest"}, threshold=0, fields=["memory"])[
        "results"
    ]
    assert found.keys() == {"id", "memory"}
    assert client.search("larder", filters=ADA, reference_date="2026-01-31", latest_only=True, keyword_search=True)


def nested(depth: int) -> dict[str, Any]:
    return ADA if depth == 1 else {"AND": [nested(depth - 1)]}


@pytest.mark.parametrize(
    "filters",
    [
        nested(DEEPEST + 1),
        {"OR": [ADA] * (MOST_CONDITIONS + 1)},
        {"AND": [{"OR": [ADA] * 26}, {"OR": [ADA] * 26}]},
        {"user_id": {"in": ["x"] * (MOST_VALUES + 1)}},
        {"metadata": {"k": {"in": [1] * (MOST_CONDITIONS + 1)}}},
        {"keywords": {"contains": "x" * 1_001}},
        {"user_id": 7},
        {"user_id": {}},
        {"OR": []},
        {"metadata": {}},
        {"created_at": {"contains": "2026"}},
        {"created_at": {"gte": True}},
        {"created_at": {"gte": 10**30}},
        {"created_at": {"gte": float("inf")}},
        [ADA],
    ],
)
def test_work_on_a_filter_is_bounded(filters: object) -> None:
    """ISO-13."""
    with pytest.raises(InvalidRequest, match=r"^filters"):
        parse_filters(filters)
