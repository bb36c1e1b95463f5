"""Colours, fonts and sizes: the one place that every widget reads them from.

Here: the two palettes, the text scale, the font families for each interface language, and handing all of it to Qt.
Not here: anything about a particular widget, or where the choice of appearance is kept (`app.settings`).
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QLocale, QObject, QSettings, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyle

Appearance = Literal["auto", "light", "dark"]
Motion = Literal["auto", "on", "off"]

UI_PX = 13.0
REPLY_PX = 14.5
CODE_PX = 13.0
FOOTER_PX = 11.5
TITLE_PX = 17.0
REPLY_LEADING = 1.5
CODE_LEADING = 1.45

COLUMN_PX = 760  # greatest width of transcript and composer; grows with the text

RADIUS_ROW = 6
RADIUS_CARD = 10
RADIUS_BUBBLE = 14

MOTION_MS = 150  # of whatever fades or slides

SCALE_MIN = 0.85
SCALE_MAX = 2.0
SCALES = (SCALE_MIN, 1.0, 1.15, 1.3, 1.5, 1.75, SCALE_MAX)  # that are offered
# Han characters are drawn differently in Korean, Japanese and Chinese; the interface language decides, else the user's.
_MAC_CJK = {"ko": "Apple SD Gothic Neo", "ja": "Hiragino Sans", "zh": "PingFang SC"}
_LINUX_CJK = {"ko": "Noto Sans CJK KR", "ja": "Noto Sans CJK JP", "zh": "Noto Sans CJK SC"}
_LINUX_MONO_CJK = {"ko": "Noto Sans Mono CJK KR", "ja": "Noto Sans Mono CJK JP", "zh": "Noto Sans Mono CJK SC"}
_APART = {"ko": 1, "ja": 2, "zh": 3}  # difference of weights
_SCROLL_BAR = """
QScrollBar { background: transparent; border: none; }
QScrollBar:vertical { width: 10px; }
QScrollBar:horizontal { height: 10px; }
QScrollBar::handle { background: THUMB; border-radius: 3px; margin: 2px; min-width: 32px; min-height: 32px; }
QScrollBar::handle:hover { background: OVER; }
QScrollBar[rests="true"]::handle:!hover { background: transparent; }
QScrollBar::handle:disabled { background: transparent; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: none; }
"""
_SYSTEM_STYLE = "system_style"


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours by meaning. `draft`: anything that a draft model did or is doing."""

    window: QColor
    sidebar: QColor
    surface: QColor
    bubble: QColor
    text: QColor
    secondary: QColor
    faint: QColor
    hairline: QColor
    ink: QColor
    on_ink: QColor
    draft: QColor
    gain: QColor
    cost: QColor
    fault: QColor
    hover: QColor
    code_keyword: QColor
    code_string: QColor
    code_number: QColor
    code_name: QColor
    found: QColor  # background of found words


LIGHT = Palette(
    window=QColor("#F7F6F3"),
    sidebar=QColor("#EFEDE8"),
    surface=QColor("#FFFFFF"),
    bubble=QColor("#ECEAE4"),
    text=QColor("#1D1D1F"),
    secondary=QColor("#5A5A61"),
    # Darker than it looks beside `secondary`: footers are text, and text needs 4.5 : 1 on window and sidebar.
    faint=QColor("#6B6B71"),
    hairline=QColor(0, 0, 0, 23),
    ink=QColor("#2F4BD8"),
    on_ink=QColor("#FFFFFF"),
    draft=QColor("#0B7085"),
    gain=QColor("#1B774A"),
    cost=QColor("#8A5800"),
    fault=QColor("#B3261E"),
    hover=QColor(0, 0, 0, 13),
    code_keyword=QColor("#8A2B9B"),
    code_string=QColor("#1B774A"),
    code_number=QColor("#8A5800"),
    code_name=QColor("#2F4BD8"),
    found=QColor("#FFE29A"),
)

