"""Pictures in the forwards of mlx-lm's own text network, by hooks.

Rows of the tower replace rows of the embedding, and are added after the first layers where a family does so. Where
positions count a picture's rows and columns, rotary embeddings get other offsets: three for tokens of a picture, and
one shifted offset for all later text. After prefill only cache rows and that shift remain of a picture. Engine thread
only.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from time import perf_counter
from typing import Any

import mlx.core as mx

from engine.api.errors import CannotSee
from engine.api.types import SightRefusal
from engine.caches.hooks import hooked
from engine.models.access import ModelAccess, NoAccess, body_of
from engine.models.encoding import BETWEEN_S, AwaitedThread
from engine.models.loading import LoadedModel, require_unchanged
from engine.models.model_files import FileError, JsonObject, entries, object_at
from engine.models.networks import handfuls
from engine.models.vision_config import Mutual, Tower, VisionConfig, encoding_bytes
from engine.vision.pixels import patches_of
from engine.vision.towers import gemma4, gemma4_unified, pixtral, qwen, qwen2, qwen25, siglip, siglip2
from engine.vision.towers.tensors import Tensors
from engine.vision.values import PictureSpan

Rows = list[mx.array]  # (tokens, width) for the embedding, and for each layer that is given more
_KEY = "vision"
ENCODING_S = 0.03
_TOWERS = {
    Tower.QWEN: qwen,
    Tower.QWEN2: qwen2,
    Tower.QWEN25: qwen25,
    Tower.SIGLIP: siglip,
    Tower.GEMMA4: gemma4,
    Tower.GEMMA4_UNIFIED: gemma4_unified,
    Tower.PIXTRAL: pixtral,
    Tower.SIGLIP2: siglip2,
}


class ModelVision:
    """The vision part of a loaded model; the tower is loaded at the first picture."""

    def __init__(self, model: LoadedModel, config: VisionConfig) -> None:
        self.config = config
        self._folder = model.info.folder
        self._identity = model.identity
        text: JsonObject = getattr(model.network.args, "text_config", {})
        access = ModelAccess(model.network)
        self.embedding = access.embedding
        self.scale = access.scale
        self._width = access.embed(mx.array([0], dtype=mx.uint32)).shape[-1]
        self.layers = model.network.layers
        self.mutual = list(self.layers) if config.mutual is Mutual.EVERYWHERE else []
        self.reach = 0
        if config.mutual is Mutual.IN_WINDOWS:
            self.mutual = [layer for layer in self.layers if layer.layer_type == "sliding_attention"]
            self.reach = body_of(model.network).window_size
        rope = object_at(text, "rope_parameters") or object_at(text, "rope_scaling")
        sections = [each for each in entries(rope, "mrope_section") if type(each) is int]
        turned = [module for name, module in model.network.named_modules() if name.endswith("self_attn.rope")]
        self.ropes: list[Any] = turned if len(sections) == 3 else []
        lanes = _in_turns if config.tower is Tower.QWEN else _one_after_another
        self.lanes = [mx.array(lanes(module.dims // 2, sections) * 2) for module in self.ropes[:1]]
        self._tokenizer = model.tokenizer
        self._tensors: Tensors | None = None

    @classmethod
    def of(cls, model: LoadedModel) -> ModelVision:
        """Raises CannotSee."""
        if model.vision is None:
            raise CannotSee(model.info.folder, SightRefusal.TEXT_ONLY)
        if _KEY not in model.beside:
            try:
                model.beside[_KEY] = cls(model, model.vision)
            except NoAccess as error:
                raise CannotSee(model.info.folder, SightRefusal.UNKNOWN_FAMILY) from error
        vision: ModelVision = model.beside[_KEY]
        return vision

    def rows(self, span: PictureSpan) -> Generator[None, None, Rows]:
        """A picture's rows by the tower, computed in short steps. Raises CannotSee."""
        ahead = AwaitedThread(partial(patches_of, span, self.config))
        try:
            tensors = yield from self._read_tensors()
            while not ahead.wait(BETWEEN_S):
                yield
            rows = yield from _TOWERS[self.config.tower].rows_of(tensors, self.config, span, mx.array(ahead.result()))
            wanted = sum(part for part in span.layout if isinstance(part, int)), self._width
            if any(each.shape != wanted for each in rows):
                raise ValueError(f"rows {rows[0].shape} instead of {wanted}")
            rows[0] = rows[0] / self.scale  # the network multiplies its embedding by that
            rows = [self._with_words(each, span) for each in rows] if len(span.layout) > 1 else rows
        except (ValueError, ArithmeticError, IndexError, FileError, OSError) as error:
            raise CannotSee(self._folder, SightRefusal.DAMAGED) from error
        finally:
            ahead.stop()
        return rows

    def _with_words(self, rows: mx.array, span: PictureSpan) -> mx.array:
        """A picture's rows with those of the text tokens among them."""
        words = [self._token(part) for part in span.layout if isinstance(part, str)]
        parts = list[mx.array]()
        own = 0
        between = 0
        embedded = self.embedding(mx.array(words)).astype(rows.dtype)
        for part in span.layout:
            if isinstance(part, int):
                parts.append(rows[own : own + part])
                own += part
            else:
                parts.append(embedded[between : between + 1])
                between += 1
        return mx.concatenate(parts)

    def _token(self, word: str) -> int:
        token = self._tokenizer.convert_tokens_to_ids(word)
        if type(token) is not int or self._tokenizer.convert_ids_to_tokens(token) != word:
            raise ValueError(f"the tokenizer has no {word}")
        return token

    def _read_tensors(self) -> Generator[None, None, Tensors]:
        if self._tensors is None:
            tensors = Tensors(self._folder, self.config.tower)
            for weights, _ in handfuls(tensors):
                mx.eval(weights)
                yield
            require_unchanged(self._folder, self._identity)
            self._tensors = tensors
        return self._tensors


