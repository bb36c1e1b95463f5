"""Keeps the translations in step with the source.

python i18n/translations.py update   read every string of the app into i18n/*.ts
python i18n/translations.py check    fail where a string is missing, unfinished or has lost a placeholder
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TypeGuard
from xml.etree import ElementTree

import PySide6

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.words.languages import LANGUAGES, SOURCES  # noqa: E402

_COUNT = re.compile(r"%L?n")
_PLACEHOLDER = re.compile(r"%L?(?:n|\d)")
_TWO_PARTICLES = re.compile(r"\((?:을|를|이|가|은|는|와|과|으)\)")  # "을(를)": the writer did not know which of them
_ENGLISH_MARK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff] ?[:(]|[가-힣] \(")  # half-width, or after a space


def ts_file(language: str, folder: Path = SOURCES) -> Path:
    return folder / f"hunch_{language}.ts"


def update(folder: Path = SOURCES) -> None:
    """Line numbers are left out, so that a file changes only when a string does."""
    sources = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "app").rglob("*.py"))
    for language in LANGUAGES:
        only = ["-pluralonly"] if language == "en" else []
        command = [str(Path(PySide6.__file__).parent / "lupdate"), *only, "-silent", "-no-obsolete"]
        command += ["-locations", "none", "-source-language", "en", "-target-language", language]
        subprocess.run([*command, *sources, "-ts", str(ts_file(language, folder))], cwd=ROOT, check=True, timeout=120)


def problems() -> list[str]:
    found = [f"{language}: {problem}" for language in LANGUAGES for problem in ts_problems(ts_file(language))]
    found += unseen_plurals(ROOT / "app") + unseen_texts(ROOT / "app") + _not_up_to_date()
    refused = refused_words((SOURCES / "terms.md").read_text("utf-8"))
    for language, texts in _texts().items():
        found += [
            f"{language}: “{word}” is not used (terms.md): {text}"
            for text in texts
            for word in refused[language]
            if word in text.lower()
        ]
    return found


def refused_words(terms: str) -> dict[str, list[str]]:
    """From the table of words that are not used."""
    table = terms.partition("\nNot used;")[2].partition("\n\nNot translated")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return {language: words.split(", ") for language, words in rows[1:]}


def _texts() -> dict[str, list[str]]:
    """What is read in each language: English is the source of the others."""
    texts = {}
    for language in LANGUAGES:
        messages = list(ElementTree.parse(ts_file("ko" if language == "en" else language)).iter("message"))
        read = [[each.findtext("source", "")] for each in messages]
        if language != "en":
            read = [_forms(each.find("translation")) for each in messages]
        texts[language] = [text for forms in read for text in forms]
        pages = sorted((ROOT / "resources/help" / language).glob("*.md"))
        texts[language] += [line for page in pages for line in page.read_text("utf-8").splitlines()]
    return texts


def unseen_plurals(sources: Path) -> list[str]:
    """Plural forms are read of `self.tr` alone: of other functions lupdate takes the text and loses its forms."""
    found = []
    for path in sorted(sources.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "translate":
                texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
                if len(node.args) > 3 or any(isinstance(text, str) and _COUNT.search(text) for text in texts):
                    found.append(f"{path.name}:{node.lineno}: a text with a count needs self.tr")
    return found


def unseen_texts(sources: Path) -> list[str]:
    """lupdate reads nothing between the braces of an f-string, so that a text there stays English for everybody."""
    found = []
    for path in sorted(sources.rglob("*.py")):
        strings = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.JoinedStr))
        lines = (node.lineno for string in strings for node in ast.walk(string) if _is_text(node))
        found += [f"{path.name}:{line}: a text inside an f-string is not translated" for line in lines]
    return found


def _is_text(node: ast.AST) -> TypeGuard[ast.Call]:
    """Asks for a translation: `tr` and `translate` with words in quotes. `str.translate` has a table."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in ("tr", "translate") and any(isinstance(each, ast.Constant) for each in node.args)


def ts_problems(file: Path) -> list[str]:
    found = []
    for message in ElementTree.parse(file).iter("message"):
        source, translation = message.findtext("source", ""), message.find("translation")
        forms = _forms(translation)
        if translation is None or translation.get("type") or not forms or not all(forms):
            found.append(f"not translated: {source}")
        elif any(_placeholders(form) != _placeholders(source) for form in forms):
            found.append(f"placeholders differ: {source}")
        elif any(_TWO_PARTICLES.search(form) for form in forms):
            found.append(f"two particles: {source}")
        elif any(_ENGLISH_MARK.search(form) for form in forms):
            found.append(f"punctuation as in English: {source}")
        elif source.endswith("…") and "…" not in forms[0]:
            found.append(f"an ellipsis is lost: {source}")
        if "%n" in source:
            found.append(f"a count is %Ln, so that its digits are grouped: {source}")
    return found


def _forms(translation: ElementTree.Element | None) -> list[str]:
    if translation is None:
        return []
    plural = translation.findall("numerusform")
    return [form.text or "" for form in plural] if plural else [translation.text or ""]


def _placeholders(text: str) -> set[str]:
    return set(_PLACEHOLDER.findall(text))


def _not_up_to_date() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        for language in LANGUAGES:
            ts_file(language, Path(folder)).write_bytes(ts_file(language).read_bytes())
        update(Path(folder))
        changed = [
            language
            for language in LANGUAGES
            if ts_file(language, Path(folder)).read_bytes() != ts_file(language).read_bytes()
        ]
    return [f"{language}: the source has changed; run `python i18n/translations.py update`" for language in changed]


def main(arguments: list[str]) -> int:
    if arguments == ["update"]:
        update()
    elif arguments == ["check"]:
        found = problems()
        sys.stderr.write("".join(f"{problem}\n" for problem in found))
        return 1 if found else 0
    else:
        sys.stderr.write(f"{__doc__}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
