"""A notice over the bottom of the transcript, such as a refusal with a button, or "deleted" with Undo.

One at a time: a newer one covers the older; covered warnings and offers come back later. It moves nothing else. Notices
with a necessary action are never dropped; refusals with the same text are one notice, whose button retries all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QBoxLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.theme import Theme
from app.views.icons import icon
from app.views.widgets.arrange import arrange
from app.views.widgets.buttons import Emphasis, IconButton, PillButton
from app.views.widgets.labels import TextLabel, TextStyle, say
from app.views.widgets.painting import paint_surface
from app.views.widgets.panel import Panel
from app.views.widgets.roles import announce
from app.views.widgets.tooltips import set_tooltip
from app.views.widgets.translated import Translated
from app.words.formats import spoken
from app.words.notices import action_text
from app.words.notices_for_errors import Problem, notice_for

_BRIEF_MS = 10_000
_MOST_BUTTONS_SHARE = 0.35  # of the width
_MOST_COVERED = 3  # of those without a button


@dataclass(frozen=True, slots=True)
class BannerText:
    sentence: str
    title: str = ""
    hint: str = ""
    button: str = ""
    other_button: str = ""
    detail: str = ""  # what only a report needs, as a tooltip


def problem_text(problem: Problem) -> BannerText:
    notice = notice_for(problem)
    return BannerText(notice.sentence, notice.title, notice.hint, action_text(notice.action), detail=notice.detail)


@dataclass(frozen=True, slots=True)
class _Message:
    text: Callable[[], BannerText]
    acts: tuple[Callable[[], None] | None, ...] = ()
    warns: bool = False
    stays: bool = False  # until it is closed or covered
    comes_back: bool = False  # once it was covered
    refused: tuple[tuple[Callable[[], BannerText], Callable[[], None]], ...] = ()  # what its button tries again

    def without(self, text: Callable[[], BannerText]) -> _Message | None:
        left = tuple(each for each in self.refused if each[0] != text)
        if left:
            return replace(self, text=left[-1][0], refused=left)
        return None if self.text == text else self


class Banner(Translated, QWidget):
    """Notices are given as functions, which are called again when the language changes."""

    appeared = Signal()  # or was hidden, or has another height
    left = Signal()  # it had the focus, and was hidden

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._message = _Message(lambda: BannerText(""))
        self._covered: list[_Message] = []  # what comes back, the newest last
        self.title = TextLabel(theme, TextStyle.HEADING, self)
        self.sentence = TextLabel(theme, TextStyle.BODY, self)
        self.hint = TextLabel(theme, TextStyle.SECONDARY, self)
        self.button = PillButton(theme, Emphasis.PLAIN, parent=self)
        self.other_button = PillButton(theme, Emphasis.PLAIN, parent=self)
        self.close_button = IconButton(theme, "x", 30, self)  # level with a button beside it
        self.timer = QTimer(self, singleShot=True, interval=_BRIEF_MS)
        self.timer.timeout.connect(self._end)
        self.button.clicked.connect(lambda: self._on_button(0))
        self.other_button.clicked.connect(lambda: self._on_button(1))
        self.close_button.clicked.connect(self._dismiss)
        self._arrange()
        self._retranslate()
        self.hide()

    def _arrange(self) -> None:
        labels = (self.title, self.sentence, self.hint)
        for label in labels:
            label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        words = arrange(QVBoxLayout(), *labels, spacing=2)
        self._buttons = arrange(QVBoxLayout(), 1, self.button, self.other_button, 1, spacing=6)
        self._content = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        arrange(self._content, (words, 1), self._buttons, spacing=12)
        close = (self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        self._row = arrange(QHBoxLayout(self), (self._content, 1), close, spacing=12)

    def show_info(self, text: Callable[[], BannerText], *acts: Callable[[], None] | None, stays: bool = False) -> None:
        """Shows a message that hides after 10 s, or `stays`. `acts` belong to its buttons."""
        self._cover(_Message(text, acts, stays=stays))

    def show_offer(self, text: Callable[[], BannerText], act: Callable[[], None]) -> None:
        """Show an offer: it stays until it is closed, and is never dropped."""
        self._cover(_Message(text, (act,), stays=True, comes_back=True))

    def shows(self, text: Callable[[], BannerText]) -> bool:
        return self._message.text == text and not self.isHidden()

    def show_warning(
        self, text: Callable[[], BannerText], *acts: Callable[[], None] | None, behind: bool = False
    ) -> None:
        """Shows a message with a warning sign that stays until it is closed. `acts` belong to its buttons.

        With `behind` it lets another warning come first.
        """
        warning = _Message(text, acts, warns=True)
        if behind and self._message.warns and not self.isHidden():
            self._covered.insert(0, warning)
        else:
            self._cover(warning)

    def show_refusal(self, text: Callable[[], BannerText], again: Callable[[], None]) -> None:
        """A warning whose button retries what was refused, together with other refusals with the same text."""
        words = text()
        shown = [*self._covered, *([] if self.isHidden() else [self._message])]
        alike = [refusal for each in shown if each.refused and each.text() == words for refusal in each.refused]
        self._cover(_Message(text, warns=True, refused=(*alike, (text, again))))

    def withdraw(self, text: Callable[[], BannerText]) -> None:
        """This notice does not apply any more."""
        self._covered = [left for each in self._covered if (left := each.without(text)) is not None]
        if self.isHidden():
            return
        left = self._message.without(text)
        if left is None:
            self._dismiss()
        elif left is not self._message:
            self._show(left)

    def leave_place(self) -> None:
        """The window shows another page: drop a brief notice without a button."""
        message = self._message
        if not (self.isHidden() or message.warns or message.stays or any(message.acts)):
            self._dismiss()

    def _cover(self, message: _Message) -> None:
        if (self._message.warns or self._message.comes_back) and not self.isHidden():
            self._covered.append(self._message)
        words = message.text()
        covered = [each for each in self._covered if each.text() != words]
        dropped = [each for each in covered if not (any(each.acts) or each.refused)][:-_MOST_COVERED]
        self._covered = [each for each in covered if each not in dropped]
        self._show(message)

    def _show(self, message: _Message) -> None:
        self._message = message
        if message.warns or message.stays:
            self.timer.stop()
        else:
            self.timer.start()
        self.show()
        self.raise_()
        for panel in self.window().findChildren(Panel):
            panel.raise_()  # what is open stays over it
        self._retranslate()
        announce(self, self.accessibleName())
        self.update()

    def _end(self) -> None:
        """A brief notice has had its time, unless the keyboard is at one of its buttons."""
        if self._has_focus:
            self.timer.start()
        else:
            self._dismiss()

    @property
    def _has_focus(self) -> bool:
        focused = QApplication.focusWidget()
        return focused is not None and self.isAncestorOf(focused)

    def _dismiss(self) -> None:
        had_focus = self._has_focus
        self.hide()
        if self._covered:
            self._show(self._covered.pop())
        if had_focus:
            self.left.emit()

    def _on_button(self, number: int) -> None:
        """Once: a button that was hidden by its first click may still be clicked from outside."""
        if self.isHidden():
            return
        message = self._message
        acts = message.acts if not message.refused else (lambda: [again() for _, again in message.refused],)
        self._dismiss()
        act = acts[number] if number < len(acts) else None
        if act is not None:
            act()

    def place(self, left: int, bottom: int, width: int) -> None:
        """Sets the geometry: the lower edge at `bottom`, the height as the text needs."""
        self._row.setContentsMargins(self._theme.px(44), 10, 10, 10)
        # Beside the words there must be room for them; otherwise the buttons are below.
        beside = self._buttons.sizeHint().width() <= width * _MOST_BUTTONS_SHARE
        direction = QBoxLayout.Direction
        self._content.setDirection(direction.LeftToRight if beside else direction.TopToBottom)
        height = self._row.totalHeightForWidth(width)
        self.setGeometry(left, bottom - height, width, height)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.appeared.emit()

    def event(self, event: QEvent) -> bool:
        """Other words or another text size want another height."""
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self.isVisible():
            self.appeared.emit()
        return handled

    def _retranslate(self) -> None:
        self.close_button.set_name(self.tr("Close"))
        text = self._message.text()
        for label, words in ((self.title, text.title), (self.sentence, text.sentence), (self.hint, text.hint)):
            say(label, words)
        for button, words in ((self.button, text.button), (self.other_button, text.other_button)):
            say(button, words)
        set_tooltip(self, text.detail)
        self.setAccessibleName(spoken(text.title, text.sentence, text.hint))
        self.appeared.emit()  # its height is another one with other words

    def _icon_place(self) -> QRect:
        """Beside the first line."""
        side = self._theme.px(18)
        first = self.title if self.title.isVisibleTo(self) else self.sentence
        above_px = (first.height() - first.heightForWidth(first.width())) // 2
        top = first.y() + above_px + (first.fontMetrics().lineSpacing() - side) // 2
        return QRect(self._theme.px(14), top, side, side)

    def paintEvent(self, _event: QPaintEvent) -> None:
        colors = self._theme.palette
        paint_surface(self, colors)
        with QPainter(self) as painter:
            name, color = ("alert-triangle", colors.cost) if self._message.warns else ("info", colors.secondary)
            icon(name, color).paint(painter, self._icon_place())
