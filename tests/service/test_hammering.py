"""Thirty-two clients of eight tenants on all routes at once, with the same names and the same words in every tenant.

Every answer is searched for what belongs to another tenant; in the end everything acknowledged is there, once and in order.
Set `CLOISTER_LONG_RUN=1` for a minute of it on each engine instead of a few seconds.
"""

import json
import os
import random
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cloister.interfaces.http.app import create_app
from support.databases.postgres_server import PostgresServer
from support.servers.http_server import (
    OPERATOR_KEY,
    Server,
    ServerProcess,
    Tenant,
    new_client,
    postgres_address,
    routes_of,
)
from support.waiting import eventually

TENANTS, CLIENTS_EACH = 8, 4
LONG = 60
SECONDS = LONG if os.environ.get("CLOISTER_LONG_RUN") else 2
USER = "ada"
"""Of all sessions that are kept, in every tenant."""
KEPT = ("first", "second", "third")
"""Sessions that all clients of a tenant write to, and nobody deletes."""
WORDS = "the roses in the garden need water"
TWICE = {"allow_duplicate_name": True}
MARKER = re.compile(rb"(?:mark|ten_|proj_|clo_)[0-9A-Za-z]+")
RECEIPT = re.compile(r"rcpt_[0-9a-f]+")


class Home:
    """A tenant, what is its own, and what it was told is kept."""

    def __init__(self, tenant: Tenant, number: int) -> None:
        self.tenant = tenant
        self.marker = f"mark{number}x"
        self.projects = [tenant.default_project_id, *(tenant.new_project(self.marker) for _ in range(2))]
        self.acknowledged: dict[str, dict[str, str]] = {name: {} for name in KEPT}
        self.lock = threading.Lock()
        for name, project in zip(KEPT, (None, *self.projects), strict=False):
            tenant.new_session(name, project_id=project, user_id=USER, metadata={"of": self.marker})

    @property
    def own(self) -> set[bytes]:
        return {text.encode() for text in (self.marker, self.tenant.tenant_id, self.tenant.key, *self.projects)}


