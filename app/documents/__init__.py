"""Files that the user attaches, read as text. No Qt, no translated text."""

from app.documents.problems import NotAttached, Refused, WhyNot
from app.documents.reading import MOST_CHARACTERS, MOST_FILE_BYTES, MOST_PDF_BYTES, read_file

__all__ = ["MOST_CHARACTERS", "MOST_FILE_BYTES", "MOST_PDF_BYTES", "NotAttached", "Refused", "WhyNot", "read_file"]
