"""Word files made by hand, reading all files of a project at once, and databases of projects that are damaged."""

from __future__ import annotations

import sqlite3
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from app.documents.indexing import Indexing
from app.storage.project_files import ProjectFiles

_SPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def word_bytes(*paragraphs: str, head: str = "", body: str = "") -> bytes:
    """`head`: before the document; `body`: XML after its paragraphs."""
    runs = "".join(f"<w:p><w:r><w:t>{each}</w:t></w:r></w:p>" for each in paragraphs)
    xml = f'<?xml version="1.0"?>{head}<w:document {_SPACE}><w:body>{runs}{body}</w:body></w:document>'
    return archive_bytes(xml.encode())


def archive_bytes(xml: bytes, name: str = "word/document.xml") -> bytes:
    made = BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        archive.writestr(name, xml)
    return made.getvalue()


def read_all(files: ProjectFiles, indexing: Indexing | None = None) -> Indexing:
    indexing = indexing or Indexing(files)
    while indexing.step():
        pass
    return indexing


def damage(path: Path, table: str) -> None:
    data = path.read_bytes()
    connection = sqlite3.connect(path)
    (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    connection.close()
    path.write_bytes(data[: (root - 1) * 4096] + b"nonsense" * 512 + data[root * 4096 :])