class Client:
    """Does one thing after the other until told to stop. `answers` counts them by route and status."""

    def __init__(self, home: Home, number: int, foreign: set[bytes], outside: list[str]) -> None:
        self._home = home
        self._number = number
        self._foreign = foreign
        self._outside = outside
        self._random = random.Random(number)
        self._http: httpx2.Client = new_client(home.tenant.address, home.tenant.key)
        self._numbers = count(1)
        self._visits = count()
        self.answers: Counter[tuple[str, str, int]] = Counter()
        self.writes = 0
        self.failure: BaseException | None = None

    def run(self, ended: Callable[[], bool]) -> None:
        often = [self.say, self.say_many, self.exchange]
        sometimes = [self.read, self.context, self.search, self.move, self.forget, self.tell, self.keep_memories]
        rarely = [
            self.look_at_what_derives,
            self.keep_memories_true,
            self.keep_entities,
            self.keep_items,
            self.keep_entries,
            self.keep_memories_of_mem0,
            self.keep_settings,
            self.take_along,
            self.look_around,
            self.pass_through,
            self.keep_projects,
            self.keep_keys,
            self.sign_a_browser_in,
            self.converse,
            self.look_outside,
        ]
        each = [*often, *sometimes, *rarely]
        try:
            each[self._number % len(each)]()
            while not ended():
                self._random.choice([*(8 * often), *(4 * sometimes), *rarely])()
        except BaseException as failure:  # noqa: BLE001 - told to the test, which raises it
            self.failure = failure
        finally:
            self._http.close()

    def ask(
        self,
        method: str,
        path: str,
        *expected: int,
        route: str | None = None,
        http: httpx2.Client | None = None,
        **given: Any,
    ) -> httpx2.Response:
        """`route` is the path as the table of routes has it, where it holds an id; `http` is another way than with our key."""
        answer = (http or self._http).request(method, path, **given)
        self.answers[method, route or path.partition("?")[0], answer.status_code] += 1
        assert answer.status_code in expected, f"{method} {path}: {answer.status_code} {answer.text}"
        found = {*MARKER.findall(repr(answer.headers.raw).encode() + answer.content)} & self._foreign
        assert not found, f"{method} {path} showed {found}: {answer.text}"
        return answer

    def in_session(self, method: str, name: str, rest: str, *expected: int, **given: Any) -> httpx2.Response:
        path = f"/v1/sessions/{name}{rest}"
        return self.ask(method, path, *expected, route=f"/v1/sessions/{{external_id}}{rest.partition('?')[0]}", **given)

    def words(self) -> str:
        return f"{self._home.marker} {WORDS} {self._number}-{next(self._numbers)}"

    def keep(self, name: str, told: dict[str, str]) -> None:
        self.writes += len(told)
        with self._home.lock:
            self._home.acknowledged[name] |= told

    def say(self) -> str:
        name, content = self._random.choice(KEPT), self.words()
        said = self.in_session("POST", name, "/messages", 201, json={"role": "user", "content": content}).json()
        assert said["content"] == content
        self.keep(name, {said["id"]: content})
        return name

    def say_many(self) -> None:
        name, contents = self._random.choice(KEPT), [self.words() for _ in range(self._random.randint(2, 20))]
        messages = [{"role": "user", "content": content} for content in contents]
        said = self.in_session("POST", name, "/messages/batch", 201, json={"messages": messages}).json()["data"]
        assert [entry["content"] for entry in said] == contents
        self.keep(name, {entry["id"]: entry["content"] for entry in said})

    def tell(self) -> None:
        """A fact, and whatever else nobody has looked at, extracted at once; unless the server is at it already."""
        name, content = self._random.choice(KEPT), f"My neighbour Anna plays the {self.words()}"
        said = self.in_session("POST", name, "/messages", 201, json={"role": "user", "content": content}).json()
        self.keep(name, {said["id"]: content})
        self.in_session("POST", name, "/extract", 200, 409)

    def keep_memories(self) -> None:
        """Those of all clients of the tenant, the words of each once."""
        name, content = self._random.choice(KEPT), self.words()
        body = {"session_id": name, "contents": [content, content.upper()]}
        added = self.ask("POST", "/v1/memories", 201, json=body).json()
        assert ([entry["content"] for entry in added["appended"]], added["duplicates"]) == ([content], 1)
        for path in (f"/v1/sessions/{name}/memories", f"/v1/users/{USER}/memories"):
            route = "/v1/sessions/{external_id}/memories" if name in path else "/v1/users/{user_id}/memories"
            stored = self.ask("GET", f"{path}?limit=200", 200, route=route).json()["data"]
            assert all(self._home.marker in entry["content"].lower() for entry in stored)
        self.look_at_memories(name, added["appended"][0]["id"])
        forgotten = f"/v1/memories/{added['appended'][0]['id']}"
        self.ask("DELETE", forgotten, 200, route="/v1/memories/{memory_id}")
        self.ask("DELETE", forgotten, 404, route="/v1/memories/{memory_id}")

    def look_at_memories(self, name: str, memory: str) -> None:
        """Where memories of several sessions are listed, and what one session does not recall; others may move it meanwhile."""
        project = self._random.choice(self._home.projects)
        self.ask("GET", f"/v1/memories?project_id={project}&user_id={USER}", 200)
        self.ask("GET", f"/v1/users/{USER}/timeline", 200, route="/v1/users/{user_id}/timeline")
        path, route = f"/org/projects/{project}/timeline", "/org/projects/{project_id}/timeline"
        self.ask("GET", f"{path}?user_id={USER}", 200, route=route)
        path, route = f"/org/projects/{project}/activity", "/org/projects/{project_id}/activity"
        self.ask("GET", f"{path}?user_id={USER}", 200, route=route)
        self.ask("GET", f"/v1/users/{USER}/activity", 200, route="/v1/users/{user_id}/activity")
        self.in_session("POST", name, "/exclusions", 200, json={"kind": "memory", "id": memory})
        self.in_session("GET", name, "/exclusions", 200)
        path, route = f"/v1/sessions/{name}/exclusions/{memory}", "/v1/sessions/{external_id}/exclusions/{item_id}"
        self.ask("DELETE", path, 204, route=route)

    def look_at_what_derives(self) -> None:
        """Entities may be retagged, or go with what mentioned them, by the time they are named."""
        self.tell()
        self.in_session("GET", self._random.choice(KEPT), "/observations", 200)
        for project in self._home.projects:
            headers = {"X-Project-ID": project}
            stored = self.ask("GET", "/v1/entities", 200, headers=headers, params={"user_id": USER}).json()["data"]
            assert all(self._home.marker in entity["notes"] for entity in stored)
            for entity in stored[:1]:
                body = {"project_id": self._random.choice(self._home.projects)}
                route = "/v1/entities/{entity_id}"
                self.ask("PATCH", f"/v1/entities/{entity['id']}", 200, 404, route=route, json=body)

    def keep_memories_true(self) -> None:
        """A memory of this client's own is corrected, retracted and restored; what is not stored is only shown."""
        body = {"session_id": self._random.choice(KEPT), "contents": [self.words()]}
        (memory,) = self.ask("POST", "/v1/memories", 201, json=body).json()["appended"]
        path, route = f"/v1/memories/{memory['id']}", "/v1/memories/{memory_id}"
        corrected = self.words()
        changed = self.ask("PATCH", path, 200, route=route, json={"content": corrected}).json()
        assert (changed["content"], changed["source"]) == (corrected, "corrected")
        assert self.ask("POST", f"{path}/retract", 200, route=f"{route}/retract").json()["status"] == "retracted"
        assert self.ask("POST", f"{path}/restore", 200, route=f"{route}/restore").json()["status"] == "active"
        assert len(self.ask("GET", f"{path}/history", 200, route=f"{route}/history").json()["data"]) >= 2
        assert self.ask("GET", path, 200, route=route).json()["content"] == corrected
        self.ask("DELETE", path, 200, route=route)
        said = {"messages": [{"role": "user", "content": f"My neighbour Anna plays the {self.words()}"}]}
        assert self.ask("POST", "/v1/extract/preview", 200, json=said).json()["memories"]

    def keep_entities(self) -> None:
        """Two of a user of this client's own are corrected, merged, split and deleted, and all that is undone."""
        name = user = f"named-{self._number}"
        project = self._home.projects[0]
        self.ask("POST", "/v1/sessions", 201, 200, json={"external_id": name, "user_id": user, "project_id": project})
        said = f"My brother Xandor works at Zentrix. {self.words()}"
        self.in_session("POST", name, "/messages", 201, json={"role": "user", "content": said})
        self.in_session("POST", name, "/extract", 200, 409)
        headers = {"X-Project-ID": project}

        def stored() -> list[dict[str, Any]]:
            return self.ask("GET", "/v1/entities", 200, headers=headers, params={"user_id": user}).json()["data"]

        one, other, *_ = eventually(lambda: stored()[:2] if len(stored()) > 1 else None)
        path, route = f"/v1/entities/{one['id']}", "/v1/entities/{entity_id}"
        changed = self.ask("PATCH", path, 200, route=route, json={"name": "Xan", "aliases": ["Xandy"]}).json()
        assert (changed["name"], "Xandy" in changed["aliases"]) == ("Xan", True)
        self.ask("POST", f"{path}/merge", 200, route=f"{route}/merge", json={"into": other["id"]})
        self.ask("POST", f"{path}/restore", 200, route=f"{route}/restore")
        assert self.ask("GET", path, 200, route=route).json()["name"] == "Xan"
        merged = f"/v1/entities/{other['id']}"
        self.ask("POST", f"{merged}/merge", 200, route=f"{route}/merge", json={"into": one["id"]})
        self.ask("POST", f"{path}/split", 200, route=f"{route}/split", json={"aliases": [other["name"]]})
        assert self.ask("GET", f"{path}/mentions", 200, route=f"{route}/mentions").json()["data"]
        self.ask("DELETE", path, 200, route=route)
        self.in_session("DELETE", name, "", 200)

    def keep_items(self) -> None:
        """A conversation of OpenAI's interface, and a response in it."""
        item = {"type": "message", "role": "user", "content": self.words()}
        name = self.ask("POST", "/v1/conversations", 200, json={"items": [item]}).json()["id"]
        path, route = f"/v1/conversations/{name}", "/v1/conversations/{external_id}"
        of_session, items = "/v1/sessions/{external_id}/items", f"{route}/items"
        assert self.ask("GET", path, 200, route=route).json()["id"] == name
        self.ask("POST", path, 200, route=route, json={"metadata": {"of": self._home.marker}})
        self.ask("POST", f"{path}/items", 200, route=items, json={"items": [item]})
        first, second = self.ask("GET", f"{path}/items", 200, route=items).json()["data"]
        self.ask("GET", f"{path}/items/{first['id']}", 200, route=f"{items}/{{item_id}}")
        self.ask("DELETE", f"{path}/items/{first['id']}", 200, route=f"{items}/{{item_id}}")
        self.ask("POST", f"/v1/sessions/{name}/items", 200, route=of_session, json={"items": [item]})
        assert len(self.ask("GET", f"/v1/sessions/{name}/items", 200, route=of_session).json()["data"]) == 2
        last = f"/v1/sessions/{name}/items/{second['id']}"
        self.ask("DELETE", last, 204, route=f"{of_session}/{{item_id}}")
        asked = {"input": self.words(), "conversation": name}
        answered = f"/v1/responses/{self.ask('POST', '/v1/responses', 200, json=asked).json()['id']}"
        self.ask("GET", answered, 200, route="/v1/responses/{response_id}")
        self.ask("DELETE", answered, 200, route="/v1/responses/{response_id}")
        self.ask("DELETE", path, 200, route=route)
        self.ask("GET", "/v1/models/recall-only", 200, route="/v1/models/{model_id}")

    def keep_entries(self) -> None:
        """Entries of LangGraph's store, a file of Anthropic's memory tool, and a message to Anthropic's front."""
        headers = {"X-User-ID": f"graph-{self._number}"}
        entry = {"namespace": ["notes"], "key": "beans"}
        store, value = "/langgraph/store/items", {"text": self.words()}
        self.ask("PUT", store, 204, json={**entry, "value": value}, headers=headers)
        kept = self.ask("GET", f"{store}?namespace=notes&key=beans", 200, headers=headers).json()
        assert kept["value"] == value
        asked = {"namespace_prefix": ["notes"]}
        found = self.ask("POST", f"{store}/search", 200, json=asked, headers=headers).json()["items"]
        assert [each["value"] for each in found] == [value]
        self.ask("POST", "/langgraph/store/namespaces", 200, json={"limit": 5}, headers=headers)
        self.ask("DELETE", store, 204, json=entry, headers=headers)
        batch = {"operations": [{"op": "list_namespaces"}], "project_id": self._home.projects[0]}
        self.ask("POST", "/v1/entries/read", 200, json=batch)
        put = [{"op": "put", "namespace": [f"of {self._number}"], "key": "k", "value": value}]
        self.ask("POST", "/v1/entries/write", 200, json={**batch, "operations": put})
        name = f"files-{self._number}"
        session = {"external_id": name, "user_id": name, "project_id": None}
        self.ask("POST", "/v1/sessions", 201, 200, json=session)
        self.ask("POST", "/v1/memory-tool", 200, json={"user_id": name, "project_id": None})
        file = {"command": "create", "path": "/memories/notes.txt", "file_text": self.words()}
        self.in_session("POST", name, "/files", 200, json=file)
        self.in_session("POST", name, "/files/view", 200, json={"path": "/memories"})
        question = {"role": "user", "content": self.words()}
        message = {"model": "any", "max_tokens": 9, "messages": [question]}
        self.ask("POST", "/anthropic/v1/messages", 200, json=message, headers={"X-Session-ID": name})
        count = {"model": "any", "messages": [question]}
        self.ask("POST", "/anthropic/v1/messages/count_tokens", 404, json=count)
        self.ask("GET", "/anthropic/v1/models", 200)
        self.ask("GET", "/anthropic/v1/models/recall-only", 200, route="/anthropic/v1/models/{model_id}")
        self.in_session("DELETE", name, "", 200)

    def keep_memories_of_mem0(self) -> None:
        """What mem0's client asks, in its order."""
        user = f"mem0-{self._number}"
        filters, base = {"user_id": user}, "/mem0/v1/memories/"
        self.ask("GET", "/mem0/v1/ping/", 200)
        added = {"messages": self.words(), "user_id": user, "infer": False}
        one, other = (
            self.ask("POST", "/mem0/v3/memories/add/", 200, json={**added, "messages": words}).json()["results"][0][
                "id"
            ]
            for words in (self.words(), self.words())
        )
        listed = self.ask("POST", "/mem0/v3/memories/", 200, json={"filters": filters}).json()["results"]
        assert {each["id"] for each in listed} >= {one, other}
        asked = {"query": self.words(), "filters": filters, "threshold": 0}
        self.ask("POST", "/mem0/v3/memories/search/", 200, json=asked)
        path, route = f"{base}{one}/", f"{base}{{memory_id}}/"
        self.ask("PUT", path, 200, route=route, json={"text": self.words()})
        assert self.ask("GET", path, 200, route=route).json()["user_id"] == user
        assert len(self.ask("GET", f"{path}history/", 200, route=f"{route}history/").json()) == 2
        named = [{"memory_id": other}]
        self.ask("PUT", "/mem0/v1/batch/", 200, json={"memories": [{**named[0], "text": self.words()}]})
        self.ask("DELETE", "/mem0/v1/batch/", 200, json={"memories": named})
        self.ask("DELETE", path, 200, route=route)
        self.ask("DELETE", f"{base}?user_id={user}", 200, route=base)
        listed = self.ask("GET", "/mem0/v1/entities/", 200).json()["results"]
        assert user in {each["name"] for each in listed}
        for version, kind in (("v2", "user"), ("v1", "run")):
            entity = f"/mem0/{version}/entities/"
            self.ask("DELETE", f"{entity}{kind}/{user}/", 200, route=f"{entity}{{type}}/{{name}}/")

    def keep_settings(self) -> None:
        nothing = {"retention_days": None, "receipt_days": None}
        assert self.ask("PATCH", "/org/settings", 200, json={"retention_days": None}).json() == nothing
        assert self.ask("GET", "/org/settings", 200).json() == nothing
        self.ask("POST", "/org/retention?dry_run=true&retention_days=9", 200)
        project = self._random.choice(self._home.projects)
        path, route = f"/org/projects/{project}", "/org/projects/{project_id}"
        self.ask("POST", f"{path}/retention?dry_run=true&retention_days=9", 200, route=f"{route}/retention")
        self.ask("GET", f"{path}/profile?user_id={USER}", 200, route=f"{route}/profile")
        self.ask("GET", f"/v1/users/{USER}/profile", 200, route="/v1/users/{user_id}/profile")

    def take_along(self) -> None:
        """A user who has said nothing is exported and imported again."""
        archive = self.ask("GET", f"/v1/export?scope=user&id=nobody-{self._number}", 200).content
        headers = {"Content-Type": "application/x-ndjson"}
        self.ask("POST", "/v1/import", 200, content=archive, headers=headers)
        log = json.dumps({"role": "user", "content": self.words()}).encode()
        self.ask("POST", "/v1/import/file?project_id=none&dry_run=true", 200, 429, content=log)
        self.ask("POST", "/org/model/test", 200, 409)

    def exchange(self) -> None:
        name, question, reply = self._random.choice(KEPT), self.words(), self.words()
        body = {"session_id": name, "user_message": question, "ai_response": reply}
        first, second = self.ask("POST", "/v1/episodes", 201, json=body).json()["message_ids"]
        self.keep(name, {first: question, second: reply})

    def converse(self) -> None:
        """In a pool of this client's own: what is quoted there was said there."""
        name, content = f"talk-{self._number}", self.words()
        said = {"id": "1", "role": "user", "parts": [{"type": "text", "text": content}]}
        body = {"id": name, "messages": [said], "project_id": None, "user_id": f"talker-{self._number}"}
        streamed = self.ask("POST", "/v1/chat/stream", 200, json=body).text
        assert streamed.endswith("data: [DONE]\n\n")
        (named,) = RECEIPT.findall(streamed)
        receipt = self.ask("GET", f"/v1/receipts/{named}", 200, route="/v1/receipts/{receipt_id}").json()
        assert (receipt["id"], receipt["session_id"]) == (named, name)
        path, route = f"/v1/receipts/{named}/prompt", "/v1/receipts/{receipt_id}/prompt"
        self.ask("GET", path, 200, 409, route=route)  # without a model there is no prompt
        self.ask("GET", f"/v1/chat/{name}/stream", 204, route="/v1/chat/{external_id}/stream")
        self.ask("POST", f"/v1/chat/{name}/stop", 200, route="/v1/chat/{external_id}/stop")
        self.answer_again(name, said)
        asked = {"model": "any", "messages": [{"role": "user", "content": self.words()}]}
        self.ask("POST", "/v1/chat/completions", 200, json=asked, headers={"X-Session-ID": name})
        self.ask("GET", "/v1/models", 200)
        self.ask("POST", "/v1/embeddings", 200, json={"model": "any", "input": content})
        with self._http.stream("GET", "/v1/events") as events:
            self.answers["GET", "/v1/events", events.status_code] += 1

    def answer_again(self, name: str, said: dict[str, Any]) -> None:
        """The last reply gets a sibling, and the older one is chosen again."""
        before = self.in_session("GET", name, "", 200).json()["current_leaf_id"]
        again = {"id": name, "trigger": "regenerate-message", "messageId": before, "messages": [said]}
        assert self.ask("POST", "/v1/chat/stream", 200, json=again).text.endswith("data: [DONE]\n\n")
        assert self.in_session("GET", name, "", 200).json()["current_leaf_id"] != before
        chosen = self.in_session("POST", name, "/branch", 200, json={"message_id": before}).json()
        assert chosen["current_leaf_id"] == before
        siblings = self.in_session("GET", name, "/messages?branch=all&before=end&limit=2", 200).json()["data"]
        assert {each["is_current"] for each in siblings} == {True, False}
        self.in_session("PATCH", name, "", 200, json={"title": "Talk"})
        kept = self.in_session("POST", name, "/title", 200, json={"replaces": "Another title"}).json()
        assert kept["title"] == "Talk"

    def forget(self) -> None:
        name = self.say()
        with self._home.lock:
            message, _ = self._home.acknowledged[name].popitem()
        self.ask("DELETE", f"/v1/messages/{message}", 200, route="/v1/messages/{message_id}")

    def move(self) -> None:
        project = self._random.choice([None, *self._home.projects])
        moved = self.in_session("PATCH", self._random.choice(KEPT), "", 200, json={"project_id": project}).json()
        assert moved["project_id"] == project

    def read(self) -> None:
        name = self._random.choice(KEPT)
        page = self.in_session("GET", name, f"/messages?limit={self._random.randint(1, 200)}", 200).json()
        sequence = [entry["seq"] for entry in page["data"]]
        assert sequence == sorted(set(sequence))
        assert self.in_session("GET", name, "", 200).json()["metadata"] == {"of": self._home.marker}

    def context(self) -> None:
        name = self._random.choice(KEPT)
        context = self.ask("POST", "/v1/context", 200, json={"session_id": name, "query": WORDS}).json()
        for item in [each for each in context["receipt"]["items"] if each["kind"] == "message"][:1]:
            asked = {"session_id": name, "query": WORDS, "message_id": item["id"]}
            self.ask("POST", "/v1/explain", 200, 404, json=asked)
        self.ask("GET", "/v1/receipts/rcpt_00000000000000aa", 404, route="/v1/receipts/{receipt_id}")
        assert all(self._home.marker in item["content"] for item in context["chat_history"])
        derived = [*context["memories"], *context["observations"]]
        assert all(self._home.marker in entry["content"].lower() for entry in derived)
        assert all(self._home.marker in entity["notes"] for entity in context["entities"])
        assert all(item["session_id"] == name for item in context["current_conversation"])

    def search(self) -> None:
        headers = {"X-Project-ID": self._random.choice(self._home.projects)}
        hits = self.ask("POST", "/v1/search", 200, json={"query": WORDS, "limit": 20}, headers=headers).json()["data"]
        assert all(self._home.marker in hit["content"].lower() for hit in hits)
        called = {"name": "search_memory", "arguments": {"query": WORDS}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
        found = self.ask("POST", "/mcp", 200, json=message, headers=headers).json()["result"]["structuredContent"]
        assert found["scope"]["project"] == headers["X-Project-ID"]
        assert all(self._home.marker in hit["content"].lower() for hit in found["results"])

    def look_around(self) -> None:
        project = self._random.choice(self._home.projects)
        self.ask("GET", "/v1/sessions", 200)
        self.ask("GET", f"/v1/sessions?project_id={self._random.choice(['none', project])}", 200)
        self.ask("GET", "/org/projects", 200)
        route = "/org/projects/{project_id}"
        self.ask("GET", f"/org/projects/{project}", 200, route=route)
        self.ask("GET", f"/org/projects/{project}/sessions", 200, route=f"{route}/sessions")
        assert self.ask("GET", "/org/usage", 200).json()["sessions"] >= len(KEPT)

    def pass_through(self) -> None:
        """A session of the client's own, under a name that it has in every tenant."""
        name = f"passing-{self._number % CLIENTS_EACH}"
        self.ask("POST", "/v1/sessions", 201, json={"external_id": name, "title": self._home.marker})
        for _ in range(2):
            self.in_session("POST", name, "/messages", 201, json={"role": "user", "content": self.words()})
        assert self.in_session("POST", name, "/clear", 200).json()["messages"] == 2
        self.in_session("POST", name, "/messages", 201, json={"role": "user", "content": self.words()})
        assert self.in_session("DELETE", name, "", 200).json()["messages"] == 1
        self.in_session("GET", name, "", 404)
        user = f"passing-{self._number}"
        self.ask("POST", "/v1/sessions", 201, json={"external_id": f"of {user}", "user_id": user})
        erased = self.ask("DELETE", f"/v1/users/{user}", 200, route="/v1/users/{user_id}").json()
        assert erased["sessions"] == 1

    def keep_projects(self) -> None:
        made = self.ask("POST", "/org/projects", 201, json={"name": f"{self._home.marker} passing", **TWICE}).json()
        path, route = f"/org/projects/{made['project_id']}", "/org/projects/{project_id}"
        assert (
            self.ask("PATCH", path, 200, route=route, json={"name": self._home.marker, **TWICE}).json()["isolated"]
            is True
        )
        default = f"/org/projects/{self._random.choice(self._home.projects)}"
        self.ask("PATCH", default, 200, route=route, json={"is_default": True})
        assert self.ask("DELETE", path, 200, route=route).json()["sessions_moved"] == 0
        self.ask("GET", path, 404, route=route)

    def keep_keys(self) -> None:
        made = self.ask("POST", "/org/api-keys", 201, json={"name": self._home.marker}).json()
        headers = {"Authorization": f"Bearer {made['key']}"}
        self.ask("GET", "/v1/sessions", 200, headers=headers)
        assert made["key"] not in self.ask("GET", "/org/api-keys", 200).text
        self.ask("DELETE", f"/org/api-keys/{made['key_id']}", 204, route="/org/api-keys/{key_id}")
        self.ask("GET", "/v1/sessions", 401, headers=headers)

    def sign_a_browser_in(self) -> None:
        """ISO-4: who comes with the cookie alone is whom the link was made for."""
        path = self.ask("POST", "/console/links", 200).json()["path"]
        tenant = self._home.tenant
        with new_client(tenant.address, Origin=tenant.address) as browser:
            self.ask("POST", "/console/sign-in", 204, json={"code": path.partition("#")[2]}, http=browser)
            shown = self.ask("GET", "/org/projects", 200, http=browser).json()["data"]
            assert {project["tenant_id"] for project in shown} == {tenant.tenant_id}
            self.ask("POST", "/console/sign-out", 204, http=browser)
            self.ask("GET", "/org/projects", 401, http=browser)

    def look_outside(self) -> None:
        """What anybody may ask, and now and then what only the operator may."""
        for path in self._outside:
            self.ask("GET", path, 200, 307)
        if next(self._visits) % 10 == 0:
            headers = {"Authorization": f"Bearer {OPERATOR_KEY}"}
            made = self.ask("POST", "/operator/tenants", 201, json={"name": "another"}, headers=headers).json()
            path, route = f"/operator/tenants/{made['tenant_id']}", "/operator/tenants/{tenant_id}"
            # The operator's list shows all tenants, and is no answer to a tenant.
            listed = self._http.get("/operator/tenants", headers=headers)
            self.answers["GET", "/operator/tenants", listed.status_code] += 1
            self.ask("POST", f"{path}/keys", 201, route=f"{route}/keys", headers=headers)
            assert self.ask("DELETE", path, 200, route=route, headers=headers).json()["api_keys"] == 2


@pytest.fixture(params=["sqlite", "postgres"])
def process(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[ServerProcess]:
    if request.param == "sqlite":
        with ServerProcess(tmp_path / "data") as running:
            yield running
        return
    databases: PostgresServer = request.getfixturevalue("postgres_server")
    with databases.migrated_database() as url, ServerProcess(postgres_address(url)) as running:
        yield running


def test_many_tenants_at_once_never_see_each_other_and_lose_nothing(
    process: ServerProcess, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    """ISO-4, ORG-2, ORG-7."""
    homes = [Home(process.server.new_tenant("Household"), number) for number in range(TENANTS)]
    assert server.services is not None
    # An audit makes a thousand requests of its own, for seconds: `test_audit.py` has it.
    routes = {
        (method, path)
        for method, path in routes_of(create_app(server.services))
        if method != "HEAD" and not path.endswith("/audit")
    }
    outside = [
        path
        for method, path in sorted(routes)
        if method == "GET" and not path.startswith(("/v1", "/org", "/operator", "/langgraph", "/mem0", "/anthropic"))
    ]
    everything = set[bytes]().union(*(home.own for home in homes))
    clients = [
        Client(home, number * CLIENTS_EACH + place, everything - home.own, outside)
        for number, home in enumerate(homes)
        for place in range(CLIENTS_EACH)
    ]
    hammer(clients)

    for home in homes:
        everything_is_there(home)
    answers = sum((client.answers for client in clients), Counter[tuple[str, str, int]]())
    statuses = Counter[int]()
    for (_, _, status), times in answers.items():
        statuses[status] += times
    assert not [status for status in statuses if status >= 500]
    # Without a model's server nothing counts tokens: `tests/anthropic_front` has one.
    routes.discard(("POST", "/anthropic/v1/messages/count_tokens"))
    assert routes <= {(method, path) for method, path, status in answers if status < 400}
    if SECONDS == LONG:
        told = dict(sorted(statuses.items()))
        writes = sum(client.writes for client in clients)
        with capsys.disabled():
            os.write(2, f"\n{sum(statuses.values())} requests, {writes} messages acknowledged, {told}\n".encode())


def hammer(clients: list[Client]) -> None:
    until = time.monotonic() + SECONDS

    def ended() -> bool:
        return time.monotonic() > until or any(client.failure for client in clients)

    threads = [threading.Thread(target=client.run, args=(ended,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in clients:
        if client.failure is not None:
            raise client.failure


def sessions(home: Home) -> list[Any]:
    return home.tenant.admin.everything("/v1/sessions")


def everything_is_there(home: Home) -> None:
    """Once, and each client's words in the order in which it said them. Memories are counted where they are."""
    total = 0
    for name, told in home.acknowledged.items():
        stored = home.tenant.admin.everything(f"/v1/sessions/{name}/messages")
        assert [entry["seq"] for entry in stored] == sorted({entry["seq"] for entry in stored})
        assert {entry["id"]: entry["content"] for entry in stored} == told
        said: dict[str, list[int]] = defaultdict(list)
        for entry in stored:
            client, _, number = entry["content"].rpartition(" ")[2].partition("-")
            said[client].append(int(number))
        assert all(numbers == sorted(set(numbers)) for numbers in said.values())
        assert home.tenant.admin.get(f"/v1/sessions/{name}").json()["message_count"] == len(stored)
        total += len(stored)
    passing = [entry for entry in sessions(home) if entry["external_id"] not in KEPT]
    assert home.tenant.admin.get("/org/usage").json()["messages"] == total + sum(s["message_count"] for s in passing)
    projects = home.tenant.admin.everything("/org/projects")
    assert eventually(lambda: not any(session["memory_job_pending"] for session in sessions(home)), seconds=60)
    kept_in = Counter[str]()
    for session in sessions(home):
        stored = home.tenant.admin.everything(f"/v1/sessions/{session['external_id']}/memories")
        assert all(home.marker in memory["content"].lower() for memory in stored)
        kept_in[session["project_id"]] += len(stored)
    for project in home.tenant.admin.everything("/org/projects"):
        assert project["memory_count"] == kept_in[project["project_id"]]
    assert [project["is_default"] for project in projects].count(True) == 1
