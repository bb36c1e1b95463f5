"""Formulas as images: TeX to SVG by ziamath on a thread, SVG to images, and a cache."""

import itertools
import math
import re
import sys
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from inspect import CO_GENERATOR
from types import FrameType
from typing import Any

from PySide6.QtCore import QByteArray, QObject, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from app.markup.tex import UNKNOWN_COMMAND, Letter, NotWhole, prepared, take_letters, with_dashes

KEPT_FORMULAS = 400
KEPT_IMAGE_BYTES = 32 << 20
# Limits of a formula; above them its source is shown.
LONGEST_TEX = 4000
MOST_CALLS = 700_000  # of Python functions: the same on every machine. MEASURED: 30,000 for a matrix of two by two
MOST_S = 2.5  # of CPU time, for what is long inside of one call; a busy machine counts more than a quiet one
MOST_PX = 3_000_000
LONGEST_SIDE_PX = 8_000
MOST_SVG_BYTES = 1_000_000
_CALLS_A_LOOK = 64  # calls between two checks of the time
_COLLECT_MS = 15
_LETTER_FONT_PX = 64
_VIEW_BOX = re.compile(r'viewBox="([-\d.]+) ([-\d.]+) ([-\d.]+) ([-\d.]+)"')


class FormulaState(Enum):
    PENDING = auto()
    READY = auto()
    FAILED = auto()


@dataclass(frozen=True, slots=True)
class FormulaKey:
    tex: str
    size_px: float
    color: str  # "#rrggbb"
    display: bool


@dataclass(frozen=True, slots=True)
class Look:
    """What an image depends on besides the formula: the font of letters missing in ziamath, and the pixel ratio."""

    font: str  # as QFont.toString
    ratio: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """A formula as SVG. `depth_px`: its depth below the baseline."""

    svg: bytes
    width_px: float
    height_px: float
    depth_px: float
    corner: tuple[float, float] = (0.0, 0.0)  # of the drawing, in the coordinates of `letters`
    letters: tuple[Letter, ...] = ()


def draw(key: FormulaKey) -> Drawing | None:
    """The drawing; None if the TeX is invalid, incomplete or empty, or costs too much. Ends within about MOST_S."""
    if len(key.tex) > LONGEST_TEX:
        return None
    import ziamath  # noqa: F401  which takes longer than a formula may

    try:
        with _limit(MOST_CALLS, MOST_S):
            drawing = _draw(key)
    except BaseException:  # noqa: BLE001  a model's TeX may break ziamath in any way, and other formulas wait
        return None
    return drawing if _is_drawable(drawing) else None


def _is_drawable(drawing: Drawing) -> bool:
    width = drawing.width_px
    height = drawing.height_px
    depth = drawing.depth_px
    if not all(map(math.isfinite, (width, height, depth, *drawing.corner))):
        return False
    if not (0 < width <= LONGEST_SIDE_PX and 0 < height <= LONGEST_SIDE_PX and abs(depth) <= LONGEST_SIDE_PX):
        return False
    if any(not (math.isfinite(each.x + each.baseline) and 0 < each.em <= LONGEST_SIDE_PX) for each in drawing.letters):
        return False
    return width * height <= MOST_PX and len(drawing.svg) <= MOST_SVG_BYTES


class _TooSlow(BaseException):
    """Not an Exception, because ziamath may catch those."""


@contextmanager
def _limit(calls: int, seconds: float) -> Iterator[None]:
    """Raises _TooSlow in this thread once it has used that much, when the next Python function is called."""
    end_s = time.thread_time() + seconds
    counted = itertools.count(1)

    def look(frame: FrameType, _event: str, _argument: object) -> None:
        number = next(counted)
        spent = number > calls or (not number % _CALLS_A_LOOK and time.thread_time() > end_s)
        # Not in a generator: it may be called to be closed, where Python ignores what is raised.
        if spent and not frame.f_code.co_flags & CO_GENERATOR:
            raise _TooSlow

    before = sys.gettrace()
    _trace(look)
    try:
        yield
    finally:
        _trace(before)


def _trace(function: Callable[..., Any] | None) -> None:
    while True:  # WORKAROUND: as in engine/models/watch.py
        try:
            sys.settrace(function)
            return
        except RuntimeError:
            time.sleep(0)


