"""The documents of a project: read with limits, cut into passages, found, changed, and taken out without a trace."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.documents import indexing as of_indexing
from app.documents.indexing import Indexing, files_within
from app.documents.reading import MOST_FILE_BYTES
from app.storage import project_files
from app.storage.passages import cut_up, for_index
from app.storage.project_files import FileState, ProjectFile, ProjectFiles, copy_database, open_files, reading
from app.system.limited_child import ChildLimits
from app.tools.citing import source_of
from tests.helpers.documents import archive_bytes, read_all, word_bytes
from tests.helpers.pdf_files import pdf_bytes, with_password


@pytest.fixture
def files(tmp_path: Path) -> Iterator[ProjectFiles]:
    opened = open_files(tmp_path / "projects" / "1.db")
    yield opened
    opened.close()


def one(files: ProjectFiles, path: Path) -> ProjectFile:
    """The file, as it was read."""
    added = files.add([path])
    read_all(files)
    found = files.get(added.ids[0])
    assert found is not None
    return found


def write(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# Passages


@given(st.text(st.sampled_from("ab .\n#。가の")))
def test_passages_cover_every_word_of_a_text(text: str) -> None:
    whole = list(cut_up(text * 50))
    covered = {place for each in whole for place in range(each.start, each.end)}
    assert all(place in covered or letter.isspace() for place, letter in enumerate(text * 50))
    assert all(before.start < after.start < before.end + 1 for before, after in pairwise(whole))


def test_a_passage_ends_with_a_sentence_and_repeats_it_in_the_next() -> None:
    text = " ".join(f"Sentence number {number} says that much." for number in range(100))
    cuts = list(cut_up(text))
    assert all(500 < each.end - each.start <= 850 for each in cuts[:-1])
    for before, after in pairwise(cuts):
        assert text[before.start : before.end].rstrip().endswith(".")
        assert text[after.start : before.end].strip().count("Sentence") == 1


def test_a_heading_begins_a_passage_and_names_those_below_it() -> None:
    text = "# One\n" + "First part. " * 30 + "\n## Two\n" + "Second part. " * 100
    cuts = list(cut_up(text))
    assert cuts[0].heading == "One"
    assert text[cuts[1].start :].startswith("## Two")
    assert {each.heading for each in cuts[1:]} == {"Two"}


def test_a_text_without_any_end_of_a_sentence_is_cut_all_the_same() -> None:
    for letter in ("x", "가"):
        cuts = list(cut_up(letter * 5000))
        assert len(cuts) > 4
        assert max(each.end - each.start for each in cuts) <= 900


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("The bridges were repaired.", "Who repairs the bridge?"),
        ("다리는 1932년에 완공되었다.", "다리를 언제 완공했나요?"),
        ("ｶﾒﾗは防水です。", "カメラの防水性能は?"),
        ("自行车停放在北门。", "自行车可以停在哪里?"),
        ("CAFÉ opening hours", "cafe"),
    ],
)
def test_other_forms_of_a_word_find_it(files: ProjectFiles, text: str, question: str) -> None:
    files.add_text("other", "Nothing of that is here, 여기에는 없다, ここにはない, 这里没有。")
    files.add_text("wanted", text)
    assert [each.name for each in files.search(question, 1)] == ["wanted"]


def test_rare_words_count_for_more_than_common_ones(files: ProjectFiles) -> None:
    for number in range(60):
        files.add_text(f"{number}.txt", "The price of the machine is in the list. " * 3)
    files.add_text("rare.txt", "A zeppelin is listed.")
    assert files.search("What is the price of the zeppelin in the list?", 3)[0].name == "rare.txt"


def test_a_question_without_words_or_with_syntax_finds_nothing_and_fails_not(files: ProjectFiles) -> None:
    files.add_text("a", "words OR not")
    for question in ("", "  ", "?!", '" OR NEAR(', "*", "text:", "\0", "a" * 100_000):
        assert files.search(question, 5) in ([], files.search("words", 5))


def test_a_name_or_a_heading_finds_what_is_below_it(files: ProjectFiles) -> None:
    files.add_text("Harbour of Lanting.txt", "It was finished in 1932.")
    files.add_text("Tower.txt", "It was finished in 1940.")
    assert files.search("When was the harbour of Lanting finished?", 1)[0].text == "It was finished in 1932."


# Reading


def test_a_pdf_is_found_by_page(files: ProjectFiles, tmp_path: Path) -> None:
    found = one(files, write(tmp_path, "a.pdf", pdf_bytes(["About whales", "About tigers"])))
    assert (found.state, found.pages, found.characters) == (FileState.READY, 2, len(files.text_of(found.id)))
    (passage,) = files.search("tigers", 5)
    assert (passage.name, passage.page, passage.text.strip()) == ("a.pdf", 2, "About tigers")
    assert files.text_of(found.id)[passage.start : passage.end] == passage.text
    assert files.text_of(found.id, 1).strip() == "About whales"
    assert files.text_of(found.id, 1, 2) == files.text_of(found.id)


def test_word_and_html_files_are_read_as_their_readers_see_them(files: ProjectFiles, tmp_path: Path) -> None:
    heading = '<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Two</w:t></w:r></w:p>'
    cell = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    table = f"<w:tbl><w:tr>{cell.format('a')}{cell.format('b')}</w:tr></w:tbl>"
    gone = "<w:p><w:del><w:r><w:delText>taken out</w:delText></w:r></w:del></w:p>"
    word = one(files, write(tmp_path, "a.docx", word_bytes("가나 &amp; more", body=heading + table + gone)))
    assert files.text_of(word.id) == "가나 & more\n\n## Two\n\na | b |"
    html = one(files, write(tmp_path, "a.html", "<title>T</title><script>no</script><p>Seen<p>Too"))
    assert files.text_of(html.id) == "# T\n\nSeen\n\nToo"


def test_the_words_of_a_word_file_may_have_the_name_that_word_online_gives(files: ProjectFiles, tmp_path: Path) -> None:
    xml = b"<w:document xmlns:w='w'><w:p><w:r><w:t>Words</w:t></w:r></w:p></w:document>"
    found = one(files, write(tmp_path, "a.docx", archive_bytes(xml, "word/document2.xml")))
    assert files.text_of(found.id) == "Words"


def test_tab_stops_are_no_text_and_a_text_box_is_there_once(files: ProjectFiles, tmp_path: Path) -> None:
    stops = '<w:pPr><w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs></w:pPr>'
    box = "<m:AlternateContent xmlns:m='m'><m:Choice>{0}</m:Choice><m:Fallback>{0}</m:Fallback></m:AlternateContent>"
    run = "<w:r><w:t>{}</w:t></w:r>"
    body = f"<w:p>{stops}{run.format('One')}<w:r><w:tab/></w:r>{box.format(run.format('two'))}</w:p>"
    found = one(files, write(tmp_path, "a.docx", word_bytes("Zero", body=body)))
    assert files.text_of(found.id).strip() == "Zero\n\nOne\ttwo"


def test_how_words_are_spoken_and_where_they_were_before_a_move_is_not_among_them(
    files: ProjectFiles, tmp_path: Path
) -> None:
    run = "<w:r><w:t>{}</w:t></w:r>".format
    spoken = f"<w:r><w:ruby><w:rt>{run('かんじ')}</w:rt><w:rubyBase>{run('漢字')}</w:rubyBase></w:ruby></w:r>"
    moved = "<w:p><w:{0}>{1}</w:{0}></w:p>".format
    body = f"<w:p>{spoken}{run('検索')}</w:p>{moved('moveFrom', run('here'))}{moved('moveTo', run('there'))}"
    found = one(files, write(tmp_path, "a.docx", word_bytes(body=body)))
    assert files.text_of(found.id).split() == ["漢字検索", "there"]


def test_a_long_text_is_kept_in_parts_that_are_the_whole(files: ProjectFiles, tmp_path: Path) -> None:
    text = "".join(f"Line {number} of the long file.\n" for number in range(9000)) + "y" * 70_000
    found = one(files, write(tmp_path, "long.log", text))
    assert files.text_of(found.id) == text
    passage = files.search("8000", 1)[0]
    assert "Line 8000 " in passage.text
    assert text[passage.start : passage.end] == passage.text


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.bin", os.urandom(5000), "binary"),
        ("a.txt", b"", "empty"),
        ("a.pdf", b"%PDF-1.7 nonsense", "damaged"),
        ("locked.pdf", with_password(pdf_bytes(["x"]), "p"), "encrypted"),
        ("scan.pdf", pdf_bytes(["", ""]), "scanned"),
        ("bomb.pdf", lambda: pdf_bytes([""], stream=b" " * 80_000_000), "too_complex"),
        ("a.docx", b"PK\x03\x04 nonsense", "damaged"),
        ("other.docx", archive_bytes(b"<a/>", "word/other.xml"), "damaged"),
        ("bomb.docx", lambda: archive_bytes(b" " * (129 << 20)), "too_complex"),
        ("laughs.docx", word_bytes("&a;", head='<!DOCTYPE w [<!ENTITY a "aa">]>'), "damaged"),
        ("outside.docx", word_bytes("&a;", head='<!DOCTYPE w [<!ENTITY a SYSTEM "/etc/passwd">]>'), "damaged"),
        ("endless.docx", lambda: archive_bytes(b"<w:document>" + b"<a>" * 5_000_000), "damaged"),
    ],
)
def test_what_cannot_be_read_says_why(
    files: ProjectFiles, tmp_path: Path, name: str, content: bytes | Callable[[], bytes], problem: str
) -> None:
    found = one(files, write(tmp_path, name, content() if callable(content) else content))
    assert (found.state, found.problem, found.characters) == (FileState.UNREADABLE, problem, 0)


def test_what_is_no_file_is_not_waited_for(files: ProjectFiles, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "large.txt").open("wb") as file:
        file.truncate(1 << 30)
    (tmp_path / "locked.txt").write_text("x")
    files.add([tmp_path / "pipe", tmp_path / "large.txt", tmp_path / "gone.txt", tmp_path, Path("/dev/zero")])
    began = time.thread_time()
    read_all(files)
    assert time.thread_time() - began < 5
    states = {each.name: (each.state.value, each.problem) for each in files.all()}
    assert states.pop("gone.txt") == ("missing", "")
    assert set(states.values()) == {
        ("unreadable", "unreadable"),
        ("unreadable", "too_large"),
        ("unreadable", "folder"),
    }
    assert MOST_FILE_BYTES < 1 << 30


def test_a_passage_is_on_the_line_where_its_first_letter_is(files: ProjectFiles, tmp_path: Path) -> None:
    """Through all parts of a long text, also after it has changed; as before in a database without lines."""
    lines = [f"Line {number} has word{number}." for number in range(1, 9_000)]
    path = write(tmp_path, "a.txt", "\n".join(lines).encode())
    one(files, path)
    for number in (1, 700, 701, 4_444, 8_999):
        (found,) = files.search(f"word{number}", 1)
        assert f"word{number}." in "\n".join(lines[found.line - 1 : found.line + 60])
        assert found.text.lstrip().startswith(lines[found.line - 1].split(" has")[0])
    write(tmp_path, "a.txt", ("\n\n\n" + "\n".join(lines)).encode())
    Indexing(files).look()
    read_all(files)
    assert files.search("word1", 1)[0].line == 4
    assert files._db.rows("SELECT count(*) FROM lines")[0][0] == files._db.rows("SELECT count(*) FROM parts")[0][0]
    files._db.execute("DROP TABLE lines")
    with reading(tmp_path / "projects" / "1.db") as before:
        assert before is not None
        assert source_of(before.search("word1", 1)[0]) == "[a.txt]"


def test_a_file_that_takes_too_much_is_given_up_and_none_of_it_is_searched(
    files: ProjectFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_indexing, "LIMITS", ChildLimits(60, 2 << 30, 3000))
    found = one(files, write(tmp_path, "a.pdf", pdf_bytes(["Some hundred words " * 9 for _ in range(40)])))
    assert (found.state, found.problem) == (FileState.UNREADABLE, "too_complex")
    assert files.search("words", 5) == []


def test_a_folder_becomes_its_files_without_links_and_hidden_ones(tmp_path: Path) -> None:
    inner = tmp_path / "b" / "c"
    inner.mkdir(parents=True)
    wanted = [write(tmp_path, "a.md", "a"), write(inner, "d.txt", "d")]
    write(tmp_path, ".hidden", "x")
    (tmp_path / ".git").mkdir()
    write(tmp_path / ".git", "config", "x")
    (tmp_path / "link.md").symlink_to(wanted[0])
    (tmp_path / "round").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert files_within([tmp_path]) == wanted


def test_two_files_of_one_name_are_told_apart(files: ProjectFiles, tmp_path: Path) -> None:
    paths = []
    for name in ("2024", "2025", "x/2025"):
        (tmp_path / name).mkdir(parents=True)
        paths.append(write(tmp_path / name, "report.txt", name))
    files.add(paths)
    assert [each.name for each in files.all()] == ["report.txt", "2025/report.txt", "2025/report.txt 2"]
    assert files.add(paths).ids == ()
    found = files.at(paths[1])
    assert found is not None
    assert found.name == "2025/report.txt"


def test_thousands_of_files_of_one_name_take_no_longer_each(files: ProjectFiles) -> None:
    asked: list[str] = []
    files._db.connection.set_trace_callback(asked.append)
    files.add(Path(f"/{number}/lib/index.js") for number in range(300))
    files._db.connection.set_trace_callback(None)
    assert files.all()[-1].name == "lib/index.js 299"
    assert len(asked) < 300 * 5


def test_a_name_is_as_it_is_typed_whatever_the_disk_makes_of_it(files: ProjectFiles, tmp_path: Path) -> None:
    one(files, write(tmp_path, unicodedata.normalize("NFD", "보고서.txt"), "About zebras."))
    assert [each.name for each in files.all()] == ["보고서.txt"]


def test_a_project_has_limits(files: ProjectFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(project_files.MOST_BYTES + 1)
    monkeypatch.setattr(project_files, "MOST_FILES", 2)
    paths = [write(tmp_path, f"{number}.txt", "x") for number in range(3)]
    added = files.add([tmp_path / "large", *paths])
    assert (len(added.ids), added.left_out) == (2, 2)
    for folder in ("one", "other"):
        (tmp_path / "more" / folder).mkdir(parents=True)
        for path in paths:
            write(tmp_path / "more" / folder, path.name, "x")
    assert files.add(files_within([tmp_path / "more"])).left_out == 6


# Changes


def test_a_file_that_changes_goes_and_comes_back_is_followed(files: ProjectFiles, tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "About zebras.")
    one(files, path)
    indexing = Indexing(files)
    path.write_text("About giraffes, now.")
    indexing.look()
    read_all(files, indexing)
    assert files.search("zebras", 5) == []
    assert [each.text for each in files.search("giraffes", 5)] == ["About giraffes, now."]
    path.rename(tmp_path / "b.txt")
    indexing.look()
    assert [each.state for each in files.all()] == [FileState.MISSING]
    assert files.search("giraffes", 5) == []
    (tmp_path / "b.txt").rename(path)
    indexing.look()
    assert not indexing.step()  # it is the same, and is not read again
    assert len(files.search("giraffes", 5)) == 1


def test_a_file_that_vanishes_while_it_is_read_keeps_nothing_half(files: ProjectFiles, tmp_path: Path) -> None:
    path = write(tmp_path, "a.pdf", pdf_bytes(["About whales"] * 60))
    files.add([path])
    indexing = Indexing(files)
    indexing.step()
    path.unlink()
    read_all(files, indexing)
    assert files.all()[0].state in (FileState.MISSING, FileState.UNREADABLE, FileState.READY)
    indexing.look()
    assert (files.all()[0].state, files.search("whales", 5)) == (FileState.MISSING, [])


def test_a_file_that_was_lost_before_it_was_read_again_comes_back_whole(files: ProjectFiles, tmp_path: Path) -> None:
    """Even as it was before: its text has been taken out."""
    path = write(tmp_path, "a.txt", "About zebras.")
    one(files, path)
    before = path.stat()
    indexing = Indexing(files)
    path.write_text("About giraffes, now.")
    indexing.look()
    path.unlink()
    read_all(files, indexing)
    assert [each.state for each in files.all()] == [FileState.MISSING]
    path.write_text("About zebras.")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    indexing.look()
    read_all(files, indexing)
    assert [each.text for each in files.search("zebras", 5)] == ["About zebras."]


def test_what_could_not_be_read_is_not_ready_when_its_disk_is_back(files: ProjectFiles, tmp_path: Path) -> None:
    path = write(tmp_path, "scan.pdf", pdf_bytes(["", ""]))
    one(files, path)
    indexing = Indexing(files)
    path.rename(tmp_path / "away.pdf")
    indexing.look()
    read_all(files, indexing)
    assert [each.state for each in files.all()] == [FileState.MISSING]
    (tmp_path / "away.pdf").rename(path)
    indexing.look()
    read_all(files, indexing)
    assert [(each.state, each.problem) for each in files.all()] == [(FileState.UNREADABLE, "scanned")]


def test_what_the_system_did_not_let_us_read_is_read_once_it_does(
    files: ProjectFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a folder for which the user gives the permission later: the file is as it was."""

    def refuse(*_: object) -> None:
        raise PermissionError

    path = write(tmp_path, "a.txt", "About zebras.")
    with monkeypatch.context() as refused:
        refused.setattr("app.documents.reading.open_plain", refuse)
        assert (one(files, path).state, files.all()[0].problem) == (FileState.UNREADABLE, "forbidden")
    indexing = Indexing(files)
    indexing.look()
    read_all(files, indexing)
    assert [each.text for each in files.search("zebras", 5)] == ["About zebras."]


