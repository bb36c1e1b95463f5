"""PDF files made by hand: with text, without any, with a password, and bombs."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from io import BytesIO

from pypdf import PdfReader, PdfWriter


def pdf_bytes(pages: Sequence[str], *, stream: bytes | None = None) -> bytes:
    """Each page with one line of Latin text; `stream` takes the place of what the pages draw."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    first = 4
    kids = " ".join(f"{first + 2 * number} 0 R" for number in range(len(pages)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    for number, text in enumerate(pages):
        drawn = stream if stream is not None else f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode("cp1252")
        packed = zlib.compress(drawn, 9)
        resources = "<< /Font << /F1 3 0 R >> >>"
        contents = first + 2 * number + 1
        page = (
            f"<< /Type /Page /Parent 2 0 R /Resources {resources} /MediaBox [0 0 612 792] /Contents {contents} 0 R >>"
        )
        objects.append(page.encode())
        head = f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode()
        objects.append(head + packed + b"\nendstream")
    return _file(objects)


def _file(objects: Sequence[bytes]) -> bytes:
    data, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    end += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + end.encode()


def with_password(data: bytes, password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(data)))
    writer.encrypt(password, algorithm="RC4-128")
    result = BytesIO()
    writer.write(result)
    return result.getvalue()
