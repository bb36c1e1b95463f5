"""Figures as they are read."""


def read(text: str) -> str:
    """`text` with ordinary spaces between figures and units."""
    return text.replace("\N{NO-BREAK SPACE}", " ")
