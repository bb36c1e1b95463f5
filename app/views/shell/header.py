"""The strip above the transcript: the chat's title and the pair chip. Its picker is in `picker`."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QWidget

from app.theme import Theme
from app.view_models.model_list import DraftState, PairState, PairView
from app.views.icons import icon
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import IconButton, PaintedButton
from app.views.widgets.labels import ElidedLabel, TextStyle
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words.formats import fill, percent, sentences
from app.words.machines import part_words
from app.words.model_names import human_name
from app.words.notices import drafting_sentence
from app.words.notices_for_errors import notice_for
from app.words.pairs import name_beside, seeing_text

HEIGHT = 48
_NARROW_PX = 460
_LEAST_TITLE_PX = 60
_CHIP_SHARE = 0.62
_NARROW_SHARE = 0.74
_ARROW = "←"
_LEAST_DRAFT_PX = 32  # less of a name says nothing

_Part = tuple[str, QColor, bool]  # text, colour, and whether it is struck through


class Header(Translated, QWidget):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._line = False
        self._giving_way: list[QWidget] = []
        self.of_chat = True
        self.title = ElidedLabel(theme, TextStyle.HEADING, parent=self)
        self.chip = PairChip(theme, self)
        self.show_button = IconButton(theme, "panel-left", parent=self)
        self.new_button = IconButton(theme, "pencil", parent=self)
        self._arrange()
        theme.follow(self._restyle)
        self._retranslate()

    def _arrange(self) -> None:
        """Both sides are as wide as each other while there is room, so that title and chip are in the middle."""
        left = arrange(QHBoxLayout(), self.show_button, self.new_button, 1, spacing=6)
        self._right = arrange(QHBoxLayout(), 1, spacing=6)
        middle = arrange(QHBoxLayout(), self.title, self.chip, spacing=10, margins=(6, 0, 6, 0))
        arrange(QHBoxLayout(self), (left, 1), middle, (self._right, 1), spacing=0, margins=(12, 0, 12, 0))

    def add_button(self, button: QWidget, at: int = -1) -> None:
        """On the right; `at`: its place from the left, else the last."""
        self._right.insertWidget(at if at < 0 else at + 1, button)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()

    def let_give_way(self, button: QWidget) -> None:
        """This widget is hidden where there is little room; its actions are in the menus as well."""
        self._giving_way.append(button)
        self._share_room()

    def _share_room(self) -> None:
        """Divide the width: where both do not fit the chip gets up to 62 %, or all if the title would be unreadable."""
        narrow = self.width() < self._theme.px(_NARROW_PX)
        for button in self._giving_way:
            button.setVisible(self.of_chat and not narrow)
        buttons = self.findChildren(QAbstractButton, options=Qt.FindChildOption.FindDirectChildrenOnly)
        others = [each for each in buttons if each is not self.chip and not each.isHidden()]
        room = self.width() - 24 - sum(each.sizeHint().width() + 6 for each in others)
        share = _NARROW_SHARE if narrow else _CHIP_SHARE
        shares = bool(self.title.text()) and (not narrow or (1 - share) * room >= self._theme.px(_LEAST_TITLE_PX))
        self.title.setVisible(shares)
        self.chip.limit_width(round(room * (share if shares else 1.0)))

    def set_title(self, title: str) -> None:
        self.title.setText(title)
        self._share_room()

    def set_of_chat(self, of_chat: bool) -> None:
        """These widgets act on the chat, and are hidden while something else is shown."""
        if of_chat != self.of_chat:
            self.of_chat = of_chat
            self._share_room()

    def set_sidebar_visible(self, visible: bool) -> None:
        self.show_button.setVisible(not visible)
        self.new_button.setVisible(not visible)
        self._share_room()

    def set_line(self, shown: bool) -> None:
        """Show a line below the strip once content has scrolled under it."""
        if shown != self._line:
            self._line = shown
            self.update()

    def _retranslate(self) -> None:
        self.show_button.set_name(self.tr("Show sidebar"))
        self.new_button.set_name(self.tr("New chat"))

    def _restyle(self) -> None:
        self.setFixedHeight(max(HEIGHT, self._theme.px(40)))
        self._share_room()
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._line:
            with QPainter(self) as painter:
                painter.fillRect(0, self.height() - 1, self.width(), 1, self._theme.palette.hairline)


class PairChip(Translated, PaintedButton):
    """Main ← draft · mode, each part in the colour of its state, and an eye where the main model sees pictures."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._pair = PairView()
        self._most_px = 10_000
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._retranslate()

    def set_pair(self, pair: PairView) -> None:
        if pair != self._pair:
            self._pair = pair
            self._retranslate()

    def corner_radius(self) -> float:
        return self.height() / 2

    def _retranslate(self) -> None:
        words = " ".join(text for text, _, _ in self._parts())
        in_full = f" {_ARROW} ".join(filter(None, (self._pair.main_name, self._pair.draft_name)))
        self.setAccessibleName(fill(self.tr("Models: %1"), words))
        seeing = seeing_text() if self._pair.sees else ""
        self.setAccessibleDescription(seeing)
        lines = words, "" if in_full in words else in_full, seeing, self._reason()
        set_tooltip(self, "\n".join(part for part in lines if part))
        self.updateGeometry()
        self.update()

    def _reason(self) -> str:
        """Why the main model or the draft is not used."""
        if self._pair.error is not None:
            return notice_for(self._pair.error).sentence
        if self._pair.state == PairState.UNLOADED:
            return self.tr("Unloaded; your next message reloads it.")
        pair = self._pair
        helped = "" if pair.helper is None else part_words(pair.helper.name, pair.choice)
        drafting = drafting_sentence(self._pair.drafting) if self._pair.drafting is not None else ""
        ahead = fill(self.tr("%1 drafts for it, ahead of time."), pair.station)
        is_stationed = bool(pair.station) and pair.draft_state is DraftState.ACTIVE
        return sentences(helped, ahead if is_stationed else "", drafting)

    def _mode_text(self) -> str:
        if self._pair.off_for_pair:
            return self.tr("off for this pair")
        tokens = self._pair.speculation.tokens
        if self._pair.in_company and self._pair.speculation.mode != "off":
            return self.tr("answered together")
        return {
            "off": self.tr("off"),
            "auto": self.tr("auto"),
            # WORKAROUND: lupdate sees that a text has plural forms only in self.tr, and only with a plain name for n.
            "fixed": self.tr("%Ln token(s)", "drafted per pass", tokens),
        }[self._pair.speculation.mode]

    def _loading_text(self, name: str) -> str:
        if not self._pair.loaded_share:
            return fill(self.tr("Loading %1…"), name)
        return fill(self.tr("Loading %1… %2"), name, percent(self._pair.loaded_share))

    def _parts(self, *, short: bool = False) -> list[_Part]:
        colors = self.theme.palette
        pair = self._pair
        main = human_name(self._pair.main_name)
        if pair.state == PairState.NO_MODEL:
            return [(self.tr("Choose a model"), colors.text, False)]
        if pair.state == PairState.LOADING:
            return [(self._loading_text(main), colors.secondary, False)]
        if pair.state == PairState.UNLOADED:
            return [(main, colors.faint, False), *self._draft_parts(short=short)]
        if pair.state == PairState.FAILED:
            return [(fill(self.tr("%1 could not be loaded"), main), colors.fault, False)]
        if pair.helper is not None:
            main = fill(self.tr("%1 on 2 Macs"), main)
        return [(main, colors.text, False), *self._draft_parts(short=short)]

    def _draft_parts(self, *, short: bool) -> list[_Part]:
        colors = self.theme.palette
        pair = self._pair
        draft = human_name(self._pair.draft_name)
        if short:
            draft = name_beside(draft, human_name(pair.main_name))
        if pair.draft_state == DraftState.NONE:
            return []
        if pair.draft_state == DraftState.LOADING:
            return [(_ARROW, colors.faint, False), (self._loading_text(draft), colors.secondary, False)]
        color = colors.draft if pair.draft_state == DraftState.ACTIVE else colors.faint
        refused = pair.draft_state == DraftState.REFUSED
        parts = [(_ARROW, color, False), (draft, color, refused)]
        return [*parts, (f"· {self._mode_text()}", colors.secondary, False)]

    def _face(self, struck: bool = False) -> QFont:
        font = self.theme.ui_font()
        font.setStrikeOut(struck)
        return font

    def _gap(self) -> int:
        return self.theme.px(5)

    def _eye_px(self) -> int:
        return self.theme.px(12 + 6) if self._pair.sees else 0

    def _natural_width(self) -> int:
        """Width of the complete text."""
        frame = self.theme.px(12 + 8 + 12 + 8) + 2 + self._eye_px()
        room = self._most_px - frame
        widths = [width for width in self._widths(self._fitting_parts(room), room) if width]
        return sum(widths) + self._gap() * (len(widths) - 1) + frame

    def _words_px(self, parts: list[_Part]) -> int:
        metrics = QFontMetrics(self._face())
        return sum(metrics.horizontalAdvance(text) for text, _, _ in parts) + self._gap() * (len(parts) - 1)

    def _fitting_parts(self, room: int) -> list[_Part]:
        """Without room for both names the draft shows only what differs from the main model's name."""
        parts = self._parts()
        return parts if self._words_px(parts) <= room else self._parts(short=True)

    def limit_width(self, most_px: int) -> None:
        if most_px != self._most_px:
            self._most_px = most_px
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(min(self._natural_width(), self._most_px), self.theme.px(28))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paint_content(self, painter: QPainter) -> None:
        colors = self.theme.palette
        self.fill(painter, colors.hover)
        if self.underMouse() or self.isDown():
            self.fill(painter, colors.hover)
        side = self.theme.px(12)
        end = self.width() - self.theme.px(10)
        top = (self.height() - side) // 2
        icon("chevron-down", colors.secondary).paint(painter, end - side, top, side, side)
        if self._pair.sees:
            icon("eye", colors.secondary).paint(painter, end - side - self._eye_px(), top, side, side)
        left = self.theme.px(12)
        for (text, color, struck), width in self.fitted():
            painter.setFont(self._face(struck))
            painter.setPen(color)
            painter.drawText(QRectF(left, 0, width + 2, self.height()), Qt.AlignmentFlag.AlignVCenter, text)
            left += width + self._gap()

    def fitted(self) -> list[tuple[_Part, int]]:
        """The parts to paint, with their widths."""
        room = self.width() - 2 * self.theme.px(12) - self.theme.px(10) - self.theme.px(6) - self._eye_px()
        parts = self._fitting_parts(room)
        metrics = QFontMetrics(self._face())
        return [
            ((metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, width + 1), color, struck), width)
            for (text, color, struck), width in zip(parts, self._widths(parts, room), strict=True)
            if width
        ]

    def _widths(self, parts: list[_Part], room: int) -> list[int]:
        """Without room the mode is dropped first, then the draft's name is elided, then the main model's."""
        natural = [QFontMetrics(self._face()).horizontalAdvance(text) for text, _, _ in parts]
        if self._words_px(parts) <= room or len(parts) == 1:
            return [min(width, room) for width in natural]
        main, arrow, draft = natural[:3]
        left = room - main - arrow - 2 * self._gap()
        if left < min(draft, self.theme.px(_LEAST_DRAFT_PX)):
            return [min(main, room), *[0] * (len(parts) - 1)]
        return [main, arrow, min(draft, left), *[0] * (len(parts) - 3)]
