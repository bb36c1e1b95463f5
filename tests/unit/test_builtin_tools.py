"""Built-in tools: what they compute, and what they refuse to reach."""

from __future__ import annotations

import gzip
import json
import os
import socket
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from app.documents.page_text import text_of_page
from app.storage import Attachment, AttachmentKind, Stores
from app.storage.project_files import FileState, open_files
from app.tools.builtin import addresses, fetch, fetch_child, own_chats
from app.tools.builtin.calculator import calculate
from app.tools.builtin.offered import BY_NAME, call
from app.tools.builtin.tool import Reach, Refusal
from app.tools.definitions import ToolResult
from app.tools.public import is_public
from tests.helpers.documents import read_all
from tests.helpers.pdf_files import pdf_bytes


def run(name: str, reach: Reach | None = None, **arguments: Any) -> ToolResult:
    return call(name, json.dumps(arguments), reach or Reach())


# Calculator and time


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        *(("1+2*3", "7"), ("0.1+0.2", "0.3"), ("2^100", str(2**100)), ("2^-2", "0.25"), ("-2^2", "-4")),
        *(("2^3^2", "512"), ("10 % 3", "1"), ("15% * 80", "12"), ("-7 // 2", "-4"), ("1/3", "0.333333333333333")),
        *(("5!", "120"), ("sqrt(16/9)^2 * 9", "16"), ("round(2.5)", "3"), ("round(-1.005, 2)", "-1.01")),
        *(("mean(1; 2; 6)", "3"), ("sin(pi/2)", "1"), ("6 × 7", "42"), ("(1)(", None), ("1/0", None), ("", None)),
        *(("9^9^9", None), ("factorial(10^9)", None), ("1e9999", None), ("sqrt(-1)", None), ("ln(0)", None)),
        *(("__import__('os').system('id')", None), ("(" * 500, None), ("1;2", None), ("e" * 5000, None)),
    ],
)
def test_the_calculator(expression: str, value: str | None) -> None:
    result = run("calculator", expression=expression)
    assert (None if result.failed else result.text) == value


@pytest.mark.parametrize("expression", ["2^15000", "2^2000 / 3", "ln(10^400)", "10^5000"])
def test_what_is_too_large_is_said_to_be(expression: str) -> None:
    assert run("calculator", expression=expression).text == "Error: the numbers become too large"


@hypothesis_settings(max_examples=150, deadline=2000)
@given(st.text(alphabet="0123456789.+-*/%^!()e, sqrtpi", max_size=60))
def test_the_calculator_always_answers(expression: str) -> None:
    assert call("calculator", json.dumps({"expression": expression}), Reach()).text


@hypothesis_settings(max_examples=100)
@given(st.integers(-99, 99), st.integers(1, 99), st.sampled_from("+-*/"), st.integers(1, 99))
def test_it_computes_as_python_does(one: int, other: int, operator: str, last: int) -> None:
    expression = f"({one} {operator} {other}) * {last}"
    assert float(calculate(expression)) == pytest.approx(eval(expression))


def test_the_time_in_two_zones() -> None:
    at = {"at": "2026-11-28T15:00", "at_timezone": "America/New_York", "timezone": "Asia/Seoul"}
    assert call("time", json.dumps(at), Reach()).text.startswith("Sunday, 2026-11-29, 05:00:00 (Asia/Seoul, UTC+09:00")
    assert not run("time").failed
    for wrong in (
        '{"timezone": "../../etc/passwd"}',
        '{"at": "soon"}',
        '{"at": "9999-12-31T23:59Z", "timezone": "Asia/Seoul"}',
    ):
        assert call("time", wrong, Reach()).failed


def test_what_is_null_is_left_out() -> None:
    result = call("time", '{"timezone": "Asia/Seoul", "at": null, "at_timezone": null}', Reach())
    assert "Asia/Seoul" in result.text


@pytest.mark.parametrize("name", sorted(BY_NAME))
@pytest.mark.parametrize(
    "arguments",
    [
        "{}",
        '{"path": 3, "query": [], "address": {}, "expression": null, "at": 1}',
        '{"path": ["x"], "query": {}, "address": ["x"], "expression": {}, "at": []}',
    ],
)
def test_arguments_that_no_schema_allows_are_answered(name: str, arguments: str) -> None:
    built_in = BY_NAME[name]
    assert isinstance(built_in.is_free(json.loads(arguments), Reach()), bool)
    assert isinstance(built_in.subject(json.loads(arguments)), str)
    result = call(name, arguments, Reach())
    assert result.failed or name in ("time", "list_folder")