DARK = Palette(
    window=QColor("#1C1C1E"),
    sidebar=QColor("#242426"),
    surface=QColor("#2A2A2D"),
    bubble=QColor("#343438"),
    text=QColor("#F2F2F3"),
    secondary=QColor("#A9A9B0"),
    faint=QColor("#929299"),
    hairline=QColor(255, 255, 255, 26),
    ink=QColor("#8FA2FF"),
    on_ink=QColor("#14162B"),
    draft=QColor("#45CBE0"),
    gain=QColor("#5CD39A"),
    cost=QColor("#F2B544"),
    fault=QColor("#FF8A80"),
    hover=QColor(255, 255, 255, 18),
    code_keyword=QColor("#DDA6F2"),
    code_string=QColor("#7FD6A8"),
    code_number=QColor("#F2B544"),
    code_name=QColor("#9DB0FF"),
    found=QColor("#5C4A14"),
)


class Theme(QObject):
    """The window's present appearance. Emits `changed` after a new appearance, text scale or language."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        _provide_a_font()
        self._appearance: Appearance = "auto"
        self._scale = 1.0
        self._motion: Motion = "auto"
        self._reply_figures = False
        self._language = QLocale.system().name()[:2]
        self._ui_fonts: dict[tuple[float, QFont.Weight, bool], QFont] = {}  # asked for at every painting and measuring
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_scheme_changed)
        self._apply()

    def follow(self, restyle: Callable[[], object]) -> None:
        """Calls `restyle` now and after each change."""
        self.changed.connect(restyle)
        restyle()

    @property
    def palette(self) -> Palette:
        return DARK if self.dark else LIGHT

    @property
    def dark(self) -> bool:
        return self._dark

    @property
    def scale(self) -> float:
        return self._scale

    @property
    def motion_ms(self) -> int:
        """Duration of an animation; 0 if nothing should move."""
        moves = self._motion == "on" or (self._motion == "auto" and system_wants_motion())
        return MOTION_MS if moves else 0

    def set_motion(self, motion: Motion) -> None:
        self._motion = motion

    @property
    def reply_figures(self) -> bool:
        """Whether tokens a second and the like are shown under replies, beside how much faster they were."""
        return self._reply_figures

    def set_reply_figures(self, shown: bool) -> None:
        if shown != self._reply_figures:
            self._reply_figures = shown
            self._announce()

    def set_appearance(self, appearance: Appearance) -> None:
        if appearance == self._appearance:
            return
        self._appearance = appearance
        scheme = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}.get(appearance, Qt.ColorScheme.Unknown)
        # Native menus, dialogs and the title bar follow this; what we paint follows `palette`.
        QGuiApplication.styleHints().setColorScheme(scheme)
        self._announce()

    def set_scale(self, scale: float) -> None:
        bounded = min(max(scale, SCALE_MIN), SCALE_MAX)
        if bounded != self._scale:
            self._scale = bounded
            self._announce()

    def set_language(self, language: str) -> None:
        """`language` is a locale name such as "ko" or "zh_CN"; it picks how Han characters are drawn."""
        if language[:2] != self._language:
            self._language = language[:2]
            self._announce()

    def px(self, length: float) -> int:
        """A length scaled with the text, such as an icon's side or a row's height."""
        return round(length * self._scale)

    def ui_font(self, px: float = UI_PX, weight: QFont.Weight = QFont.Weight.Normal, *, tabular: bool = False) -> QFont:
        """The interface's font, scaled. `tabular` keeps changing numbers from moving sideways."""
        look = px, weight, tabular
        if look not in self._ui_fonts:
            font = self._font(self._ui_families(), px)
            font.setWeight(weight)
            if tabular:
                font.setFeature(QFont.Tag("tnum"), 1)
            self._ui_fonts[look] = font
        return QFont(self._ui_fonts[look])

    def reply_font(self) -> QFont:
        return self._font(self._ui_families(), REPLY_PX)

    def mono_font(self, px: float = CODE_PX) -> QFont:
        font = self._font(self._mono_families(), px)
        font.setStyleHint(QFont.StyleHint.Monospace)
        return font

    def scroll_bar_style(self) -> str:
        """Style of thin scroll bars; "" on a Mac, which has its own."""
        if sys.platform == "darwin":
            return ""
        thumb = self.palette.hairline.name(QColor.NameFormat.HexArgb)
        over = self.palette.faint.name(QColor.NameFormat.HexArgb)
        return _SCROLL_BAR.replace("THUMB", thumb).replace("OVER", over)

    def _font(self, families: list[str], px: float) -> QFont:
        font = QFont(families)
        # Points, because pixel sizes are whole numbers; on the Mac the two are the same.
        # WORKAROUND: Qt keeps the fallbacks of a first family and weight, whatever other families are asked for later:
        # after a switch of language, Han characters would stay as they were. Such a small difference is not visible.
        font.setWeight(QFont.Weight(QFont.Weight.Normal.value + _APART.get(self._language, 0)))
        font.setPointSizeF(px * self._scale * 72.0 / _dots_per_inch())
        return font

    def _ui_families(self) -> list[str]:
        system = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont).family()
        if sys.platform == "darwin":
            return [system, _preferred(_MAC_CJK, self._language)]
        # Noto's Latin is closer to a Mac's than what a bare Linux calls its system font.
        return [_preferred(_LINUX_CJK, self._language), system]

    def _mono_families(self) -> list[str]:
        fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()
        if sys.platform == "darwin":
            return ["Menlo", _preferred(_MAC_CJK, self._language), fixed]
        # The system's own comes last: it has Han characters of one language, whichever the window's is.
        return ["DejaVu Sans Mono", _preferred(_LINUX_MONO_CJK, self._language), fixed]

    def _on_system_scheme_changed(self) -> None:
        if self._appearance == "auto":
            self._announce()

    def _announce(self) -> None:
        self._ui_fonts.clear()
        self._apply()
        self.changed.emit()

    def _apply(self) -> None:
        system_is_dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        self._dark = system_is_dark if self._appearance == "auto" else self._appearance == "dark"
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.setPalette(qt_palette(self.palette))
            app.setFont(self.ui_font())


