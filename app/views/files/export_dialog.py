"""Asks for the format and place of an export, and shows its progress."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QDate, QStandardPaths, Qt
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QWidget

from app.controllers.exports import ExportController, Exported, ExportFormat, ExportRequest
from app.portable.problems import NotExported
from app.portable.writing import safe_name
from app.system.file_manager import reveal
from app.theme import Theme
from app.views.files.progress_dialog import ProgressDialog
from app.views.widgets.arrange import arrange
from app.views.widgets.banner import Banner, BannerText, problem_text
from app.views.widgets.dialog import DialogText
from app.views.widgets.fields import Segments, Switch
from app.views.widgets.labels import TextLabel, TextStyle
from app.words.formats import count, fill, spoken
from app.words.notices import Notice
from app.words.notices_for_errors import Problem
from app.words.portable import exported_words, markdown_words, not_exported

_SUFFIX = {ExportFormat.MARKDOWN: "md", ExportFormat.JSON: "json"}


class ExportDialog(ProgressDialog):
    """`chats` None: all; `title` is that of a single one."""

    def __init__(
        self,
        theme: Theme,
        parent: QWidget,
        exports: ExportController,
        banner: Banner,
        chats: Sequence[int] | None,
        title: str,
    ) -> None:
        super().__init__(theme, parent)
        self._exports = exports
        self._banner = banner
        self._chats = chats
        self._is_single = chats is not None and len(chats) == 1
        self._title = title
        self._is_writing = False
        self._done = (0, 0)
        self._problem: Notice | None = None
        self.form = Segments(theme, self)
        self.form.set_value(ExportFormat.MARKDOWN)
        self.content.addWidget(self.form, 0, Qt.AlignmentFlag.AlignLeft)
        self.form.chosen.connect(self._on_form)
        self.with_files = Switch(theme, self)
        self.with_files_words = TextLabel(theme, TextStyle.BODY, self)
        row = arrange(
            QHBoxLayout(), (self.with_files, 0, Qt.AlignmentFlag.AlignTop), (self.with_files_words, 1), spacing=10
        )
        self.content.addLayout(row)
        for widget in (self.with_files, self.with_files_words):
            widget.setVisible(exports.have_files(chats))
        self.act_button.clicked.connect(self._ask_where)
        exports.progress.connect(self._on_progress)
        exports.finished.connect(self._on_finished)
        exports.failed.connect(self._on_failed)
        exports.cancelled.connect(self._end)
        self.form.set_choices([(ExportFormat.MARKDOWN, "Markdown"), (ExportFormat.JSON, "JSON")])
        self.begin()

    def words(self) -> DialogText:
        title = fill(self.tr("Export “%1”"), self._title)
        if self._chats is None:
            title = self.tr("Export all chats")
        elif not self._is_single:
            title = self.tr("Export %Ln chat(s)", "", len(self._chats))
        self.form.setAccessibleName(self.tr("Format"))
        self.with_files_words.setText(self.tr("With the files of projects and chats"))
        self.with_files.setAccessibleName(self.with_files_words.text())
        act = "" if self._is_writing else self.tr("Export…")
        return DialogText(title, self._sentence(), act=act, cancel=self.tr("Cancel"))

    def _sentence(self) -> str:
        if self._problem is not None:
            return spoken(self._problem.title, self._problem.sentence, self._problem.hint)
        if self._is_writing:
            done, total = self._done
            return (
                fill(self.tr("Exporting chat %1 of %2…"), count(done), count(total)) if total else self.tr("Exporting…")
            )
        if self.form.value == ExportFormat.JSON:
            return self.tr("To import again: all versions, thinking, statistics, attachments.")
        return self.tr("To read: as shown.") if self._is_single else self.tr("To read: one file per chat.")

    def _on_form(self, _form: object) -> None:
        self._problem = None
        self._retranslate()

    def _ask_where(self) -> None:
        self._problem = None
        documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        dialog = QFileDialog(self, self.tr("Export"), documents)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        if self._is_folder():
            dialog.setFileMode(QFileDialog.FileMode.Directory)
            dialog.setOption(QFileDialog.Option.ShowDirsOnly)
            dialog.setLabelText(QFileDialog.DialogLabel.Accept, self.tr("Export here"))
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptOpen)
        else:
            dialog.setDefaultSuffix(_SUFFIX[self._form()])
            dialog.selectFile(f"{self._file_name()}.{_SUFFIX[self._form()]}")
        dialog.fileSelected.connect(self.export_to)
        dialog.open()

    def _form(self) -> ExportFormat:
        return ExportFormat(str(self.form.value))

    def _is_folder(self) -> bool:
        return not self._is_single and self._form() is ExportFormat.MARKDOWN

    def _file_name(self) -> str:
        if self._is_single:
            return safe_name(self._title)
        today = QDate.currentDate().toString(Qt.DateFormat.ISODate)
        return safe_name(fill(self.tr("Hunch chats %1", "the name of a file; a date"), today))

    def export_to(self, chosen: str) -> None:
        path = Path(chosen) / self._file_name() if self._is_folder() else Path(chosen)
        self._is_writing = True
        self._done = (0, 0)
        self._enable(False)
        self.bar.set_share(0)
        self.bar.show()
        self._retranslate()
        wanted = ExportRequest(self._chats, self._form(), path, self.with_files.isChecked())
        self._exports.export(wanted, markdown_words())

    def _enable(self, enabled: bool) -> None:
        for widget in (self.act_button, self.form, self.with_files):
            widget.setEnabled(enabled)

    def _on_progress(self, done: int, total: int) -> None:
        self._done = done, total
        self.bar.set_share(done / max(1, total))
        self._retranslate()

    def _on_finished(self, exported: Exported) -> None:
        path = exported.path
        missing = (exported.too_many, exported.unreadable, exported.lost)
        self._end()

        def text() -> BannerText:
            return BannerText(*exported_words(path.name, *missing))

        if any(missing):
            self._banner.show_warning(text, lambda: reveal(path))
        else:
            self._banner.show_info(text, lambda: reveal(path))

    def _on_failed(self, problem: Problem | NotExported) -> None:
        if isinstance(problem, NotExported):
            self._problem = not_exported(problem)
        else:
            words = problem_text(problem)
            self._problem = Notice(words.title, words.sentence, words.hint)
        self._is_writing = False
        self._enable(True)
        self.bar.hide()
        self._retranslate()

    def reject(self) -> None:
        if self._is_writing:
            self._exports.cancel()
        else:
            super().reject()

    def _end(self) -> None:
        self._is_writing = False
        self.accept()