def test_files_that_are_missing_keep_no_others_from_being_found(files: ProjectFiles, tmp_path: Path) -> None:
    missing = [write(tmp_path, f"{number}.txt", "zebra zebra") for number in range(300)]
    files.add([*missing, write(tmp_path, "kept.txt", "A zebra, among many words that make it the last one found.")])
    indexing = read_all(files)
    for path in missing:
        path.unlink()
    indexing.look()
    assert [each.name for each in files.search("zebra", 5)] == ["kept.txt"]


def test_a_disk_that_is_full_for_a_moment_leaves_no_gap(
    files: ProjectFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, "a.txt", "".join(f"word{number} and more\n" for number in range(30_000)))
    files.add([path])
    indexing = Indexing(files)
    put_pages = files.put_pages
    refused = iter((False, True))

    def put(*pages: Any) -> bool:
        if next(refused, False):
            raise sqlite3.OperationalError("database or disk is full")
        return put_pages(*pages)

    monkeypatch.setattr(files, "put_pages", put)
    with pytest.raises(sqlite3.OperationalError):
        read_all(files, indexing)
    read_all(files, indexing)
    assert files.text_of(files.all()[0].id) == path.read_text()
    assert len(files.search("word29999", 5)) == 1


def test_what_is_removed_leaves_no_word_in_the_file(files: ProjectFiles, tmp_path: Path) -> None:
    stays = one(files, write(tmp_path, "stays.txt", "Something quite ordinary. " * 50))
    words = " ".join(f"secretword{number}" for number in range(3000))
    goes = one(files, write(tmp_path, "confidential.txt", words))
    path = tmp_path / "projects" / "1.db"
    files.remove([goes.id])
    assert [each.id for each in files.all()] == [stays.id]
    assert files.search("secretword7", 5) == []
    read_all(files)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    left = path.read_bytes()
    assert b"secretw" not in left
    assert b"confidential" not in left
    assert len(files.search("ordinary", 5)) > 0