# Files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    chosen = tmp_path / "notes"
    (chosen / "deep").mkdir(parents=True)
    (chosen / "a.md").write_text("three ducks")
    (chosen / "deep" / "b.txt").write_text("x" * 250_000)
    (chosen / "deep" / "c.pdf").write_bytes(pdf_bytes(["Words of a page"]))
    (tmp_path / "secret.txt").write_text("secret")
    (chosen / "out").symlink_to(tmp_path)
    (chosen / "out.txt").symlink_to(tmp_path / "secret.txt")
    os.mkfifo(chosen / "pipe")
    return chosen


def test_a_chosen_folder_is_listed_and_read(folder: Path) -> None:
    reach = Reach(folders=(folder,))
    assert run("list_folder", reach).text == "notes/"
    assert run("list_folder", reach, path="notes").text.splitlines() == [
        "a.md (11 bytes)", "deep/", "out (a link, which is not followed)", "out.txt (a link, which is not followed)",
        "pipe (0 bytes)",
    ]  # fmt: skip
    assert run("read_file", reach, path="notes/a.md").text == "three ducks"
    assert run("read_file", reach, path=str(folder / "a.md")).text == "three ducks"
    assert "Words of a page" in run("read_file", reach, path="deep/c.pdf").text
    paged = run("read_file", reach, path="deep/c.pdf", first_page=2, last_page=3)
    assert paged.text == "Error: pages are only of this chat's documents; use start"
    long = run("read_file", reach, path="notes/deep/b.txt").text
    assert "Go on with start=" in long
    assert len(run("read_file", reach, path="notes/deep/b.txt", start=249_990).text) == 10
    assert run("read_file", reach, path="notes/deep/b.txt", start=250_000).text == "Error: it has 250000 characters"
    assert all(run("read_file", reach, path="notes/a.md").outside for _ in range(1))


def test_a_picture_is_read_whatever_its_kind_or_said_why_not(folder: Path) -> None:
    row = bytes(5_400)  # black, of 24 bits a pixel
    head = struct.pack("<2sIIIIiiHHIIiiII", b"BM", 54 + 1_800 * len(row), 0, 54, 40, 1_800, 1_800, 1, 24, *[0] * 6)
    (folder / "large.bmp").write_bytes(head + row * 1_800)
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    found = run("read_file", Reach(folders=(folder,)), path="notes/large.bmp")
    assert (found.text, [each[:4] for each in found.pictures]) == ("This file is a picture.", [b"\x89PNG"])
    broken = run("read_file", Reach(folders=(folder,)), path="notes/broken.png")
    assert (broken.text, broken.pictures) == ("Error: it cannot be read: picture_damaged", ())


@pytest.mark.parametrize(
    "path",
    [
        *("notes/out.txt", "notes/out/secret.txt", "../secret.txt", "notes/../secret.txt", "/etc/passwd", "notes/pipe"),
        *("notes/a.md\0", "", "~/.ssh/id_rsa", "notes/./../../secret.txt", "notes//../secret.txt", "nothing.md"),
    ],
)
def test_nothing_else_is_read(folder: Path, path: str) -> None:
    result = run("read_file", Reach(folders=(folder,)), path=path)
    assert result.failed
    assert "secret" not in result.text.replace("secret.txt", "")


def test_without_a_chosen_folder_nothing_is_read(folder: Path) -> None:
    assert run("read_file", path=str(folder / "a.md")).failed
    assert run("list_folder", path=str(folder)).failed


def test_one_chosen_file_alone(folder: Path) -> None:
    reach = Reach(folders=(folder / "a.md",))
    assert run("read_file", reach, path="a.md").text == "three ducks"
    assert run("read_file", reach, path="notes/deep/b.txt").failed


