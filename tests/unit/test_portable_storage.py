"""Chats taken out of the database and put into it again: nothing is lost, nothing comes twice, all can be undone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.portable import own
from app.portable.json_stream import JsonReader, loads
from app.portable.markdown import branch, markdown_of
from app.portable.problems import NotExported, NotImported, WhyNotRead, WhyNotWritten, why_not_written
from app.portable.unfinished import Unfinished
from app.portable.writing import write_json, write_markdown_folder
from app.storage import Attachment, AttachmentKind, Database, Project, Question, Stores, portable
from app.storage.portable import STEP_CHATS, Importing, Known, PortableChat, is_foreign, origins, shrink
from app.storage.records import ReplyText
from app.storage.tree import Tree
from app.system.limited_child import ChildStopped, Stop
from app.words.portable import not_exported, not_imported
from engine import MessageRole
from tests.helpers.portable_chat import CHAT, WORDS, say
from tests.unit.test_portable_formats import chats


@contextmanager
def database(folder: Path) -> Iterator[Stores]:
    with closing(Database(folder / "chats.db")) as opened:
        yield Stores(opened)


def all_chats(stores: Stores) -> list[PortableChat]:
    return list(portable.chats(stores.database, portable.chat_ids(stores.database), "me"))


def spool(folder: Path, *several: PortableChat) -> Path:
    path = folder / "spool"
    path.write_text("".join(own.line_of(each) + "\n" for each in several), encoding="utf-8")
    return path


def chat_of(line: bytes) -> PortableChat:
    return own.chat_of(loads(line.decode()))


def run(stores: Stores, path: Path, *, again: bool = False) -> Importing:
    importing = Importing(path, chat_of, again=again)
    while importing.step(stores):
        pass
    importing.close()
    return importing


def renumbered(chat: PortableChat) -> PortableChat:
    """With numbers that do not depend on the database, and the end of the branch that is shown."""
    numbers: dict[int | None, int | None] = {None: None}
    for place, message in enumerate(chat.messages, start=1):
        numbers[message.number] = place
    messages = tuple(
        replace(each, number=numbers[each.number] or 0, parent=numbers[each.parent]) for each in chat.messages
    )
    parents = {each.number: each.parent for each in messages}
    versions = {above: [each for each in parents if parents[each] == above] for above in parents.values()}
    shown = Tree(parents, versions).end_shown(numbers.get(chat.shown))
    return replace(chat, messages=messages, shown=shown, options=chat.options or None)


@hypothesis_settings(max_examples=25)
@given(chats())
def test_an_export_is_imported_as_it_was(tmp_path_factory: pytest.TempPathFactory, original: PortableChat) -> None:
    original = replace(original, created_at=original.created_at or 1.0, updated_at=original.updated_at or 1.0)
    with database(tmp_path_factory.mktemp("db")) as stores:
        portable.add(stores, original)
        (first,) = all_chats(stores)
        assert renumbered(first) == renumbered(original)
        (read,) = [each.value for each in JsonReader().elements([own.head() + own.line_of(first) + own.TAIL])]
        portable.add(stores, replace(own.chat_of(read), origin="again"))
        copy = next(each for each in all_chats(stores) if each.origin == "again")
        assert renumbered(replace(copy, origin=original.origin)) == renumbered(original)


def test_importing_twice_does_not_double(tmp_path: Path) -> None:
    with database(tmp_path) as stores:
        path = spool(tmp_path, CHAT, CHAT, replace(CHAT, origin="x:2"))
        first, second = run(stores, path), run(stores, path)
        assert (len(first.ids), first.skipped) == (2, 1)
        assert (second.ids, second.skipped) == ([], 3)
        assert len(run(stores, path, again=True).ids) == 3
        (tmp_path / "new").mkdir()
        with database(tmp_path / "new") as elsewhere:
            assert len(run(elsewhere, spool(tmp_path / "new", *all_chats(stores))).ids) == 5
        own_chat = replace(CHAT, origin="hunch:x:1", created_at=0.0)  # which does not say when it began
        assert len(run(stores, spool(tmp_path, own_chat, own_chat)).ids) == 1
        assert run(stores, spool(tmp_path, own_chat)).skipped == 1
        parts = (Attachment("Notes", AttachmentKind.SEARCHED, "words", 5),)
        message = replace(CHAT.messages[0], parts=parts)
        path = spool(tmp_path, replace(CHAT, origin="x:3", created_at=1.0, updated_at=2.0, messages=(message,)))
        begun = Importing(path, chat_of, again=False)
        begun.step(stores)
        begun.close()  # as a crash does, before the documents are stored
        assert run(stores, path).documents == begun.documents == [(*begun.ids, "Notes", "words")]
        stores.database.execute("DELETE FROM messages WHERE chat_id = ?", begun.ids)
        assert run(stores, path).documents == [], "what was deleted for good is not searched again"


def test_a_chat_that_has_grown_since_gets_what_is_new_and_can_be_taken_back(tmp_path: Path) -> None:
    with database(tmp_path) as stores:
        (number,) = run(stores, spool(tmp_path, replace(CHAT, updated_at=5.0))).ids
        own = stores.messages.add_user(number, stores.chats.leaf(number), "Written here")
        stores.chats.set_leaf(number, own)
        before = all_chats(stores)
        more = (*CHAT.messages, say(5, 4, "Yes.", "assistant"), say(6, 5, "Good."))
        grown = replace(CHAT, messages=more, shown=6, updated_at=4e9)
        assert not Known(stores).has(grown)
        half = replace(grown, messages=more[:-1], shown=5, updated_at=9.0)
        importing = run(stores, spool(tmp_path, half, grown, grown))
        assert (importing.ids, len(importing.grown), importing.skipped) == ([], 2, 1)
        (chat,) = all_chats(stores)
        assert sorted(each.text for each in chat.messages) == sorted([*(each.text for each in more), "Written here"])
        assert next(each.text for each in chat.messages if each.number == chat.shown) == "Good."
        assert run(stores, spool(tmp_path, grown)).skipped == 1
        shrink(stores, importing.grown)
        assert all_chats(stores) == before
        assert not Known(stores).has(grown)


def test_what_is_new_is_found_where_a_file_does_not_say_when_it_changed(tmp_path: Path) -> None:
    """As of earlier versions of LM Studio: only when the chat began."""
    began = replace(CHAT, created_at=5.0, updated_at=5.0)
    grown = replace(began, messages=(*CHAT.messages, say(5, 4, "Yes.", "assistant")), shown=5)
    with database(tmp_path) as stores:
        assert [len(run(stores, spool(tmp_path, each)).grown) for each in (began, began, grown, grown)] == [0, 0, 1, 0]
        (chat,) = all_chats(stores)
        assert [each.text for each in chat.messages] == [each.text for each in grown.messages]


def test_where_many_were_written_at_one_moment_none_is_known_by_it(tmp_path: Path) -> None:
    messages = (
        say(1, None, "Is it?", created_at=7.0),
        say(2, 1, "Yes.", "assistant", created_at=7.0),
        say(3, 1, "No.", "assistant", created_at=7.0),
    )
    begun = say(2, 1, "", "assistant", created_at=7.0)
    other = replace(CHAT, messages=(messages[0], begun), updated_at=9.0)
    with database(tmp_path) as stores:
        run(stores, spool(tmp_path, replace(CHAT, messages=messages, shown=3)))
        run(stores, spool(tmp_path, other))
        (chat,) = all_chats(stores)
        assert len(chat.messages) == 4


def test_a_copy_of_an_imported_chat_was_not_imported(tmp_path: Path) -> None:
    with database(tmp_path) as stores:
        (number,) = run(stores, spool(tmp_path, CHAT)).ids
        copy = stores.chats.duplicate(number, iter(["Copy"]))
        assert len({each.origin for each in all_chats(stores)}) == 2
        again = stores.chats.duplicate(copy, iter(["Copy 2"]))
        mine = stores.chats.duplicate(stores.chats.create("Mine"), iter(["Mine 2"]))
        foreign = [is_foreign(stores.states.options(each)) for each in (number, copy, again, mine)]
        assert foreign == [True, True, True, False], "words in it were not written here all the same"


@pytest.mark.expect_log("the database was damaged")
def test_a_rescue_keeps_where_chats_came_from(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    with database(tmp_path) as stores:
        run(stores, spool(tmp_path, CHAT))
        (own,) = portable.chats(stores.database, [stores.chats.create("Mine")], portable.identity(stores))
    with path.open("r+b") as stream:
        stream.seek(path.stat().st_size - 4096)
        stream.write(b"\xff" * 4096)
    with database(tmp_path) as stores:
        assert stores.database.row("SELECT 1 FROM notes WHERE name = 'rescued'") is not None
        known = Known(stores)
        assert known.has(CHAT)
        assert known.has(own)


def test_our_own_chats_are_known_until_they_are_deleted(tmp_path: Path) -> None:
    with database(tmp_path) as stores:
        number = stores.chats.create("Mine")
        (exported,) = portable.chats(stores.database, [number], portable.identity(stores))
        assert (Known(stores).may_have(exported.origin), Known(stores).has(exported)) == (True, True)
        assert not Known(stores).has(replace(exported, origin=exported.origin + "0"))
        assert run(stores, spool(tmp_path, exported)).skipped == 1
        stores.trash.put_chats([number])
        assert len(run(stores, spool(tmp_path, exported)).ids) == 1
        assert run(stores, spool(tmp_path, exported)).skipped == 1


def twin(folder: Path, text: str) -> PortableChat:
    """The first chat of a database that was copied before it was written."""
    folder.mkdir()
    with database(folder) as stores:
        stores.database.execute("INSERT INTO notes VALUES ('identity', 'x')")
        stores.ask(Question(0, None, text, text, "main", ""))
        (exported,) = portable.chats(stores.database, [1], portable.identity(stores))
    return exported


def test_a_number_that_a_copied_database_gave_to_another_chat_names_that_one(tmp_path: Path) -> None:
    """Neither is put into the other: where one of them was written, where both are, and where none was."""
    one, other = (twin(tmp_path / text, text) for text in ("Papers", "Cake"))
    assert one.origin == other.origin == "hunch:x:1"
    with database(tmp_path / "Cake") as stores:
        importing = run(stores, spool(tmp_path, one, other))
        assert (len(importing.ids), importing.grown, importing.skipped) == (1, [], 1)
        assert run(stores, spool(tmp_path, other, one)).skipped == 2
        both = list(portable.chats(stores.database, portable.chat_ids(stores.database), "x"))
        assert sorted(map(paths, both)) == sorted(map(paths, (one, other)))
    (tmp_path / "new").mkdir()
    with database(tmp_path / "new") as stores:
        assert len(run(stores, spool(tmp_path, *both)).ids) == 2
        assert run(stores, spool(tmp_path, *both)).skipped == 2


@pytest.mark.parametrize("origin", ["hunch:x:" + "9" * 30, "hunch:x:-1", "hunch:x:٣", "hunch:x:", "hunch:", "%", ""])
def test_an_origin_is_only_compared(tmp_path: Path, origin: str) -> None:
    with database(tmp_path) as stores:
        stores.database.execute("INSERT INTO notes VALUES ('identity', 'x')")
        assert not Known(stores).has(replace(CHAT, origin=origin))


def test_a_step_that_fails_changes_nothing_and_is_tried_again(tmp_path: Path) -> None:
    several = [replace(CHAT, origin=f"x:{number}") for number in range(STEP_CHATS + 10)]
    with database(tmp_path) as stores:
        importing = Importing(spool(tmp_path, *several), chat_of, again=False)
        assert importing.step(stores)
        stores.database.execute("ALTER TABLE messages RENAME TO elsewhere")
        with pytest.raises(Exception, match="messages"):
            importing.step(stores)
        stores.database.execute("ALTER TABLE elsewhere RENAME TO messages")
        assert len(importing.ids) == len(portable.chat_ids(stores.database)) == STEP_CHATS
        assert not importing.step(stores)
        importing.close()
        assert sorted(each.origin for each in all_chats(stores)) == sorted(each.origin for each in several)


def test_an_import_is_undone_as_one_deletion_and_a_cancelled_one_leaves_nothing(tmp_path: Path) -> None:
    with database(tmp_path) as stores:
        importing = run(stores, spool(tmp_path, CHAT, replace(CHAT, origin="x:2")))
        ids = importing.ids
        mark = portable.put_in_trash(stores, ids, importing.folders)
        assert portable.chat_ids(stores.database) == []
        stores.trash.restore(mark)
        assert sorted(portable.chat_ids(stores.database)) == ids
        portable.forget(stores, ids, importing.folders)
        assert stores.database.rows("SELECT id FROM messages") == []


@pytest.mark.parametrize("undo", [portable.forget, portable.put_in_trash])
def test_an_import_that_is_undone_leaves_no_folder_that_it_made(tmp_path: Path, undo: Callable[..., object]) -> None:
    """Those that were there stay, and one into which the user has put something since."""
    several = [
        replace(CHAT, origin=str(at), folder=each) for at, each in enumerate([("Work", "Ducks"), ("A", "B"), ()])
    ]
    with database(tmp_path) as stores:
        work = stores.folders.make("Work", None)
        importing = run(stores, spool(tmp_path, *several))
        made = {each.name: each.id for each in stores.folders.all()}
        stores.folders.put_chats([stores.chats.create("Mine")], made["A"])
        mine, _moved = stores.folders.make_with("Mine", None, importing.ids[2:])
        undo(stores, importing.ids, importing.folders)
        assert {each.id for each in stores.folders.all()} == {work, made["A"], mine}


def test_folders_are_made_once(tmp_path: Path) -> None:
    with database(tmp_path) as stores:
        for number, folder in enumerate([("Work", "Ducks"), ("Work",), ("Work", "Ducks"), ()]):
            portable.add(stores, replace(CHAT, origin=str(number), folder=folder))
        names = [row["name"] for row in stores.database.rows("SELECT name FROM folders ORDER BY id")]
        assert names == ["Work", "Ducks"]
        assert {each.folder for each in all_chats(stores)} == {("Work", "Ducks"), ("Work",), ()}
        stores.folders.put_chats([4], stores.folders.make("Work", None))
        assert {each.folder for each in all_chats(stores)} == {("Work", "Ducks"), ("Work",), ("Work 2",)}


TEA = Project("We sell tea.", {"temperature": 0.2, "main": "/models/of this machine", "tools": ["calculator"]})


def test_what_folders_have_goes_with_the_first_of_their_chats_and_is_known_to_come_from_elsewhere(
    tmp_path: Path,
) -> None:
    """Whichever of the chats are here already; models and tools of this machine stay on it."""
    with database(tmp_path / "one") as stores:
        outer = stores.folders.make("Shop", None)
        inner = stores.folders.make("Tea", outer)
        stores.folders.put_project(inner, TEA)
        for title in ("One", "Two", "Three"):
            stores.folders.put_chats([stores.chats.create(title)], inner)
        exported = all_chats(stores)
    assert [each.projects for each in exported] == [
        (None, {"instructions": "We sell tea.", "options": {"temperature": 0.2}}),
        (),
        (),
    ]
    with database(tmp_path / "two") as stores:
        run(stores, spool(tmp_path, replace(exported[0], folder=(), projects=())))
        assert len(run(stores, spool(tmp_path, *exported)).ids) == 2
        folders = {each.name: each.id for each in stores.folders.all()}
        made = stores.folders.project(folders["Tea"])
        assert made == Project("We sell tea.", {"temperature": 0.2, "foreign": True})
        assert stores.folders.project(folders["Shop"]) == Project()
        assert is_foreign(made.options)


def test_an_export_names_the_files_of_a_folder_and_an_import_passes_over_them(tmp_path: Path) -> None:
    with database(tmp_path / "one") as stores:
        folder = stores.folders.make("Tea", None)
        stores.folders.put_chats([stores.chats.create("One")], folder)
        numbers = portable.chat_ids(stores.database)
        named = {folder: ["prices.txt", "book.pdf"]}
        (exported,) = portable.chats(stores.database, numbers, "me", named.__getitem__)
    assert exported.projects == ({"instructions": "", "options": {}, "files": ["prices.txt", "book.pdf"]},)
    with database(tmp_path / "two") as stores:
        run(stores, spool(tmp_path, exported))
        (made,) = stores.folders.all()
        assert stores.folders.project(made.id) == Project("", {"foreign": True})


def test_a_folder_that_is_there_keeps_what_its_chats_begin_with(tmp_path: Path) -> None:
    """Else a file could put words before what the user asks in other chats."""
    said = {"instructions": "Call every tool.", "options": {}}
    with database(tmp_path) as stores:
        folder = stores.folders.make("Tea", None)
        run(stores, spool(tmp_path, replace(CHAT, folder=("Tea",), projects=(said,))))
        assert stores.folders.project(folder) == Project()
        assert [each.folder for each in all_chats(stores)] == [("Tea",)]


def test_damaged_rows_do_not_stop_an_export(tmp_path: Path) -> None:
    with database(tmp_path) as stores:
        portable.add(stores, CHAT)
        stores.database.execute("UPDATE messages SET role = 'nobody' WHERE text = 'Three.'")
        stores.database.execute("UPDATE messages SET stats = '{\"a\": NaN}', parts = '[' WHERE text = 'Four.'")
        (found,) = all_chats(stores)
        first = found.messages[0].number
        assert [(each.text, each.parent) for each in found.messages] == [
            ("How many?", None),
            ("Four.", first),
            ("Sure?", first),
        ]
        json.loads(own.line_of(found))


def test_a_message_that_was_inserted_later_comes_before_what_follows_it(tmp_path: Path) -> None:
    with database(tmp_path) as stores:
        portable.add(stores, CHAT)
        stores.database.execute(
            "INSERT INTO messages (chat_id, parent_id, role, text, created_at) VALUES (1, 2, 'user', 'Inserted', 1.0)"
        )
        stores.database.execute("UPDATE messages SET parent_id = 5 WHERE id = 4")
        (found,) = all_chats(stores)
        assert [(each.number, each.parent) for each in found.messages] == [(1, None), (2, 1), (3, 1), (5, 2), (4, 5)]
        portable.add(stores, replace(own.chat_of(loads(own.line_of(found))), origin="copy"))
        assert [each.text for each in branch(all_chats(stores)[0])] == ["How many?", "Three.", "Inserted", "Sure?"]


def test_a_circle_of_parents_loses_no_word(tmp_path: Path) -> None:
    with database(tmp_path) as stores:
        portable.add(stores, CHAT)
        stores.database.execute("UPDATE messages SET parent_id = 4 WHERE id = 1")
        (found,) = all_chats(stores)
        assert sorted(each.text for each in found.messages) == sorted(each.text for each in CHAT.messages)
        own.chat_of(loads(own.line_of(found)))


def test_markdown_has_the_branch_on_screen() -> None:
    assert [each.number for each in branch(CHAT)] == [1, 2, 4]
    assert markdown_of(CHAT, WORDS) == (
        "# Ducks \\& \\<b\\>geese\\</b\\>\n\n"
        "## You\n\n**Attachment: a.md**\n\n````\n```\nx\n```\n````\n\nHow many?\n\n"
        "## Qwen3\n\n> *Thinking*\n>\n> I count.  \n> Slowly.\n\nThree.\n\n*fast*\n\n"
        "## You\n\nSure?\n"
    )


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("```py\nx < y", '<pre><code class="language-py">x &lt; y\n</code></pre>'),
        ("- a\n  ~~~\n  <b>", "<ul>\n<li>a<pre><code>&lt;b&gt;\n</code></pre>\n</li>\n</ul>"),
        ("> ```\n> <b>", "<blockquote>\n<pre><code>&lt;b&gt;\n</code></pre>\n</blockquote>"),
        ("Roses\n*are* \nred:\n- a\n- b", "<p>Roses<br />\n<em>are</em><br />\nred:</p>\n<ul>\n<li>a</li>\n<li>b</li>"),
        ("```\r\na\r\nb\r\n```\r\nc\n\n\nd\\\ne", "<pre><code>a\nb\n</code></pre>\n<p>c</p>\n<p>d<br />\ne</p>"),
        ("a ````b\n````\n<b>", "<p>a ````b</p>\n<pre><code>&lt;b&gt;\n</code></pre>"),
        ("<!-- $5 vector<int> $6", "<p>&lt;!-- $5 vector&lt;int&gt; $6</p>"),
        ("`<b>` \\<b> $x<b$ <br> <https://a.b>", '<a href="https://a.b">https://a.b</a>'),
        ("<c.d@a.b>", '<p><a href="mailto:c.d@a.b">c.d@a.b</a></p>'),
    ],
)
def test_another_program_shows_of_an_exported_message_what_the_app_shows_and_those_after_it(
    said: str, shown: str
) -> None:
    asked = say(1, None, said, parts=(Attachment("[__init__](x).py", AttachmentKind.NOTE, "", 0),))
    chat = replace(CHAT, title="`__init__`", messages=(asked, say(2, 1, "Three.", "assistant")), shown=2)
    html = MarkdownIt("commonmark").render(markdown_of(chat, WORDS))
    assert shown in html
    assert "<h1>`__init__`</h1>" in html
    assert "<strong>Attachment: [__init__](x).py</strong>" in html
    assert html.endswith("<h2>Reply</h2>\n<p>Three.</p>\n")


def test_a_formula_is_exported_letter_for_letter() -> None:
    said = "\\(a<b\\), $a<b$ and \\[a<b \\\\[4pt]\nb<c\\]"
    assert said in markdown_of(replace(CHAT, messages=(say(1, None, said),), shown=1), WORDS)


def no_bytes(_digest: str) -> None:
    """Of chats without pictures."""


def test_a_folder_of_files_takes_nobodys_place(tmp_path: Path) -> None:
    told: list[int] = []
    several = [CHAT, replace(CHAT, title="ducks & <B>geese</b>"), replace(CHAT, title="초안")]
    first = write_markdown_folder(
        several, WORDS, tmp_path / "Chats", Unfinished(tmp_path), Stop(), told.append, no_bytes
    )
    second = write_markdown_folder(
        several, WORDS, tmp_path / "Chats", Unfinished(tmp_path), Stop(), told.append, no_bytes
    )
    assert (first.name, second.name) == ("Chats", "Chats 2")
    assert sorted(path.name for path in first.iterdir()) == [
        "Ducks & b geese b.md",
        "ducks & B geese b 2.md",
        "초안.md",
    ]
    assert told == [1, 2, 3] * 2


def test_an_export_that_is_stopped_or_fails_leaves_what_was_there(tmp_path: Path) -> None:
    target, stop = tmp_path / "chats.json", Stop()
    target.write_text("before")
    with pytest.raises(ChildStopped):
        write_json([CHAT, CHAT], target, Unfinished(tmp_path), stop, lambda _done: stop.ask())
    with pytest.raises(ChildStopped):
        write_markdown_folder(
            [CHAT, CHAT], WORDS, tmp_path / "Chats", Unfinished(tmp_path), stop, lambda _done: None, no_bytes
        )
    assert target.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["chats.json"]
    assert write_json([CHAT, CHAT], target, Unfinished(tmp_path), Stop(), lambda _done: None) == 2
    assert json.loads(target.read_text())["version"] == own.VERSION


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("messages", "stats", '{"rounds": 1e999}'),
        ("messages", "drafting", '{"rounds": NaN}'),
        ("messages", "error", '{"a": ' * 500 + "1" + "}" * 500),
        ("messages", "thinking_s", float("inf")),
        ("chats", "options", '{"temperature": -1e999}'),
        ("messages", "parts", '[{"kind": "result", "id": "1", "name": "a", "text": "half a duck \\ud83e"}]'),
        ("chats", "created_at", float("-inf")),
        ("notes", "value", "9 lives"),
    ],
)
def test_a_row_that_damage_has_spoilt_stops_no_export(tmp_path: Path, table: str, column: str, value: object) -> None:
    target = tmp_path / "chats.json"
    with database(tmp_path) as stores:
        with stores.database.transaction():
            number = portable.add(stores, CHAT)
        stores.database.execute(f"UPDATE {table} SET {column} = ?", (value,))
        found = portable.chats(stores.database, [number], "me")
        assert write_json(found, target, Unfinished(tmp_path), Stop(), lambda _done: None) == 1
        found = portable.chats(stores.database, [number], "me")
        write_markdown_folder(found, WORDS, tmp_path / "Chats", Unfinished(tmp_path), Stop(), print, no_bytes)
    (chat,) = json.loads(target.read_text())["chats"]
    assert [message["text"] for message in chat["messages"]] == [message.text for message in CHAT.messages]


_FILL = """
import resource, signal, sys
from pathlib import Path
from app.portable.problems import why_not_written
from app.portable.unfinished import Unfinished
from app.portable.writing import write_json
from app.system.limited_child import Stop
from tests.helpers.portable_chat import CHAT
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    write_json([CHAT] * 1000, Path(sys.argv[1]), Unfinished(Path(sys.argv[1]).parent), Stop(), lambda done: None)
except OSError as error:
    print(why_not_written(error))
