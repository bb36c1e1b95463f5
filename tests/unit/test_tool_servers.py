"""Tool servers that the user has: their file, secrets, consent to the whole command; imports; commands."""

from __future__ import annotations

import json
import os
import pwd
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.system.secrets import Secrets
from app.tools import commands
from app.tools.commands import ask_shell, find_command, server_environment
from app.tools.imports import Parsed, parse_file, parse_servers, sources
from app.tools.public import may_be_address
from app.tools.servers import MOST_SERVERS, ServerConfig, ToolServers, checked
from app.tools.wire import ServerFault, ServerProblem

_FILES = ServerConfig("", "Files", "sh", ("-c", "true"))


class _Keychain:
    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, password: str) -> None:
        self.kept[service, name] = password

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


def _servers(folder: Path) -> ToolServers:
    return ToolServers(folder / "tools.json", Secrets(folder / "hub_token"))


def test_a_server_is_off_until_its_whole_command_was_seen(tmp_path: Path) -> None:
    servers = _servers(tmp_path)
    server = servers.add(replace(_FILES, is_on=True, confirmed="made up"))
    assert server.command == find_command("sh")
    assert not server.enabled
    with pytest.raises(ServerFault):
        servers.reach(server)
    servers.set_on(server.id, True)
    assert not servers.confirm(server.id, "sh -c true")
    assert not servers.all()[0].enabled
    assert servers.confirm(server.id, server.shown)
    enabled = servers.all()[0]
    assert servers.reach(enabled).command == (server.command, "-c", "true")
    for other in (replace(enabled, args=("-c", "rm")), replace(enabled, env=("NEW",))):
        assert not other.enabled
        with pytest.raises(ServerFault):
            servers.reach(other)
    servers.set_on(server.id, False)
    assert not servers.all()[0].enabled
    with pytest.raises(ServerFault):
        servers.reach(enabled)
    servers.set_on(server.id, True)
    servers.reach(enabled)
    servers.remove(server.id)
    with pytest.raises(ServerFault):
        servers.reach(enabled)


def test_servers_are_stored_without_their_secrets(tmp_path: Path) -> None:
    servers = _servers(tmp_path)
    value = "secret ✓\nof two lines " + "x" * 5000
    server = servers.add(_FILES, {"TOKEN": value})
    web = servers.add(
        ServerConfig("", "Files", address="https://example.com/mcp"), headers={"Authorization": "Bearer 1"}
    )
    servers.confirm(server.id, server.shown)
    servers.write()
    file = tmp_path / "tools.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "secret" not in file.read_text()
    assert "Bearer" not in file.read_text()
    again = _servers(tmp_path)
    assert [each.id for each in again.all()] == ["files", "files-2"]
    reach = again.reach(again.all()[0])
    assert reach.environment["TOKEN"] == value
    assert value not in repr(reach)
    assert again.missing_secrets(web) == ()
    again.confirm(web.id, web.shown)
    assert again.reach(again.all()[1]).headers == {"Authorization": "Bearer 1"}
    again.remove("files")
    again.write()
    assert [each.id for each in _servers(tmp_path).all()] == ["files-2"]
    assert "TOKEN" not in (tmp_path / "hub_token").read_text()


def test_the_query_of_an_address_is_a_secret(tmp_path: Path) -> None:
    servers = _servers(tmp_path)
    server = servers.add(ServerConfig("", "Web", address="https://example.com/mcp?api_key=secret"))
    assert server.shown == "https://example.com/mcp?…"
    assert servers.confirm(server.id, server.shown)
    servers.write()
    assert "api_key" not in (tmp_path / "tools.json").read_text()
    again = _servers(tmp_path)
    assert again.reach(again.all()[0]).address == "https://example.com/mcp?api_key=secret"


def test_secrets_are_in_the_keychain_and_are_no_hubs(tmp_path: Path) -> None:
    keychain = _Keychain()
    secrets = Secrets(tmp_path / "hub_token", lambda: keychain)
    servers = ToolServers(tmp_path / "tools.json", secrets)
    servers.add(_FILES, {"TOKEN": "of the server"})
    secrets.keep("hf_token", "https://hub.example")
    servers.write()
    assert "of the server" in next(iter(keychain.kept.values()))
    assert not (tmp_path / "hub_token").exists()
    assert Secrets(tmp_path / "hub_token", lambda: keychain).origins("") == ("https://hub.example",)


