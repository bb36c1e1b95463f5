"""Programs for Node: packages from npm, installed for this alone beside those for Python."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.clients.programs import Servers, addresses, run

MODULES = Path("build/clients/node_modules").resolve()
_SDKS = ("openai@7.57.0", "@anthropic-ai/sdk@1.14.0")


def install(*packages: str) -> None:
    """Each as NAME@VERSION, without running what it brings for that."""
    where = ["--prefix", str(MODULES.parent), "--no-fund", "--no-audit", "--ignore-scripts"]
    subprocess.run(["npm", "install", "--silent", *where, *packages], check=True)


def node(module: str, servers: Servers) -> str:
    """A file of this folder, with the SDKs that it requires."""
    if shutil.which("npm") is None:
        return "Node is not installed: nothing was checked"
    if not all((MODULES / package.rpartition("@")[0]).exists() for package in _SDKS):
        install(*_SDKS)
    given = addresses(servers) | {"NODE_PATH": str(MODULES)}
    return run(["node", Path(__file__).with_name(f"{module}.cjs")], servers, given).splitlines()[-1]
