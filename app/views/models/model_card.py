"""A model's card, which is third-party Markdown, shown by the parser of replies.

INVARIANT: it loads nothing and opens nothing: no HTML, no images, and a link only asks to be opened.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QFocusEvent, QGuiApplication, QImage, QPalette, QResizeEvent, QTextOption
from PySide6.QtWidgets import QFrame, QScrollArea, QTextBrowser, QVBoxLayout, QWidget

from app.markup.block import Block, BlockKind
from app.markup.blocks import split
from app.markup.document import DocumentBuilder, nothing_to_load
from app.markup.document_style import DocumentStyle
from app.markup.formula import Formulas
from app.markup.links import Link, links_of, places_of
from app.theme import CODE_PX, REPLY_LEADING, UI_PX, Theme
from app.views.link_dialog import may_open
from app.views.widgets.arrange import arrange
from app.views.widgets.cards import clear
from app.views.widgets.clipboard import safe_mime_data
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.link_ring import AROUND_PX, LinkRing

MOST_BLOCKS = 150
MOST_CHARS = 30_000
_AT_ONCE = 8  # blocks


class ModelCard(QWidget):
    link_requested = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._source = ""
        self._column = arrange(QVBoxLayout(self), spacing=12, margins=(AROUND_PX,) * 4)
        self._rest: list[Block] = []  # still to be shown
        self.is_cut = False  # there is more on the model's page
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._show_some)
        theme.changed.connect(self._build)

    def show_card(self, source: str) -> None:
        """Show a card; the one shown already keeps its selection and focus."""
        if source != self._source:
            self._source = source
            self._build()

    def _build(self) -> None:
        clear(self._column)
        for link in self.findChildren(CardLink):
            link.hide()
            link.deleteLater()
        blocks = split(self._source[:MOST_CHARS])
        self._rest = blocks[:MOST_BLOCKS]
        self.is_cut = len(blocks) > MOST_BLOCKS or len(self._source) > MOST_CHARS
        self._timer.start()
        self._show_some()

    def _show_some(self) -> None:
        """Show some blocks; the rest of a long card follows after the next events."""
        some = self._rest[:_AT_ONCE]
        self._rest = self._rest[_AT_ONCE:]
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

    def __init__(self, theme: Theme, block: Block) -> None:
        super().__init__()
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
        DocumentBuilder(self.document(), style, Formulas(self), is_shown=False).write(block.tokens)
        self.anchorClicked.connect(lambda link: self.link_requested.emit(link.toString()))
        self.setAccessibleName(self.toPlainText())  # VoiceOver reads nothing else of a text browser
        self.links = [link for link in links_of(self.document()) if may_open(link.address)]

    def loadResource(self, _kind: int, _name: QUrl | str) -> QImage:
        return nothing_to_load()

    def createMimeDataFromSelection(self) -> QMimeData:  # noqa: N802  Qt's name
        """Plain text only, without control characters."""
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


class CardLink(LinkRing):
    """A button for all links of a text, placed over the focused one."""

    chosen = Signal(str)  # an address

    def __init__(self, theme: Theme, text: QTextBrowser, links: Sequence[Link], card: QWidget) -> None:
        super().__init__(theme, card)
        self._text = text
        self._card = card
        self._links = links
        self._number = 0
        self.name_after(links[0])
        text.installEventFilter(self)
        self.clicked.connect(lambda: self.chosen.emit(self._links[self._number].address))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() is Qt.FocusReason.TabFocusReason:
            self._go_to(0)
        elif event.reason() is Qt.FocusReason.BacktabFocusReason:
            self._go_to(len(self._links) - 1)

    def focusNextPrevChild(self, forward: bool) -> bool:
        number = self._number + (1 if forward else -1)
        if not 0 <= number < len(self._links):
            return super().focusNextPrevChild(forward)
        self._go_to(number)
        self.have_heard()
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        """Where its words are now."""
        corner = self._text.viewport().mapTo(self._card, QPoint(0, 0))
        places = places_of(self._links[self._number], self._text.document())
        self.surround(place.translated(corner) for place in places)

    def _go_to(self, number: int) -> None:
        self._number = number
        self.name_after(self._links[number])
        self._place()
        around = self.parentWidget()
        while around is not None and not isinstance(around, QScrollArea):
            around = around.parentWidget()
        if around is not None:
            around.ensureWidgetVisible(self)