def test_a_file_removed_while_it_is_read_stops_at_once(files: ProjectFiles, tmp_path: Path) -> None:
    """The process that reads it would go on for a minute."""
    files.add([write(tmp_path, "a.pdf", pdf_bytes([""], stream=b"BT " + b"(x) Tj " * 500_000 + b"ET"))])
    indexing = Indexing(files)
    indexing.step()
    stopping = threading.Timer(0.3, indexing.stop_reading)
    stopping.start()
    indexing.step()  # waits for a page
    stopping.join()
    assert files.all()[0].state is FileState.WAITS
    indexing.close()


_READS = """
import sys
from pathlib import Path
from app.documents.indexing import Indexing
from app.storage.project_files import open_files
files = open_files(Path(sys.argv[1]))
files.add([Path(each) for each in sys.argv[2:]])
indexing = Indexing(files)
print("began", flush=True)
while indexing.step():
    print(sum(each.characters for each in files.all()), flush=True)
"""


def test_a_kill_in_the_middle_costs_only_time(tmp_path: Path) -> None:
    paths = [write(tmp_path, f"{number}.txt", f"word{number} and others. " * 20_000) for number in range(3)]
    database = tmp_path / "1.db"
    for steps in (2, 9, 16):
        command = [sys.executable, "-c", _READS, str(database), *map(str, paths)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            for _ in range(steps):
                child.stdout.readline()
            child.send_signal(signal.SIGKILL)
    files = open_files(database)
    read_all(files)
    assert [files.text_of(each.id) for each in files.all()] == [path.read_text() for path in paths]
    for number in range(3):
        assert {each.name for each in files.search(f"word{number}", 3)} == {f"{number}.txt"}
    files.close()


def test_random_changes_leave_what_a_new_index_has(files: ProjectFiles, tmp_path: Path) -> None:
    """Of each word the same number of passages, after files were added, changed, lost and removed in any order."""
    generator = random.Random(5)
    words = [f"{letter}word" for letter in "abcdefgh"]
    indexing = Indexing(files)
    for turn in range(150):
        path = tmp_path / f"{generator.randrange(6)}.txt"
        match generator.randrange(5):
            case 0 | 1:
                path.write_text(" ".join(generator.choices(words, k=generator.randrange(1, 400))) + f" {turn}")
            case 2:
                path.unlink(missing_ok=True)
            case 3:
                files.remove([each.id for each in files.all() if each.path == str(path)])
        files.add([path])
        for _ in range(generator.randrange(4)):
            indexing.step()
        indexing.look()
    read_all(files, indexing)
    fresh = open_files(tmp_path / "fresh.db")
    fresh.add([Path(each.path) for each in files.all()])
    read_all(fresh)
    for word in words:
        found, expected = (
            sorted((each.name, each.start, each.text) for each in kept.search(word, 500)) for kept in (files, fresh)
        )
        assert found == expected
    fresh.close()


def test_readers_work_beside_the_one_that_reads_files(files: ProjectFiles, tmp_path: Path) -> None:
    path = tmp_path / "projects" / "1.db"
    files.add([write(tmp_path, "a.txt", "word " * 400_000)])
    indexing = Indexing(files)
    found = 0
    while indexing.step():
        with reading(path) as other:
            assert other is not None
            found += bool(other.search("word", 3))
    assert found > 3
    with reading(tmp_path / "none.db") as other:
        assert other is None


def test_several_threads_open_a_new_one_at_once(tmp_path: Path) -> None:
    failed: list[Exception] = []

    def open_one(path: Path, together: threading.Barrier) -> None:
        together.wait()
        try:
            open_files(path).close()
        except sqlite3.Error as error:
            failed.append(error)

    for number in range(60):
        together = threading.Barrier(4)
        path = tmp_path / f"{number}.db"
        threads = [threading.Thread(target=open_one, args=(path, together)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failed


def test_the_file_is_for_its_owner_alone(files: ProjectFiles, tmp_path: Path) -> None:
    for path in (tmp_path / "projects").iterdir():
        assert path.stat().st_mode & 0o077 == 0
    assert (tmp_path / "projects").stat().st_mode & 0o077 == 0
    assert files.all() == []


def test_of_documents_that_cannot_be_read_there_is_no_empty_copy(tmp_path: Path) -> None:
    for path in (write(tmp_path, "1.db", b"nonsense" * 1000), tmp_path / "absent.db"):
        with pytest.raises(sqlite3.Error):
            copy_database(path, tmp_path / "2.db")
        assert not list(tmp_path.glob("2.*"))


def test_pairs_of_letters_go_in_for_what_has_no_spaces() -> None:
    assert for_index("Ｗide 自行车 の 가나 x").split() == ["wide", "自行", "行车", "自", "行", "车", "の", "가나", "x"]
