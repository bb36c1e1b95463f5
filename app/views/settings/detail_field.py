"""How many tokens a picture may take: few, as many as usual, or more."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.theme import Theme
from app.views.widgets.fields import Segments
from app.views.widgets.translated import Translated


class DetailField(Translated, Segments):
    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._retranslate()

    def _retranslate(self) -> None:
        self.set_choices([(each, detail_words(each)) for each in ("low", "normal", "high")])


def detail_words(value: object) -> str:
    return {
        "low": QCoreApplication.translate("DetailField", "Low"),
        "high": QCoreApplication.translate("DetailField", "High"),
    }.get(str(value), QCoreApplication.translate("DetailField", "Normal"))
