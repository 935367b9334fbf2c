"""The TypeScript client as its users get it: compiled, packed by npm, and installed from that file into fresh directories.

The compiler is the console's, and the AI SDK is that of `tests/ai_sdk`: no packages of its own are downloaded.
"""

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.clients.node_packages import installed, node

ROOT = Path(__file__).parents[3]
CLIENT = ROOT / "clients" / "typescript"
AI_SDK = ROOT / "tests" / "ai_sdk"
CONSOLE = ROOT / "console"
VERSIONS = ("6", "7")
_CHECKED = {
    "compilerOptions": {
        "target": "ES2023",
        "lib": ["ES2023", "DOM", "DOM.Iterable", "DOM.AsyncIterable", "ESNext.Disposable"],
        "module": "NodeNext",
        "types": ["node"],
        "strict": True,
        "noUncheckedIndexedAccess": True,
        "exactOptionalPropertyTypes": True,
        "noUnusedLocals": True,
        "erasableSyntaxOnly": True,
        "allowImportingTsExtensions": True,
        "skipLibCheck": True,
        "noEmit": True,
    },
    "include": ["*.ts"],
}


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeScriptPackage:
    """A directory with the packed file, and a fresh directory for each version of the AI SDK, with the package installed."""

    folder: Path

    def fresh(self, version: str) -> Path:
        return self.folder / f"ai-{version}"

    def run(
        self, version: str, arguments: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run Node in the fresh directory."""
        return _run([*node(), *arguments], self.fresh(version), environment)

    def check_types(self, version: str) -> subprocess.CompletedProcess[str]:
        """Check the package's own tests against its declarations and this version of the AI SDK."""
        return _run([*node(), str(_compiler()), "-p", "."], self.fresh(version))


def built_package(base: Path, worker: str) -> TypeScriptPackage:
    """The package in the base directory of a test run, built by the first process that needs it. `worker` is pytest's name of this
    process."""
    return build_package((base if worker == "master" else base.parent) / "typescript")


def build_package(folder: Path) -> TypeScriptPackage:
    """Build once for all processes of a test run, which share the folder."""
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "built").exists():
            installed(AI_SDK)
            installed(CONSOLE)
            packed = _pack(folder)
            for version in VERSIONS:
                _install(packed, folder / f"ai-{version}", version)
            (folder / "built").touch()
    return TypeScriptPackage(folder=folder)


def _compiler() -> Path:
    return CONSOLE / "node_modules/typescript/bin/tsc"


def _pack(folder: Path) -> Path:
    done = _run([str(ROOT / "scripts/typescript"), str(folder)], ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / done.stdout.split()[-1]


def _install(packed: Path, folder: Path, version: str) -> None:
    folder.mkdir()
    (folder / "package.json").write_text(json.dumps({"private": True, "type": "module"}))
    done = _npm(folder, "install", "--no-save", str(packed))
    assert done.returncode == 0, done.stderr
    packages = folder / "node_modules"
    (packages / "ai").symlink_to(AI_SDK / f"node_modules/ai-{version}")
    (packages / "@types").mkdir()
    (packages / "@types/node").symlink_to(CONSOLE / "node_modules/@types/node")
    # Copied, so that they find the packages of this directory.
    for file in (CLIENT / "test").glob("*.ts"):
        shutil.copy(file, folder)
    (folder / "tsconfig.json").write_text(json.dumps(_CHECKED))


def _npm(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    npm = Path(node()[0]).parents[1] / "lib/node_modules/npm/bin/npm-cli.js"
    return _run([*node(), str(npm), *arguments, "--offline", "--ignore-scripts", "--no-audit", "--no-fund"], folder)


def _run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