def test_a_value_that_is_missing_is_named(tmp_path: Path) -> None:
    servers = _servers(tmp_path)
    server = servers.add(replace(_FILES, env=("TOKEN",)))
    servers.confirm(server.id, server.shown)
    assert servers.missing_secrets(server) == ("TOKEN",)
    with pytest.raises(ServerFault) as fault:
        servers.reach(servers.all()[0])
    assert (fault.value.problem, fault.value.detail) == (ServerProblem.NO_SECRET, "TOKEN")
    servers.set_secret(server.id, "env", "TOKEN", "")
    assert servers.reach(servers.all()[0]).environment["TOKEN"] == ""
    for wrong in ("x" * 20_001, "a\0b"):
        with pytest.raises(ServerFault):
            servers.set_secret(server.id, "env", "TOKEN", wrong)


@pytest.mark.parametrize("value", ["Bearer “secret”", "키", "a\nb", "a\u00a0b"])
def test_a_header_of_letters_that_none_can_have_is_refused(tmp_path: Path, value: str) -> None:
    servers = _servers(tmp_path)
    with pytest.raises(ServerFault) as fault:
        servers.add(ServerConfig("", "Web", address="https://example.com/mcp"), headers={"Authorization": value})
    assert (fault.value.problem, fault.value.detail) == (ServerProblem.VALUE, "Authorization")
    assert servers.all() == ()


@pytest.mark.parametrize("name", ["npx", "uvx", "docker"])
def test_a_program_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(commands, "_PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    servers = _servers(tmp_path)
    server = servers.add(ServerConfig("", "a", name, ("-y", "x")))
    assert servers.confirm(server.id, f"{name} -y x")
    with pytest.raises(ServerFault) as fault:
        servers.reach(servers.all()[0])
    assert fault.value.problem is ServerProblem.NO_COMMAND
    assert fault.value.detail == {"npx": "node", "uvx": "uv", "docker": "docker"}[name]


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        (ServerConfig("", "a"), ServerProblem.NO_COMMAND),
        (ServerConfig("", "a", "sh", address="https://a.example"), ServerProblem.NO_COMMAND),
        (ServerConfig("", "a", "sh\nrm"), ServerProblem.CHARACTERS),
        (ServerConfig("", "a", "s\u202eh"), ServerProblem.CHARACTERS),
        (ServerConfig("", "a", "sh", ("\ud800",)), ServerProblem.CHARACTERS),
        (ServerConfig("", "a", "sh", ("a\0b",)), ServerProblem.VALUE),
        (ServerConfig("", "a", "sh", ("x" * 5000,)), ServerProblem.VALUE),
        (ServerConfig("", "a", "sh", ("x",) * 200), ServerProblem.TOO_MANY),
        (ServerConfig("", "a", "sh", env=tuple(f"A{number}" for number in range(200))), ServerProblem.TOO_MANY),
        (ServerConfig("", "a", "sh", folder="/tmp\n"), ServerProblem.CHARACTERS),
        (ServerConfig("", "a", "sh", env=("A=B",)), ServerProblem.NAME),
        (ServerConfig("", "a", "sh", env=("A\nB",)), ServerProblem.NAME),
        (ServerConfig("", "a", "sh", env=("DYLD_INSERT_LIBRARIES",)), ServerProblem.NAME),
        (ServerConfig("", "a", "sh", env=("NODE_OPTIONS",)), ServerProblem.NAME),
        (ServerConfig("", "a", address="https://a.example", headers=("A\r\nB",)), ServerProblem.NAME),
        (ServerConfig("", "a", address="http://169.254.169.254/latest"), ServerProblem.ADDRESS),
        (ServerConfig("", "a", address="https://faß.example/mcp"), ServerProblem.ADDRESS),
        (ServerConfig("", "a", address="https://a\u200db.example/mcp"), ServerProblem.ADDRESS),
        (ServerConfig("", "a", address="https://a.example／b/mcp"), ServerProblem.ADDRESS),
        (ServerConfig("", "a", address=f"https://{'ü' * 80}.example/mcp"), ServerProblem.ADDRESS),
        (ServerConfig("", "a", address="https://me:hush@bücher.example/mcp"), ServerProblem.ADDRESS),
    ],
)
def test_what_can_be_no_server_is_refused(server: ServerConfig, problem: ServerProblem) -> None:
    with pytest.raises(ServerFault) as fault:
        checked(server)
    assert fault.value.problem is problem
    assert fault.value.detail or problem is ServerProblem.NO_COMMAND


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("https://Bücher.example:8443/a?key=hush", "https://xn--bcher-kva.example:8443/a?…"),
        ("https://例え.テスト/mcp", "https://xn--r8jz45g.xn--zckzah/mcp"),
        ("https://аpple.example/", "https://xn--pple-43d.example/"),
        ("https://a.example/bücher", "https://a.example/bücher"),
    ],
)
def test_an_address_is_shown_and_stored_as_certificates_have_it(tmp_path: Path, typed: str, shown: str) -> None:
    """So that nothing looks like what it is not, and a sign-in finds its own origin again."""
    servers = _servers(tmp_path)
    assert servers.add(ServerConfig("", "a", address=typed)).shown == shown
    servers.write()
    assert [each.shown for each in _servers(tmp_path).all()] == [shown]


