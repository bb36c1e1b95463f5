"""Asks for files with chats, previews their content, then imports it."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QPlainTextEdit, QWidget

from app.controllers.imports import ImportController, Imported, Preview
from app.theme import FOOTER_PX, Theme
from app.views.files.progress_dialog import ProgressDialog
from app.views.widgets.arrange import arrange
from app.views.widgets.banner import Banner, BannerText, problem_text
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.dialog import DialogText
from app.views.widgets.fields import Switch
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.scrolling import ThinScrollBars
from app.words.formats import spoken
from app.words.notices_for_errors import Problem
from app.words.portable import imported_words, not_imported

_LIST_PX = 120


class _Stage(StrEnum):
    CHOOSING = "choosing"
    READING = "reading"
    PREVIEW = "preview"
    IMPORTING = "importing"
    REFUSED = "refused"  # by the disk


class ImportDialog(ProgressDialog):
    def __init__(self, theme: Theme, parent: QWidget, imports: ImportController, banner: Banner) -> None:
        super().__init__(theme, parent)
        self._imports = imports
        self._banner = banner
        self._stage = _Stage.CHOOSING
        self._preview: Preview | None = None
        self._refusal = ""
        self.folder_button = PillButton(theme, Emphasis.PLAIN, parent=self)
        self.problems = QPlainTextEdit(self)
        self.again = Switch(theme, self)
        self.again_words = TextLabel(theme, TextStyle.BODY, self)
        self._place_parts()
        self.folder_button.clicked.connect(lambda: self._choose(folder=True))
        self.act_button.clicked.connect(self._on_go)
        self.again.toggled.connect(lambda _on: self._retranslate())
        imports.progress.connect(self.bar.set_share)
        imports.previewed.connect(self._on_previewed)
        imports.imported.connect(self._on_imported)
        imports.not_stored.connect(self._on_refused)
        imports.cancelled.connect(self._on_cancelled)
        theme.follow(self._restyle_list)
        self.begin()

    def _place_parts(self) -> None:
        self.problems.setReadOnly(True)
        self.problems.setFrameShape(QFrame.Shape.NoFrame)
        self.problems.setTabChangesFocus(True)
        self.problems.document().setDocumentMargin(0)
        ThinScrollBars(self.problems, self.theme)
        row = arrange(QHBoxLayout(), (self.again, 0, Qt.AlignmentFlag.AlignTop), (self.again_words, 1), spacing=10)
        arrange(self.content, self.problems, (self.folder_button, 0, Qt.AlignmentFlag.AlignLeft), row)

    def _restyle_list(self) -> None:
        palette = QPalette(self.problems.palette())
        palette.setColor(QPalette.ColorRole.Base, self.theme.palette.surface)
        palette.setColor(QPalette.ColorRole.Text, self.theme.palette.secondary)
        self.problems.setPalette(palette)
        self.problems.setFont(self.theme.ui_font(FOOTER_PX))
        self._fit_list()

    def _fit_list(self) -> None:
        lines = self.problems.document().blockCount() + 1
        height = lines * self.problems.fontMetrics().lineSpacing()
        self.problems.setFixedHeight(min(height, self.theme.px(_LIST_PX)))

    def words(self) -> DialogText:
        stage = self._stage
        self._show_parts()
        self.problems.setAccessibleName(self.tr("Cannot be imported"))
        self.again_words.setText(self.tr("Import existing chats as copies"))
        self.again.setAccessibleName(self.again_words.text())
        self.folder_button.setText(self.tr("Choose folder…"))
        act = "" if stage in (_Stage.READING, _Stage.IMPORTING) else self._go_words()
        return DialogText(self.tr("Import chats"), self._sentence(), act=act, cancel=self.tr("Cancel"))

    def _show_parts(self) -> None:
        stage = self._stage
        preview = self._preview
        self.bar.setVisible(stage in (_Stage.READING, _Stage.IMPORTING))
        self.folder_button.setVisible(self._can_choose())
        shown = preview if stage is _Stage.PREVIEW else None
        self.problems.setVisible(shown is not None and bool(shown.found.problems))
        for widget in (self.again, self.again_words):
            widget.setVisible(shown is not None and shown.here > 0)
        self.act_button.setEnabled(stage is not _Stage.PREVIEW or self._can_choose() or self._has_something())

    def _go_words(self) -> str:
        if self._stage is _Stage.PREVIEW and not self._can_choose():
            return self.tr("Import")
        return self.tr("Try again") if self._stage is _Stage.REFUSED else self.tr("Choose files…")

    def _sentence(self) -> str:
        match self._stage:
            case _Stage.READING:
                return self.tr("Checking files…")
            case _Stage.IMPORTING:
                return self.tr("Importing…")
            case _Stage.REFUSED:
                return self._refusal
            case _Stage.PREVIEW:
                return self._preview_words()
        return self.tr("From Hunch (JSON), ChatGPT (export or conversations.json) or LM Studio (“conversations”).")

    def _new_chats(self) -> int:
        preview = self._preview
        if preview is None:
            return 0
        return preview.chats if self.again.isChecked() else preview.chats - preview.here

    def _has_something(self) -> bool:
        return self._new_chats() > 0 or (self._preview is not None and self._preview.presets > 0)

    def _preview_words(self) -> str:
        preview = self._preview
        assert preview is not None
        found = preview.found
        unread = len(found.problems) + found.more_problems
        parts = [self.tr("%Ln chat(s)", "", preview.chats), self.tr("%Ln message(s)", "", found.messages)]
        parts += [self.tr("%Ln new preset(s)", "", preview.presets)] if preview.presets else []
        parts += [self.tr("%Ln already here", "chats", preview.here)] if preview.here else []
        parts += [self.tr("%Ln unreadable", "chats or files", unread)] if unread else []
        parts += [self.tr("%Ln picture(s) left out", "", preview.lost)] if preview.lost else []
        return " · ".join(parts)

    def _on_go(self) -> None:
        if self._can_choose():
            self._choose(folder=False)
        elif self._stage is _Stage.PREVIEW and self._preview is not None:
            self._set_stage(_Stage.IMPORTING)
            self._imports.run(self._preview, again=self.again.isChecked())
        elif self._stage is _Stage.REFUSED:
            self._set_stage(_Stage.READING if self._preview is None else _Stage.IMPORTING)
            self._imports.try_again()

    def _choose(self, *, folder: bool) -> None:
        downloads = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DownloadLocation)
        dialog = QFileDialog(self, self.tr("Import"), downloads)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        modes = QFileDialog.FileMode
        dialog.setFileMode(modes.Directory if folder else modes.ExistingFiles)
        dialog.filesSelected.connect(self.look)
        dialog.open()

    @property
    def is_choosing(self) -> bool:
        return self._stage is _Stage.CHOOSING

    def _can_choose(self) -> bool:
        """Also where nothing of what was chosen can be imported."""
        preview = self._preview if self._stage is _Stage.PREVIEW else None
        in_vain = preview is not None and not preview.here and not self._has_something()
        return in_vain or self.is_choosing

    def look(self, paths: list[str]) -> None:
        self._imports.discard()
        self._preview = None
        self._set_stage(_Stage.READING)
        self._imports.look(paths)

    def _set_stage(self, stage: _Stage) -> None:
        self._stage = stage
        self.bar.set_share(0)
        self._retranslate()

    def _on_previewed(self, preview: Preview) -> None:
        self._preview = preview
        self.problems.setPlainText("\n".join(map(not_imported, preview.found.problems)))
        self._fit_list()
        self._set_stage(_Stage.PREVIEW)
        (self.act_button if self.act_button.isEnabled() else self.cancel_button).setFocus()

    def _on_refused(self, problem: Problem) -> None:
        words = problem_text(problem)
        self._refusal = spoken(words.title, words.sentence, words.hint)
        self._set_stage(_Stage.REFUSED)

    def _on_imported(self, imported: Imported) -> None:
        banner = self._banner
        imports = self._imports
        self.accept()
        if len(imported.ids) == 1:
            imports.open(imported.ids[0])
        counts = len(imported.ids), len(imported.grown), len(imported.presets)
        banner.show_info(lambda: BannerText(*imported_words(*counts)), lambda: imports.undo(imported))

    def _on_cancelled(self) -> None:
        self._stage = _Stage.CHOOSING
        self.accept()

    def reject(self) -> None:
        if self._stage in (_Stage.READING, _Stage.IMPORTING, _Stage.REFUSED):
            self._imports.cancel()
        else:
            self._imports.discard()
            super().reject()
