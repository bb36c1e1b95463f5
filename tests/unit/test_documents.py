"""Files as attachments: text in many encodings, PDF by a process of its own, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from app.documents import pages
from app.documents.encodings import decoded
from app.documents.pictures import MOST_BYTES
from app.documents.problems import Refused, WhyNot
from app.documents.reading import MOST_FILE_BYTES, name_of, read_file
from app.storage import Attachment, AttachmentKind
from app.storage.codec import as_title
from app.storage.parts import attachments_from_json, parts_to_json
from app.system.limited_child import ChildLimits, ChildStopped, Stop
from app.system.small_file import read_small
from tests.helpers.pdf_files import pdf_bytes, with_password
from tests.helpers.picture_files import rgb_png

KOREAN = "안녕하세요. 초안 모델이 다음 낱말을 미리 추측하고 메인 모델이 확인해요.\n"
JAPANESE = "こんにちは。ドラフトモデルが先に予測し、メインモデルが確認します。\n"
CHINESE = "你好。草稿模型先猜下一个词，主模型再来检查，这样你就能更快地读到回复。\n"
FRENCH = "L'été, le garçon mange une crème brûlée à la fenêtre.\n"


def read(path: Path) -> Attachment:
    return read_file(path, Stop(), lambda _share: None, lambda _picture: "")


def refusal(path: Path) -> WhyNot:
    with pytest.raises(Refused) as refused:
        read(path)
    return refused.value.why


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        *((text, "utf-8") for text in (KOREAN, JAPANESE, CHINESE, FRENCH, "plain\n")),
        *((text, encoding) for text in (KOREAN, JAPANESE) for encoding in ("utf-16", "utf-8-sig", "utf-32")),
        *((KOREAN, encoding) for encoding in ("euc-kr", "cp949")),
        *((JAPANESE, encoding) for encoding in ("shift-jis", "cp932")),
        *((CHINESE, encoding) for encoding in ("gb2312", "gb18030")),
        (FRENCH, "cp1252"),
        ("def f():\n    # " + KOREAN + "    return 1\n" * 50, "cp949"),
        ("// " + JAPANESE + "int main() { return 0; }\n" * 50, "cp932"),
        ("# " + CHINESE + "print(1)\n" * 50, "gb18030"),
        # A line of which some letters look like letters of UTF-8 with faults.
        *((text, "cp1252") for text in ("LE «CAFÉ»\n", "»MENÜ«, »TÜR« auf der Karte", "CAFÉ… CAFÉ")),
        *((text, "cp949") for text in ("안녕하세요", "철수는 차를", "캐시와 채팅")),
        *((text, "gb18030") for text in ("联通，你好", "的一是不了")),
        *((text, "cp932") for text in ("テスト", "はい、そうです")),
        (JAPANESE, "euc-jp"),
        ("你好。這個模型先猜下一個詞，主要的模型再來檢查，所以你會更快讀到回覆。\n", "big5"),
        ("품목,규격,단가,금액\n볼펜,흑색,500,1500\n", "cp949"),
        ("2026-12-01 ok\n" * 40_000 + KOREAN, "cp949"),
    ],
)
def test_texts_of_four_languages_are_read_in_their_encodings(text: str, encoding: str) -> None:
    assert decoded(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("Иван;Омск;Петров;дата;город;Россия\n", "cp866"), ("нет;Анна;страна;да;Привет;сумма\n", "iso8859_5")],
)
def test_words_in_an_encoding_that_is_not_known_here_are_not_read_as_chinese(text: str, encoding: str) -> None:
    assert decoded(text.encode(encoding)) is None


def test_names_in_shift_jis_are_not_read_as_korean() -> None:
    assert decoded("商品名,数量,単価,金額\n".encode("cp932")) is None


def test_a_letter_at_the_edge_of_a_step_is_not_lost() -> None:
    for encoding in ("utf-8", "cp949"):
        text = "x" + KOREAN * 30_000
        assert decoded(text.encode(encoding)) == text


@pytest.mark.parametrize(
    "text", [KOREAN, JAPANESE, CHINESE, "Größe, Türen, schön: natürlich.\n", "café — ok, 5 €\n" * 2]
)
@pytest.mark.parametrize("mark", ["utf-8", "utf-8-sig"])
def test_a_byte_that_is_wrong_costs_no_other_letter(text: str, mark: str) -> None:
    """Wherever it stands between two letters."""
    for at in range(len(text) + 1):
        before, after = text[:at], text[at:]
        assert decoded(before.encode(mark) + b"\xff" + after.encode()) == before + "\ufffd" + after


@pytest.mark.parametrize(("text", "encoding"), [(KOREAN, "cp949"), (JAPANESE, "cp932"), (CHINESE, "gb18030")])
def test_a_byte_that_is_wrong_costs_little_of_a_text_in_an_older_encoding(text: str, encoding: str) -> None:
    """As in a log that several programs write to."""
    assert decoded(text.encode(encoding) + b"\x81\n" + text.encode(encoding)) == f"{text}\ufffd\n{text}"
    assert (decoded((text * 4).encode(encoding)[1:]) or "").endswith(text), "it begins within a letter"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        *((text, encoding) for text in (KOREAN, JAPANESE, CHINESE) for encoding in ("utf-8", "utf-8-sig", "utf-16")),
        *((KOREAN, "cp949"), (JAPANESE, "cp932"), (CHINESE, "gb18030"), (FRENCH, "utf-8"), (FRENCH, "cp1252")),
        *((("plain words " * 9 + text)[:-1], "utf-8") for text in (KOREAN, JAPANESE, CHINESE)),
    ],
)
def test_a_file_that_is_cut_anywhere_is_read_to_there(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    for end in range(len(data) * 2 // 3, len(data)):
        found = decoded(data[:end]) or "none"
        assert text.startswith(found.removesuffix("\ufffd")), end
        assert len(text) - len(found) < len(data) - end + 1


def test_noise_is_no_utf_8_with_faults() -> None:
    for data in (b"\xff" * 4000, bytes(range(256)) * 9, os.urandom(4000), b"\xef\xbb\xbf" + os.urandom(4000)):
        assert decoded(data) is None


@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn")), max_size=200))
def test_whatever_is_utf_8_is_read_as_that(text: str) -> None:
    assert decoded(text.encode()) == text.replace("\r\n", "\n").replace("\r", "\n")


@given(st.binary(max_size=400))
def test_no_bytes_make_it_fail(data: bytes) -> None:
    text = decoded(data)
    if text is not None:
        text.encode()


@pytest.mark.parametrize("encoding", ["utf-16", "cp949", "utf-8"])
def test_the_end_of_a_log_is_read_in_its_encoding(tmp_path: Path, encoding: str) -> None:
    path = write(tmp_path, "a.log", ("ok\n" + KOREAN * 20_000).encode(encoding))
    end = read_file(path, Stop(), lambda _share: None, lambda _picture: "", only_end=True)
    assert (end.text[:4], end.text.endswith("\n" + KOREAN)) == ("[…]\n", True)


def test_a_text_is_an_attachment_with_its_name_and_size(tmp_path: Path) -> None:
    path = write(tmp_path, "보고서.md", KOREAN.encode("cp949"))
    assert read(path) == Attachment("보고서.md", AttachmentKind.TEXT, KOREAN, path.stat().st_size)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"II*\0" + bytes(64), WhyNot.IMAGE),
        (b"PK\3\4" + bytes(range(256)) * 4, WhyNot.BINARY),
        (bytes(2000), WhyNot.BINARY),
        (os.urandom(5000), WhyNot.BINARY),
        (b"", WhyNot.EMPTY),
        (b" \n\n\t ", WhyNot.EMPTY),
        (b"line\n" * 1_000_000, WhyNot.TOO_LONG),
        (b"%PDF-1.7\nnothing of it is true\n%%EOF", WhyNot.DAMAGED),
    ],
)
def test_what_is_no_text_says_why(tmp_path: Path, data: bytes, why: WhyNot) -> None:
    assert refusal(write(tmp_path, "file.txt", data)) is why


def test_folders_pipes_and_what_is_not_there_say_why(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path) is WhyNot.FOLDER
    assert refusal(tmp_path / "pipe") is WhyNot.UNREADABLE
    assert refusal(tmp_path / "gone") is WhyNot.GONE
    assert refusal(tmp_path / "no\0name") is WhyNot.UNREADABLE


def test_a_file_that_became_a_pipe_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Just after it was looked at. Opening one waits for its writer: here there is none."""
    found = write(tmp_path, "file.txt", b"words").stat()
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(Path, "stat", lambda _path, **_: found)
    refusals: list[WhyNot] = []
    reading = threading.Thread(target=lambda: refusals.append(refusal(tmp_path / "pipe")), daemon=True)
    reading.start()
    reading.join(60)
    assert refusals == [WhyNot.UNREADABLE]
    with pytest.raises(ValueError, match="no plain file"):
        read_small(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("head", "most", "why"),
    [(b"", MOST_FILE_BYTES, WhyNot.TOO_LARGE), (rgb_png(3, 2, bytes(18)), MOST_BYTES, WhyNot.PICTURE_FILE_TOO_LARGE)],
)
def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, head: bytes, most: int, why: WhyNot) -> None:
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.write(head)
        file.truncate(most + 1)
    assert refusal(path) is why


