"""A model of the hub in words: the line under its name, its fit, and its age."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from PySide6.QtCore import QCoreApplication, QDate, QLocale, QObject

from app.words.formats import fill, size
from app.words.pairs import fit_text, model_kind, parameters_text, precision_text, seeing_text
from engine import FitLevel, HubModel

_MOST_COUNTED = 2**31 - 1  # Qt's plural forms hold no more


def hub_line(model: HubModel, fit: FitLevel | None) -> str:
    """ "8.2 B parameters · 4-bit · 4.6 GB · sees pictures · fits this Mac"; what is not known is left out."""
    parts = model_kind(model.drafter)
    if model.parameters:
        parts.append(fill(QCoreApplication.translate("Hub", "%1 parameters"), parameters_text(model.parameters)))
    parts += [bits_text(model.bits)] if model.bits else []
    parts += [size_text(model)] if model.size_bytes else []
    parts += [seeing_text()] if model.sees else []
    parts += [fit_text(fit)] if fit is not None else []
    return " · ".join(parts)


def hub_record(model: HubModel) -> str:
    """Maker, number of downloads, and date of the last change, as far as known."""
    parts = [model.author]
    if model.downloads:
        parts.append(_Counts().downloads(model.downloads))
    if model.updated_at:
        parts.append(date_text(model.updated_at))
    if model.gated:
        parts.append(QCoreApplication.translate("Hub", "needs a token"))
    return " · ".join(parts)


def long_lines() -> tuple[str, str]:
    """Both lines at about their longest in this language, for the size of a row."""
    model = HubModel(
        "lmstudio-community/x", parameters=235_000_000_000, bits=4, size_bytes=132_200_000_000, size_is_estimated=True,
        downloads=1_234_567, updated_at=1_798_000_000, gated=True,
    )  # fmt: skip
    long = (replace(model, drafter="eagle3"), replace(model, sees=True))
    return max((hub_line(each, level) for each in long for level in FitLevel), key=len), hub_record(model)


class _Counts(QObject):
    """Plural forms are only read from the source where an object says them."""

    def downloads(self, number: int) -> str:
        return self.tr("%Ln download(s)", "", min(number, _MOST_COUNTED))


def install_text() -> str:
    return QCoreApplication.translate("Hub", "Install")


def installed_text() -> str:
    return QCoreApplication.translate("Hub", "Installed")


def has_draft_text() -> str:
    return QCoreApplication.translate("Models", "has a draft")


def bits_text(bits: float) -> str:
    return QCoreApplication.translate("Hub", "not quantized") if bits >= 16 else precision_text(bits)


def size_text(model: HubModel) -> str:
    if model.size_is_estimated:
        return fill(QCoreApplication.translate("Hub", "about %1"), size(model.size_bytes))
    return size(model.size_bytes)


def date_text(seconds: float) -> str:
    day = datetime.fromtimestamp(min(seconds, 4e9), tz=UTC).date()
    return QLocale().toString(QDate(day.year, day.month, day.day), QLocale.FormatType.ShortFormat)
