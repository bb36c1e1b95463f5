"""Notices of new versions: words that are signed, of limited size; what is newer; how each copy is updated."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from app.system import updates
from app.system.updates import NotANotice, is_newer, notice_of, read_answer, update_command
from app.view_models.help_pages import help_pages
from tests.helpers.notices import NOTES, SECRET, answer, signing

KEY = signing().public_key(SECRET)


def test_a_signed_notice_is_read() -> None:
    notice = read_answer(json.loads(answer("0.2.0")), KEY)
    assert (notice.version, notice.page) == ("0.2.0", "releases/v9.1")
    assert [notice.notes_in(each) for each in ("ko", "fr")] == [NOTES["ko"], NOTES["en"]]


def test_what_is_not_signed_with_the_key_is_refused() -> None:
    good = json.loads(answer())
    other = signing().published(good["notice"], bytes(32))
    changed = {**good, "notice": good["notice"].replace("9.1", "9.2")}
    damaged: tuple[object, ...] = (other, changed, {**good, "signature": "*"}, {**good, "signature": ""})
    for each in (*damaged, {"notice": 1}, [], None, "x"):
        with pytest.raises(NotANotice):
            read_answer(each, KEY)
    text = json.dumps({"version": "9.1", "page": "//elsewhere.example", "notes": {}})
    signature = base64.b64encode(signing().signature(text.encode(), SECRET)).decode()
    with pytest.raises(NotANotice):  # though it is signed
        read_answer({"notice": text, "signature": signature}, KEY)


@pytest.mark.parametrize(
    "values",
    [
        {"page": "../elsewhere"},
        {"page": "//elsewhere.example"},
        {"page": "a?b#c"},
        {"page": ""},
        {"version": "latest"},
        {"version": "1." + "9" * 50},
        {"notes": ["en"]},
        {"notes": {"en": "x" * 401}},
        {"notes": {"en": "x\n" * 9}},
        {"notes": {"en": ["x"]}},
        {"notes": {"e n": "x"}},
        {"notes": dict.fromkeys((f"l{chr(97 + each)}" for each in range(26)), "x")},
    ],
)
def test_what_a_notice_cannot_say_is_refused_and_not_even_signed(values: dict[str, object]) -> None:
    text = json.dumps({"version": "9.1", "page": "releases", "notes": {}} | values)
    with pytest.raises(NotANotice):
        notice_of(text)
    with pytest.raises(NotANotice):
        signing().published(text, SECRET)


@pytest.mark.parametrize("text", ["", "[]", "1", "{}", "[" * 50_000, '{"version": "1.0"}', '"\\ud800"'])
def test_what_is_no_notice_is_refused(text: str) -> None:
    with pytest.raises(NotANotice):
        notice_of(text)


@pytest.mark.parametrize(
    ("version", "than", "newer"),
    [
        ("0.2.0", "0.1.0", True),
        ("0.10", "0.9.9", True),
        ("0.1.0", "0.1", False),
        ("0.1", "0.1.0", False),
        ("0.0.9", "0.1.0", False),
        ("9.0", "0.1.0.dev3+abc", False),
    ],
)
def test_only_a_later_version_is_newer(version: str, than: str, newer: bool) -> None:
    assert is_newer(version, than) == newer


def test_each_copy_is_updated_by_what_installed_it(tmp_path: Path) -> None:
    assert update_command("/home/a/.local/share/uv/tools/hunch-chat") == "uv tool upgrade hunch-chat"
    assert update_command("/home/a/.local/pipx/venvs/hunch-chat") == "pipx upgrade hunch-chat"
    assert update_command("/home/a/uv/tools") == ""
    app = str(tmp_path / "Hunch.app" / "Contents" / "MacOS" / "Hunch")
    assert update_command("/x", app, (str(tmp_path / "Caskroom"),)) == ""
    (tmp_path / "Caskroom" / "hunch").mkdir(parents=True)
    assert update_command("/x", app, (str(tmp_path / "Caskroom"),)) == "brew upgrade --cask hunch"
    assert update_command("/x", "/usr/bin/python3", (str(tmp_path / "Caskroom"),)) == ""


def test_a_new_key_is_kept_from_others_and_never_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    key, notice = tmp_path / "key", tmp_path / "notice.json"
    words = {"version": "0.2.0", "page": "releases", "notes": NOTES}
    notice.write_text(json.dumps(words), "utf-8")
    monkeypatch.setattr("sys.argv", ["sign_notice.py", "new-key", str(key)])
    assert signing().main() == 0
    public = bytes.fromhex(capsys.readouterr().out)
    assert key.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        signing().main()
    monkeypatch.setattr("sys.argv", ["sign_notice.py", "sign", str(key), str(notice)])
    assert signing().main() == 0
    assert read_answer(json.loads(capsys.readouterr().out), public).version == "0.2.0"
    notice.write_text(json.dumps(words | {"notes": {"en": "Faster.", "ko": "더 빨라요."}}), "utf-8")
    with pytest.raises(NotANotice, match="no notes in ja, zh_CN"):
        signing().main()


def test_help_tells_of_it_as_soon_as_a_build_asks() -> None:
    privacy = next(page for page in help_pages("en") if page.name == "privacy")
    told = any("**Tell me about updates**" in section.answer for section in privacy.sections)
    assert told == (updates.CHANNEL is not None)
