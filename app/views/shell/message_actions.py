"""Actions of the transcript and the Message menu on messages; asks before deleting several. Quotes what is selected."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from textwrap import dedent

from PySide6.QtCore import QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QPlainTextEdit, QWidget

from app.controllers.chat import ChatController
from app.controllers.message_changes import Then
from app.settings import LONG_CHATS
from app.theme import Theme
from app.view_models.chat_options import Scope
from app.view_models.tools import ConsentView
from app.view_models.transcript import EditKind, TranscriptMessage, TranscriptModel
from app.views.shell.shell_window import ShellWindow
from app.views.transcript import TranscriptView
from app.views.transcript.call_words import consent_title, consent_why
from app.views.transcript.message_footer import NEW_CHAT, PIN, UNPIN, add_message_acts
from app.views.widgets.dialog import DialogText, ask
from app.views.widgets.held_keys import Menu
from app.views.widgets.roles import announce
from app.words.formats import in_menu, spoken
from app.words.options import long_chats_words, option_name

_INSERTS = {"insert_before": EditKind.BEFORE, "insert_after": EditKind.AFTER}


class MessageActions(QObject):
    def __init__(self, view: TranscriptView, chats: ChatController, theme: Theme, window: ShellWindow) -> None:
        super().__init__(window)
        self._view = view
        self._chats = chats
        self._theme = theme
        self._window = window
        self._chat_id = chats.chat_id
        self._question_shown: ConsentView | None = None
        view.context.regenerate_requested.connect(chats.asking.regenerate)
        view.context.continue_requested.connect(chats.asking.continue_reply)
        view.context.sibling_requested.connect(self._show_version)
        view.context.edit_requested.connect(lambda message_id: self._begin(message_id, EditKind.EDIT))
        view.context.delete_requested.connect(chats.edits.delete)
        view.context.act_requested.connect(self._act)
        chats.chat_left.connect(lambda chat_id: chats.places.put(chat_id, view.place()))
        chats.current_chat_changed.connect(self._on_chat)
        editing = view.editing
        editing.typed.connect(chats.edits.type)
        editing.role_chosen.connect(chats.edits.set_role)
        editing.role_chosen.connect(lambda message_id, _user: editing.focus(message_id))
        editing.cancelled.connect(self._cancel)
        editing.saved.connect(lambda message_id, then: chats.edits.save(message_id, Then(then)))
        chats.edits.saved.connect(self._on_saved)
        chats.edits.went_on.connect(editing.focus)
        view.context.consent_shown.connect(self._on_question)
        view.context.consent_answered.connect(chats.exchanges.answer)
        view.context.consent_answered.connect(lambda *_: window.composer.take_focus())
        view.context.beginning_asked.connect(self._show_left_out)
        view.quote_requested.connect(self.quote)
        window.menu.quote.triggered.connect(self.quote)
        view.selection.changed.connect(self._judge_quote)
        self._judge_quote()

    def _on_question(self, message_id: int, refuse: QWidget) -> None:
        """The button that refuses gets the focus, unless something is being typed; screen readers say who asks."""
        message = self._chats.transcript.message(message_id)
        if message is None or message.consent is self._question_shown:
            return  # it was scrolled out of sight, and back
        self._question_shown = message.consent
        if message.consent is not None:
            words = spoken(consent_title(message.consent), consent_why(message.consent))
            announce(self._window, words)
        if self._window.isActiveWindow() and self._window.composer.is_empty and not self._is_typing_elsewhere():
            QTimer.singleShot(0, refuse, lambda: refuse.setFocus(Qt.FocusReason.TabFocusReason))

    def _is_typing_elsewhere(self) -> bool:
        focused = QApplication.focusWidget()
        is_field = isinstance(focused, QLineEdit | QPlainTextEdit)
        return is_field and focused is not self._window.composer.edit

    def _judge_quote(self) -> None:
        self._window.menu.quote.setEnabled(not self._view.selection.is_empty)

    def quote(self) -> None:
        """Put what is selected into the composer, to ask about it."""
        text = dedent(self._view.copier.selected_text()).strip()
        self._view.selection.clear()
        self._chats.chat_wanted.emit()
        self._window.composer.quote(text)

    def _on_chat(self, _chat_id: int, _title: str) -> None:
        """Open another chat at the reader's last position."""
        from app.views.transcript.reading_places import ReadingPlace  # not before the first frame

        chat_id = self._chats.chat_id
        if chat_id != self._chat_id:
            self._chat_id = chat_id
            place = self._chats.places.of(chat_id)
            self._view.go_to(None if place is None else ReadingPlace(*place))

    def _begin(self, message_id: int, kind: EditKind) -> None:
        self._chats.edits.begin(message_id, kind)
        self._view.editing.focus(message_id)

    def _cancel(self, message_id: int) -> None:
        self._chats.edits.cancel(message_id)
        self._view.setFocus()

    def _on_saved(self, _message_id: int) -> None:
        """The edit field was removed: focus the message, unless the user types elsewhere."""
        if not isinstance(QApplication.focusWidget(), QLineEdit | QPlainTextEdit):
            self._view.setFocus()

    def _show_version(self, message_id: int, step: int) -> None:
        """The message in focus stays in focus, as another version."""
        row = self._view.focused_row()
        self._chats.show_version(message_id, step)
        if row is not None and row < len(self._chats.transcript.messages):
            self._view.message_keys.highlights.focus(row)

    def _act(self, message_id: int, act: str) -> None:
        if act in _INSERTS:
            self._begin(message_id, _INSERTS[act])
        elif act == "switch_role":
            self._chats.edits.switch_role(message_id)
        elif act == "answer_now":
            self._chats.replies.answer_now(message_id)
        elif act in (PIN, UNPIN):
            self._chats.edits.pin(message_id, act == PIN)
        elif act == NEW_CHAT:
            self._chats.duplicate(self._chats.chat_id, message_id)
        elif act == "delete_following":
            self._delete_following(message_id)

    def _show_left_out(self, message_id: int, line: QWidget) -> None:
        show = self._view.show_message
        LongChatMenu(self._theme, self._chats, message_id, show, self._window).open_below(line)

    def _delete_following(self, message_id: int) -> None:
        following = self._chats.edits.count_following(message_id)
        if not following:
            self._chats.edits.delete(message_id)
            return
        delete = partial(self._chats.edits.delete, message_id, following=True)
        ask(self._theme, self._window, lambda: self._question(following), delete)

    def _question(self, following: int) -> DialogText:
        return DialogText(
            self.tr("Delete this and %Ln later message(s)?", "", following),
            self.tr("Kept in Recently Deleted for 30 days."),
            act=self.tr("Delete"),
            cancel=self.tr("Cancel"),
        )