def test_variables_that_say_where_code_comes_from_are_part_of_the_command(tmp_path: Path) -> None:
    servers = _servers(tmp_path)
    given = {"UV_INDEX_URL": "https://evil.example/", "PYTHONPATH": "/tmp/my evil", "npm_config_registry": "https://e"}
    added = servers.add(ServerConfig("", "a", "sh", ("-c", "x")), given | {"NODE_AUTH_TOKEN": "hush"})
    assert added.shown.startswith("UV_INDEX_URL=https://evil.example/ 'PYTHONPATH=/tmp/my evil' npm_config_registry=")
    assert added.env == ("NODE_AUTH_TOKEN",)
    assert servers.confirm(added.id, added.shown)
    servers.write()
    (again,) = _servers(tmp_path).all()
    assert (again.enabled, again.shown) == (True, added.shown)
    now = servers.get(added.id)
    assert now is not None
    assert servers.reach(now).environment.items() >= given.items()
    plain = servers.add(ServerConfig("", "a", "sh", ("-c", "x")))
    assert len({plain.digest, added.digest}) == len({plain.identity, added.identity}) == 2
    for name, value in (("PIP_INDEX_URL", "https://me:hush@host/"), ("NODE_OPTIONS", "--require=/tmp/evil.js")):
        with pytest.raises(ServerFault):
            servers.add(ServerConfig("", "a", "sh"), {name: value})


def test_the_command_is_shown_whole_with_what_is_not_seen() -> None:
    server = ServerConfig("", "a", "/bin/sh", ("-c", "a\nb\u202ec\x1b[2K", "x y"), folder="/tmp")
    assert server.shown == r"/bin/sh -c 'a\nb\u202ec\x1b[2K' 'x y'  (in /tmp)"


@pytest.mark.parametrize(
    ("address", "may"),
    [
        ("https://example.com/mcp", True),
        ("http://localhost:8000/mcp", True),
        ("http://127.0.0.1:8000", True),
        ("http://[::1]:8000", True),
        ("http://example.com", False),
        ("http://192.168.1.2", False),
        ("http://localhost.example.com", False),
        ("http://127.0.0.1.example.com", False),
        ("https://user:password@example.com", False),
        ("https://exam ple.com", False),
        ("https://example.com/\u202e", False),
        ("file:///etc/passwd", False),
        ("https://", False),
        ("https://[", False),
        ("https://a:port", False),
    ],
)
def test_addresses(address: str, may: bool) -> None:
    assert may_be_address(address) == may


def test_no_server_bears_the_name_of_another_or_of_the_app(tmp_path: Path) -> None:
    servers = _servers(tmp_path)
    names = [servers.add(replace(_FILES, name=each)).name for each in ("github", "GitHub", "Hunch", "github ", "")]
    assert names == ["github", "GitHub 2", "Hunch 2", "github 3", "sh"]


