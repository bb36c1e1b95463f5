"""The text of an HTML page: what a reader sees, in order, with the addresses of its links. Runs within limits."""

from __future__ import annotations

import re
from contextlib import suppress
from html.parser import HTMLParser
from urllib.parse import urljoin

_UNSEEN = ("script", "style", "noscript", "template", "svg", "math", "iframe", "object", "select", "textarea", "canvas")
_BLOCKS = (
    *("p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "ul", "ol", "dl", "dt", "dd"),
    *("table", "tr", "blockquote", "pre", "figure", "figcaption", "form", "fieldset", "hr", "br", "address", "details"),
    *("summary", "legend", "caption", "center", "menu", "dialog", "hgroup", "search"),
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_MOST_LINKS = 300
_LONGEST_LINK = 300
_SPACES = re.compile(r"[ \t\r\f\v\u00a0]+")
_LINES = re.compile(r"\s*\n\s*\n\s*")
_KEPT = str.maketrans(" \t", "\ufdd0\ufdd1")  # of code, until all other spaces are joined; characters of no text
_FROM_KEPT = str.maketrans("\ufdd0\ufdd1", " \t")


class _Page(HTMLParser):
    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._pieces: list[str] = []
        self._base = base
        self._has_base = False
        self._unseen = ""  # the element that is left out, and how many of its kind are open
        self._depth = 0
        self._preformatted = 0  # how many such elements are open
        self._in_title = False
        self._links: list[str] = []
        self._linked = 0

    @property
    def text(self) -> str:
        lines = (_SPACES.sub(" ", line).strip() for line in "".join(self._pieces).split("\n"))
        return _LINES.sub("\n\n", "\n".join(lines)).strip().translate(_FROM_KEPT)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if self._unseen:
            self._depth += tag == self._unseen
        elif tag in _UNSEEN:
            self._unseen = tag
            self._depth = 1
            self._pieces.append(dict(attributes).get("alttext") or "")  # what a formula says
        elif tag == "title":
            self._in_title = True
        elif tag in _BLOCKS or tag in _HEADINGS:
            self._preformatted += tag == "pre"
            self._pieces.append("\n\n" + _HEADINGS.get(tag, ""))
        elif tag == "li":
            self._pieces.append("\n- ")
        elif tag in ("td", "th"):
            self._pieces.append(" | ")
        elif tag == "a":
            self._links.append(self._link(dict(attributes).get("href") or ""))
        elif tag == "base" and not self._has_base and (start := dict(attributes).get("href")):
            self._has_base = True
            with suppress(ValueError):
                self._base = urljoin(self._base, start.strip())

    def handle_endtag(self, tag: str) -> None:
        if self._unseen:
            self._depth -= tag == self._unseen
            self._unseen = self._unseen if self._depth else ""
        elif tag == "title":
            self._in_title = False
        elif tag in _BLOCKS or tag in _HEADINGS:
            self._preformatted = max(0, self._preformatted - (tag == "pre"))
            self._pieces.append("\n\n")
        elif tag == "a" and self._links and (link := self._links.pop()):
            self._pieces.append(f" <{link}>")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data[:500]
        elif not self._unseen:
            self._pieces.append(data.translate(_KEPT) if self._preformatted else data)

    def _link(self, href: str) -> str:
        if self._linked >= _MOST_LINKS or not href or href.startswith(("#", "javascript:", "data:")):
            return ""
        try:
            whole = urljoin(self._base, href.strip())
        except ValueError:
            return ""
        fits = whole.startswith(("http://", "https://")) and len(whole) <= _LONGEST_LINK
        self._linked += fits
        return whole if fits else ""


def text_of_page(html: str, base: str) -> str:
    page = _Page(base)
    page.feed(html)
    page.close()
    title = " ".join(page.title.split())
    return "\n\n".join(filter(None, (f"# {title}" if title else "", page.text)))
