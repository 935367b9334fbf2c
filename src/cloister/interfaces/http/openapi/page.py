"""The documentation as one HTML page, generated from the OpenAPI document, without scripts, fonts or other external files."""

import base64
import hashlib
import json
from collections.abc import Iterator
from html import escape
from typing import Any, cast

from cloister.domain.patterns import linear

Node = dict[str, Any]
_CODE = linear("`([^`]+)`")

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2125; --soft: #59626b; --paper: #fdfcfa; --panel: #f3f1ec; --line: #dcd8cf;
  --link: #0b5cad; --get: #1c6b3c; --post: #7a4b00; --patch: #5b3d99; --delete: #a3261d; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e4df; --soft: #a3a9b0; --paper: #16181b; --panel: #202327;
  --line: #363b41; --link: #7db8f5; --get: #7fd1a0; --post: #e2b566; --patch: #bba4f2; --delete: #f39a92; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
a { color: var(--link); }
h1 { margin: .5rem 0 0; font-size: 1.9rem; }
h2 { margin: 3rem 0 .5rem; padding-bottom: .3rem; border-bottom: 2px solid var(--line); font-size: 1.35rem; }
h3 { margin: 0; font-size: 1rem; font-weight: 600; }
h4 { margin: 1.2rem 0 .4rem; color: var(--soft); font-size: .85rem; font-weight: 600; }
.soft { color: var(--soft); }
code, pre { font: .875rem/1.5 ui-monospace, Menlo, Consolas, monospace; }
pre { margin: 0; padding: .75rem; overflow-x: auto; background: var(--panel); border-radius: .4rem; }
nav p { margin: 1.2rem 0 .3rem; font-weight: 600; }
nav ul { margin: 0; padding: 0; columns: 24rem; list-style: none; }
nav li, .route { display: flex; align-items: baseline; gap: .3rem; break-inside: avoid; padding: .1rem 0; }
nav a, .route code { min-width: 0; overflow-wrap: anywhere; }
.method { flex: 0 0 3.9rem; font: 700 .8rem ui-monospace, Menlo, Consolas, monospace; }
.get { color: var(--get); } .post { color: var(--post); } .patch { color: var(--patch); } .delete { color: var(--delete); }
article, .shape { margin: 1.2rem 0; padding: 1rem; border: 1px solid var(--line); border-radius: .6rem; }
article:target, .shape:target { border-color: var(--link); }
.route { margin: .3rem 0 .6rem; }
dl { margin: 0; }
dt { margin-top: .5rem; }
dd { margin: 0 0 0 1rem; }
dd p, .shape p, article > p { margin: .2rem 0; }
.must { color: var(--delete); font-size: .8rem; }
article ul { margin: 0; padding: 0; list-style: none; }
@media (max-width: 30rem) { body { padding: .6rem; } article, .shape { padding: .7rem; } dd { margin-left: .5rem; } }
"""
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def docs_page(document: Node) -> str:
    info: Node = document["info"]
    title = f"{_text(info['title'])} {_text(info['version'])}"
    sections = [(tag, list(_operations(document, tag["name"]))) for tag in document["tags"]]
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}: the HTTP interface</title>',
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>',
        f'<header><h1>{title}</h1><p class="soft">{_text(info["summary"])}</p>{_paragraphs(info["description"])}',
        '<p>For programs: <a href="/openapi.json">openapi.json</a>.</p></header>',
        "<nav>",
        *(_contents(tag["name"], operations) for tag, operations in sections),
        "</nav><main>",
    ]
    for tag, operations in sections:
        parts.append(f"<section><h2>{_text(tag['name'])}</h2>{_paragraphs(tag['description'])}")
        parts += [_operation(document, *operation) for operation in operations]
        parts.append("</section>")
    parts.append("<section><h2>Shapes</h2>")
    parts += [_shape(name, schema) for name, schema in document["components"]["schemas"].items()]
    parts.append("</section><section><h2>Errors</h2>")
    parts += [_error(code, example) for code, example in sorted(_problems(document).items())]
    parts.append("</section></main></body></html>")
    return "\n".join(parts)


def _operations(document: Node, tag: str) -> Iterator[tuple[str, str, Node]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if operation["tags"][0] == tag:
                yield path, method, operation


def _contents(section: str, operations: list[tuple[str, str, Node]]) -> str:
    entries = "".join(
        f'<li>{_method(method)} <a href="#{operation["operationId"]}">{_text(path)}</a></li>'
        for path, method, operation in operations
    )
    return f"<p>{_text(section)}</p><ul>{entries}</ul>"


def _operation(document: Node, path: str, method: str, operation: Node) -> str:
    parts = [
        f'<article id="{operation["operationId"]}"><h3>{_text(operation["summary"])}</h3>',
        f'<p class="route">{_method(method)} <code>{_text(path)}</code></p>',
        f"<p>{_text(operation['description'])}</p>",
    ]
    parameters = [_resolved(document, parameter) for parameter in operation["parameters"]]
    if parameters:
        parts.append(f"<h4>Parameters</h4><dl>{''.join(map(_parameter, parameters))}</dl>")
    if "requestBody" in operation:
        (content,) = operation["requestBody"]["content"].values()
        parts.append(f"<h4>Body: {_type(content['schema'])}</h4>{_code(content['example'])}")
    answers = [(status, _resolved(document, said)) for status, said in operation["responses"].items()]
    parts += [_answer(status, said) for status, said in answers if int(status) < 400]
    parts.append("<h4>Errors</h4><ul>")
    parts += [_errors(status, said) for status, said in answers if int(status) >= 400]
    parts.append("</ul></article>")
    return "".join(parts)


def _parameter(given: Node) -> str:
    return _field(given["name"], given["schema"], given.get("required", False), given["description"], given["in"])


def _field(name: str, schema: Node, required: bool, description: str, location: str = "") -> str:
    marks = f' <span class="soft">{location}</span>' if location else ""
    marks += ' <span class="must">required</span>' if required else ""
    return (
        f"<dt><code>{_text(name)}</code>{marks}</dt>"
        f"<dd>{_type(schema)}{f'<p>{_text(description)}</p>' if description else ''}</dd>"
    )


def _answer(status: str, said: Node) -> str:
    parts = [f"<h4>{status}: {_text(said['description'])}</h4>"]
    for content in said.get("content", {}).values():
        parts.append(f"<p>{_type(content['schema'])}</p>{_code(content['example'])}")
    return "".join(parts)


def _errors(status: str, said: Node) -> str:
    (content,) = said["content"].values()
    codes = ", ".join(f'<a href="#error-{code}">{code}</a>' for code in content["examples"])
    return f"<li><code>{status}</code> {codes}</li>"


def _problems(document: Node) -> Node:
    """An example of each error code."""
    found: Node = {}
    for response in document["components"]["responses"].values():
        (content,) = response["content"].values()
        found |= {code: example["value"] for code, example in content["examples"].items()}
    return found


def _error(code: str, example: Node) -> str:
    return f'<div class="shape" id="error-{code}"><h3>{code}</h3>{_code(example)}</div>'


def _shape(name: str, schema: Node) -> str:
    description = f"<p>{_text(schema['description'])}</p>" if "description" in schema else ""
    required = schema.get("required", [])
    fields = "".join(
        _field(field, said, field in required, said.get("description", ""))
        for field, said in schema.get("properties", {}).items()
    )
    shown = f"<dl>{fields}</dl>" if fields else f"<p>{_type(schema)}</p>"
    return f'<div class="shape" id="shape-{name}"><h3>{name}</h3>{description}{shown}</div>'


def _resolved(document: Node, node: Node) -> Node:
    reference = node.get("$ref")
    if reference is None:
        return node
    found: Any = document
    for part in cast(str, reference).removeprefix("#/").split("/"):
        found = found[part]
    return cast(Node, found)


def _type(schema: Node) -> str:
    """A short description of the type in a schema."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#shape-{name}">{name}</a>'
    if "anyOf" in schema and "properties" not in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "const" in schema:
        return f"<code>{_text(json.dumps(schema['const']))}</code>"
    if "enum" in schema:
        return " or ".join(f"<code>{_text(json.dumps(value))}</code>" for value in schema["enum"])
    kind = str(schema.get("type", "anything"))
    if kind == "array":
        return f"list of {_type(schema['items'])}{_limits(schema, 'Items')}"
    if kind == "string":
        kind = {"date-time": "date and time"}.get(schema.get("format", ""), "text")
        return f"{kind}{_limits(schema, 'Length')}"
    if kind == "integer":
        return f"whole number{_range(schema.get('minimum'), schema.get('maximum'))}"
    return {"boolean": "true or false", "null": "null"}.get(kind, kind)


def _limits(schema: Node, unit: str) -> str:
    words = {"Items": " of them", "Length": " characters"}[unit]
    said = _range(schema.get(f"min{unit}"), schema.get(f"max{unit}"))
    return f"{said}{words}" if said else ""


def _range(lowest: int | None, highest: int | None) -> str:
    if lowest is None and highest is None:
        return ""
    if highest is None:
        return f", at least {lowest:,}"
    return f", at most {highest:,}" if lowest is None else f", {lowest:,} to {highest:,}"


def _method(method: str) -> str:
    return f'<span class="method {method}">{method.upper()}</span>'


def _code(example: Any) -> str:
    shown = example if isinstance(example, str) else json.dumps(example, ensure_ascii=False, indent=2)
    return f'<pre tabindex="0">{escape(shown)}</pre>'


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{_text(part)}</p>" for part in text.strip().split("\n\n"))


def _text(text: str) -> str:
    """Escaped text, with `code` as code."""
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=False))
