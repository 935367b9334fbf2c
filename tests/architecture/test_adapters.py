"""An adapter translates, and does no more: it is short, and what several need is in files that they share."""

from pathlib import Path

INTEGRATIONS = Path(__file__).parents[2] / "src/cloister/integrations"
MOST_LINES = 150
# Whole doors, with a store or a session protocol of their own, and not adapters of what another door does.
_DOORS = {"langgraph.py", "openai_agents.py"}


def test_door_8_no_adapter_is_longer_than_150_lines() -> None:
    """DOOR-8: the limit is on every file of the folder but the doors, so that a new adapter is under it from the start."""
    lengths = {file.name: len(file.read_text().splitlines()) for file in INTEGRATIONS.glob("*.py")}
    assert {"google_adk.py", "llama_index.py", "pydantic_ai.py", "anthropic.py", *_DOORS} <= set(lengths)
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES and name not in _DOORS} == {}
