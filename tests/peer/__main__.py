"""`make peer`: our downloads from a hub that others wrote (olah, a mirror of Hugging Face), on this machine.

olah serves git repositories of ours as their origin. It has no ranges and no lists of models, so a resumed download
must begin its file anew and a search must say that there is none; a person's mirror may be like that. Searches are
compared with those of a client that others wrote in tests/end2end/test_search_as_others_ask.py.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine import (
    DownloadFailed,
    DownloadFinished,
    DownloadProgress,
    DownloadStopped,
    HubCannotSearch,
    HubQuery,
    PageRead,
    RepositoryNotFound,
    SearchFailed,
)
from tests.helpers.event_recorder import EventRecorder, QuickStore, tree
from tests.helpers.model_folders import model_files, safetensors, write_folder
from tests.helpers.ports import free_port, wait_for_answer

OLAH = Path("build/peer/bin/olah-cli")
REPO = "org/tiny-4bit"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as endpoint:
        for show in (install, resume, page, search, absent):
            recorder = EventRecorder()
            place = Path(folder) / show.__name__
            store = QuickStore(place / "models", sink=recorder, hub_cache=place / "none", endpoint=endpoint)
            show(store, recorder, place)
            assert store.close()
            print(f"{show.__name__}: as it should be", flush=True)
    return 0


def files() -> dict[str, bytes]:
    return model_files() | {
        "model.safetensors": safetensors({"a.weight": ("F32", (4096, 1024))}),
        "README.md": b"# Tiny\n",
    }


def install(store: QuickStore, recorder: EventRecorder, place: Path) -> None:
    end = recorder.end_of(store.install(REPO))
    assert isinstance(end, DownloadFinished), end
    check_installed(place)


def resume(store: QuickStore, recorder: EventRecorder, place: Path) -> None:
    store.set_limit(4_000_000)
    download = store.install(REPO)
    while recorder.wait_for(DownloadProgress).done_bytes < 1_000_000:
        pass
    store.pause(download)
    stopped = recorder.wait_for(DownloadStopped)
    assert stopped.kept_bytes >= 1_000_000
    store.set_limit(0)
    end = recorder.end_of(store.install(REPO))
    assert isinstance(end, DownloadFinished), end
    check_installed(place)


def page(store: QuickStore, recorder: EventRecorder, _place: Path) -> None:
    store.read_page(REPO)
    recorder.wait_for(PageRead)  # before its card is read
    read = recorder.wait_for(PageRead).page
    assert read.card == "# Tiny\n"
    assert {file.name for file in read.files if file.is_installed} == files().keys()


def search(store: QuickStore, recorder: EventRecorder, _place: Path) -> None:
    store.search(HubQuery("tiny"))
    error = recorder.wait_for(SearchFailed).error
    assert isinstance(error, HubCannotSearch), error


def absent(store: QuickStore, recorder: EventRecorder, place: Path) -> None:
    end = recorder.end_of(store.install("org/absent"))
    assert isinstance(end, DownloadFailed), end
    print("  a repository that is not there:", type(end.error).__name__)
    assert not (place / "models" / "org").exists()
    assert isinstance(end.error, RepositoryNotFound), end.error


def check_installed(place: Path) -> None:
    installed = tree(place / "models" / REPO)
    assert {name: data for name, data in installed.items() if name != "hunch.json"} == files()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """olah with one repository, until the end of the block."""
    repository = folder / "mirrors" / "models" / REPO
    write_folder(repository, files())
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "A model"]):
        who = ["-c", "user.name=peer", "-c", "user.email=peer@localhost"]
        subprocess.run(["git", *who, "-C", str(repository), *command], check=True)
    port = free_port()
    config = folder / "olah.toml"
    config.write_text(
        f'[basic]\nhost = "127.0.0.1"\nport = {port}\nrepos-path = "{folder}/repos"\noffline = true\n'
        f'mirrors-path = ["{folder}/mirrors"]\n[accessibility]\noffline = true\n'
    )
    command = [str(OLAH.resolve()), "--config", str(config), "--log-path", str(folder / "logs")]
    with (folder / "olah.out").open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out, cwd=folder) as olah:
        try:
            wait_for_answer(f"http://127.0.0.1:{port}")
            yield f"http://127.0.0.1:{port}"
        except BaseException:
            print((folder / "olah.out").read_text(errors="replace")[-4000:])
            raise
        finally:
            olah.terminate()


if __name__ == "__main__":
    sys.exit(main())
