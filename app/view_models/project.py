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


@dataclass(frozen=True, slots=True)
class FileRow:
    id: int
    name: str
    path: str = ""
    size_bytes: int = 0
    state: str = "waits"  # "waits", "reading", "ready", "missing", "unreadable"
    problem: str = ""  # why it is unreadable
    is_whole: bool = False  # read whole in every chat
