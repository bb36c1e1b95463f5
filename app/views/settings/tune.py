"""Settings → Advanced: measuring which way to draft is fastest for the loaded pair, on this machine."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from app.controllers.tuning import TuningController
from app.portable.problems import NotExported, why_not_written
from app.theme import Theme
from app.view_models.tuning import TuningState
from app.views.settings.tune_chart import TuneChart
from app.views.settings.tune_words import tuning_sentence
from app.views.widgets.buttons import Emphasis, PillButton
from app.views.widgets.cards import Card, Row
from app.views.widgets.labels import TextLabel, TextStyle
from app.views.widgets.progress_line import ProgressLine
from app.views.widgets.translated import Translated
from app.words.formats import sentences
from app.words.portable import not_exported


class TuneCard(Translated, Card):
    def __init__(self, theme: Theme, tuning: TuningController) -> None:
        super().__init__(theme)
        self._tuning = tuning
        self.sentence = TextLabel(theme, TextStyle.SECONDARY)
        self.bar = ProgressLine(theme)
        self.chart = TuneChart(theme)
        self.go_button = PillButton(theme, Emphasis.PLAIN, "gauge")
        self.row = Row(theme, self.go_button)
        self.export_button = PillButton(theme, Emphasis.PLAIN, "download")
        self._arrange()
        self.go_button.clicked.connect(self._on_go)
        self.export_button.clicked.connect(self._export)
        tuning.changed.connect(self._show)
        self._retranslate()

    def _arrange(self) -> None:
        for widget in (self.row, self.sentence, self.bar, self.chart):
            self.column.addWidget(widget)
        self.column.addWidget(self.export_button, 0, Qt.AlignmentFlag.AlignLeft)

    def _show(self) -> None:
        view = self._tuning.view
        under_way = view.state in (TuningState.RUNNING, TuningState.WAITING)
        self.sentence.setText(tuning_sentence(view) or ("" if view.can_start else self.tr("Load a pair first.")))
        self.sentence.setVisible(bool(self.sentence.text()))
        self.bar.setVisible(under_way)
        self.bar.set_share(view.done_steps / view.steps if view.steps else 0.0, view.state is TuningState.RUNNING)
        self.bar.setAccessibleName(self.sentence.text())
        self.chart.setVisible(bool(view.readings))
        self.chart.set_view(view)
        self.go_button.setText(self._go_text(under_way, done=view.state is TuningState.DONE))
        self.go_button.setEnabled(under_way or view.can_start)
        self.export_button.setVisible(view.state is TuningState.DONE)

    def _go_text(self, under_way: bool, *, done: bool) -> str:
        if under_way:
            return self.tr("Stop measuring")
        return self.tr("Measure again") if done else self.tr("Measure")

    def _on_go(self) -> None:
        under_way = self._tuning.view.state in (TuningState.RUNNING, TuningState.WAITING)
        (self._tuning.cancel if under_way else self._tuning.start)()

    def _export(self) -> None:
        dialog = QFileDialog(self, self.tr("Export measurements"), "hunch-pair.json", "JSON (*.json)")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.export_to)
        dialog.open()

    def export_to(self, file: str) -> None:
        def refused(error: Exception) -> None:
            if not isinstance(error, OSError):
                raise error  # our own mistake, told as any other
            notice = not_exported(NotExported(why_not_written(error), str(Path(file).parent)))
            self.sentence.setText(sentences(notice.sentence, notice.hint))

        self._tuning.export(Path(file), refused)

    def _retranslate(self) -> None:
        self.row.set_words(
            self.tr("Tune this pair"),
            self.tr("Teaches Auto in a few minutes."),
        )
        self.export_button.setText(self.tr("Export…"))
        self._show()
