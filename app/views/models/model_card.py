"""A model's card, which is Markdown of anybody, shown by the parser of replies.

INVARIANT: it loads nothing and opens nothing: no HTML, no images, and a link only asks to be opened.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QMimeData, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QGuiApplication, QImage, QPalette, QResizeEvent, QTextOption
from PySide6.QtWidgets import QFrame, QTextBrowser, QVBoxLayout, QWidget

from app.markup.block import Block, BlockKind
from app.markup.blocks import split
from app.markup.document import DocumentBuilder, nothing_to_load
from app.markup.document_style import DocumentStyle
from app.markup.formula import KnownFormulas
from app.markup.links import links_of
from app.theme import CODE_PX, REPLY_LEADING, UI_PX, Theme
from app.views.link_dialog import may_open
from app.views.models.card_link import CardLink
from app.views.widgets.clipboard import safe_mime_data
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.link_ring import AROUND_PX

MOST_BLOCKS, MOST_CHARS = 150, 30_000  # the rest is on the model's page
_AT_ONCE = 8  # blocks


class ModelCard(QWidget):
    link_requested = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._source = ""
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(AROUND_PX, AROUND_PX, AROUND_PX, AROUND_PX)
        self._column.setSpacing(12)
        self._rest: list[Block] = []  # still to be shown
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._show_some)
        theme.changed.connect(self._build)

    def show_card(self, source: str) -> None:
        """One that is shown already stays, with what is selected in it and the link that has the focus."""
        if source != self._source:
            self._source = source
            self._build()

    def _build(self) -> None:
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for link in self.findChildren(CardLink):
            link.hide()
            link.deleteLater()
        self._rest = split(self._source[:MOST_CHARS])[:MOST_BLOCKS]
        self._timer.start()
        self._show_some()

    def _show_some(self) -> None:
        """A long card takes longer than a window may stand still: the rest follows when it has looked around."""
        some, self._rest = self._rest[:_AT_ONCE], self._rest[_AT_ONCE:]
        if not self._rest:
            self._timer.stop()
        for block in some:
            part = self._part(block)
            self._column.addWidget(part)
            if isinstance(part, CardText) and part.links:
                link = CardLink(self._theme, part, part.links, self)
                link.chosen.connect(self.link_requested)
                link.show()

    def _part(self, block: Block) -> QWidget:
        if block.kind in (BlockKind.TEXT, BlockKind.TABLE):
            text = CardText(self._theme, block)
            text.link_requested.connect(self.link_requested)
            return text
        code = TextLabel(self._theme, TextStyle.SECONDARY)
        code.setFont(self._theme.mono_font(CODE_PX))
        code.setText(block.text.rstrip())
        return code


class CardText(QTextBrowser):
    """A paragraph, heading, list or table, as high as its words."""

    link_requested = Signal(str)

    def __init__(self, theme: Theme, block: Block, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.viewport().setAutoFillBackground(False)
        # The keyboard has a way of its own to the links.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.LinksAccessibleByMouse
        )
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Base, Qt.GlobalColor.transparent)
        palette.setColor(QPalette.ColorRole.Text, theme.palette.text)
        self.setPalette(palette)
        style = _style(theme)
        self.setFont(style.font)
        DocumentBuilder(self.document(), style, KnownFormulas({})).write(block.tokens)
        self.anchorClicked.connect(lambda link: self.link_requested.emit(link.toString()))
        self.links = [link for link in links_of(self.document()) if may_open(link.address)]

    def loadResource(self, _kind: int, _name: QUrl | str) -> QImage:
        return nothing_to_load()

    def createMimeDataFromSelection(self) -> QMimeData:  # noqa: N802  Qt's name
        """The words alone, without what a terminal would act on."""
        return safe_mime_data(super().createMimeDataFromSelection(), self.textCursor().selection().toPlainText(), self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.document().setTextWidth(self.viewport().width())
        self.setFixedHeight(math.ceil(self.document().size().height()) + 2)


def _style(theme: Theme) -> DocumentStyle:
    colors = theme.palette
    return DocumentStyle(
        font=theme.ui_font(UI_PX),
        mono=theme.mono_font(CODE_PX),
        text=colors.text,
        secondary=colors.secondary,
        link=colors.ink,
        hairline=colors.hairline,
        line_px=round(UI_PX * REPLY_LEADING * theme.scale),
        scale=theme.scale,
        ratio=QGuiApplication.primaryScreen().devicePixelRatio(),
    )