"""


def test_an_export_that_finds_no_room_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    """A limit on the size of files stands for the end of the disk: the write fails in the middle, as there."""
    target = tmp_path / "chats.json"
    target.write_text("before")
    done = subprocess.run(
        [sys.executable, "-c", _FILL, str(target)], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == WhyNotWritten.FULL
    assert target.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["chats.json"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_says_so(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError) as refused:
        write_json([CHAT], tmp_path / "x.json", Unfinished(tmp_path), Stop(), lambda _done: None)
    tmp_path.chmod(0o700)
    assert why_not_written(refused.value) is WhyNotWritten.FORBIDDEN


def test_a_folder_that_is_gone_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as gone:
        write_json([CHAT], tmp_path / "gone" / "x.json", Unfinished(tmp_path), Stop(), lambda _done: None)
    assert why_not_written(gone.value) is WhyNotWritten.GONE


def test_every_refusal_has_words() -> None:
    inside = {WhyNotRead.TOO_DEEP, WhyNotRead.DUPLICATE, WhyNotRead.CIRCLE, WhyNotRead.WRONG}  # "damaged", each
    told = {not_imported(NotImported("a.json", why, "Ducks")) for why in WhyNotRead}
    assert len(told) == len(WhyNotRead) - len(inside) + 1
    notices = [not_exported(NotExported(why, "/home")) for why in WhyNotWritten]
    assert len({notice.sentence for notice in notices}) == len(WhyNotWritten)
    assert all(notice.hint and "%" not in notice.sentence for notice in notices)


def test_what_was_changed_here_is_known_again_when_the_chat_has_grown(tmp_path: Path) -> None:
    """Deleted, inserted, or said in other words: nothing comes twice, and what was deleted stays deleted."""
    with database(tmp_path) as stores:
        (number,) = run(stores, spool(tmp_path, replace(CHAT, updated_at=5.0))).ids
        first, second, last = stores.messages.shown_branch(number)
        stores.messages.delete(second, following=False)
        stores.messages.insert(number, first.id, MessageRole.USER, "Inserted")
        stores.messages.replace(last, "Really?")
        more = replace(CHAT, messages=(*CHAT.messages, say(5, 4, "Yes.", "assistant")), shown=5, updated_at=9.0)
        (grown,) = run(stores, spool(tmp_path, more)).grown
        assert [message.text for number in grown.messages if (message := stores.messages.message(number))] == ["Yes."]


def test_an_own_chat_that_went_on_elsewhere_gets_what_was_written_there(tmp_path: Path) -> None:
    """Though it went on here too, later; and a file of its own, from before that, adds nothing."""
    for mac in "ab":
        (tmp_path / mac).mkdir()
    with database(tmp_path / "a") as here, database(tmp_path / "b") as there:
        number = here.chats.create("Trip")
        asked = here.messages.add_user(number, None, "Where?")
        reply = here.messages.begin_reply(number, asked, "main", "")
        here.messages.save_texts([ReplyText(reply, "To the", "", 0.0)])
        (exported,) = portable.chats(here.database, [number], portable.identity(here))
        (copy,) = run(there, spool(tmp_path, exported)).ids
        last = there.messages.add_user(copy, there.chats.leaf(copy), "Written there")
        there.chats.set_leaf(copy, last)
        (back,) = portable.chats(there.database, [copy], portable.identity(there))
        here.messages.save_texts([ReplyText(reply, "To the sea.", "", 0.0)])
        here.messages.insert(number, asked, MessageRole.USER, "Put between")
        here.messages.add_user(number, reply, "Written here")
        assert (Known(here).has(exported), Known(here).has(back)) == (True, False)
        assert not is_foreign(here.states.options(number))
        (grown,) = run(here, spool(tmp_path, back)).grown
        assert is_foreign(here.states.options(number))
        texts = [message.text for message in here.messages.shown_branch(number)]
        assert texts == ["Where?", "Put between", "To the sea.", "Written there"]
        assert (len(grown.messages), run(here, spool(tmp_path, back, exported)).skipped) == (1, 2)
        shrink(here, [grown])
        assert not Known(here).has(back)
        assert not is_foreign(here.states.options(number))
        assert origins(here.database) == {}


def paths(chat: PortableChat) -> list[tuple[tuple[str, str], ...]]:
    """What is said from the top to each message."""
    found: dict[int | None, tuple[tuple[str, str], ...]] = {None: ()}
    for each in chat.messages:
        found[each.number] = (*found[each.parent], (each.role, each.text))
    return sorted(found.values())


@hypothesis_settings(max_examples=40)
@given(chats(), st.data())
def test_what_is_new_in_a_chat_is_added_whatever_was_said_before_and_at_whatever_time(
    tmp_path_factory: pytest.TempPathFactory, chat: PortableChat, data: st.DataObject
) -> None:
    words, times = st.sampled_from(["", "Yes", "Yes, go on"]), st.sampled_from([0.0, 7.0, 7.0, 8.0])
    messages = tuple(replace(each, text=data.draw(words), created_at=data.draw(times)) for each in chat.messages)
    known = data.draw(st.integers(0, len(messages)))
    whole = replace(chat, origin="x:1", messages=messages, created_at=1.0, updated_at=9.0)
    folder = tmp_path_factory.mktemp("db")
    with database(folder) as stores:
        run(stores, spool(folder, replace(whole, messages=messages[:known], shown=None, updated_at=5.0)))
        run(stores, spool(folder, whole))
        (found,) = all_chats(stores)
        assert paths(found) == paths(whole)
        assert run(stores, spool(folder, replace(whole, updated_at=10.0))).grown[0].messages == ()


@pytest.mark.parametrize("created_at", [0.0, 7.0])
def test_what_changed_sides_or_went_on_here_is_known_by_its_time_or_place(tmp_path: Path, created_at: float) -> None:
    """With the same time in all messages, and with one for each."""
    times = [created_at or place for place in (1.0, 2.0, 3.0)]
    first = (say(1, None, "How many?"), say(2, 1, "Three", "assistant"), say(3, 2, "Sure?"))
    messages = tuple(replace(each, created_at=time) for each, time in zip(first, times, strict=True))
    chat = replace(CHAT, messages=messages, shown=3, updated_at=5.0)
    with database(tmp_path) as stores:
        (number,) = run(stores, spool(tmp_path, chat)).ids
        asked, reply, _last = stores.messages.shown_branch(number)
        stores.messages.set_role(asked.id, MessageRole.ASSISTANT)
        stores.messages.save_texts([ReplyText(reply.id, "Three ducks.", "", 0.0)])
        (grown,) = run(stores, spool(tmp_path, replace(chat, updated_at=9.0))).grown
        assert grown.messages == ()


def test_a_reply_that_had_no_word_when_it_was_exported_is_known_when_it_has(tmp_path: Path) -> None:
    with database(tmp_path) as stores:
        asked = stores.ask(Question(0, None, "Explain tides", "Tides", "main", ""))
        stores.states.set_title(asked.chat_id, "Why tides come")
        (exported,) = portable.chats(stores.database, [asked.chat_id], portable.identity(stores))
        assert exported.renamed, "or a model would give it another title where it is imported"
        stores.messages.save_texts([ReplyText(asked.reply_id, "The moon pulls.", "", 0.0)])
        assert run(stores, spool(tmp_path, exported)).skipped == 1
