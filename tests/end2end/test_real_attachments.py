"""Attachments with the real engine and a tiny real pair, as a process: a PDF is read, counted, sent, exported."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from app.system.limited_child import CHILDREN, ChildLimits, Stop, lines_of
from tests.end2end.process import finished
from tests.helpers.pdf_files import pdf_bytes
from tests.helpers.tiny_models import make_pair

_ATTACH = """
import json, sys
from pathlib import Path
from PySide6.QtCore import QMimeData, QUrl
from app.application import Application
from app.system.qt_application import qt_application
from app.controllers.exports import ExportFormat
from app.system.paths import Paths
qt = qt_application()
application = Application(Paths.for_user(Path(sys.argv[2])), starter=Path(sys.argv[1]))
told = {}
def attach():
    model = application.window.attachments.model
    model.changed.connect(lambda: model.rows and model.rows[0].tokens is not None and send(model.rows[0]))
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(sys.argv[3])])
    application.window.composer.edit.insertFromMimeData(data)
def send(row):
    if not told:
        told["tokens"] = row.tokens
        application.chats.generating_changed.connect(lambda on: on or end())
        application.window.composer.send("Sum it up")
def end():
    asked, reply = application.chats.transcript.messages
    told.update(name=asked.attachments[0].name, text=asked.attachments[0].text, prompt=reply.stats.prompt_tokens)
    dialog = application.window.files.export(application.chats.chat_id, "x")
    dialog.form.set_value(ExportFormat.JSON)
    dialog.export_to(sys.argv[4])
    application.file_controllers.exports.finished.connect(lambda _done: leave())
def leave():
    print(json.dumps(told), flush=True)
    application.window.close_at_once()
application.opened.connect(attach)
application.ended.connect(qt.quit)
application.show()
sys.exit(qt.exec())
"""


@pytest.mark.slow
def test_a_pdf_is_read_counted_sent_and_exported(tmp_path: Path) -> None:
    starter, pdf, out = tmp_path / "starter", tmp_path / "report.pdf", tmp_path / "chat.json"
    starter.mkdir()
    make_pair(starter, max_position_embeddings=512)
    pdf.write_bytes(pdf_bytes(["Ducks can swim and fly", "They eat grass"]))
    done = finished(_ATTACH, starter, tmp_path / "profile", pdf, out)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["name"], told["text"]) == ("report.pdf", "Ducks can swim and fly\n\nThey eat grass")
    assert 5 < told["tokens"] < told["prompt"]
    (chat,) = json.loads(out.read_text(encoding="utf-8"))["chats"]
    assert chat["messages"][0]["attachments"][0]["tokens"] == told["tokens"]
    assert chat["messages"][1]["stats"]["prompt_tokens"] == told["prompt"]


def test_an_app_that_is_its_own_interpreter_reads_files_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "Hunch"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m app "$@"\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    (tmp_path / "a.pdf").write_bytes(pdf_bytes(["One page"]))
    limits = ChildLimits(60, 2 << 30, 1 << 20)
    read = list(lines_of("--read-pdf", [str(tmp_path / "a.pdf"), "100"], limits, Stop()))
    assert [json.loads(line)["text"] for line in read] == ["One page"]


def test_the_command_line_knows_every_child() -> None:
    import app.__main__

    assert tuple(CHILDREN) == app.__main__._CHILDREN