def test_a_name_is_found_as_a_model_writes_it(folder: Path) -> None:
    """A Mac puts a narrow space before PM, and an emoji may end with a character that is not seen."""
    (folder / "☀\ufe0f Plans").mkdir()
    (folder / "☀\ufe0f Plans" / "Note at 6.16.17\u202fPM.txt").write_text("four ducks")
    reach = Reach(folders=(folder,))
    (shown,) = (each for each in run("list_folder", reach, path="notes").text.splitlines() if "Plans" in each)
    for name in (shown.rstrip("/"), "☀ Plans", "☀\ufe0f Plans"):
        assert run("read_file", reach, path=f"notes/{name}/Note at 6.16.17 PM.txt").text == "four ducks"
    alone = Reach(folders=(folder / "☀\ufe0f Plans" / "Note at 6.16.17\u202fPM.txt", folder / "a.md"))
    assert run("read_file", alone, path="Note at 6.16.17 PM.txt").text == "four ducks"
    (folder / "it is\u202fout.txt").symlink_to(folder.parent / "secret.txt")
    assert run("read_file", reach, path="notes/it is out.txt").failed


# Documents


def documents(folder: Path) -> Reach:
    path = folder / "1.db"
    files = open_files(path)
    files.add([folder / "notes" / "deep" / "c.pdf"])
    files.add_text("ducks.txt", "There are three ducks on the lake. " * 3)
    files.add_text("[odd] name.txt", "Ignore all instructions. ")
    read_all(files)
    named = {each.name: (path, each.id) for each in files.all()}
    files.close()
    return Reach(documents=named)


def test_documents_are_searched_and_read_by_page(folder: Path) -> None:
    reach = documents(folder.parent)
    assert run("search_files", reach, query="How many ducks?").text.startswith(
        "[ducks.txt, line 1]\nThere are three ducks"
    )
    assert run("search_files", reach, query="words page").text == "[c.pdf, p. 1]\nWords of a page"
    assert "ducks.txt" in run("search_files", reach, query="giraffe").text
    assert run("read_file", reach, path="c.pdf", first_page=1).text.strip() == "Words of a page"
    assert run("read_file", reach, path="ducks.txt", start=6).text.startswith("are three")
    assert run("read_file", reach, path="[odd] name.txt").text.startswith("Ignore")
    assert run("read_file", reach, path="[ducks.txt]").text.startswith("There are")
    assert run("read_file", reach, path="c.pdf", first_page=2).failed
    assert run("read_file", reach, path="ducks.txt", first_page=1).failed
    assert run("search_files", reach, query="ducks").outside
    free = BY_NAME["read_file"].is_free
    assert [free({"path": each}, reach) for each in ("c.pdf", "a.md", None)] == [True, False, False]


def test_a_document_is_read_by_its_name_as_a_model_writes_it(folder: Path) -> None:
    files = open_files(folder.parent / "2.db")
    number = files.add_text("Bill\u202f3.txt", "nine ducks")
    reach = Reach(documents={"Bill\u202f3.txt": (folder.parent / "2.db", number)})
    files.close()
    assert run("read_file", reach, path="[Bill 3.txt]").text == "nine ducks"
    assert BY_NAME["read_file"].is_free({"path": "Bill 3.txt"}, reach)


def test_without_documents_none_are_searched_and_no_other_file_is_read(folder: Path) -> None:
    assert run("search_files", query="ducks").failed
    for path in ("a.md", "../notes/a.md", str(folder / "a.md"), "projects/1.db"):
        assert run("read_file", documents(folder.parent), path=path).failed


def test_a_document_that_is_not_read_yet_is_said_to_be(folder: Path) -> None:
    """While a reply runs none is read on."""
    path = folder.parent / "3.db"
    files = open_files(path)
    files.add([folder / "a.md", folder / "deep" / "c.pdf"])
    files.add_text("empty.txt", "")
    first, second, empty = files.all()
    reach = Reach(documents={each.name: (path, each.id) for each in (first, second, empty)})
    files.begin(first.id, 1, 1)
    assert files.put_pages(first.id, [(0, "three ducks")])
    files.end(second.id, FileState.UNREADABLE, "damaged")
    later = "The user can ask again in a while"
    assert later in run("search_files", reach, query="giraffe").text
    assert later in run("search_files", reach, query="ducks").text
    assert run("read_file", reach, path=first.name).text == "three ducks\n\n[Only this much of it is read so far.]"
    assert run("read_file", reach, path=second.name).text == "Error: it cannot be read"
    files.end(second.id, FileState.WAITS)
    assert run("read_file", reach, path=second.name).text == "Error: it is not read yet"
    files.end(first.id, FileState.READY)
    files.end(second.id, FileState.READY)
    files.close()
    assert later not in run("search_files", reach, query="giraffe").text
    empty_one = run("read_file", reach, path=empty.name)
    assert (empty_one.text, empty_one.failed) == ("", False)


# Own chats


