"""`make screenshots` shows every page that it names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.screenshots.pages import PAGES

ROOT = Path(__file__).resolve().parents[2]
TAKE = """
import sys
from pathlib import Path
from tests.screenshots.__main__ import SHOWCASE, take
from tests.screenshots.harness import ScreenshotHarness
from tests.screenshots.pages import PAGES
folder = Path(sys.argv[1])
harness = ScreenshotHarness(folder / "profile", SHOWCASE.read_text("utf-8"))
take(harness, list(PAGES), folder)
harness.close()
"""


@pytest.mark.slow
def test_each_page_has_its_picture(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TAKE, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert {each.stem for each in tmp_path.glob("*.png")} == PAGES.keys()
