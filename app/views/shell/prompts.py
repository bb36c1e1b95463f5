"""What "/" at the start of a line in the composer offers: the user's prompts, and presets; and the dialog for prompts.

The list lies above the composer. The field keeps the focus, and its arrow keys, Return, Tab and Escape lead the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QKeyEvent, QPaintEvent, QTextCursor
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.controllers.chat import ChatController
from app.controllers.prompts import Prompts, SavedPrompt
from app.markup import long_lines
from app.theme import Theme
from app.view_models.matching import distance
from app.views.settings.options import PromptField
from app.views.shell.shell_window import ShellWindow
from app.views.widgets.arrange import arrange
from app.views.widgets.banner import Banner, BannerText
from app.views.widgets.buttons import ChoiceButton
from app.views.widgets.dialog import Dialog, DialogText
from app.views.widgets.fields import LineField
from app.views.widgets.held_keys import RETURN_KEYS, modifiers_of
from app.views.widgets.labels import TextLabel, TextStyle, describe
from app.views.widgets.page_list import PageEntry, PageList
from app.views.widgets.painting import paint_surface
from app.views.widgets.roles import announce
from app.views.widgets.translated import Translated
from app.words.formats import fill

_SIGNS = ("/", "／")  # the second as an input method may write it
_WIDTH_PX = 460
_MOST_ROWS = 8
_LONGEST_NAME = 60
_SHOWN_CHARACTERS = 60  # of a prompt's text
_FAR_PER_WORD = 2  # of what is found: within a word, too, but with no letter left out
_TEXT_PX = 160
_SIDE_PX = 8
_STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}

Row = tuple[PageEntry, str, Callable[[], object] | None]  # with what is inserted, and what is done then


class PromptList(Translated, QWidget):
    def __init__(self, window: ShellWindow, theme: Theme, chats: ChatController) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._chats = chats
        self._prompts = chats.prompts
        self._edit = window.composer.edit
        self._rows: list[Row] = []
        self._dismissed = False  # by Escape, until the line has no sign any more
        self.list = PageList(theme, self)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.shows_ring = False
        arrange(QVBoxLayout(self), self.list, margins=(_SIDE_PX, _SIDE_PX, _SIDE_PX, _SIDE_PX))
        self.list.itemClicked.connect(lambda _item: self._choose())
        for changed in (self._edit.textChanged, self._edit.composition_changed, self._edit.cursorPositionChanged):
            changed.connect(self._follow)
        self._edit.installEventFilter(self)
        window.resized.connect(self._place)
        window.menu.prompts.triggered.connect(lambda: self.edit_prompts())  # noqa: PLW0108  without Qt's own argument
        self._retranslate()
        self.hide()

    def _query(self) -> str | None:
        """What follows the sign in the line of the cursor; None where there is no sign."""
        cursor = self._edit.textCursor()
        begins = self._edit.document().characterAt(cursor.block().position())
        if begins not in _SIGNS or cursor.hasSelection() or not cursor.atBlockEnd():
            return None
        return cursor.block().text()[1 : cursor.positionInBlock()] + self._edit.composed

    def _follow(self) -> None:
        query = self._query()
        self._dismissed = self._dismissed and query is not None
        if query is None and not self._rows:
            return
        self._rows = [] if query is None or self._dismissed else self._found(query)
        before = self.list.current_words if self.isVisible() else ""
        self.list.set_entries([entry for entry, *_ in self._rows])
        self.list.setCurrentRow(0 if self._rows else -1)
        self.setVisible(bool(self._rows) and self._window.focusWidget() is self._edit)
        if self.isVisible():
            self._place()
            self.raise_()
            if self.list.current_words != before:
                announce(self._edit, self.list.current_words)

    def _found(self, query: str) -> list[Row]:
        """With room for the last rows, which write prompts."""
        acts: list[Row] = []
        if not query:
            acts.append((PageEntry(self.tr("New Prompt…"), "plus"), "", self.edit_prompts))
            if stored := self._prompts.all():
                acts.append((PageEntry(self.tr("Edit Prompts…"), "pencil"), "", partial(self.edit_prompts, stored[0])))
        return [*list(self._fitting(query))[: _MOST_ROWS - len(acts)], *acts]

    def _fitting(self, query: str) -> Iterator[Row]:
        most = _FAR_PER_WORD * len(query.split())
        for prompt in self._prompts.all():
            far = distance(query, prompt.name)
            if far is not None and far <= most:
                shown = " ".join(prompt.text[: 2 * _SHOWN_CHARACTERS].split())[:_SHOWN_CHARACTERS]
                yield PageEntry(prompt.name, "message-square", aside=shown), prompt.text, None
        for preset in self._chats.options.presets.all():
            far = distance(query, preset["name"])
            if far is not None and far <= most:
                act = partial(self._chats.options.choose_preset, preset["id"])
                yield PageEntry(preset["name"], "sliders-horizontal", aside=self.tr("Preset")), "", act

    def _choose(self) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._rows):
            _, text, act = self._rows[row]
            self._insert(text)
            if act is not None:
                act()

    def _insert(self, text: str) -> None:
        """In place of the sign and what follows it; one step for Undo."""
        cursor = self._edit.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock, QTextCursor.MoveMode.KeepAnchor)
        long_lines.insert(cursor, text)
        self._edit.ensureCursorVisible()

    def edit_prompts(self, prompt: SavedPrompt | None = None) -> PromptDialog:
        """`prompt`: the one shown first; None: a new one."""
        dialog = PromptDialog(self._theme, self._window, self._prompts, self._window.banner, prompt)
        dialog.finished.connect(lambda _result: self._window.composer.take_focus())
        dialog.open()
        dialog.name.setFocus(Qt.FocusReason.OtherFocusReason)
        return dialog

    def eventFilter(self, _edit: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut and self.isVisible() and self._window.isActiveWindow():
            self.hide()
        takes = event.type() == QEvent.Type.KeyPress and self.isVisible() and not self._edit.is_composing
        return takes and isinstance(event, QKeyEvent) and self._take(event)

    def _take(self, event: QKeyEvent) -> bool:
        """Whether the key is for the list."""
        key = Qt.Key(event.key())
        if modifiers_of(event):
            return False
        if key in _STEPS:
            self.list.step(_STEPS[key])
            announce(self._edit, self.list.current_words)
        elif key in (*RETURN_KEYS, Qt.Key.Key_Tab):
            if not event.isAutoRepeat():
                self._choose()
        elif key == Qt.Key.Key_Escape:
            self._dismissed = True
            self.hide()
        else:
            return False
        return True

    def _place(self) -> None:
        if not self.isVisible():
            return
        composer = self._window.composer
        at = composer.mapTo(self._window, QPoint(0, 0))
        width = min(self._theme.px(_WIDTH_PX), composer.width())
        wanted = self.list.content_height() + 2 * _SIDE_PX
        height = min(wanted, at.y() - 2 * _SIDE_PX)
        self.setGeometry(at.x(), at.y() - height - _SIDE_PX, width, height)

    def _retranslate(self) -> None:
        self.list.setAccessibleName(self.tr("Prompts"))
        self._follow()

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_surface(self, self._theme.palette)


class PromptDialog(Dialog):
    """A new prompt, or one of those that there are. Another one chosen keeps what was changed."""

    def __init__(
        self, theme: Theme, parent: QWidget, prompts: Prompts, banner: Banner, prompt: SavedPrompt | None = None
    ) -> None:
        self._prompts = prompts
        self._banner = banner
        self._prompt = prompt or SavedPrompt("", "")
        self.choice = ChoiceButton(theme)
        self.name = LineField(theme)
        self.name.setMaxLength(_LONGEST_NAME)
        self.text = PromptField(theme)
        self.text.setFixedHeight(theme.px(_TEXT_PX))
        self._name_label = TextLabel(theme, TextStyle.SECONDARY)
        self._text_label = TextLabel(theme, TextStyle.SECONDARY)
        super().__init__(theme, parent, self._words, width_px=_WIDTH_PX)
        arrange(
            self.content,
            (self.choice, 0, Qt.AlignmentFlag.AlignLeft),
            self._name_label,
            self.name,
            self._text_label,
            self.text,
            spacing=6,
        )
        self.choice.chosen.connect(self._show_other)
        for changed in (self.name.textChanged, self.text.textChanged):
            changed.connect(self._judge)
        self.accepted.connect(self._keep)
        self.other_chosen.connect(self._delete)
        self._show()

    def _words(self) -> DialogText:
        is_new = not self._prompt.id
        self._name_label.setText(self.tr("Name"))
        self._text_label.setText(self.tr("Text"))
        describe(self.name, self.tr("Example: Translate"), self.tr("Name"))
        describe(self.text, self.tr("Example: Translate into English, and keep the tone:"), self.tr("Text"))
        self.choice.setAccessibleName(self.tr("Prompt"))
        return DialogText(
            self.tr("New Prompt") if is_new else self.tr("Edit Prompts"),
            self.tr("Type / in a message to use it."),
            act=self.tr("Save"),
            cancel=self.tr("Cancel"),
            other="" if is_new else self.tr("Delete"),
        )

    def _show(self) -> None:
        stored: Sequence[SavedPrompt] = self._prompts.all()
        self.choice.set_choices([("", self.tr("New Prompt")), *((each.id, each.name) for each in stored)])
        self.choice.set_value(self._prompt.id)
        self.choice.setVisible(bool(stored))
        self.name.setText(self._prompt.name)
        self.text.set_value(self._prompt.text)
        self._judge()
        self._retranslate()

    def _typed(self) -> SavedPrompt:
        return SavedPrompt(" ".join(self.name.text().split()), self.text.text().strip(), self._prompt.id)

    def _judge(self) -> None:
        typed = self._typed()
        self.act_button.setEnabled(bool(typed.name and typed.text))

    def _keep(self) -> None:
        self.name.commit()
        self.text.commit()
        typed = self._typed()
        if typed.name and typed.text and typed != self._prompt:
            self._prompts.put(typed)

    def _show_other(self, prompt_id: object) -> None:
        typed = self._typed()
        if bool(typed.name) != bool(typed.text):  # it cannot be kept
            self.choice.set_value(self._prompt.id)
            (self.text if typed.name else self.name).setFocus()
            return
        self._keep()
        self._prompt = next((each for each in self._prompts.all() if each.id == prompt_id), SavedPrompt("", ""))
        self._show()

    def _delete(self) -> None:
        """The notice may be shown in another language after the dialog was deleted."""
        prompt = self._prompt
        prompts = self._prompts
        prompts.drop(prompt.id)

        def text() -> BannerText:
            deleted = QCoreApplication.translate("PromptDialog", "Deleted the prompt “%1”.")
            return BannerText(fill(deleted, prompt.name), button=QCoreApplication.translate("PromptDialog", "Undo"))

        self._banner.show_info(text, lambda: prompts.put(prompt))
