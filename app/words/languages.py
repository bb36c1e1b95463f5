"""The interface language: which ones exist, which one the system asks for, and switching while the app runs.

Widgets get QEvent.LanguageChange after a switch. The sentences are in i18n/*.ts; they are compiled into the user's
cache folder (where the app is installed it may not write) whenever that was not done yet or they have changed. An app
that was assembled has them compiled in that place.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import platformdirs
import PySide6
from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from app.system.paths import APP_NAME

SOURCES = Path(__file__).resolve().parents[2] / "i18n"
COMPILED = platformdirs.user_cache_path(APP_NAME, appauthor=False) / "i18n"

_log = logging.getLogger(__name__)
_REFUSALS = (OSError, subprocess.SubprocessError)

# Each in its own words, because a user who looks for a language reads that one.
LANGUAGES = {"en": "English", "ko": "한국어", "ja": "日本語", "zh_CN": "简体中文"}


class Translation:
    """Holds the translators of the running app."""

    def __init__(self, compiled: Path = COMPILED) -> None:
        self._compiled = compiled
        self._installed: list[QTranslator] = []
        self.language = ""

    def switch(self, setting: str) -> None:
        """`setting` is a code of LANGUAGES, or "" to follow the system."""
        language = setting if setting in LANGUAGES else system_language()
        if language == self.language:
            return
        QLocale.setDefault(_locale(language))
        self.remove()
        self.language = language
        self._installed = [*self._load("qtbase", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))]
        self._installed += self._load("hunch", str(self._compiled))
        for translator in self._installed:
            QCoreApplication.installTranslator(translator)

    def remove(self) -> None:
        """The words are those of the source again, for the whole process."""
        for translator in self._installed:
            QCoreApplication.removeTranslator(translator)
        self._installed = []
        self.language = ""

    def _load(self, name: str, folder: str) -> list[QTranslator]:
        translator = QTranslator()
        return [translator] if translator.load(f"{name}_{self.language}", folder) else []


def _locale(language: str) -> QLocale:
    """In the system's own language numbers and dates are written as in the user's country."""
    system = QLocale.system()
    asked = QLocale(language)
    return system if system.language() == asked.language() else asked


def system_language() -> str:
    """The first of the system's preferred languages that the app speaks, else English."""
    for tag in QLocale.system().uiLanguages():
        short = tag.replace("_", "-").split("-")[0]
        for code in LANGUAGES:
            if code.split("_")[0] == short:
                return code
    return "en"


def compiled_sentences() -> Path:
    """The folder with the compiled sentences: the user's, or one of this run where nothing can be written there."""
    if not any(SOURCES.glob("*.ts")):
        return SOURCES
    try:
        compile_stale()
    except _REFUSALS as error:
        _log.info("the sentences are compiled for this run only: %s", type(error).__name__)
        return _compiled_for_this_run()
    return COMPILED


def _compiled_for_this_run() -> Path:
    try:
        folder = Path(tempfile.mkdtemp(prefix="hunch-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        compile_stale(compiled=folder)
    except _REFUSALS as error:  # then the window is in English
        _log.warning("the sentences cannot be compiled: %s", type(error).__name__)
        return COMPILED
    return folder


def compile_stale(sources: Path = SOURCES, compiled: Path = COMPILED) -> list[Path]:
    """Compiles each .ts whose .qm is missing or of another time; some stat calls when there is nothing to do."""
    written = []
    for source in sorted(sources.glob("hunch_*.ts")):
        target = compiled / f"{source.stem}.qm"
        # Installing an older version again brings older sources, so the compiled file has its source's time.
        if not target.exists() or target.stat().st_mtime_ns != source.stat().st_mtime_ns:
            compiled.mkdir(parents=True, exist_ok=True)
            _release(source, target)
            written.append(target)
    return written


def _release(source: Path, target: Path) -> None:
    folder = Path(PySide6.__file__).parent
    known = [folder / "lrelease", folder / "Qt" / "libexec" / "lrelease"]
    tool = next((path for path in known if path.exists()), known[0])
    partial = target.with_suffix(".partial")
    subprocess.run([tool, "-silent", source, "-qm", partial], check=True, timeout=60)
    os.utime(partial, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
    partial.replace(target)
