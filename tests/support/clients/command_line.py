"""The command line, run in this process on one directory or server, as a person at an 80-column pipe would see it."""

import json
from dataclasses import dataclass
from typing import Any

from typer.testing import CliRunner

from cloister.interfaces.cli.main import app
from cloister.settings import VARIABLES


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandLine:
    data: str
    key: str | None = None

    def attempt(self, *arguments: str, answer: str | None = None, **environment: str) -> Outcome:
        """Whatever the exit code is; `answer` is standard input."""
        unset: dict[str, str | None] = dict.fromkeys((*VARIABLES, "NO_COLOR", "FORCE_COLOR"))
        given = {**unset, "CLOISTER_DATA": self.data, "CLOISTER_KEY": self.key, "COLUMNS": "80", **environment}
        result = CliRunner().invoke(app, arguments, input=answer, env=given, catch_exceptions=False)
        return Outcome(code=result.exit_code, stdout=result.stdout, stderr=result.stderr)

    def run(self, *arguments: str, answer: str | None = None, code: int = 0, **environment: str) -> Outcome:
        """Expects the exit code `code`."""
        outcome = self.attempt(*arguments, answer=answer, **environment)
        assert outcome.code == code, f"exit code {outcome.code}\n{outcome.stdout}{outcome.stderr}"
        return outcome

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self.run(*arguments, "--json", code=code).stdout)

    def refusal(self, *arguments: str) -> str:
        """The one line with which a command refuses."""
        outcome = self.run(*arguments, code=1)
        assert outcome.stdout == ""
        assert outcome.stderr.count("\n") == 1
        assert outcome.stderr.startswith("error: ")
        return outcome.stderr.removeprefix("error: ").removesuffix("\n")

    def project(self, name: str, *options: str) -> str:
        return self.json("projects", "create", name, *options)["project_id"]

    def said(self, *arguments: str) -> list[str]:
        """What a search finds."""
        return [hit["content"] for hit in self.json("search", *arguments)]


def timeless(printed: Any) -> Any:
    """What a command printed as JSON, without the time at which a receipt in it was made: every asking makes its own."""
    if "receipt" not in printed:
        return printed
    return {**printed, "receipt": {**printed["receipt"], "created_at": "TIME"}}