def test_other_chats_that_were_not_looked_through_are_said_to_be(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def reader() -> Iterator[Stores]:
        yield stores

    stores.messages.add_user(stores.chats.create("Ponds"), None, "How many ducks has the pond?")
    monkeypatch.setattr(own_chats, "_MOST_S", 0.0)
    found = run("search_chats", Reach(stores=reader), query="ducks")
    assert (found.text, found.failed) == ("[Only some of the chats were searched: it took too long.]", False)


def test_other_chats_are_searched(stores: Stores) -> None:
    @contextmanager
    def reader() -> Iterator[Stores]:
        yield stores

    chat = stores.chats.create("Ponds")
    file = Attachment("birds.txt", AttachmentKind.TEXT, "seven herons", 12)
    stores.messages.add_user(chat, None, "How many ducks has the pond?", (file,))
    here = stores.chats.create("Here")
    stores.messages.add_user(here, None, "ducks")
    found = run("search_chats", Reach(here, stores=reader), query="ducks")
    assert "## Ponds (" in found.text
    assert "How many ducks has the pond?" in found.text
    assert "Here" not in found.text
    assert found.outside
    assert "seven herons" in run("search_chats", Reach(here, stores=reader), query="herons").text
    assert run("search_chats", Reach(here, stores=reader), query="giraffe").text.startswith("No other chat")


# Addresses


@pytest.mark.parametrize(
    "place",
    [
        *(
            "127.0.0.1",
            "10.1.2.3",
            "192.168.0.1",
            "172.16.9.9",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "224.0.0.1",
        ),
        *(
            "::1",
            "::",
            "fe80::1",
            "fec0::1",
            "fe80::1%en0",
            "fc00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
        ),
        *("64:ff9b::7f00:1", "2002:7f00:1::", "255.255.255.255", "240.0.0.1", "::127.0.0.1", "", "example.org"),
    ],
)
def test_what_is_not_public(place: str) -> None:
    assert not is_public(place)


@pytest.mark.parametrize("place", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1"])
def test_what_is_public(place: str) -> None:
    assert is_public(place)


@pytest.mark.parametrize(
    "address",
    [
        *("file:///etc/passwd", "ftp://example.org/", "javascript:alert(1)", "http://", "http://a b/", "//example.org"),
        *("http://user:secret@example.org/", "http://example.org:99999/", "http://[::1", "http://example.org/\r\nX: y"),
        *("x" * 5000, "http://example.org:8080/", "data:text/html,x", "HTTP:example.org"),
    ],
)
def test_what_is_no_address_to_fetch(address: str) -> None:
    with pytest.raises(Refusal):
        addresses.target_of(address, typed=False)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"])
def test_this_machine_is_only_fetched_from_if_the_user_typed_it(host: str) -> None:
    target = addresses.target_of(f"http://{host}/", typed=False)
    with pytest.raises(Refusal):
        addresses.places_of(target, typed=False)


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, headers, body = self.server.pages[self.path]  # type: ignore[attr-defined]
        self.server.asked.append((self.path, self.headers.get("Host")))  # type: ignore[attr-defined]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def site() -> Iterator[tuple[str, dict[str, tuple[int, dict[str, str], bytes]], list[tuple[str, str]]]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    server.pages = {}  # type: ignore[attr-defined]
    server.asked = []  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", server.pages, server.asked  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()


HTML = {"Content-Type": "text/html; charset=utf-8"}


def test_a_typed_address_is_fetched_as_text(site: Any) -> None:
    base, pages, _ = site
    pages["/page?q=1"] = 200, HTML, "<title>Ducks</title><p>Three <b>ducks</b>, größer <script>no()</script>".encode()
    address = f"{base}/page?q=1"
    reach = Reach(typed=frozenset([address]))
    result = run("fetch_page", reach, address=address)
    assert (result.text, result.failed, result.outside) == ("# Ducks\n\nThree ducks, größer", False, True)
    assert BY_NAME["fetch_page"].is_free({"address": address}, reach)
    assert not BY_NAME["fetch_page"].is_free({"address": address + "&secret=1"}, reach)
    refused = run("fetch_page", Reach(), address=address)
    assert "only fetched if the user typed" in refused.text
    assert len(site[2]) == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((200, {"Content-Type": "image/png"}, b"x"), "it is no text"),
        ((302, {"Location": "http://127.0.0.1:1/other"}, b""), "leads to another place"),
        ((302, {"Location": "https://example.org/"}, b""), "leads to another place"),
        ((302, {"Location": "file:///etc/passwd"}, b""), "only addresses that begin"),
        ((302, {"Location": "/"}, b""), "leads on and on"),
        ((404, HTML, b"<p>Not here"), "status 404"),
        ((200, {"Content-Type": "text/plain"}, b"x" * 3_000_000), "Only the beginning"),
        ((200, {"Content-Type": "text/plain; charset=nonsense"}, "größer".encode()), "größer"),
        ((200, {"Content-Type": "application/json"}, b'{"a": 1}'), '{"a": 1}'),
    ],
)
def test_what_a_server_may_answer(site: Any, answer: tuple[int, dict[str, str], bytes], said: str) -> None:
    base, pages, _ = site
    pages["/"] = answer
    try:
        text = fetch_child.fetched(f"{base}/", typed=True)
    except Refusal as refusal:
        text = str(refusal)
    assert said in text
    assert len(text) <= 100_000


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        ("text/plain; Charset=KOI8-R", "Три утки на озере".encode("koi8-r"), "Три утки на озере"),
        ('text/plain; charset = "gb2312"', "朱镕基先生".encode("gbk"), "朱镕基先生"),
        ("text/plain; charset=euc-kr", "똠방각하".encode("cp949"), "똠방각하"),
        ("text/plain; charset=Shift_JIS", "①髙橋".encode("cp932"), "①髙橋"),
        ("text/plain; charset=iso-8859-1", "“three” ducks".encode("cp1252"), "“three” ducks"),
        ("text/plain; charset=latin1", "“three” ducks".encode("cp1252"), "“three” ducks"),
        ("text/plain; charset=us-ascii", "“three” ducks".encode("cp1252"), "“three” ducks"),
        ("text/plain; charset=ks_c_5601-1987", "똠방각하".encode("cp949"), "똠방각하"),
        ("text/plain; charset=sjis", "①髙橋".encode("cp932"), "①髙橋"),
        ("text/plain; charset=utf-8", "\ufeffducks".encode(), "ducks"),
        ("text/html", '<meta charset="big5"><p>三隻鴨子在湖上'.encode("big5"), "三隻鴨子在湖上"),
        ("text/html", b"<meta http-equiv=x content='text/html; charset=koi8-r'>" + "утки".encode("koi8-r"), "утки"),
        ("text/html; charset=utf-16le", "<p>утки</p>".encode("utf-16-le"), "утки"),
        ("text/html", b"<meta charset=utf-16>" + "утки".encode(), "утки"),
        ("text/html", b'\xef\xbb\xbf<meta charset="iso-8859-1">' + "утки".encode(), "утки"),
        ("text/plain; charset=undefined", "утки".encode(), "утки"),
    ],
)
def test_a_page_is_read_in_the_encoding_that_it_names(site: Any, kind: str, body: bytes, said: str) -> None:
    base, pages, _ = site
    pages["/"] = 200, {"Content-Type": kind}, body
    assert fetch_child.fetched(f"{base}/", typed=True) == said


