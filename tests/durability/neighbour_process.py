"""A process that shares a data directory with others and does what it is told, line by line, in JSON."""

import json
import sys
from typing import Any

from cloister import Cloister


def main(directory: str) -> None:
    with Cloister(directory) as memory:
        for line in sys.stdin:
            print(json.dumps(obey(memory, **json.loads(line))), flush=True)


def obey(memory: Cloister, do: str, session: str, text: str = "", project_id: str | None = None, times: int = 1) -> Any:
    match do:
        case "record":
            for number in range(times):
                memory.record(session, "user", text.replace("#", str(number)))
        case "create":
            memory.create_session(session, project_id=project_id)
        case "move":
            memory.update_session(session, project_id=project_id)
        case "delete":
            memory.delete_session(session)
        case "recall":
            sources = [{"role": "user", "method": "semantic", "limit": 1000}]
            return sorted(item.content for item in memory.context(session, text, sources=sources).relevant_history)
        case _:
            raise ValueError(do)
    return "done"


if __name__ == "__main__":
    main(sys.argv[1])
