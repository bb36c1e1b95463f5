"""The fonts and colours that a document is written in."""

from dataclasses import dataclass

from PySide6.QtGui import QColor, QFont


@dataclass(frozen=True, slots=True)
class DocumentStyle:
    """The fonts and colours of a document. Documents are built again when the theme changes."""

    font: QFont
    mono: QFont
    text: QColor
    secondary: QColor
    link: QColor
    hairline: QColor
    line_px: float
    scale: float
    ratio: float  # device pixels per pixel, for formulas
    cited: frozenset[str] = frozenset()  # names of documents whose citations are links

    @property
    def font_px(self) -> float:
        return self.line_px / 1.5
