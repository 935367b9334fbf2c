"""The TypeScript programs of the how-to page and of the client's README run, and print what is shown (DOOR-6)."""

import re
from pathlib import Path

import pytest

from support.clients.typescript_package import CLIENT, ROOT, TypeScriptPackage
from support.servers.http_server import Server

PAGES = [ROOT / "docs/how-to/typescript.md", ROOT / "docs/integrations.md", CLIENT / "README.md"]
PROGRAM = re.compile(r"^```ts\n(.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A model of the network, in its stead one of the AI SDK's own tests, which repeats what it was given to remember.
PROVIDER = 'import { openai } from "@ai-sdk/openai";\n'
MOCK = """\
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";

const openai = (_: string) =>
  new MockLanguageModelV3({
    doStream: async ({ prompt }) => {
      const name = /called (\\w+)/.exec(JSON.stringify(prompt[0]))?.[1] ?? "unknown";
      const chunks = [
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: `Your boat is called ${name}.` },
        { type: "text-end", id: "1" },
        { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: { inputTokens: {}, outputTokens: {} } },
      ];
      return { stream: simulateReadableStream({ chunks }) } as never;
    },
  });
"""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_program_of_a_page_prints_what_it_shows(page: Path, package: TypeScriptPackage, server: Server) -> None:
    text = page.read_text("utf-8")
    programs = PROGRAM.findall(text)
    assert len(programs) == text.count("```ts\n") > 0, "every program is followed by what it prints"
    tenant = server.new_tenant()
    for number, (program, shown) in enumerate(programs):
        file = package.fresh("7") / "pages" / f"{page.stem}-{number}.ts"
        file.parent.mkdir(exist_ok=True)
        file.write_text(program.replace(PROVIDER, MOCK), "utf-8")
        done = package.run("7", [str(file)], {"URL": server.address, "KEY": tenant.key})
        assert (done.returncode, done.stdout.strip()) == (0, shown.strip()), done.stderr
    if page.name == "typescript.md":
        said = [each["content"] for each in tenant.admin.everything("/v1/sessions/thursday/messages")]
        assert said == ["What is our boat called?", "Your boat is called Albatross."]