def test_the_id_of_a_removed_server_is_not_used_again(tmp_path: Path) -> None:
    servers = _servers(tmp_path)
    assert servers.add(_FILES).id == "files"
    servers.remove("files")
    servers.write()
    assert [each.add(_FILES).id for each in (servers, _servers(tmp_path))] == ["files-2"] * 2


def test_ids_are_their_own_and_few(tmp_path: Path) -> None:
    servers = _servers(tmp_path)
    names = ["Files", "files", "日本", "a__b" * 20]
    assert [servers.add(replace(_FILES, name=each)).id for each in names] == [
        "files",
        "files-2",
        "server",
        "a-ba-ba-ba-ba-ba-ba-ba-b",
    ]
    assert all("_" not in each.id and len(each.id) <= 24 for each in servers.all())
    while len(servers.all()) < MOST_SERVERS:
        servers.add(_FILES)
    with pytest.raises(ServerFault) as fault:
        servers.add(_FILES)
    assert fault.value.problem is ServerProblem.TOO_MANY


@pytest.mark.parametrize(
    "content", ["", "[", "[]", "{}", '{"servers": 5}', '{"servers": {"files": {}}}', "[" * 100_000, "\ud800"]
)
@pytest.mark.expect_log("the file of tool servers is damaged")
def test_a_damaged_file_is_moved_aside(tmp_path: Path, content: str) -> None:
    (tmp_path / "tools.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    servers = _servers(tmp_path)
    assert servers.all() == ()
    servers.add(_FILES)
    servers.write()
    assert len(_servers(tmp_path).all()) == 1
    assert len([each for each in tmp_path.iterdir() if "aside" in each.name]) == 1


def test_a_wrong_server_in_the_file_is_left_out(tmp_path: Path) -> None:
    servers = _servers(tmp_path)
    servers.add(_FILES)
    servers.write()
    file = tmp_path / "tools.json"
    stored = json.loads(file.read_text())
    right = stored["servers"][0]
    wrong = [
        None,
        5,
        {},
        right | {"id": "../x"},
        right | {"args": [1]},
        right | {"command": "a\nb"},
        {"id": right["id"]},
    ]
    file.write_text(json.dumps(stored | {"servers": [*wrong, right], "of another version": 1}))
    again = _servers(tmp_path)
    assert [each.id for each in again.all()] == ["files"]
    again.write()
    assert json.loads(file.read_text())["of another version"] == 1


def test_servers_of_another_version_stay_in_the_file(tmp_path: Path) -> None:
    """The app writes the file at each start; a newer Hunch has its servers again, with all that it stored of them."""
    servers = _servers(tmp_path)
    servers.add(_FILES)
    servers.write()
    file = tmp_path / "tools.json"
    known = json.loads(file.read_text())["servers"][0] | {"timeout_s": 30}
    newer = {"id": "files-2", "name": "Socket", "socket": "/tmp/socket", "is_on": True}
    file.write_text(json.dumps({"servers": [newer, known, "a kind of entry"]}))
    again = _servers(tmp_path)
    assert [each.id for each in again.all()] == ["files"]
    assert again.add(_FILES).id not in ("files", "files-2")  # whose secrets and consents are not for it
    again.write()
    stored = json.loads(file.read_text())["servers"]
    assert stored[0] == known
    assert stored[2:] == [newer, "a kind of entry"]


def test_a_server_of_the_first_version_is_there(tmp_path: Path) -> None:
    servers = _servers(tmp_path)
    servers.add(_FILES)
    servers.write()
    file = tmp_path / "tools.json"
    stored = json.loads(file.read_text())
    for name in ("has_query", "variables"):
        del stored["servers"][0][name]
    file.write_text(json.dumps(stored))
    assert [each.id for each in _servers(tmp_path).all()] == ["files"]


@pytest.mark.expect_log("the file of tool servers cannot be read")
def test_a_file_that_cannot_be_read_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _servers(tmp_path)
    before.add(_FILES)
    before.write()

    def refuse(file: Path, most_bytes: int = 0) -> bytes:
        raise PermissionError(13, "Permission denied")

    servers = _servers(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("app.tools.servers.read_small", refuse)
        assert servers.all() == ()
        servers.add(replace(_FILES, name="Other"))
        with pytest.raises(PermissionError):
            servers.write()
    servers.write()
    assert [each.name for each in _servers(tmp_path).all()] == ["Files", "Other"]


# Imports

_CLAUDE = """{
  "mcpServers": {
    "filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop"]},
    "github": {"command": "docker", "args": ["run"], "env": {"GITHUB_TOKEN": "ghp_1", "LIMIT": 5, "ALL": true}},
    "linear": {"url": "https://mcp.linear.example/sse", "headers": {"Authorization": "Bearer ${input:token}"}}
  }
}"""
_CODE = """// of Visual Studio Code
{
  "inputs": [{"id": "token", "type": "promptString"}], /* asked */
  "servers": {
    "web": {"type": "stdio", "command": "uvx", "args": ["mcp-server-fetch", "--url=http://a//b",], "cwd": "/tmp",},
  },
}"""


def test_other_programs_servers_are_read() -> None:
    parsed = parse_servers(_CLAUDE)
    files, github, linear = parsed.found
    assert parsed.refused == ()
    assert (files.server.name, files.server.command, files.server.args[1]) == (
        "filesystem",
        "npx",
        "@modelcontextprotocol/server-filesystem",
    )
    assert github.env == {"GITHUB_TOKEN": "ghp_1", "LIMIT": "5", "ALL": "true"}
    assert "ghp_1" not in repr(github)
    assert linear.server.address == "https://mcp.linear.example/sse"
    assert (linear.headers, linear.server.headers) == ({}, ("Authorization",))
    (web,) = parse_servers(_CODE).found
    assert (web.server.args, web.server.folder) == (("mcp-server-fetch", "--url=http://a//b"), "/tmp")
    for text in ('{"a": {"command": "sh"}}', '{"command": "sh"}', '{"mcp": {"servers": {"a": {"command": "sh"}}}}'):
        assert [each.server.command for each in parse_servers(text).found] == ["sh"]
    for part in ('"a": {"command": "sh"}', '"mcpServers": {\n  "a": {"command": "sh"}, // a shell\n},'):
        assert [each.server.command for each in parse_servers(part).found] == ["sh"], "as pages quote it"


def _entry(**values: object) -> str:
    return json.dumps({"mcpServers": {"a": {"command": "sh"} | values}})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        '"sh"',
        "[" * 200_000,
        '{"mcpServers": {"a": {"command": "sh", "args": ' + "[" * 50_000,
        '{"a":' * 50_000,
        "x" * (2 << 20),
        "/* " * 80_000,
        '"' + '\\"' * 100_000,
        '"' * 100_001,
        "{" + "," * 100_000,
    ],
)
def test_what_is_no_json_is_said(text: str) -> None:
    assert parse_servers(text) == Parsed(is_json=False)


