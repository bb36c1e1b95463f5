"""Word files made by hand, and reading all files of a project at once."""

from __future__ import annotations

from io import BytesIO
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