class SequencePictures:
    def __init__(self, vision: ModelVision, spans: Sequence[PictureSpan]) -> None:
        self._vision = vision
        self.spans = list(spans)
        self._rows: dict[int, Rows] = {}  # by index of the span, until it is in the cache
        self._work: tuple[int, Generator[None, None, Rows]] | None = None

    def copy(self) -> SequencePictures:
        """A copy without features, for another sequence over the same tokens."""
        return SequencePictures(self._vision, self.spans)

    def chunk_end(self, start: int, end: int) -> int:
        """The end of a chunk from `start` to at most `end`, not within a picture whose tokens attend to one another."""
        within = (span for span in self.spans if span.start < end < span.end and self._vision.mutual)
        return next((span.start if span.start > start else span.end for span in within), end)

    def has_rows(self, start: int, end: int) -> bool:
        """Whether the rows of all pictures between the tokens `start` and `end` are computed."""
        return self._missing(start, end) is None

    def encode(self, start: int, end: int) -> None:
        """Do a part of the work that `has_rows` waits for: tower steps for about ENCODING_S."""
        index = self._missing(start, end)
        if index is None:
            return
        if self._work is None or self._work[0] != index:
            self._work = index, self._vision.rows(self.spans[index])
        spent = 0.0
        took = 0.0
        try:
            while spent + took < ENCODING_S:
                began = perf_counter()
                next(self._work[1])
                took = perf_counter() - began
                spent += took
        except StopIteration as done:
            self._rows[index] = done.value
            self._work = None
        except BaseException:
            self._work = None
            raise

    def encoding_bytes(self, position: int) -> int:
        """Memory that the largest picture after `position` takes to encode; 0: none is left, or one has begun."""
        if self._work is not None:
            return 0
        left = (span for index, span in enumerate(self.spans) if span.end > position and index not in self._rows)
        return max((encoding_bytes(self._vision.config, span.patches(self._vision.config)) for span in left), default=0)

    def rope_shift(self, position: int) -> int:
        """By how much the rotary position of a text token at `position` differs from its index."""
        if not self._vision.lanes:
            return 0
        return sum(span.extent - (span.end - span.start) for span in self.spans if span.end <= position)

    def step(self, start: int, width: int) -> AbstractContextManager[None]:
        """In this block a forward over `width` tokens from `start` on, padding included, gets its pictures."""
        inside = [index for index, span in enumerate(self.spans) if span.start < start + width and start < span.end]
        for index in list(self._rows):
            if self.spans[index].end <= start:
                del self._rows[index]
        if inside:
            return self._with_pictures(inside, start, width)
        shift = self.rope_shift(start)
        return hooked(self._vision.ropes, partial(_moved, shift)) if shift else nullcontext()

    def _missing(self, start: int, end: int) -> int | None:
        inside = (index for index, span in enumerate(self.spans) if span.start < end and start < span.end)
        return next((index for index in inside if index not in self._rows), None)

    @contextmanager
    def _with_pictures(self, inside: Sequence[int], start: int, width: int) -> Iterator[None]:
        parts = [(max(self.spans[at].start, start), min(self.spans[at].end, start + width), at) for at in inside]

        def placed(layer: int) -> list[tuple[int, mx.array]]:
            cut = [(begin, end, self.spans[at].start, self._rows[at][layer]) for begin, end, at in parts]
            return [(begin - start, rows[begin - first : end - first]) for begin, end, first, rows in cut]

        with ExitStack() as hooks:
            hooks.enter_context(hooked([self._vision.embedding], partial(_replaced, placed(0))))
            for layer in range(1, len(self._rows[inside[0]])):
                hooks.enter_context(hooked([self._vision.layers[layer - 1]], partial(_added, placed(layer))))
            if self._vision.mutual:
                seen = [(begin - start, end - start) for begin, end, _ in parts]
                hooks.enter_context(hooked(self._vision.mutual, partial(_mutual, seen, self._vision.reach)))
            if self._vision.lanes:
                offsets = mx.array([self._position(start + at) for at in range(width)]).T
                turn = partial(_turned, list(offsets), self._vision.lanes[0])
                hooks.enter_context(hooked(self._vision.ropes, turn))
            yield

    def _position(self, token: int) -> tuple[int, int, int]:
        """(time, row, column) of a token."""
        span = next((span for span in self.spans if span.start <= token < span.end), None)
        if span is None:
            return (token + self.rope_shift(token),) * 3
        first = span.start + self.rope_shift(span.start)
        row, column = divmod(token - span.start, span.columns)
        return first, first + row, first + column