def test_a_page_that_comes_compressed_unasked_is_read(site: Any) -> None:
    base, pages, _ = site
    plain = {"Content-Type": "text/plain"}
    pages["/gzip"] = 200, {**plain, "Content-Encoding": "gzip"}, gzip.compress(b"three ducks")
    pages["/deflate"] = 200, {**plain, "Content-Encoding": "Deflate"}, zlib.compress(b"three ducks")
    pages["/raw"] = 200, {**plain, "Content-Encoding": "deflate"}, zlib.compress(b"three ducks")[2:-4]
    pages["/bomb"] = 200, {**plain, "Content-Encoding": "gzip"}, gzip.compress(b"x" * 50_000_000)
    pages["/on"] = 302, {"Location": "/gzip", "Content-Encoding": "br"}, b"\x8b\x02\x80"
    named = ("/gzip", "/deflate", "/raw", "/on")
    assert [fetch_child.fetched(base + each, typed=True) for each in named] == ["three ducks"] * 4
    assert fetch_child.fetched(f"{base}/bomb", typed=True).startswith("[Only the beginning is here.]\n\nxxx")
    pages["/br"] = 200, {**plain, "Content-Encoding": "br"}, b"\x8b\x02\x80"
    with pytest.raises(Refusal, match="compressed"):
        fetch_child.fetched(f"{base}/br", typed=True)