def qt_palette(colors: Palette) -> QPalette:
    """The same colours by Qt's role names, for standard controls."""
    role = QPalette.ColorRole
    result = QPalette()
    for name, color in {
        role.Window: colors.window,
        role.WindowText: colors.text,
        role.Base: colors.surface,
        role.AlternateBase: colors.sidebar,
        role.Text: colors.text,
        role.Button: colors.sidebar,
        role.ButtonText: colors.text,
        role.PlaceholderText: colors.faint,
        role.ToolTipBase: colors.surface,
        role.ToolTipText: colors.text,
        role.Highlight: colors.ink,
        role.HighlightedText: colors.on_ink,
        role.Accent: colors.ink,
        role.Link: colors.ink,
        role.LinkVisited: colors.ink,
    }.items():
        result.setColor(name, color)
    for name in (role.WindowText, role.Text, role.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, name, colors.faint)
    return result


def system_wants_motion() -> bool:
    """The system's accessibility setting; True if it is not known."""
    if sys.platform == "darwin":
        reduced = QSettings("apple.com", "universalaccess").value("reduceMotion", False, bool)
        return not reduced
    style = QApplication.style()
    return style is None or style.styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) > 0


def use_fusion(wanted: bool) -> None:
    """Whether to draw standard controls with Qt's own style instead of the system's."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        return
    now = app.style().name().lower()
    system = app.property(_SYSTEM_STYLE) or now  # before any change
    app.setProperty(_SYSTEM_STYLE, system)
    style = "fusion" if wanted else system
    if style != now:
        app.setStyle(style)


@cache
def _provide_a_font() -> None:
    """On a Linux without any, as in some containers, all text would be boxes: ziafont's wheel has DejaVu Sans."""
    package = find_spec("ziafont")
    found = set(QFontDatabase.families()) - {"Monospace", "Sans Serif", "Serif"}  # fontconfig's names for any font
    if sys.platform == "linux" and not found and package is not None and package.origin is not None:
        QFontDatabase.addApplicationFont(str(Path(package.origin).parent / "fonts" / "DejaVuSans.ttf"))


def _preferred(families: dict[str, str], language: str) -> str:
    """Of an interface in another language those of the first of the user's languages that has any."""
    if language not in families:
        spoken = (each[:2] for each in QLocale.system().uiLanguages())
        language = next((each for each in spoken if each in families), "ko")
    return families[language]


def _dots_per_inch() -> float:
    screen = QGuiApplication.primaryScreen()
    return screen.logicalDotsPerInchY() if screen else 72.0
