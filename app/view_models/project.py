"""What is shown of a project. Values only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProjectView:
    """`has_instructions`, `has_options`: of its own or of a folder around it."""

    name: str
    has_instructions: bool = False
    has_options: bool = False
    files: int = 0