def test_the_text_of_a_pdf_is_read_page_by_page(tmp_path: Path) -> None:
    shares: list[float] = []
    path = write(tmp_path, "two.pdf", pdf_bytes(["The first page", "The second page"]))
    attachment = read_file(path, Stop(), shares.append, lambda _picture: "")
    assert (attachment.kind, attachment.text) == (AttachmentKind.PDF, "The first page\n\nThe second page")
    assert shares == [0.5, 1.0]


def test_tabs_between_the_words_of_a_pdf_are_spaces(tmp_path: Path) -> None:
    """Some programs write a tab where a space belongs."""
    path = write(tmp_path, "tabs.pdf", pdf_bytes(["Speculative\tdecoding \t\tpaper."]))
    assert read(path).text == "Speculative decoding paper."


def test_a_pdf_with_a_password_or_without_text_says_so(tmp_path: Path) -> None:
    data = pdf_bytes(["secret"])
    assert refusal(write(tmp_path, "locked.pdf", with_password(data, "pass"))) is WhyNot.ENCRYPTED
    assert read(write(tmp_path, "open.pdf", with_password(data, ""))).text == "secret"
    assert refusal(write(tmp_path, "scan.pdf", pdf_bytes([""]))) is WhyNot.SCANNED


def test_a_page_that_cannot_be_read_costs_no_other(tmp_path: Path) -> None:
    data = pdf_bytes(["The first page", "The second page"])
    before, name, after = data.rpartition(b"/FlateDecode")
    path = write(tmp_path, "odd.pdf", before + b"/FlateDecodX" + after)
    assert read(path).text == "The first page\n\n[This page cannot be read.]"
    assert refusal(write(tmp_path, "all.pdf", data.replace(name, b"/FlateDecodX"))) is WhyNot.DAMAGED