@pytest.mark.parametrize(
    "text",
    [
        _entry(args="-c"),
        _entry(args=[{"a": 1}]),
        _entry(env=["A"]),
        _entry(env={"A": None}),
        _entry(env={"LD_PRELOAD": "/tmp/x.so"}),
        _entry(url="javascript:alert(1)"),
        json.dumps({"mcpServers": {"a": 5}}),
        json.dumps({"mcpServers": {"a": {"command": 5}}}),
        json.dumps({"mcpServers": {"a": {}}}),
    ],
)
def test_what_is_no_server_is_refused(text: str) -> None:
    parsed = parse_servers(text)
    assert parsed.found == ()
    (refused,) = parsed.refused
    assert refused.detail, "without it the settings say that it does not speak the protocol"


def test_of_a_thousand_servers_some_are_taken() -> None:
    parsed = parse_servers(json.dumps({"mcpServers": {f"\x1b[2J{each}": {"command": "sh"} for each in range(1000)}}))
    assert len(parsed.found) == MOST_SERVERS
    assert [each.problem for each in parsed.refused] == [ServerProblem.TOO_MANY]
    assert all(each.server.name.isprintable() for each in parsed.found)


_ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["mcpServers", "servers", "mcp", "a", "command", "args", "env", "url", "headers", "cwd"]),
            inner,
        )
    ),
    max_leaves=25,
)


@settings(max_examples=30)
@given(_ANY_JSON)
def test_any_json_is_read(value: object) -> None:
    for each in parse_servers(json.dumps(value)).found:
        assert checked(each.server) == each.server


