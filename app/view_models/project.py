"""What is shown of a project. Values only."""

from __future__ import annotations

from dataclasses import dataclass

from app.storage.project_files import ProjectFile

__all__ = ["ProjectFile", "ProjectView"]  # the first for views, which know no storage


@dataclass(frozen=True, slots=True)
class ProjectView:
    """`has_instructions`, `has_options`: of its own or of a folder around it."""

    name: str
    has_instructions: bool = False
    has_options: bool = False
    files: int = 0
