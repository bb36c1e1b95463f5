"""`make screenshots`: every page in four languages, light and dark, at 100 % and 200 %, into build/screenshots.

The real app, engine and starter pair, offscreen. Texts are the same each time (`SEED`); the figures in footers are what
this machine measured.
"""

from __future__ import annotations

import argparse
import html
import os
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from tests.screenshots.harness import ScreenshotHarness
from tests.screenshots.pages import PAGES

OUT = Path("build/screenshots")
LANGUAGES = ("en", "ko", "ja", "zh_CN")
LOOKS = tuple(product(("light", "dark"), (1.0, 2.0)))
SHOWCASE = Path(__file__).with_name("showcase.md")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", default="", help="only pages whose name contains this")
    parser.add_argument("--language", choices=LANGUAGES, action="append", help="only this language")
    options = parser.parse_args()
    languages: list[str] = options.language or list(LANGUAGES)
    pages = [name for name in PAGES if options.page in name]
    with tempfile.TemporaryDirectory(prefix="hunch-screenshots-", ignore_cleanup_errors=True) as profile:
        harness = ScreenshotHarness(Path(profile), SHOWCASE.read_text("utf-8"))
        try:
            for language, (appearance, scale) in product(languages, LOOKS):
                harness.look(language, appearance, scale)
                take(harness, pages, OUT / folder_of(language, appearance, scale))
        finally:
            harness.close()
    (OUT / "index.html").write_text("".join(index(pages, languages)), "utf-8")
    sys.stdout.write(f"{OUT / 'index.html'}\n")
    return 0


def folder_of(language: str, appearance: str, scale: float) -> str:
    return f"{language}-{appearance}-{round(100 * scale)}"


def take(harness: ScreenshotHarness, pages: list[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in pages:
        widget = PAGES[name](harness)
        harness.settle()
        if not picture_of(widget).save(str(folder / f"{name}.png")):
            raise OSError(f"{folder / name}.png cannot be written")
        harness.put_away()


def picture_of(widget: QWidget) -> QPixmap:
    """With what has popped up over it, which is a window of its own."""
    picture, above = widget.grab(), QApplication.activePopupWidget()
    if above is not None and above is not widget:
        painter = QPainter(picture)
        painter.drawPixmap(widget.mapFromGlobal(above.pos()), above.grab())
        painter.end()
    return picture


def index(pages: list[str], languages: list[str]) -> Iterator[str]:
    """All pictures of a page side by side: a row for each language, a column for each look."""
    yield "<!doctype html><meta charset=utf-8><title>Hunch</title><style>body{font:14px sans-serif}"
    yield "img{width:100%}table{table-layout:fixed;width:100%}td{vertical-align:top}</style>\n"
    for name in pages:
        yield f"<h2>{html.escape(name)}</h2><table>\n"
        for language in languages:
            cells = (f"{folder_of(language, *look)}/{name}.png" for look in LOOKS)
            yield "<tr>" + "".join(f'<td><a href="{path}"><img src="{path}" loading=lazy></a>' for path in cells) + "\n"
        yield "</table>\n"


if __name__ == "__main__":
    sys.exit(main())