def test_files_of_other_programs_are_found_and_not_written(tmp_path: Path) -> None:
    assert sources(tmp_path) == {}
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_bytes(b"\xef\xbb\xbf" + _CLAUDE.encode())
    file.chmod(0o400)
    assert sources(tmp_path) == {"Cursor": file}
    assert len(parse_file(file).found) == 3
    file.chmod(0o600)
    for content in (b"\xff\xfe", b" " * (2 << 20)):
        file.write_bytes(content)
        assert parse_file(file) == Parsed(is_json=False)
    file.unlink()
    os.mkfifo(file)
    assert sources(tmp_path) == {}
    assert parse_file(file) == Parsed(is_json=False)


# Commands


def _program(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def test_commands_are_found_in_known_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    for version in ("v9.1.0", "v22.3.0", "v18.20.1"):
        _program(tmp_path / "nvm" / version / "bin" / "npx")
    _program(tmp_path / "bin" / "uvx", 0o644)
    places = (str(tmp_path / "bin"), f"{tmp_path}/nvm/*/bin", str(tmp_path / "later"))
    monkeypatch.setattr(commands, "_PLACES", places)
    assert find_command("npx") == str(tmp_path / "nvm" / "v22.3.0" / "bin" / "npx")
    assert find_command("uvx") == ""
    later = _program(tmp_path / "later" / "uvx")
    assert find_command("uvx") == str(later)
    assert find_command(str(later)) == str(later)
    for none in ("", "./uvx", str(tmp_path), "a\0b", "../later/uvx"):
        assert find_command(none) == ""


def test_a_program_that_went_with_its_version_is_found_in_the_newer_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "_PLACES", (f"{tmp_path}/node/*/bin",))
    monkeypatch.setattr("app.tools.servers.ask_shell", lambda _name: "")
    old, new = (tmp_path / "node" / version / "bin" / "npx" for version in ("v9.1", "v10.0"))
    for program in (old, new):
        program.parent.mkdir(parents=True)
        program.touch(0o755)
        if program == old:
            servers = _servers(tmp_path)
            server = servers.add(ServerConfig("", "a", "npx", ("-y", "x")))
            other = servers.add(ServerConfig("", "b", str(tmp_path / "own")))
            assert (server.command, servers.ask_shell(server.id)) == (str(old), False)
            old.unlink()
    assert servers.ask_shell(server.id)
    found = servers.get(server.id)
    assert found is not None
    assert (found.command, found.enabled) == (str(new), False)
    (new.parent / "own").touch(0o755)
    assert not servers.ask_shell(other.id), "another program of that name"


def test_the_folder_of_the_command_comes_first() -> None:
    environment = server_environment("/opt/node/bin/npx", {"PATH_OF_MINE": "1"})
    assert environment["PATH"].split(":")[0] == "/opt/node/bin"
    assert environment["PATH_OF_MINE"] == "1"
    assert server_environment("/opt/node/bin/npx", {"PATH": "/mine"})["PATH"] == "/opt/node/bin:/mine"


def test_the_login_shell_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "_PLACES", ())
    monkeypatch.setenv("PATH", "")
    found = _program(tmp_path / "uvx")
    shell = tmp_path / "shell"
    shell.write_text(f'#!/bin/sh\necho "Welcome"; [ "$4" = "command -v uvx" ] && echo {found}\n')
    shell.chmod(0o755)
    user = pwd.struct_passwd(("me", "x", 1, 1, "", "/", str(shell)))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: user)
    assert ask_shell("uvx") == str(found)
    for none in ("npx", "uvx; rm", "$(x)", ""):
        assert ask_shell(none) == ""
    servers = _servers(tmp_path)
    server = servers.add(ServerConfig("", "a", "uvx"))
    shown = server.shown
    assert not servers.ask_shell("another")
    assert servers.ask_shell(server.id)
    assert servers.all()[0].command == str(found)
    assert not servers.confirm(server.id, shown)
    assert not servers.ask_shell(server.id)
    shell.write_text("#!/bin/sh\nsleep 60\n")
    monkeypatch.setattr(commands, "_SHELL_S", 0.05)
    assert ask_shell("uvx") == ""
