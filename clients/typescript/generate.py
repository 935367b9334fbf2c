"""Write `src/generated` from the OpenAPI document of this checkout: python clients/typescript/generate.py

`schemas.ts` has a type for each schema, `operations.ts` what each operation takes and answers. Operations that other clients
already speak (OpenAI's, Anthropic's), and those for browsers and monitoring, are left out. A construct of JSON Schema that is not
known here is an error, so that no type silently becomes `unknown`.
"""

import json
import re
import tempfile
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from cloister.bootstrap import build_services
from cloister.interfaces.http.app import create_app
from cloister.interfaces.http.dispatch.callers import need_of
from cloister.settings import Settings

Node = Mapping[str, Any]
FOLDER = Path(__file__).parent / "src" / "generated"
COMMAND = "python clients/typescript/generate.py"
_HEAD = f"// Made by `{COMMAND}` from the OpenAPI document; a test compares the two.\n"
_FOREIGN_TAG = re.compile(r"-compatible$|^Console$")
_NOT_FOR_PROGRAMS = {"metrics", "openapi", "docs"}
# Fields that narrow a request. One that is given has a value: left out of the JSON, it would mean everybody or everything, or a
# deletion and not its rehearsal.
_NARROWING = {"user_id", "project_id", "session_id", "dry_run"}
# Requests in which a user who is null is nobody (`TAKES_NOBODY` in `scope.ts`). In others it would mean the same as no field.
_TAKE_NOBODY = {"NewSession", "ChatRequest", "EntryOperations", "MemoryToolScope"}
# Headers that the client sets by itself.
_OWN_HEADERS = {"Idempotency-Key", "X-Project-ID", "X-User-ID", "Last-Event-ID"}
_SCALARS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_JSON = "application/json"
_WIDTH = 120
_PLAIN_NAME = re.compile(r"^[A-Za-z_$][A-Za-z0-9_$]*$")
_REFERENCE = re.compile(r"#/components/schemas/([\w-]+)")
# What narrows a value further than a type of TypeScript can say.
_LIMITS = {
    *("title", "description", "default", "example", "examples", "pattern", "format", "not", "deprecated"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
    *(
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "contentMediaType",
        "contentSchema",
        "discriminator",
    ),
}
_SHAPES = {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "$ref"}
_KNOWN = {*_LIMITS, *_SHAPES, "anyOf", "oneOf", "allOf"}


def render(app: FastAPI) -> dict[str, str]:
    """The generated files by their names."""
    document = app.openapi()
    needs = {route.name: need_of(route.endpoint) for route in app.routes if isinstance(route, APIRoute)}
    operations = [
        (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if not any(map(_FOREIGN_TAG.search, operation["tags"])) and operation["operationId"] not in _NOT_FOR_PROGRAMS
    ]
    schemas = _reached(document, [*(operation for *_, operation in operations), {"$ref": _reference("Problem")}])
    return {
        "schemas.ts": _HEAD + "".join(_declaration(name, schema) for name, schema in schemas.items()),
        "operations.ts": _operations_file(document, operations, needs, schemas),
    }


def render_checkout() -> dict[str, str]:
    """The files of this checkout, with the app over an empty directory."""
    with tempfile.TemporaryDirectory() as folder:
        services = build_services(Settings(data=folder))
        try:
            return render(create_app(services))
        finally:
            services.close()


def _reference(name: str) -> str:
    return f"#/components/schemas/{name}"


def _reached(document: Node, roots: Iterable[Node]) -> dict[str, Node]:
    """The schemas that the operations use, directly or through others, by name in the order of the document."""
    found: set[str] = set()
    waiting = set(_REFERENCE.findall(json.dumps(list(roots))))
    schemas: Node = document["components"]["schemas"]
    while waiting:
        found |= waiting
        waiting = set(_REFERENCE.findall(json.dumps([schemas[name] for name in waiting]))) - found
    return {name: schemas[name] for name in schemas if name in found}


def _declaration(name: str, schema: Node) -> str:
    note = _comment(schema.get("description", ""), "")
    if "properties" in schema:
        members = _members(_without_null(name, schema), "")
        return f"\n{note}export interface {_type_name(name)} {members}\n"
    return f"\n{note}export type {_type_name(name)} = {_type(schema, '')};\n"


def _without_null(name: str, schema: Node) -> Node:
    """The schema without null for fields of a request in which null means the same as no field."""
    left_out = {"session_id"} if name in _TAKE_NOBODY else {"session_id", "user_id"}
    properties: dict[str, Node] = dict(schema["properties"])
    for field in left_out & properties.keys() - set(schema.get("required", ())):
        choices = properties[field].get("anyOf", ())
        if {"type": "null"} in choices:
            properties[field] = {**properties[field], "anyOf": [each for each in choices if each != {"type": "null"}]}
    return {**schema, "properties": properties}


def _type_name(name: str) -> str:
    """The name of a type. A schema that differs between requests and answers has its plain name in answers."""
    return name.removesuffix("-Output").replace("-", "")


def _members(schema: Node, indent: str) -> str:
    inside = indent + "  "
    required = set(schema.get("required", ()))
    lines: list[str] = []
    for name, said in schema["properties"].items():
        note = _comment(said.get("description", ""), inside)
        lines.append(f"{note}{inside}{_member(name, said, name in required, inside)};\n")
    if schema.get("additionalProperties") is True:
        lines.append(f"{inside}[name: string]: unknown;\n")
    return "{\n" + "".join(lines) + indent + "}"


def _member(name: str, schema: Node, required: bool, indent: str) -> str:
    """A property, which may also be given as `undefined` where it is optional: JSON leaves that out. Not what narrows a request."""
    spelled = name if _PLAIN_NAME.match(name) else json.dumps(name)
    type_ = _type(schema, indent)
    if required:
        return f"{spelled}: {type_}"
    return f"{spelled}?: {type_}" if type_ == "unknown" or name in _NARROWING else f"{spelled}?: {type_} | undefined"


def _type(schema: Node, indent: str) -> str:
    if unknown := schema.keys() - _KNOWN:
        raise ValueError(f"{COMMAND}: cannot write the keyword {sorted(unknown)} of {schema} as a type: teach it here.")
    if "$ref" in schema:
        return _type_name(schema["$ref"].rpartition("/")[2])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    # Beside properties it says which of them go together, which the server checks.
    if (choices := schema.get("anyOf") or schema.get("oneOf")) and "properties" not in schema:
        return " | ".join(dict.fromkeys(_type(each, indent) for each in choices))
    if "allOf" in schema and "properties" not in schema:
        return " & ".join(dict.fromkeys(_type(each, indent) for each in schema["allOf"]))
    kind = schema.get("type")
    if kind == "array":
        items = _type(schema.get("items", {}), indent)
        return f"({items})[]" if " | " in items else f"{items}[]"
    if kind == "object" or "properties" in schema:
        return _object(schema, indent)
    return "unknown" if kind is None else _SCALARS[kind]


def _object(schema: Node, indent: str) -> str:
    if "properties" in schema:
        return _members(schema, indent)
    values = schema.get("additionalProperties", True)
    return f"Record<string, {'unknown' if values is True else _type(values, indent)}>"


def _comment(text: str, indent: str) -> str:
    if not text:
        return ""
    said = " ".join(text.split()).replace("*/", "* /")
    if len(indent) + len(said) <= _WIDTH - 7:
        return f"{indent}/** {said} */\n"
    lines = textwrap.wrap(said, _WIDTH - len(indent) - 3)
    return f"{indent}/**\n" + "".join(f"{indent} * {line}\n" for line in lines) + f"{indent} */\n"


def _operations_file(
    document: Node, operations: list[tuple[str, str, Node]], needs: Mapping[str, str], schemas: Mapping[str, Node]
) -> str:
    types, routes = list[str](), list[str]()
    for method, path, operation in operations:
        name = operation["operationId"]
        parameters = [_resolved(document, given) for given in operation["parameters"]]
        types.append(_operation_type(operation, parameters))
        repeat = _repeat(method, needs[name], parameters)
        answer = "stream" if "Streamed" in _answers(operation) else "json"
        fields: dict[str, object] = {"method": method, "path": path, "repeat": repeat, "answer": answer}
        if headers := [given["name"] for given in _headers(parameters)]:
            fields["headers"] = headers
        routes.append(f"  {name}: {{ {', '.join(f'{key}: {json.dumps(value)}' for key, value in fields.items())} }},\n")
    declared = "".join(types)
    used = sorted({_type_name(name) for name in schemas if re.search(rf"\b{_type_name(name)}\b", declared)})
    imports = f'\nimport type {{\n{"".join(f"  {name},{chr(10)}" for name in used)}}} from "./schemas.js";\n'
    return (
        f"{_HEAD}{imports}{_ROUTE}\n/** What each operation takes and answers. */\nexport interface Operations {{\n{declared}}}\n"
        f"\nexport const ROUTES: {{ readonly [name in keyof Operations]: Route }} = {{\n{''.join(routes)}}};\n"
    )


_ROUTE = """
/**
 * `repeat` says when a request whose outcome is unknown may be sent again: `always` for reads, `with-key` if it has an
 * idempotency key, else `never`.
 */
export interface Route {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  readonly path: string;
  readonly repeat: "always" | "with-key" | "never";
  readonly answer: "json" | "stream";
  /** The headers that a caller may give. */
  readonly headers?: readonly string[];
}

/** A body or an answer that is read while it arrives. */
export type Streamed = ReadableStream<Uint8Array>;
"""


def _resolved(document: Node, given: Node) -> Node:
    reference = given.get("$ref", "")
    return document["components"]["parameters"][reference.rpartition("/")[2]] if reference else given


def _repeat(method: str, need: str, parameters: Iterable[Node]) -> str:
    if method == "GET" or need == "read":
        return "always"
    return "with-key" if any(given["name"] == "Idempotency-Key" for given in parameters) else "never"


def _headers(parameters: Iterable[Node]) -> list[Node]:
    """The headers of an operation that its caller gives."""
    return [given for given in parameters if given["in"] == "header" and given["name"] not in _OWN_HEADERS]


def _operation_type(operation: Node, parameters: list[Node]) -> str:
    parts = {
        "path": _parameters(parameters, "path"),
        "query": _parameters(parameters, "query"),
        "headers": _parameters(_headers(parameters), "header"),
        "body": _body(operation),
        "answer": " | ".join(dict.fromkeys(_answers(operation))),
    }
    note = _comment(operation["description"], "  ")
    inside = "".join(f"    {name}: {type_};\n" for name, type_ in parts.items())
    return f"{note}  {operation['operationId']}: {{\n{inside}  }};\n"


def _parameters(parameters: Iterable[Node], kind: str) -> str:
    own = [given for given in parameters if given["in"] == kind]
    if not own:
        return "Record<never, never>"
    members = [_member(given["name"], given["schema"], given.get("required", False), "    ") for given in own]
    return f"{{ {'; '.join(members)} }}"


def _body(operation: Node) -> str:
    content: Node = operation.get("requestBody", {}).get("content", {})
    if not content:
        return "undefined"
    return _type(content[_JSON]["schema"], "    ") if _JSON in content else "Streamed"


def _answers(operation: Node) -> Iterator[str]:
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            content: Node = response.get("content", {})
            if not content:
                yield "undefined"
            else:
                yield _type(content[_JSON]["schema"], "    ") if _JSON in content else "Streamed"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, text in render_checkout().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
