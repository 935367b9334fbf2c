"""The OpenAI-compatible front as an application sees it: through the unmodified `openai` client."""

import contextlib
import ssl
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import httpx2
import openai

from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint
from support.databases.engines import Engine
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Server, Tenant, segment, serving

MODEL = "the-model"
# Loading the certificates of the whole world for each client takes longer than most tests.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@dataclass(frozen=True, kw_only=True, slots=True)
class Front:
    server: Server
    model: FakeEndpoint
    clients: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def tenant(self) -> Tenant:
        return self.server.new_tenant()

    def client(self, key: str, session: str | None = None, project: str | None = None) -> openai.OpenAI:
        """OpenAI's client with another base URL, and headers that it sends with everything."""
        given = {"X-Session-ID": session, "X-Project-ID": project}
        http = self.clients.enter_context(httpx2.Client(verify=_NO_TLS, timeout=30))
        return openai.OpenAI(
            base_url=f"{self.server.address}/v1",
            api_key=key,
            max_retries=0,
            default_headers={name: value for name, value in given.items() if value is not None},
            http_client=http,
        )

    @property
    def shown(self) -> list[dict[str, Any]]:
        """The messages that the model was shown last."""
        return self.model.asked[-1].body["messages"]

    @property
    def system(self) -> str:
        """What stands in the system message that the model was shown last; nothing where there was none."""
        first = self.shown[0]
        return first["content"] if first["role"] == "system" else ""


def user(content: Any) -> Any:
    return {"role": "user", "content": content}


def assistant(content: Any, **fields: Any) -> Any:
    return {"role": "assistant", "content": content, **fields}


def system(content: Any) -> Any:
    return {"role": "system", "content": content}


def said_in(tenant: Tenant, session: str) -> list[tuple[str, str]]:
    """Who said what in a session, as it is stored."""
    found = tenant.admin.everything(f"/v1/sessions/{segment(session)}/messages")
    return [(message["role"], message["content"]) for message in found]


def statuses_in(tenant: Tenant, session: str) -> list[tuple[str, str]]:
    found = tenant.admin.everything(f"/v1/sessions/{segment(session)}/messages")
    return [(message["role"], message["status"]) for message in found]


def words(completion: Any) -> str:
    return completion.choices[0].message.content


@contextlib.contextmanager
def front_over(engine: Engine, model: FakeEndpoint) -> Generator[Front]:
    services = engine.services(chat_model=OpenAiChatModel(Endpoint(url=model.url, model=MODEL, seconds=30)))
    with serving(services) as server:
        front = Front(server=server, model=model)
        with front.clients:
            yield front