@pytest.mark.slow
def test_a_pdf_that_takes_too_much_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Megabytes of drawing in a few kilobytes. The child reads its limits from its own copy of the module."""
    bomb = pdf_bytes([""], stream=b"BT " + b"(x) Tj " * 5_000_000 + b"ET")
    path = write(tmp_path, "bomb.pdf", bomb)
    assert path.stat().st_size < 300_000
    assert refusal(path) in (WhyNot.TOO_COMPLEX, WhyNot.DAMAGED, WhyNot.TOO_LONG)
    monkeypatch.setattr(pages, "LIMITS", ChildLimits(cpu_s=1, memory_bytes=1, output_bytes=20))
    assert refusal(write(tmp_path, "two.pdf", pdf_bytes(["The first page"]))) is WhyNot.TOO_COMPLEX


def test_a_pdf_that_bursts_is_too_complex_and_not_damaged(tmp_path: Path) -> None:
    """Its library gives up at 75 MB of one stream."""
    assert refusal(write(tmp_path, "bomb.pdf", pdf_bytes([""], stream=b" " * 80_000_000))) is WhyNot.TOO_COMPLEX


def test_the_command_line_of_a_child_names_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[list[str]] = []
    popen = subprocess.Popen

    def noted(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        begun.append(command)
        return popen(command, **options)

    monkeypatch.setattr(subprocess, "Popen", noted)
    assert read(write(tmp_path, "secret\udcff 가.pdf", pdf_bytes(["Words"]))).text == "Words"
    read(write(tmp_path, "secret.png", rgb_png(3, 2, bytes(18))))
    assert (len(begun), "secret" in str(begun)) == (2, False)


def test_reading_a_pdf_can_be_stopped(tmp_path: Path) -> None:
    path = write(tmp_path, "many.pdf", pdf_bytes([f"Page {number}" for number in range(300)]))
    stop = Stop()
    with pytest.raises(ChildStopped):
        read_file(path, stop, lambda _share: stop.ask(), lambda _picture: "")


def check_damaged(folder: Path, at: int, noise: bytes) -> None:
    data = pdf_bytes(["The first page"])
    try:
        assert read(write(folder, "x.pdf", data[:at] + noise + data[at + len(noise) :])).text
    except Refused:
        return


@pytest.mark.drill
@hypothesis_settings(max_examples=60)
@given(st.integers(0, 800), st.binary(min_size=1, max_size=40))
def test_many_damaged_pdfs_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, at: int, noise: bytes) -> None:
    check_damaged(tmp_path_factory.mktemp("pdf"), at, noise)


@pytest.mark.parametrize("digest", ["", "../../secret", "A" * 64, "0" * 63, "0" * 64 + ".png", 5])
def test_a_picture_that_names_no_file_of_ours_is_only_a_note(digest: object) -> None:
    stored = json.dumps([{"name": "a.png", "kind": "picture", "digest": digest, "width": 3, "height": 2}])
    assert attachments_from_json(stored) == (Attachment("a.png", AttachmentKind.NOTE, "", 0),)


def test_a_large_file_of_nothing_is_refused_at_once(tmp_path: Path) -> None:
    """By what its first part shows: to count it all took seconds, in which no other thread could work."""
    (tmp_path / "a").write_bytes(bytes(15_000_000))
    began = time.thread_time()
    assert refusal(tmp_path / "a") is WhyNot.BINARY
    assert time.thread_time() - began < 1.0  # a tenth of it on a quiet machine


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("half \ud800", "half ?"),
        ("invoice\u202efdp.exe", "invoice fdp.exe"),
        ("two\nlines\tand more", "two lines and more"),
        ("invoice.pdf\x9c.exe", "invoice.pdf .exe"),  # Qt shows nothing of what follows this sign
        ("\u3164", "…"),
    ],
)
def test_any_name_can_be_shown(name: str, shown: str) -> None:
    """On one line, in its own order, and all of it; also a name that an imported chat or another version brought."""
    assert name_of(Path("/tmp", name)) == shown
    stored = parts_to_json([Attachment(name.replace("\ud800", "?"), AttachmentKind.TEXT, "", 0)])
    assert [as_title(each.name) for each in attachments_from_json(stored)] == [shown]