def _draw(key: FormulaKey) -> Drawing:
    from ziamath.config import config
    from ziamath.zmath import Latex

    # WORKAROUND: Qt draws the <symbol>s of ziamath's SVG 2 in the wrong place.
    config.svg2 = False
    tex, characters = with_dashes(prepared(key.tex))
    formula = Latex(tex, size=key.size_px, color=key.color, inline=not key.display)
    if any(UNKNOWN_COMMAND.match(element.text or "") for element in formula.element.iter()):
        raise NotWhole
    # WORKAROUND: ziamath draws bars and tags in black whatever the colour, which cannot be seen on a dark ground.
    svg, letters = take_letters(formula.svg().replace('"black"', f'"{key.color}"'), characters)
    left, top, width, height = (float(number) for number in _VIEW_BOX.findall(svg)[0])
    return Drawing(svg.encode(), width, height, 1 - formula.getyofst(), (left, top), letters)


class Formulas(QObject):
    """Drawn formulas by key; each is drawn once."""

    drawn = Signal(object)  # FormulaKey, now ready or failed

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._drawings: OrderedDict[FormulaKey, Drawing | None] = OrderedDict()
        self._images: OrderedDict[tuple[FormulaKey, Look], QImage] = OrderedDict()
        self._image_bytes = 0
        self._queued: set[FormulaKey] = set()
        self._thread = _DrawingThread()
        # Looked at from here, so that the thread never touches a Qt object that may be deleted.
        self._collect_timer = QTimer(self, interval=_COLLECT_MS)
        self._collect_timer.timeout.connect(self._collect)

    def state(self, key: FormulaKey, *, wanted: bool = True) -> FormulaState:
        """State of the formula; queues a new one that is `wanted` for drawing."""
        if key in self._drawings:
            return FormulaState.READY if self._drawings[key] else FormulaState.FAILED
        if wanted and key not in self._queued:
            self._queued.add(key)
            self._thread.draw_later(key)
            self._collect_timer.start()
        return FormulaState.PENDING

    def drawing(self, key: FormulaKey) -> Drawing | None:
        return self._drawings.get(key)

    def image(self, key: FormulaKey, look: Look) -> QImage | None:
        """The drawn formula as an image, made once: a growing paragraph shows its formulas again and again."""
        drawing = self._drawings.get(key)
        if drawing is None:
            return None
        if (key, look) not in self._images:
            self._images[key, look] = paint(drawing, look, QColor(key.color))
            self._image_bytes += self._images[key, look].sizeInBytes()
        self._images.move_to_end((key, look))
        while self._image_bytes > KEPT_IMAGE_BYTES and len(self._images) > 1:
            _, oldest = self._images.popitem(last=False)
            self._image_bytes -= oldest.sizeInBytes()
        return self._images[key, look]

    def _collect(self) -> None:
        while self._thread.done:
            key, drawing = self._thread.done.popleft()
            self._queued.discard(key)
            self._drawings[key] = drawing
            self.drawn.emit(key)
        while len(self._drawings) > KEPT_FORMULAS:
            self._drawings.popitem(last=False)
        if not self._queued:
            self._collect_timer.stop()


class _DrawingThread:
    """A thread that draws the queued formulas and ends when the queue is empty."""

    def __init__(self) -> None:
        self.done: deque[tuple[FormulaKey, Drawing | None]] = deque()
        self._waiting: deque[FormulaKey] = deque()
        self._lock = threading.Lock()
        self._working = False

    def draw_later(self, key: FormulaKey) -> None:
        with self._lock:
            self._waiting.append(key)
            if self._working:
                return
            self._working = True
        threading.Thread(target=self._work, name="formulas", daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._working = False
                    return
                key = self._waiting.popleft()
            self.done.append((key, draw(key)))


def paint(drawing: Drawing, look: Look, color: QColor) -> QImage:
    """INVARIANT: drawings by `draw` have a valid size for images."""
    font = QFont()
    ratio = look.ratio
    font.fromString(look.font)
    size = (math.ceil(drawing.width_px * ratio), math.ceil(drawing.height_px * ratio))
    result = QImage(*size, QImage.Format.Format_ARGB32_Premultiplied)
    result.setDevicePixelRatio(ratio)
    result.fill(Qt.GlobalColor.transparent)
    with QPainter(result) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        QSvgRenderer(QByteArray(drawing.svg)).render(painter, QRectF(0, 0, drawing.width_px, drawing.height_px))
        painter.translate(-drawing.corner[0], -drawing.corner[1])
        painter.setPen(color)
        for letter in drawing.letters:
            _paint_letter(painter, letter, font)
    return result


def _paint_letter(painter: QPainter, letter: Letter, font: QFont) -> None:
    """Pixel sizes are whole numbers, so the painter is scaled instead of the font."""
    sized = QFont(font)
    sized.setPixelSize(_LETTER_FONT_PX)
    painter.save()
    painter.translate(letter.x, letter.baseline)
    painter.scale(letter.em / _LETTER_FONT_PX, letter.em / _LETTER_FONT_PX)
    painter.setFont(sized)
    painter.drawText(QPointF(0, 0), letter.text)
    painter.restore()
