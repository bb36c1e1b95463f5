"""An installed model in words: where it comes from, how large and how exact it is."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.words.formats import fill, number, size
from engine import DrafterKind, ModelSource

_DRAFTERS = {
    DrafterKind.DFLASH: "DFlash",
    DrafterKind.DSPARK: "DSpark",
    DrafterKind.DFLASH2: "DFlash2",
    DrafterKind.EAGLE3: "EAGLE-3",
    DrafterKind.MTP: "MTP",
}


def source_text(source: ModelSource) -> str:
    return {
        ModelSource.STARTER: QCoreApplication.translate("Models", "Comes with Hunch"),
        ModelSource.OWN: QCoreApplication.translate("Models", "Installed by Hunch"),
        ModelSource.HUB_CACHE: QCoreApplication.translate("Models", "Hugging Face cache"),
        ModelSource.ADDED: QCoreApplication.translate("Models", "Added folder"),
    }[source]


def drafter_text(drafter: DrafterKind) -> str:
    return fill(QCoreApplication.translate("Models", "%1 drafter"), _DRAFTERS[drafter])


def model_details(
    size_bytes: int, bits: float | None, source: ModelSource, drafter: DrafterKind | None = None
) -> list[str]:
    """The parts of the line under a model's name."""
    return [*model_kind(drafter), size(size_bytes), *bits_text(bits), source_text(source)]


def model_kind(drafter: DrafterKind | None) -> list[str]:
    """Of a drafter; nothing of other models."""
    return [] if drafter is None else [drafter_text(drafter)]


def bits_text(bits: float | None) -> list[str]:
    return [] if bits is None else [fill(QCoreApplication.translate("Models", "%1-bit"), number(bits))]
