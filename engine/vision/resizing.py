"""Resizes pictures like the processors that models are trained with: Pillow's filters, equal to one level of 255.

Horizontally, then vertically, with 8 bits in between. In bands: a large picture takes little memory beside itself, and
the work can be ended between two of them. No MLX.
"""

from __future__ import annotations

from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.models.vision_config import Filter
from engine.models.watch import Aborted, Question

_SHARPNESS = -0.5
_BAND_SAMPLES = 1 << 20

Pixels = NDArray[np.uint8]  # (height, width, 3)


def resized(pixels: Pixels, width: int, height: int, by: Filter, aborted: Question) -> Pixels:
    """Raises Aborted soon after `aborted` returns True."""
    wide = _along_rows(pixels, width, by, aborted)
    return np.ascontiguousarray(_along_rows(wide.transpose(1, 0, 2), height, by, aborted).transpose(1, 0, 2))


def _along_rows(pixels: Pixels, length: int, by: Filter, aborted: Question) -> Pixels:
    """`pixels` (lines, length before, 3) resized along the second axis to `length`."""
    lines, before = pixels.shape[:2]
    if before == length:
        return pixels
    weights = resampling(before, length, by)
    result = np.empty((lines, length, 3), np.uint8)
    band = max(1, _BAND_SAMPLES // (3 * before))
    for start in range(0, lines, band):
        if aborted():
            raise Aborted
        part = pixels[start : start + band].transpose(0, 2, 1).astype(np.float32, order="C")
        samples = np.clip(np.floor(part.reshape(-1, before) @ weights + 0.5), 0, 255).astype(np.uint8)
        result[start : start + band] = samples.reshape(-1, 3, length).transpose(0, 2, 1)
    return result


def resampling(before: int, after: int, by: Filter) -> NDArray[np.float32]:
    """Weights (before, after) of the old samples in each new one."""
    scale = before / after
    (support, curve) = _CURVES[by]
    widening = max(1.0, scale)  # a smaller picture averages over more samples
    matrix: NDArray[Any] = np.zeros((before, after), np.float32)
    for index in range(after):
        centre = (index + 0.5) * scale
        reach = support * widening
        first = max(0, floor(centre - reach + 0.5))
        end = min(before, floor(centre + reach + 0.5))
        shares = curve(np.abs((np.arange(first, end) - centre + 0.5) / widening))
        matrix[first:end, index] = shares / shares.sum()
    return matrix


def _cubic(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    a = _SHARPNESS
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((distance - 5) * distance + 8) * distance * a - 4 * a
    return np.where(distance < 1, near, np.where(distance < 2, far, 0.0))


def _linear(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(0.0, 1 - distance)


_CURVES = {Filter.BILINEAR: (1.0, _linear), Filter.BICUBIC: (2.0, _cubic)}  # each with its radius
