"""The layers: imports point inward, back ends are named in one place, the environment is read in one place."""

import ast
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

import cloister

SOURCE = Path(cloister.__file__).parent
LARGEST_FILE = 400
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "base", "core", "misc"}

# What each part may import of Cloister. Every top-level part is listed: a new one fails until it is given its place.
MAY_IMPORT: Mapping[str, set[str]] = {
    "domain": set(),
    "storage": {"domain"},
    "index": {"domain"},
    "models": {"domain"},
    "settings": {"domain"},
    "services": {"domain", "storage", "index", "models"},
    "telemetry": {"domain"},
    "opening": {"domain", "storage", "index", "models", "settings", "telemetry"},
    "first_use": {"domain", "storage", "models", "services"},
    "bootstrap": {"domain", "storage", "index", "models", "services", "settings", "telemetry", "opening", "first_use"},
    "worker": {"domain", "services", "bootstrap"},
    "interfaces": {"domain", "services", "settings", "bootstrap", "worker"},
    "integrations": {"domain", "interfaces"},
    "__init__": {"domain", "interfaces"},
    "__main__": {"interfaces"},
}
OUTSIDE_THE_DOMAIN = MAY_IMPORT.keys() - {"domain"}
CONCRETE = {
    "cloister.storage.sqlite.database",
    "cloister.storage.postgres.database",
    "cloister.index.exact.index",
    "cloister.index.qdrant.index",
    "cloister.models.static.embedder",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Module:
    name: str
    path: Path
    tree: ast.Module

    @property
    def part(self) -> str:
        """The layer, or the top-level module itself."""
        inside = self.name.split(".")[1:]
        return inside[0] if inside else "__init__"


def modules(root: Path = SOURCE) -> list[Module]:
    found: list[Module] = []
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        inside = parts[:-1] if parts[-1] == "__init__" else parts
        tree = ast.parse(path.read_text("utf-8"), str(path))
        found.append(Module(name=".".join(("cloister", *inside)), path=path, tree=tree))
    return found


MODULES = modules()
NAMES = {module.name for module in MODULES}


def imported(module: Module, *, at_import_time: bool = False) -> set[str]:
    """The modules that one imports, `from package import module` counted as the module; also inside functions."""
    nodes = _at_import_time(module.tree) if at_import_time else ast.walk(module.tree)
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.name} imports relatively"
            assert node.module is not None
            submodules = {f"{node.module}.{alias.name}" for alias in node.names} & NAMES
            found.update(submodules or {node.module})
    return found


def packages(module: Module) -> set[str]:
    return {name.partition(".")[0] for name in imported(module)}


def _at_import_time(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        yield node
        yield from _at_import_time(node)


def part_of(name: str) -> str:
    inside = name.split(".")[1:]
    return inside[0] if inside else "__init__"


def outward(module: Module) -> set[str]:
    """The imports of this module that point outward, or to a sibling."""
    allowed = MAY_IMPORT[module.part] | {module.part}
    return {name for name in imported(module) if name.split(".")[0] == "cloister" and part_of(name) not in allowed}


def test_every_part_has_its_place() -> None:
    assert {module.part for module in MODULES} == set(MAY_IMPORT)


def faults(found: Callable[[Module], Collection[str]], *, outside: Collection[str] = ()) -> dict[str, Collection[str]]:
    """What is found in each module that is not of these parts; nothing of those in which nothing is."""
    looked = {module.name: found(module) for module in MODULES if module.part not in outside}
    return {name: each for name, each in looked.items() if each}


def test_imports_point_inward() -> None:
    assert faults(outward) == {}


def test_only_bootstrap_and_opening_name_concrete_back_ends() -> None:
    assert faults(lambda module: imported(module) & CONCRETE - {module.name}, outside={"bootstrap", "opening"}) == {}


def test_only_storage_and_bootstrap_import_a_database_driver() -> None:
    """What speaks to a database without its driver cannot forget a tenant."""
    drivers = {"apsw", "sqlite3", "psycopg", "psycopg_pool"}
    allowed = {
        "cloister.storage.sqlite.database",
        "cloister.storage.sqlite.connections",
        "cloister.storage.sqlite.backup",
        "cloister.storage.sqlite.checkpoints",
        "cloister.storage.sqlite.restore",
        "cloister.storage.sqlite.transaction",
        "cloister.storage.sqlite.vacuum",
        "cloister.storage.postgres.backup",
        "cloister.storage.postgres.driver",
    }
    assert faults(lambda module: packages(module) & drivers if module.name not in allowed else ()) == {}
    through = {"cloister.storage.postgres.driver"}
    assert (
        faults(lambda module: imported(module) & through if "cloister.storage.postgres." not in module.name else ())
        == {}
    )


def test_only_services_open_transactions() -> None:
    """`database.read(…)` and `database.write(…)` stand in services; bootstrap makes the first tenant."""

    def opened(module: Module) -> list[str]:
        calls = [ast.unparse(node.func) for node in ast.walk(module.tree) if isinstance(node, ast.Call)]
        return [call for call in calls if call.endswith(("database.read", "database.write"))]

    assert faults(opened, outside={"services", "storage", "bootstrap"}) == {}


def test_only_settings_read_the_environment() -> None:
    assert faults(environment_reads, outside={"settings"}) == {}


def environment_reads(module: Module) -> set[str]:
    reads = {
        ast.unparse(node)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"os.environ", "os.getenv", "os.environb"}
    }
    reads |= {
        alias.name
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and node.module == "os"
        for alias in node.names
        if alias.name in {"environ", "getenv", "environb"}
    }
    return reads


