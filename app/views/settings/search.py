"""The search of the settings: rows and headings of every page, by name and explanation.

Nothing is registered: it walks the widgets of each page, so new rows are found too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit, QPlainTextEdit, QWidget

from app.view_models.matching import distance
from app.views.widgets.buttons import ChoiceButton
from app.views.widgets.cards import Card, SettingRow
from app.views.widgets.fields import SegmentButton, Segments
from app.views.widgets.labels import TextLabel

_CONTROLS = (QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit, QPlainTextEdit, Segments)


@dataclass(frozen=True, slots=True)
class Place:
    """A search result on a page: `spot` is highlighted, `control` gets the focus."""

    page: str
    page_title: str
    name: str
    explanation: str
    number: int  # on its page
    spot: QWidget
    control: QWidget


def places(pages: Mapping[str, QWidget], titles: Mapping[str, str]) -> list[Place]:
    found = []
    for page, widget in pages.items():
        for number, (name, explanation, spot, control) in enumerate(_on_page(widget)):
            if _is_there(spot, widget):
                found.append(Place(page, titles[page], name, explanation, number, spot, control))
    return found


def _on_page(page: QWidget) -> Iterator[tuple[str, str, QWidget, QWidget]]:
    """Rows, headings, and named controls that are in no row, hidden ones, too: the others keep their numbers."""
    rows = page.findChildren(SettingRow)
    for row in rows:
        yield row.name.text(), " ".join([row.explanation.text(), *_choices_of(row.control)]), row, row.control
    yield from _headings(page)
    for control in _controls_of(page):
        free = not any(row.isAncestorOf(control) for row in rows)
        words = control.text() if isinstance(control, QAbstractButton) else ""
        if free and (name := control.accessibleName() or words):
            yield name, control.accessibleDescription(), control, control


def _is_there(widget: QWidget, page: QWidget) -> bool:
    """What is hidden says what is not so now."""
    above: QWidget | None = widget
    while above is not None and above is not page:
        if above.isHidden() and not (isinstance(above, Card) and above.shown_by_search):
            return False
        above = above.parentWidget()
    return True


def _headings(page: QWidget) -> Iterator[tuple[str, str, QWidget, QWidget]]:
    """Headings of cards; they lead to the card's first control."""
    for label in page.findChildren(TextLabel):
        card = label.parentWidget()
        if label.is_heading and label.text() and isinstance(card, Card):
            control = next((each for each in _controls_of(card) if _is_there(each, page)), None)
            if control is not None:
                yield label.text(), "", label, control


def _controls_of(page: QWidget) -> Iterable[QWidget]:
    found = (control for kind in _CONTROLS for control in page.findChildren(kind))
    return (control for control in found if not isinstance(control, SegmentButton))


def _choices_of(control: QWidget) -> list[str]:
    if isinstance(control, Segments):
        return [button.text() for button in control.buttons]
    return control.choices if isinstance(control, ChoiceButton) else []


def search(query: str, among: Iterable[Place]) -> list[Place]:
    """What fits, the nearest first; each name once on a page."""
    nearest: dict[tuple[str, str], tuple[int, Place]] = {}
    for place in among:
        far = distance(query, place.name, place.page_title, place.explanation)
        key = (place.page, place.name)
        if far is not None and (key not in nearest or far < nearest[key][0]):
            nearest[key] = far, place
    return [place for _, place in sorted(nearest.values(), key=lambda found: found[0])]
