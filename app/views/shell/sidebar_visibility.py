"""Whether the sidebar is shown: as the user wants it, and as the window has room for it."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.settings import Settings
from app.theme import Theme
from app.views.shell.window_parts import WindowParts

_CHAT_NEEDS_PX = 360


class SidebarVisibility(QObject):
    """Where the chat would have too little room the sidebar is hidden; it can still be shown by hand."""

    def __init__(self, parts: WindowParts, theme: Theme, settings: Settings) -> None:
        super().__init__(parts.window)
        self._parts, self._theme, self._settings = parts, theme, settings
        self._fits = True
        parts.set_sidebar_visible(settings.sidebar_visible)
        for wish in (parts.sidebar.hide_requested, parts.header.sidebar_requested, parts.menu.sidebar.triggered):
            wish.connect(self.toggle)
        parts.menu.search.triggered.connect(self.search)
        theme.changed.connect(self._fit)
        parts.window.resized.connect(self._fit)

    def toggle(self) -> None:
        self.set_wanted(self._parts.sidebar.isHidden())

    def set_wanted(self, wanted: bool) -> None:
        self._settings.sidebar_visible = wanted
        self._parts.set_sidebar_visible(wanted)

    def search(self) -> None:
        self.set_wanted(True)
        self._parts.sidebar.search.setFocus()
        self._parts.sidebar.search.selectAll()

    def _fit(self) -> None:
        width = self._parts.window.width() - self._parts.sidebar.maximumWidth()
        fits = width >= self._theme.px(_CHAT_NEEDS_PX)
        if fits != self._fits:
            self._fits = fits
            self._parts.set_sidebar_visible(fits and self._settings.sidebar_visible)