def together(views: Sequence[SequencePictures | None], positions: Sequence[int]) -> AbstractContextManager[None]:
    """In this block a forward over rows of several sequences, all past their pictures, gets their rotary positions.

    `positions`: of their first tokens.
    """
    shifts = [0 if view is None else view.rope_shift(at) for view, at in zip(views, positions, strict=True)]
    shifted = next((view for view, shift in zip(views, shifts, strict=True) if view is not None and shift), None)
    if shifted is None:
        return nullcontext()
    return hooked(shifted._vision.ropes, partial(_moved, mx.array(shifts)))  # noqa: SLF001  of the same class's module


def _moved(shift: Any, module: Any, run: Callable[..., mx.array], x: mx.array, offset: Any = 0) -> mx.array:
    return run(x, offset=offset + shift)


def _turned(
    offsets: list[mx.array], lanes: mx.array, module: Any, run: Callable[..., mx.array], x: mx.array, offset: Any = 0
) -> mx.array:
    """`x` (1, heads, tokens, width), each lane rotated by the offset of its axis."""
    tokens = x[0].transpose(1, 0, 2)[:, :, None]  # a batch of single tokens, each with its offset
    by_time, by_row, by_column = (run(tokens, offset=axis) for axis in offsets)
    lanes = mx.concatenate([lanes, mx.zeros(x.shape[-1] - lanes.size, lanes.dtype)])
    turned = mx.where(lanes == 0, by_time, mx.where(lanes == 1, by_row, by_column))
    return turned[:, :, 0].transpose(1, 0, 2)[None]


def _replaced(parts: list[tuple[int, mx.array]], module: Any, run: Callable[..., mx.array], tokens: Any) -> mx.array:
    rows = run(tokens)
    for at, part in parts:
        rows[:, at : at + part.shape[0]] = part.astype(rows.dtype)
    return rows


def _added(parts: list[tuple[int, mx.array]], module: Any, run: Callable[..., Any], *given: Any, **named: Any) -> Any:
    states = run(*given, **named)
    for at, part in parts:
        states[:, at : at + part.shape[0]] += part.astype(states.dtype)
    return states


def _mutual(
    parts: list[tuple[int, int]],
    reach: int,
    module: Any,
    run: Callable[..., Any],
    x: mx.array,
    mask: Any = None,
    cache: Any = None,
    *given: Any,
    **named: Any,
) -> Any:
    """Adds to the mask that the tokens of each of `parts` of this step attend to one another."""
    if x.shape[1] > 1:
        if not isinstance(mask, mx.array):
            mask = cache.make_mask(x.shape[1], return_array=True, window_size=reach or None)
        tokens, keys = mask.shape[-2:]
        before = keys - tokens
        for begin, end in parts:
            rows = mx.arange(tokens)[:, None]
            columns = mx.arange(keys)[None] - before
            seen = columns > rows - (reach or tokens + keys)
            mask = mask | (seen & (rows >= begin) & (rows < end) & (columns >= begin) & (columns < end))
    return run(x, mask, cache, *given, **named)


def _in_turns(width: int, sections: Iterable[int]) -> list[int]:
    """The axis of each of `width` pairs of rotated lanes, where axes alternate: 0 time, 1 rows, 2 columns."""
    _, rows, columns = sections
    axes = [0] * width
    axes[1 : 3 * rows : 3] = [1] * len(axes[1 : 3 * rows : 3])
    axes[2 : 3 * columns : 3] = [2] * len(axes[2 : 3 * columns : 3])
    return axes


def _one_after_another(width: int, sections: Iterable[int]) -> list[int]:
    """The axis of each pair, where each axis has its lanes side by side."""
    axes = [axis for axis, lanes in enumerate(sections) for _ in range(min(lanes, width))]
    return (axes + [0] * width)[:width]
