"""Models of a hub as values, and as a list model for views."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from app.words.formats import listed
from app.words.hub import has_draft_text, hub_line
from app.words.model_names import human_name
from app.words.pairs import PairGain
from engine import HUB_FAMILIES, DrafterKind, FitLevel, HubModel, ModelInfo

__all__ = ["HUB_FAMILIES", "ModelInfo"]  # for views, which know no engine

Index = QModelIndex | QPersistentModelIndex
ENTRY_ROLE = Qt.ItemDataRole.UserRole
BITS = (2, 3, 4, 5, 6, 8, 16)
GIGABYTES = (2, 4, 8, 16, 32, 64)


class DiscoverState(StrEnum):
    RESTING = "resting"
    READING = "reading"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class DiscoverFilter:
    """What the user looks for. "owner/words" looks in one author's models."""

    text: str = ""
    family: str = ""
    bits: int = 0
    kind: str = "any"
    most_gigabytes: int = 0  # of weights; 0: any size
    fits_only: bool = False
    sort: str = "downloads"
    drafts_for: ModelInfo | None = None


@dataclass(frozen=True, slots=True)
class HubEntry:
    model: HubModel
    fit: FitLevel | None = None  # None: its size is not known
    installed: bool = False
    has_draft: bool = False  # the catalog knows one


@dataclass(frozen=True, slots=True)
class Partner:
    """A model to pair with, and what is known of the pair's gain."""

    repository: str
    gain: PairGain | None = None
    folder: str = ""  # where it is installed
    drafter: DrafterKind | None = None
    size_bytes: int = 0  # of a draft; 0: not known

    @property
    def name(self) -> str:
        return self.repository.partition("/")[2].replace("/", "-")  # of a drafter within its main model: both names


class HubList(QAbstractListModel):
    """Grows when more is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[HubEntry] = []
        self.has_more = False

    def clear(self) -> None:
        self.beginResetModel()
        self.entries = []
        self.has_more = False
        self.endResetModel()

    def append(self, entries: list[HubEntry]) -> None:
        if entries:
            start = len(self.entries)
            self.beginInsertRows(QModelIndex(), start, start + len(entries) - 1)
            self.entries += entries
            self.endInsertRows()

    def replace(self, entries: list[HubEntry]) -> None:
        """The same models, with new facts."""
        if entries and entries != self.entries:
            self.entries = entries
            self.dataChanged.emit(self.index(0), self.index(len(entries) - 1))

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.entries):
            return None
        entry = self.entries[index.row()]
        if role == ENTRY_ROLE:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.model.name
        if role == Qt.ItemDataRole.ToolTipRole:
            return entry.model.repository
        if role == Qt.ItemDataRole.AccessibleTextRole:
            draft = [has_draft_text()] if entry.has_draft else []
            return listed(human_name(entry.model.name), *draft, hub_line(entry.model, entry.fit))
        return None