def test_the_domain_imports_the_standard_library_and_numpy_alone() -> None:
    allowed = {*sys.stdlib_module_names, "cloister", "numpy"}
    assert faults(lambda module: packages(module) - allowed, outside=OUTSIDE_THE_DOMAIN) == {}


def test_the_domain_does_no_input_or_output() -> None:
    outward_looking = {
        *("asyncio", "io", "os", "pathlib", "shutil", "socket", "sqlite3"),
        *("subprocess", "tempfile", "threading", "urllib"),
    }
    assert faults(lambda module: packages(module) & outward_looking, outside=OUTSIDE_THE_DOMAIN) == {}


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Every ring found by walking depth first; empty when imports are a tree of trees."""
    found: list[list[str]] = []
    finished: set[str] = set()

    def walk(name: str, path: list[str]) -> None:
        if name in path:
            found.append([*path[path.index(name) :], name])
            return
        if name in finished:
            return
        for following in sorted(graph.get(name, set())):
            walk(following, [*path, name])
        finished.add(name)

    for name in sorted(graph):
        walk(name, [])
    return found


def test_there_is_no_import_cycle() -> None:
    graph = {module.name: imported(module) & NAMES - {module.name} for module in MODULES}
    assert cycles(graph) == []


def test_the_cycle_finder_finds_a_ring() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c", "a"]]


def test_no_file_is_longer_than_four_hundred_lines() -> None:
    assert faults(lambda module: module.path.read_text("utf-8").splitlines()[LARGEST_FILE:]) == {}


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert faults(lambda module: {*module.name.replace(".", "_").split("_")} & FORBIDDEN_NAMES) == {}


def test_an_init_only_re_exports() -> None:
    def more(module: Module) -> list[str]:
        if module.path.name != "__init__.py":
            return []
        found: list[str] = []
        for node in module.tree.body:
            is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            is_all = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
            if not (is_docstring or is_all or isinstance(node, ast.ImportFrom)):
                found.append(ast.unparse(node))
        return found

    assert faults(more) == {}


def test_nothing_is_caught_broadly_outside_the_outermost_places() -> None:
    """A broad `except` stands only where the error is raised again or handed on whole, and each has its reason on the same line."""

    def caught(module: Module) -> list[str]:
        lines = module.path.read_text("utf-8").splitlines()
        found: list[str] = []
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.ExceptHandler):
                continue
            broad = node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"}
            re_raised = any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
            line, _, reason = lines[node.lineno - 1].partition("# ")
            if broad and (not reason or not (re_raised or reason.startswith("noqa: BLE001 - "))):
                found.append(f"line {node.lineno}: {line.strip()}")
        return found

    assert faults(caught) == {}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("cloister.domain.scope", "from cloister.storage.interface import Database", {"cloister.storage.interface"}),
        ("cloister.storage.stores.pools", "from cloister.index.interface import Index", {"cloister.index.interface"}),
        ("cloister.index.exact.index", "import cloister.storage.stores.pools", {"cloister.storage.stores.pools"}),
        (
            "cloister.models.rules.extractor",
            "def f():\n    from cloister.services.conversations import record",
            {"cloister.services.conversations.record"},
        ),
        (
            "cloister.services.recall.recall",
            "from cloister.interfaces.python.library import X",
            {"cloister.interfaces.python.library"},
        ),
        ("cloister.services.recall.recall", "from cloister.bootstrap import wire", {"cloister.bootstrap"}),
        (
            "cloister.interfaces.python.library",
            "from cloister.storage.stores import pools",
            {"cloister.storage.stores.pools"},
        ),
        ("cloister.services.recall.recall", "from cloister.storage.stores.pools import Pools", set[str]()),
    ],
)
def test_the_rule_bites(name: str, text: str, expected: set[str]) -> None:
    assert outward(Module(name=name, path=Path("x.py"), tree=ast.parse(text))) == expected
