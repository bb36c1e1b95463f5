"""Pictures as a person uses them: pasted, dropped, looked at, sent, kept, and models that cannot see."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QRect, QSize, Qt, QUrl
from PySide6.QtGui import QDrag, QDragEnterEvent, QDropEvent, QGuiApplication, QImage, QKeySequence, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from app.storage import Attachment, AttachmentKind, Purged
from app.storage.trash import Trash
from app.theme import Theme
from app.view_models.transcript import ReplyStatus
from app.views.files.picture_viewer import PictureViewer
from app.views.shell.composer import UnseenNote
from app.views.transcript.editor_part import EditorPart
from app.views.transcript.status_parts import AttachmentsPart
from app.views.widgets.attachment_chip import AttachmentChip
from app.views.widgets.buttons import PillButton
from app.words.notices import NoticeAction
from engine import (
    CannotSee,
    Catalog,
    InstalledModel,
    ModelSource,
    PictureDetail,
    SightRefusal,
    inspect_model,
    picture_tokens,
)
from tests.helpers.app_harness import AppHarness, open_app
from tests.helpers.fake_engine import DRAFT, MAIN, Script
from tests.helpers.figures import read
from tests.helpers.full_disk import fill_up
from tests.helpers.picture_files import image, rgb_png
from tests.helpers.stillness import still

NO_KEY = Qt.KeyboardModifier.NoModifier
SEES = replace(MAIN, folder="/models/Eyes-4B", name="Eyes-4B", parameters=4_000_000_000, sees=True)
MODELS = {each.folder: each for each in (MAIN, DRAFT, SEES)}
INSTALLED = [InstalledModel(each.folder, each.name, "", ModelSource.OWN, 10, each, None) for each in MODELS.values()]


def profile(folder: Path, qtbot: QtBot, main: str = SEES.folder) -> AbstractContextManager[AppHarness]:
    put = {"main_folder": main, "draft_folder": ""}
    return open_app(folder / "profile", qtbot, models=MODELS, installed=INSTALLED, put_settings=put)


@pytest.fixture
def app(tmp_path: Path, qtbot: QtBot) -> Iterator[AppHarness]:
    with profile(tmp_path, qtbot) as harness:
        yield harness


def buttons(note: UnseenNote) -> list[PillButton]:
    return [note.use_button, note.install_button, note.find_button]


def paste(app: AppHarness, qtbot: QtBot, picture: QImage) -> None:
    """A screenshot from the clipboard."""
    QGuiApplication.clipboard().setImage(picture)
    QTest.keySequence(app.window.composer.edit, QKeySequence(QKeySequence.StandardKey.Paste))
    wait_until_read(app, qtbot)


def wait_until_read(app: AppHarness, qtbot: QtBot) -> None:
    rows = app.window.composer.attached_rows
    qtbot.waitUntil(lambda: all(row.tokens is not None for row in rows()) and not app.application.storage.pending)


def send(app: AppHarness, qtbot: QtBot) -> None:
    count = len(app.chats.transcript.messages)
    app.press_return()
    qtbot.waitUntil(lambda: len(app.chats.transcript.messages) == count + 2)
    app.wait_until_quiet(qtbot)


def opened(chip: AttachmentChip, app: AppHarness, qtbot: QtBot) -> PictureViewer:
    """By the key, with its picture read."""
    QTest.keyClick(chip, Qt.Key.Key_Space)
    (viewer,) = (each for each in app.window.findChildren(PictureViewer) if each.isVisible())
    qtbot.waitUntil(lambda: not viewer.page.image.isNull())
    return viewer


class Dragged(QDrag):
    """Ends at once, with what the system would be given."""

    all: ClassVar[list[tuple[QImage, list[QUrl], QSize, Qt.DropAction]]] = []

    def exec(self, action: Qt.DropAction) -> Qt.DropAction:  # type: ignore[override]
        data = self.mimeData()
        self.all.append((data.imageData(), data.urls(), self.pixmap().size(), action))
        return action


def files(app: AppHarness) -> list[str]:
    return sorted(each.name for each in app.application.storage.pictures.folder.glob("*"))


def test_a_screenshot_is_sent_looked_at_copied_and_removed(
    app: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    paste(app, qtbot, image(40, 20, "#123456"))
    (chip,) = app.chips
    assert (chip.width(), chip.height()) == (64, 64)
    assert chip.accessibleName() == "Picture, 40 × 20"
    shown = chip.grab().toImage().pixelColor(32, 32)
    assert max(abs(shown.red() - 0x12), abs(shown.green() - 0x34), abs(shown.blue() - 0x56)) < 4
    assert not app.window.composer.unseen_note.isVisible()
    send(app, qtbot)
    (picture,) = app.engine.requests[0].messages[-1].pictures
    assert (picture.width, picture.height, picture.rgb) == (40, 20, bytes.fromhex("123456") * 800)
    assert files(app) == [f"{picture.digest}.png"]
    assert (app.chips, app.engine.requests[0].messages[-1].content) == ([], "")
    (part,) = app.transcript.findChildren(AttachmentsPart)
    assert part.accessibleName() == "Picture, 40 × 20"

    paste(app, qtbot, image(40, 20, "#123456"))
    paste(app, qtbot, image(5, 5))
    first, second = app.chips
    assert first.close_button is not None
    assert not first.close_button.isVisible()
    first.setFocus(Qt.FocusReason.TabFocusReason)
    assert first.close_button.isVisible()
    QTest.keyClick(first, Qt.Key.Key_Space)
    (viewer,) = app.window.findChildren(PictureViewer)
    qtbot.waitUntil(lambda: not viewer.page.image.isNull())
    assert (viewer.windowTitle(), read(viewer.facts.text())) == ("Picture", "40 × 20")
    monkeypatch.setattr("app.views.files.picture_viewer.QDrag", Dragged)
    left = Qt.MouseButton.LeftButton
    QTest.mousePress(viewer.page, left, pos=QPoint(100, 100))
    for x in (101, 160, 170):
        at = QPointF(x, 100)
        moved = QMouseEvent(QEvent.Type.MouseMove, at, viewer.page.mapToGlobal(at), left, left, NO_KEY)
        QApplication.sendEvent(viewer.page, moved)
    ((dragged, (url,), size, action),) = Dragged.all
    assert (dragged.size(), dragged.pixelColor(3, 3).name()) == (QSize(40, 20), "#123456")
    assert Path(url.toLocalFile()).name == files(app)[0]
    assert (size, action) == (QSize(128, 64), Qt.DropAction.CopyAction)
    viewer.copy.click()
    assert QGuiApplication.clipboard().image().pixelColor(3, 3).name() == "#123456"
    QTest.keyClick(viewer.focusWidget() or viewer, Qt.Key.Key_Space)  # as it was opened
    assert not viewer.isVisible()
    assert app.chips == [first, second]
    app.window.activateWindow()
    qtbot.waitUntil(app.window.isActiveWindow)
    first.setFocus()
    QTest.keyClick(first, Qt.Key.Key_Delete)
    assert second.hasFocus()
    QTest.keyClick(second, Qt.Key.Key_Delete)
    assert app.chips == []


def test_the_same_bytes_are_kept_once(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    paths = [tmp_path / "red.png", tmp_path / "also red.png", tmp_path / "note.txt"]
    for path in paths[:2]:
        path.write_bytes(rgb_png(3, 2, b"\xff\0\0" * 6))
    paths[2].write_text("words", encoding="utf-8")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    app.window.composer.edit.insertFromMimeData(data)
    wait_until_read(app, qtbot)
    assert [chip.title() for chip in app.chips] == ["red.png", "also red.png", "note.txt"]
    app.window.composer.set_text("What is it?")
    send(app, qtbot)
    message = app.engine.requests[0].messages[-1]
    assert len(message.pictures) == 2
    assert (len(files(app)), message.content.splitlines()[0]) == (1, "Attachment: note.txt")


def test_a_model_that_cannot_see_keeps_the_picture_and_offers_one_that_can(tmp_path: Path, qtbot: QtBot) -> None:
    with profile(tmp_path, qtbot, MAIN.folder) as app:
        composer = app.window.composer
        paste(app, qtbot, image(40, 20))
        composer.set_text("What is it?")
        (chip,) = app.chips
        assert chip.accessibleName() == "Picture, 40 × 20, this model cannot see it"
        assert composer.unseen_note.isVisible()
        assert composer.unseen_note.words.text() == "Main 8B cannot see pictures."
        assert not composer.button.isEnabled()
        QTest.keyClick(composer.edit, Qt.Key.Key_Return)
        assert app.engine.requests == []
        assert composer.unseen_note.use_button.text() == "Use Eyes 4B"
        assert not composer.unseen_note.find_button.isVisible()
        composer.unseen_note.use_button.click()
        qtbot.waitUntil(lambda: not composer.unseen_note.isVisible() and app.is_settled())
        assert chip.accessibleName() == "Picture, 40 × 20"
        send(app, qtbot)
        assert len(app.engine.requests[0].messages[-1].pictures) == 1


def test_a_newcomer_is_offered_what_comes_with_the_app_and_one_that_knows_more(tmp_path: Path, qtbot: QtBot) -> None:
    root = tmp_path / "profile" / "starter"
    infos = [replace(MAIN, folder=str(root / "main")), replace(SEES, folder=str(root / "eyes" / "main"))]
    for info in infos:
        Path(info.folder).mkdir(parents=True)
    models = {each.folder: each for each in infos}
    ours = [InstalledModel(each.folder, each.name, "", ModelSource.STARTER, 1, each, None) for each in infos]
    put = {"main_folder": "starter", "draft_folder": ""}
    with open_app(tmp_path / "profile", qtbot, models=models, installed=ours, put_settings=put) as app:
        note, library = app.window.composer.unseen_note, app.models.library
        eyes = next(each for each in library.catalog.models if each.sees)
        library.catalog = Catalog((replace(eyes, repository="org/More-4B", published_bytes=310_000_000),))
        paste(app, qtbot, image(40, 20))
        assert note.words.text() == "Main 8B cannot see pictures. More 4B can, about 310\N{NO-BREAK SPACE}MB."
        assert [button.isVisible() for button in buttons(note)] == [True, True, False]
        note.use_button.click()
        qtbot.waitUntil(lambda: not note.isVisible() and app.is_settled())
        assert app.application.settings.main_folder == "starter/eyes/main"
        assert app.window.composer.edit.placeholderText() == "Ask about a shape or a digit"
        send(app, qtbot)
        assert not note.isVisible()  # the chat has a picture
        picture_chat = app.chats.chat_id
        app.chats.new_chat()
        qtbot.waitUntil(app.is_settled)
        assert (note.isVisible(), app.application.settings.main_folder) == (False, "starter")

        app.models.use(str(root / "eyes" / "main"))
        qtbot.waitUntil(lambda: note.isVisible() and app.is_settled())
        assert note.words.text() == "Eyes 4B only answers about pictures."
        assert app.window.composer.edit.placeholderText() == "Ask about a shape or a digit"
        assert [button.isVisible() for button in buttons(note)] == [True, False, False]
        note.use_button.click()
        qtbot.waitUntil(lambda: not note.isVisible() and app.is_settled())
        assert app.application.settings.main_folder == "starter"

        app.chats.open_chat(picture_chat)
        app.models.use(str(root / "eyes" / "main"))
        qtbot.waitUntil(app.is_settled)
        app.window.menu.quick_ask.trigger()
        quick_ask = app.window.tools.desktop.quick_ask
        assert quick_ask.edit.placeholderText() == "Ask about Hunch"
        QTest.keyClicks(quick_ask.edit, "What is a draft?")
        QTest.keyClick(quick_ask.edit, Qt.Key.Key_Return)
        app.wait_until_quiet(qtbot)
        qtbot.waitUntil(app.is_settled)
        assert app.application.settings.main_folder == "starter"
        assert app.engine.requests[-1].messages[-1].content == "What is a draft?"

        assert app.chats.chat_id == picture_chat
        app.window.composer.take_focus()
        assert [button.isVisible() for button in buttons(note)] == [True, True, False]
        note.use_button.click()
        qtbot.waitUntil(lambda: not note.isVisible() and app.is_settled())
        assert app.application.settings.main_folder == "starter/eyes/main"


def test_where_no_installed_model_sees_one_of_the_catalog_is_installed_in_place(tmp_path: Path, qtbot: QtBot) -> None:
    put, two = {"main_folder": MAIN.folder, "draft_folder": ""}, INSTALLED[:2]
    with open_app(tmp_path / "profile", qtbot, models=MODELS, installed=two, put_settings=put) as app:
        note, library = app.window.composer.unseen_note, app.models.library
        eyes = next(each for each in library.catalog.models if each.sees)
        small = replace(eyes, repository="org/Eyes-4B", published_bytes=310_000_000)  # fits any machine
        library.catalog = Catalog((replace(small, repository="org/Blind-4B", sees=False),))
        paste(app, qtbot, image(40, 20))
        library.changed.emit()
        assert [button.isVisible() for button in buttons(note)] == [False, False, True]
        library.catalog = Catalog((small,))
        library.changed.emit()
        assert note.words.text() == "Main 8B cannot see pictures. Eyes 4B can, about 310\N{NO-BREAK SPACE}MB."
        assert [button.isVisible() for button in buttons(note)] == [False, True, True]
        assert (note.install_button.text(), note.install_button.accessibleName()) == ("Install", "Install Eyes 4B")
        note.install_button.click()
        assert app.store.asked == ["org/Eyes-4B"]
        assert (note.install_button.text(), note.install_button.isEnabled()) == ("Downloading", False)
        note.find_button.click()
        assert app.window.models_view.is_shown


def test_a_chat_with_pictures_goes_on_without_them_where_that_is_wanted(tmp_path: Path, qtbot: QtBot) -> None:
    with profile(tmp_path, qtbot) as app:
        paste(app, qtbot, image(40, 20))
        send(app, qtbot)
        app.models.choose_main(MAIN.folder)
        qtbot.waitUntil(lambda: app.models.pair.main_folder == MAIN.folder and app.is_settled())
        note = app.window.composer.unseen_note
        assert note.isVisible()
        app.engine.scripts.append(Script((), error=CannotSee(MAIN.folder, SightRefusal.TEXT_ONLY)))
        app.ask(qtbot, "And now?")
        assert len(app.engine.requests[-1].messages[0].pictures) == 1
        assert note.isVisible()
        failed = app.chats.transcript.messages[-1]
        assert failed.status is ReplyStatus.FAILED
        app.transcript.context.notice_action_requested.emit(failed.id, NoticeAction.WITHOUT_PICTURES)
        qtbot.waitUntil(lambda: len(app.engine.requests) == 3)
        app.wait_until_quiet(qtbot)
        assert not note.isVisible()
        (first, *_rest) = app.engine.requests[-1].messages
        assert (first.pictures, first.content) == ((), "Picture that is not shown: without a name")
        app.models.choose_main(SEES.folder)
        qtbot.waitUntil(lambda: app.models.pair.main_folder == SEES.folder and app.is_settled())
        app.ask(qtbot, "And you?")
        assert len(app.engine.requests[-1].messages[0].pictures) == 1  # this one sees


def test_pictures_go_with_the_last_chat_that_has_them(tmp_path: Path, qtbot: QtBot) -> None:
    with profile(tmp_path, qtbot) as app:
        paste(app, qtbot, image(40, 20))
        send(app, qtbot)
        question = app.chats.transcript.messages[0]
        app.chats.edits.begin(question.id)
        app.chats.edits.type(question.id, "Which colour?")
        app.chats.edits.save(question.id)
        app.wait_until_quiet(qtbot)
        app.chats.asking.regenerate(app.chats.transcript.messages[1].id)
        qtbot.waitUntil(lambda: len(app.engine.requests) == 2)
        app.wait_until_quiet(qtbot)
        assert len(app.engine.requests[-1].messages[-1].pictures) == 1
        app.chats.duplicate(1)
        app.wait_until_quiet(qtbot)
        copy = app.chats.chat_id
        app.chats.new_chat()
        left = []
        for chat_id in (1, copy):
            app.application.storage.forget(partial(_forgotten, chat_id), lambda _: None, lambda _: None)
            app.wait_until_quiet(qtbot)
            left.append(len(files(app)))
        assert left == [1, 0]


def _forgotten(chat_id: int, trash: Trash) -> Purged:
    trash.put_chats([chat_id])
    return trash.empty()


def test_what_waits_keeps_its_picture_over_a_restart_and_what_was_removed_goes(tmp_path: Path, qtbot: QtBot) -> None:
    with profile(tmp_path, qtbot) as app:
        paste(app, qtbot, image(40, 20))
        paste(app, qtbot, image(41, 21))
        app.chips[1].remove_requested.emit()
        wait_until_read(app, qtbot)
        assert len(files(app)) == 2
    with profile(tmp_path, qtbot) as app:
        app.wait_until_stored(qtbot)
        assert [chip.accessibleName() for chip in app.chips] == ["Picture, 40 × 20"]
        assert len(files(app)) == 1
        still()


def test_a_picture_that_is_gone_from_the_disk_costs_nothing_else(app: AppHarness, qtbot: QtBot) -> None:
    paste(app, qtbot, image(40, 20))
    (file,) = app.application.storage.pictures.folder.glob("*.png")
    file.write_bytes(b"something else")
    app.window.composer.set_text("What is it?")
    send(app, qtbot)
    message = app.engine.requests[0].messages[-1]
    assert (message.pictures, message.content.splitlines()[0]) == ((), "Picture that is not shown: without a name")
    assert app.chats.transcript.messages[0].attachments[0].kind is AttachmentKind.PICTURE


def test_what_is_read_stays_though_the_same_picture_is_removed_meanwhile(app: AppHarness, qtbot: QtBot) -> None:
    paste(app, qtbot, image(40, 20, "#123456"))
    storage, composer = app.application.storage, app.window.composer
    (row,) = composer.attached_rows()
    assert row.attachment is not None
    data = storage.pictures.get(row.attachment.digest)
    assert data is not None
    storage.pictures.put(data)  # by the thread that reads another one, whose row does not know it yet
    app.application.file_controllers.attachments.add_text("words")  # any change has what is in hand noted
    composer.attached.remove_requested.emit(row.number)
    storage.write(lambda stores: storage.pictures.sweep(stores.database), lambda _: None, lambda _: None)
    qtbot.waitUntil(lambda: not storage.pending)
    assert files(app) == [f"{row.attachment.digest}.png"]


EYES = Path(__file__).parents[2] / "resources" / "starter" / "eyes" / "main"


def test_tokens_of_pictures_are_in_the_tooltip_and_the_meter(tmp_path: Path, qtbot: QtBot) -> None:
    real = inspect_model(EYES)
    models = {**MODELS, real.folder: real}
    installed = [*INSTALLED, InstalledModel(real.folder, real.name, "", ModelSource.OWN, 10, real, None)]
    put = {"main_folder": real.folder, "draft_folder": ""}
    with open_app(tmp_path / "profile", qtbot, models=models, installed=installed, put_settings=put) as app:
        before = app.used_tokens
        for side in (40, 300):
            paste(app, qtbot, image(side, 20))
        tokens = [picture_tokens(str(EYES), side, 20, PictureDetail.NORMAL) for side in (40, 300)]
        assert tokens == [16, 16]
        words = [f"Picture, {side} × 20 · {each} tokens" for side, each in zip((40, 300), tokens, strict=True)]
        assert [read(chip.accessibleName()) for chip in app.chips] == words
        assert [read(chip.toolTip()) for chip in app.chips] == words
        assert app.used_tokens == before + sum(tokens)


def test_a_picture_comes_by_paperclip_and_by_drag(app: AppHarness, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "red.png").write_bytes(rgb_png(3, 2, b"\xff\0\0" * 6))
    app.window.composer.attach_button.click()
    (dialog,) = app.window.findChildren(QFileDialog)
    dialog.filesSelected.emit([str(tmp_path / "red.png")])
    dialog.reject()
    data, copy = QMimeData(), Qt.DropAction.CopyAction
    data.setImageData(image(5, 4, "#123456"))
    left = Qt.MouseButton.LeftButton
    enter = QDragEnterEvent(QPoint(40, 300), copy, data, left, NO_KEY)
    QApplication.sendEvent(app.window, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(app.window, QDropEvent(QPointF(40, 300), copy, data, left, NO_KEY))
    wait_until_read(app, qtbot)
    assert [chip.accessibleName() for chip in app.chips] == ["red.png, 3 × 2", "Picture, 5 × 4"]
    app.window.composer.set_text("What are they?")
    send(app, qtbot)
    (part,) = app.transcript.findChildren(AttachmentsPart)
    part.chips[1].setFocus(Qt.FocusReason.TabFocusReason)
    for key, removes in ((Qt.Key.Key_Escape, False), (None, True)):
        viewer = opened(part.chips[1], app, qtbot)
        if key is None:
            viewer.remove.click()
        else:
            QTest.keyClick(viewer.page, key)
        assert not viewer.isVisible()
        app.wait_until_quiet(qtbot)
        message = app.chats.transcript.messages[0]
        assert [each.name for each in message.attachments] == (["red.png"] if removes else ["red.png", ""])
    app.chats.asking.regenerate(app.chats.transcript.messages[1].id)
    qtbot.waitUntil(lambda: len(app.engine.requests) == 2)
    app.wait_until_quiet(qtbot)
    assert [(each.width, each.height) for each in app.engine.requests[-1].messages[-1].pictures] == [(3, 2)]


def test_a_picture_is_pasted_into_a_message_that_is_edited(app: AppHarness, qtbot: QtBot) -> None:
    app.ask(qtbot, "What is it?")
    app.chats.edits.begin(app.chats.transcript.messages[0].id)
    (part,) = app.transcript.findChildren(EditorPart)
    data = QMimeData()
    data.setImageData(image(5, 4, "#123456"))
    part.field.insertFromMimeData(data)
    qtbot.waitUntil(lambda: len(part.attached.chips) == 1 and not part.attached.is_reading)
    part.save.click()
    app.wait_until_quiet(qtbot)
    (picture,) = app.engine.requests[-1].messages[-1].pictures
    assert (picture.width, picture.height, picture.rgb[:3]) == (5, 4, bytes.fromhex("123456"))


def test_a_picture_in_the_trash_stays_over_a_restart_and_comes_back_with_its_chat(tmp_path: Path, qtbot: QtBot) -> None:
    with profile(tmp_path, qtbot) as app:
        paste(app, qtbot, image(40, 20))
        send(app, qtbot)
        app.chats.delete_chats([app.chats.chat_id])
        app.wait_until_stored(qtbot)
    with profile(tmp_path, qtbot) as app:
        app.wait_until_stored(qtbot)
        assert len(files(app)) == 1
        app.application.storage.write(lambda stores: stores.trash.restore_chat(1), lambda _: None, lambda _: None)
        app.wait_until_stored(qtbot)
        app.chats.open_chat(1)
        app.ask(qtbot, "And now?")
        assert len(app.engine.requests[-1].messages[0].pictures) == 1


def test_a_picture_that_the_database_does_not_take_is_there_at_the_next_start(tmp_path: Path, qtbot: QtBot) -> None:
    with profile(tmp_path, qtbot) as app:
        app.application.storage.write(fill_up, lambda _: None, lambda _: None)
        app.wait_until_stored(qtbot)
        paste(app, qtbot, image(40, 20))
        app.window.composer.edit.long_text_given.emit("x" * 100_000)  # they wait in one row
        (file,) = files(app)
    assert file.removesuffix(".png") in (app.paths.data / "left.json").read_text("utf-8")
    with profile(tmp_path, qtbot) as app:
        app.wait_until_stored(qtbot)
        assert [chip.accessibleName() for chip in app.chips][:1] == ["Picture, 40 × 20"]
        assert len(files(app)) == 1


def test_a_large_picture_fits_the_screen_that_the_window_is_on(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    larger = SimpleNamespace(availableGeometry=lambda: QRect(0, 0, 9000, 9000), logicalDotsPerInchY=lambda: 72.0)
    monkeypatch.setattr(QGuiApplication, "primaryScreen", lambda: larger)
    window = QWidget()
    qtbot.addWidget(window)
    picture = Attachment("a.png", AttachmentKind.PICTURE, "", 10, width=6000, height=6000)
    viewer = PictureViewer(Theme(), picture, window, can_remove=False)
    room = window.screen().availableSize()
    assert viewer.width() <= room.width()
    assert viewer.height() <= room.height()


def test_a_picture_of_a_web_page_is_a_picture_though_its_address_comes_along(app: AppHarness, qtbot: QtBot) -> None:
    """As Safari copies and drags one."""
    data = QMimeData()
    address = "https://example.org/duck.png"
    data.setImageData(image(5, 4, "#123456"))
    data.setUrls([QUrl(address)])
    data.setText(address)
    app.window.composer.edit.insertFromMimeData(data)
    data.setImageData(image(6, 4, "#123456"))
    drag = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, NO_KEY)
    QApplication.sendEvent(app.window, QDragEnterEvent(QPoint(40, 300), *drag))
    QApplication.sendEvent(app.window, QDropEvent(QPointF(40, 300), *drag))
    wait_until_read(app, qtbot)
    assert app.window.composer.text() == ""
    assert [chip.accessibleName() for chip in app.chips] == ["Picture, 5 × 4", "Picture, 6 × 4"]
