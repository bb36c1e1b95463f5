"""How long ago packaging/PINS.md was looked at, and whether it names what pyproject.toml pins: `make pins`."""

from __future__ import annotations

import re
import sys
import tomllib
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_MOST_WEEKS = 6


def weeks_since(page: str, today: date) -> int:
    looked_at = date.fromisoformat(re.search(r"Looked at: ([\d-]+)", page).group(1))  # type: ignore[union-attr]
    return (today - looked_at).days // 7


def pinned() -> dict[str, str]:
    """By package, of all groups."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    groups = project["dependency-groups"].values()
    lines = [*project["project"]["dependencies"], *(line for group in groups for line in group)]
    return {found[1]: found[2] for line in lines if (found := re.match(r"([\w-]+)(?:\[\w+\])?==([\w.]+)", line))}


def named(page: str) -> dict[str, str]:
    return dict(re.findall(r"(?m)^\| ([\w-]+) \| ([\d.]+) \|", page))


def main() -> int:
    weeks = weeks_since((ROOT / "packaging" / "PINS.md").read_text("utf-8"), date.today())
    print(f"{weeks} weeks since the pins were looked at")
    return int(weeks > _MOST_WEEKS)


if __name__ == "__main__":
    sys.exit(main())