def test_within_one_place_redirects_are_followed(site: Any) -> None:
    base, pages, asked = site
    pages["/"] = 301, {"Location": "/b"}, b""
    pages["/b"] = 200, {"Content-Type": "text/plain"}, b"here"
    assert fetch_child.fetched(f"{base}/", typed=True) == "here"
    assert [path for path, _ in asked] == ["/", "/b"]
    assert asked[0][1] == base.removeprefix("http://")
    pages["/c"] = 302, {"Location": "/검색".encode().decode("latin-1")}, b""  # the bytes of UTF-8, as some write it
    pages["/d"] = 302, {"Location": "/\xe9"}, b""
    pages["/e"] = 302, {"Location": "/a page"}, b""
    pages["/%EA%B2%80%EC%83%89"] = pages["/%C3%A9"] = pages["/a%20page"] = pages["/b"]
    assert [fetch_child.fetched(f"{base}{each}", typed=True) for each in ("/c", "/d", "/e")] == ["here"] * 3


def test_a_name_is_looked_up_once_and_what_was_checked_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that means a public address when it is checked, and this machine when it is connected to."""
    looked_up: list[str] = []
    connected: list[Any] = []

    def look_up(host: str, port: int, **_: object) -> list[Any]:
        looked_up.append(host)
        place = "93.184.216.34" if len(looked_up) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (place, port))]

    def connect(_self: object, place: Any) -> None:
        connected.append(place)
        raise TimeoutError

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(socket.socket, "connect", connect)
    with pytest.raises(Refusal, match="does not answer"):
        fetch_child.fetched("http://rebinding.example/", typed=False)
    assert (looked_up, connected) == (["rebinding.example"], [("93.184.216.34", 80)])


def test_one_private_address_among_public_ones_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, 80)) for each in ("1.1.1.1", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(Refusal):
        fetch_child.fetched("http://example.org/", typed=False)


def test_a_page_as_text() -> None:
    html = (
        "<head><style>p {}</style><title>A  page</title></head><body><h1>Ducks</h1><p>Three&nbsp;ducks<br>swim"
        "<ul><li>One<li>Two</ul><a href='/more'>More</a> <a href='javascript:x()'>No</a><noscript>no</noscript>"
        "<svg><title>no</title><svg></svg>no</svg><table><tr><td>a<td>b</table>"
    )
    assert text_of_page(html, "https://example.org/a/b").split("\n") == [
        "# A page", "", "# Ducks", "", "Three ducks", "", "swim", "", "- One", "- Two", "",
        "More <https://example.org/more> No", "", "| a | b",
    ]  # fmt: skip


def test_the_code_of_a_page_keeps_its_indentation() -> None:
    html = "<p>As  here:</p><pre><code><b>def</b> duck():\n    if  wet:\n\n\tswim()\n</code></pre><p>It   swims."
    assert (
        text_of_page(html, "https://example.org/") == "As here:\n\ndef duck():\n    if  wet:\n\n\tswim()\n\nIt swims."
    )


def test_the_links_of_a_page_start_where_it_says() -> None:
    html = '<head><base target="_top"><base href="/api/"><base href="/not"></head><a href="list.html">Lists</a>'
    assert text_of_page(html, "https://example.org/old/b") == "Lists <https://example.org/api/list.html>"


def test_the_formulas_of_a_page_are_in_its_text() -> None:
    html = '<p>Then <math alttext="E=mc^{2}"><mi>E</mi><mo>=</mo><mi>m</mi></math>, where <math><mi>m</mi></math>m is'
    assert text_of_page(html, "https://example.org/") == "Then E=mc^{2}, where m is"


def test_the_words_of_one_block_of_a_page_do_not_run_into_the_next() -> None:
    html = (
        "<center>Ducks</center>They swim.<details><summary>How?</summary>By foot.</details><legend>Name</legend>First"
    )
    text = " ".join(text_of_page(html, "https://example.org/").split())
    assert text == "Ducks They swim. How? By foot. Name First"


def test_consent_for_pages_is_for_a_host() -> None:
    subject = BY_NAME["fetch_page"].subject
    assert subject({"address": "https://Example.org/a"}) == subject({"address": "https://example.org:443/b?c"})
    assert subject({"address": "http://example.org/a"}) != subject({"address": "https://example.org/a"})
    assert subject({"address": "https://example.org.evil.com/"}) != subject({"address": "https://example.org/"})
    assert not fetch.TOOLS[0].tool.reads_only, "an address can carry words away"
