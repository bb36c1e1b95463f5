"""The transcript: messages as parts, of which only those in sight are widgets."""

from app.views.transcript.view import TranscriptView

__all__ = ["TranscriptView"]
