"""The files of other programs: only what was shown is changed, and it can be taken back."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from app.client_files import jsonc_text
from app.client_files.client_file import Proposal, Refusal, Refused, proposed, undo, write
from app.client_files.merging import NotKept, merged
from app.words.clients import CLIENTS, Reached

REACHED = Reached("http://127.0.0.1:4862", "Qwen3-8B", 40960, "hunch-key")
ELSEWHERE = Reached("http://127.0.0.1:4863", "Qwen3-4B", 8192, "another-key")

# Each as a user may have it, with what must not be lost in it.
FILES = {
    "claude": ["{}\n", '{\n\t"env": {"PATH_TO": "/x", "ANTHROPIC_MODEL": "opus"},\n\t"hooks": {"Stop": []}\n}', " \n"],
    "codex": [
        '# Mine\nmodel = "gpt-5" # fast\napproval_policy = "never"\n\n[mcp_servers.a]\nargs = [\n  "x",\n  "# y",\n]',
        '[model_providers.hunch]\nname = "Hunch" # ours\nretries = 3\n\n[profiles.x]\nmodel = "o3"\n',
        'notify = """\n[model_providers.hunch] in words\n"""\n',
    ],
    "opencode": [
        '{"theme": "dark", "provider": {"x": {"options": {}}}}',
        '{\n  "provider": {},\n  "keys": [1, 2.50]\n}\n',
    ],
    "zed": [
        '// Zed settings\n//\n{\n  "vim_mode": true, // yes\n  /* fonts */ "ui_font_size": 16,\n  "agent": {\n'
        '    "default_model": {\n      "provider": "zed.dev",\n      "model": "x", // was y\n    },\n'
        "  },\n  // the end\n}\n",
        '{\n  "language_models": {\n    "lmstudio": {\n      "available_models": [\n'
        '        {"name": "other", "max_tokens": 1},\n'
        "      ]\n    }\n  } // no comma\n}\n",
    ],
    "continue": [
        "name: Mine # as I like it\nversion: 0.0.1\nschema: v1\nmodels:\n- name: GPT\n  provider: openai # theirs\n"
        "\n# what else\nrules:\n  - |\n    Be short.\n",
        'name: x\r\nmodels:\r\n  - name: "Qwen3-8B"\r\n    provider: ollama # here\r\n    model: q\r\n',
    ],
    "aider": [
        "# model: x\ndark-mode: true\nmodel: gpt-4o # good\n",
        "## all is a comment\n#help: xxx",
        "read: [A.md, B.md]",
    ],
}


def read(client: str, data: bytes) -> Any:
    text = data.decode()
    kind = Path(str(CLIENTS[client].file.path)).suffix  # type: ignore[union-attr]
    if kind == ".toml":
        return tomllib.loads(text)
    return jsonc_text.parsed(text) if kind == ".json" else yaml.safe_load(text)


def look(client: str, home: Path, reached: Reached = REACHED) -> Proposal:
    wanted = CLIENTS[client].wanted(reached, home)
    assert wanted is not None
    return proposed(wanted)


def put(client: str, home: Path, text: str) -> Path:
    file = CLIENTS[client].wanted(REACHED, home).path  # type: ignore[union-attr]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


def comments(text: str) -> list[str]:
    return re.findall(r"(?<!:)//[^\n]*$|/\*.*?\*/|(?<![\w\"])#.*$", text, re.MULTILINE)


@pytest.mark.parametrize(("client", "text"), [(client, text) for client in FILES for text in FILES[client]])
def test_what_else_is_in_a_file_stays(client: str, text: str, tmp_path: Path) -> None:
    file = put(client, tmp_path, text)
    shown = look(client, tmp_path)
    assert file.read_bytes() == text.encode()  # nothing happens before it is asked for
    write(shown)
    after = file.read_bytes().decode()
    wanted = CLIENTS[client].wanted(REACHED, tmp_path)
    assert wanted is not None
    if text.strip():
        assert read(client, file.read_bytes()) == merged(read(client, text.encode()) or {}, wanted.change)
    assert comments(after) == comments(text)
    assert after.count("\r\n") == (after.count("\n") if "\r\n" in text else 0)
    with pytest.raises(Refused) as refused:
        look(client, tmp_path)
    assert refused.value.why is Refusal.SAME

    write(look(client, tmp_path, ELSEWHERE))  # another model, port and key
    assert comments(file.read_bytes().decode()) == comments(text)


@pytest.mark.parametrize("client", FILES)
def test_a_file_that_is_not_there_is_what_the_client_needs_and_goes_again(client: str, tmp_path: Path) -> None:
    wanted = CLIENTS[client].wanted(REACHED, tmp_path)
    assert wanted is not None
    shown = look(client, tmp_path)
    assert shown.lines
    assert all(line.startswith("+") for line in shown.lines)
    written = write(shown)
    assert read(client, wanted.path.read_bytes()) == wanted.alone | wanted.change
    assert wanted.path.stat().st_mode & 0o777 == 0o600  # a key is in it
    undo(written)
    assert not wanted.path.exists()


@pytest.mark.parametrize(
    ("client", "text", "why"),
    [
        ("claude", '{"env": {', Refusal.UNREADABLE),
        ("claude", '{"env": {}, "env": {}}', Refusal.UNREADABLE),
        ("claude", "[1]", Refusal.UNREADABLE),
        ("claude", '{"a": 1 "b": 2}', Refusal.UNREADABLE),
        ("claude", "[" * 100_000, Refusal.UNREADABLE),
        ("claude", '{"env": ["ANTHROPIC_MODEL"]}', Refusal.NOT_KEPT),
        ("opencode", '{"provider": 3}', Refusal.NOT_KEPT),
        ("codex", "model = \n", Refusal.UNREADABLE),
        ("codex", 'model = """\nx"""\n', Refusal.NOT_KEPT),
        ("codex", 'notify = """\nmodel = no\n"""\n', Refusal.NOT_KEPT),
        ("codex", 'model_providers = { hunch = { name = "x" } }\n', Refusal.NOT_KEPT),
        ("codex", 'model_providers.hunch.name = "x"\n', Refusal.NOT_KEPT),
        ("continue", "a: [", Refusal.UNREADABLE),
        ("continue", "models: [{name: x}]\n", Refusal.NOT_KEPT),
        ("continue", "models: &all\n  - name: x\nothers: *all\n", Refusal.NOT_KEPT),
        ("aider", "--- 1\n--- 2\n", Refusal.UNREADABLE),
        ("aider", "model: |\n  x\n", Refusal.NOT_KEPT),
    ],
)
def test_what_cannot_be_read_or_would_be_lost_is_not_touched(
    client: str, text: str, why: Refusal, tmp_path: Path
) -> None:
    put(client, tmp_path, text)
    with pytest.raises(Refused) as refused:
        look(client, tmp_path)
    assert refused.value.why is why


def test_a_link_stays_one_modes_are_kept_and_the_former_file_lies_beside_it(tmp_path: Path) -> None:
    link, real = put("codex", tmp_path, ""), tmp_path / "dotfiles" / "codex"
    real.parent.mkdir()
    real.write_bytes(b'model = "x"\n')
    real.chmod(0o640)
    link.unlink()
    link.symlink_to(real)
    written = write(look("codex", tmp_path))
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    copy = real.with_name("codex.before-hunch")
    assert written.copy == copy
    assert copy.read_bytes() == b'model = "x"\n'
    again = write(look("codex", tmp_path, ELSEWHERE))
    assert again.copy == real.with_name("codex.before-hunch-2")
    undo(again)
    undo(written)
    assert real.read_bytes() == b'model = "x"\n'
    assert [each.name for each in real.parent.iterdir()] == ["codex"]


def test_what_a_killed_write_left_goes_with_the_next_one(tmp_path: Path) -> None:
    file = put("codex", tmp_path, 'model = "x"\n')
    left = [file.with_name(f"{name}.0123abcd.new") for name in (file.name, f"{file.name}.before-hunch")]
    others = [file.with_name(name) for name in ("auth.json.0123abcd.new", f"{file.name}.new", f"{file.name}.bak")]
    for each in (*left, *others):
        each.touch()
        os.utime(each, (0, 0))
    young = file.with_name(f"{file.name}.89abcdef.new")  # of a write that goes on, perhaps
    young.touch()
    written = write(look("codex", tmp_path))
    assert set(file.parent.iterdir()) == {file, written.copy, young, *others}
    os.utime(young, (0, 0))
    undo(written)
    assert set(file.parent.iterdir()) == {file, *others}


def test_what_somebody_else_wrote_meanwhile_stays(tmp_path: Path) -> None:
    file = put("codex", tmp_path, 'model = "x"\n')
    shown = look("codex", tmp_path)
    file.write_bytes(b'model = "y"\n')
    with pytest.raises(Refused) as refused:
        write(shown)
    assert (refused.value.why, file.read_bytes()) == (Refusal.OTHER, b'model = "y"\n')
    written = write(look("codex", tmp_path))
    file.write_bytes(b'model = "z"\n')
    with pytest.raises(Refused) as refused:
        undo(written)
    assert (refused.value.why, file.read_bytes()) == (Refusal.OTHER, b'model = "z"\n')


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path) -> None:
    file = put("codex", tmp_path, "")
    file.unlink()
    file.mkdir()
    with pytest.raises(Refused) as refused:
        look("codex", tmp_path)
    assert refused.value.why in (Refusal.DISK, Refusal.UNREADABLE)


def test_what_is_shown_is_what_changes(tmp_path: Path) -> None:
    put("aider", tmp_path, "a: 1\nb: 2\nc: 3\nmodel: old # good\nd: 4\n")
    assert look("aider", tmp_path, Reached("http://127.0.0.1:4862")).lines == [
        " b: 2",
        " c: 3",
        "-model: old # good",
        '+model: "openai/default" # good',
        " d: 4",
        '+openai-api-base: "http://127.0.0.1:4862/v1"',
        '+openai-api-key: "hunch"',
        "+show-model-warnings: false",
    ]


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=8,
)
_OBJECTS = st.dictionaries(st.sampled_from("abcd"), _VALUES, max_size=4)


@given(_OBJECTS, _OBJECTS, st.sampled_from([None, 0, 2, "\t"]), st.booleans(), st.data())
def test_any_json_is_changed_as_a_parser_would(
    present: dict[str, Any], change: dict[str, Any], indent: Any, trailing: bool, data: st.DataObject
) -> None:
    text = json.dumps(present, indent=indent)
    if indent:
        marks = [line + (" // note" if data.draw(st.booleans()) else "") for line in text.split("\n")]
        text = "\n".join(marks)
        if trailing:
            text = re.sub(r'(?<=[\w"])( // note)?\n(?=\s*})', r",\1\n", text)
    try:
        expected = merged(present, change)
    except NotKept:
        return
    after = jsonc_text.edited(text, change)
    assert jsonc_text.parsed(after) == expected
    assert after.count(" // note") == text.count(" // note")