class LongChatMenu(Menu):
    """What the model no longer reads of a long chat and what it still reads, and the choice of what becomes of the
    rest. Opened once, at the line from which on the model reads.
    """

    def __init__(
        self,
        theme: Theme,
        chats: ChatController,
        first_id: int,
        show_message: Callable[[int], object],
        parent: QWidget,
    ) -> None:
        super().__init__(parent, theme)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setFont(theme.ui_font())
        self._options = chats.options
        values = self._options.generation(chats.chat_id).values
        left_out, pinned = chats.transcript.left_out(first_id)
        self._say(self.tr("%Ln earlier message(s) not read", "", left_out))
        if values["system_prompt"]:
            self._say(self.tr("Still read: the system prompt"))
        if chats.projects.instructions(self._options.folder_of(chats.chat_id)):
            self._say(self.tr("Still read: the project's instructions"))
        if pinned:
            self._say(self.tr("Still read: %Ln pinned message(s)", "", len(pinned)))
        for message in pinned:
            action = self.addAction(in_menu(" ".join(message.written.split())))
            action.triggered.connect(lambda _checked=False, shown=message.id: show_message(shown))
        if not pinned:
            self._say(self.tr("Pin a message to keep it"))
        self.addSeparator()
        self._say(option_name("long_chats"))
        group = QActionGroup(self)
        for each in LONG_CHATS:
            action = group.addAction(long_chats_words(each))
            action.setCheckable(True)
            action.setChecked(each == values["long_chats"])
            action.triggered.connect(
                lambda _checked=False, each=each: self._options.put(Scope.CHAT, "long_chats", each)
            )
            self.addAction(action)

    def open_below(self, line: QWidget) -> None:
        place = line.mapToGlobal(QPoint(line.width() // 2, line.height()))
        self.popup(place - QPoint(self.sizeHint().width() // 2, 0))

    def _say(self, words: str) -> None:
        self.addAction(words).setEnabled(False)


class MessageMenuFiller(QObject):
    """Fills the Message menu, when it opens, for the focused message, or the latest of the chat."""

    def __init__(
        self, menu: QMenu, view: TranscriptView, model: TranscriptModel, focused: Callable[[], QWidget | None]
    ) -> None:
        super().__init__(menu)
        self._menu = menu
        self._view = view
        self._model = model
        self._focused = focused
        menu.aboutToShow.connect(self._fill)
        for signal in (model.was_reset, model.message_inserted, model.messages_removed):
            signal.connect(self._judge)
        self._judge()

    def _judge(self) -> None:
        self._menu.menuAction().setEnabled(bool(self._model.messages))  # not the menu: its entry would stay

    def _fill(self) -> None:
        self._menu.clear()
        message = self._message()
        if message is not None:
            add_message_acts(self._menu, self._view.copier.context, message)

    def _message(self) -> TranscriptMessage | None:
        messages = self._model.messages
        row = self._view.focused_row()
        focused = self._focused()
        in_transcript = focused is not None and (focused is self._view or self._view.isAncestorOf(focused))
        if row is not None and row < len(messages) and in_transcript:
            return messages[row]
        return messages[-1] if messages else None
