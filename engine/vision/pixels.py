"""From a picture's bytes to the input of a vision tower. No MLX: this runs on a thread of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.models.vision_config import Tower, VisionConfig
from engine.models.watch import Question, never
from engine.vision.resizing import Pixels, resized
from engine.vision.values import PictureSpan

_TOKEN_BY_TOKEN = (Tower.QWEN, Tower.QWEN2, Tower.QWEN25)


def patches_of(span: PictureSpan, vision: VisionConfig, aborted: Question = never) -> NDArray[np.float32]:
    """Pixels (patches, channels × frames × side × side), ordered by token, or row by row."""
    picture = span.picture
    pixels = np.frombuffer(picture.rgb, np.uint8).reshape(picture.height, picture.width, 3)
    views = [resized(pixels, span.width, span.height, vision.resample, aborted)]
    if vision.tiling is not None and span.tiles != (1, 1):
        side = vision.tiling.side
        (columns, rows) = span.tiles
        large = resized(pixels, side * columns, side * rows, vision.resample, aborted)
        places = ((side * row, side * column) for row in range(rows) for column in range(columns))
        squares = [large[top : top + side, left : left + side] for top, left in places]
        views = [*squares, *views]
    patches = [_patches(view, vision) for view in views]
    return np.concatenate(patches) if len(patches) > 1 else patches[0]


def _patches(pixels: Pixels, vision: VisionConfig) -> NDArray[np.float32]:
    side = vision.patch
    merge = vision.merge if vision.tower in _TOKEN_BY_TOKEN else 1
    rows = pixels.shape[0] // (side * merge)
    columns = pixels.shape[1] // (side * merge)
    levels = _normalised(pixels, vision).transpose(2, 0, 1)
    parts = levels.reshape(3, rows, merge, side, columns, merge, side).transpose(1, 4, 2, 5, 0, 3, 6)
    framed = np.repeat(parts[:, :, :, :, :, None], vision.frames, axis=5)
    return framed.reshape(rows * columns * merge**2, -1)


def _normalised(pixels: Pixels, vision: VisionConfig) -> NDArray[np.float32]:
    levels = pixels.astype(np.float32) / np.float32(255)
    mean, std = (np.array(values, np.float32) for values in (vision.mean, vision.std))
    scaled: NDArray[np.float32] = np.divide(levels - mean, std, dtype=np.float32)
    return scaled
