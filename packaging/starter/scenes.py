"""Pictures to learn from and to be asked about: some shapes of one kind and colour, or a digit, or nothing known.

A scene is drawn at any size, from one random number generator: a picture that was not trained on has another seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

SHAPES = ("circle", "square", "triangle", "star", "cross", "ring")
COLOURS = {
    "red": (214, 38, 38),
    "orange": (244, 135, 22),
    "yellow": (240, 212, 34),
    "green": (36, 160, 66),
    "blue": (34, 84, 214),
    "purple": (130, 52, 176),
    "pink": (246, 132, 186),
    "black": (22, 22, 24),
}
MOST = 5
BOARD = 4  # squares a side, where several shapes are
_LIGHT = ((255, 255, 255), (246, 246, 246), (232, 236, 240), (244, 238, 224), (225, 240, 228), (206, 210, 214))
_DARK = ((40, 42, 46), (28, 34, 48), (70, 72, 76))

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Scene:
    """What is in a picture: `shape` is one of SHAPES, "digit" or "unknown"."""

    shape: str
    colour: str
    count: int
    digit: int
    aspect: float  # width for a height of one
    ground: tuple[int, int, int]
    ink: tuple[int, int, int]
    places: tuple[tuple[float, float, float, float], ...]  # across, down, radius, angle
    strokes: Array  # a digit's 8 × 8, from 0 to 1
    softness: float  # of edges, in pixels


def read_digits(file: Path) -> list[tuple[Array, int]]:
    """Of each line: what it is, and 8 × 8 levels as letters."""
    lines = file.read_text("utf-8").split()
    levels = [np.array([ord(each) - ord("a") for each in line[1:]], np.float32).reshape(8, 8) / 16 for line in lines]
    return [(level, int(line[0])) for level, line in zip(levels, lines, strict=True)]


def scene(random: Generator, digits: Sequence[tuple[Array, int]], shape: str = "", *, alone: bool = False) -> Scene:
    """`digits`: handwritten ones, each with what it is; `alone`: not several of a shape."""
    shape = shape or str(random.choice([*SHAPES, "digit", "unknown"], p=[0.08] * 6 + [0.46, 0.06]))
    colour = str(random.choice(list(COLOURS)))
    aspect = float(np.exp(random.uniform(-0.3, 0.3)))
    strokes, digit = digits[random.integers(len(digits))] if shape == "digit" else (np.zeros((8, 8), np.float32), -1)
    count = int(random.integers(1, MOST + 1)) if shape in SHAPES and not alone else 1
    grounds = _LIGHT if colour == "black" or random.random() < 0.8 else _DARK
    ground = _moved(random, grounds[random.integers(len(grounds))], 6)
    ink = _moved(random, COLOURS[colour], 12)
    places = _places(random, count, aspect, shape)
    return Scene(shape, colour, count, digit, aspect, ground, ink, places, strokes, float(random.uniform(0.6, 1.4)))


def _moved(random: Generator, colour: Sequence[int], most: int) -> tuple[int, int, int]:
    red, green, blue = np.clip(np.array(colour) + random.integers(-most, most + 1, 3), 0, 255).tolist()
    return red, green, blue


def _places(random: Generator, count: int, aspect: float, shape: str) -> tuple[tuple[float, float, float, float], ...]:
    """One thing is large and about in the middle; several are in squares of a board."""
    side, turn = min(aspect, 1.0), 0.08 if shape == "digit" else 0.3
    if count == 1:
        radius = random.uniform(*((0.45, 0.48) if shape == "digit" else (0.2, 0.42))) * side
        centres = np.array([[aspect / 2, 0.5]]) + random.uniform(-0.6, 0.6, (1, 2)) * (side / 2 - radius)
    else:
        radius = random.uniform(0.75, 0.98) * side / BOARD / 2
        squares = random.choice(BOARD**2, count, replace=False)
        centres = (
            np.stack((squares % BOARD, squares // BOARD), 1) + 0.5 + random.uniform(-0.1, 0.1, (count, 2))
        ) / BOARD
        centres *= (aspect, 1)
    angles = random.uniform(-turn, turn, count) * (random.random() < 0.7)
    sizes = radius * random.uniform(0.9, 1, count)
    parts = zip(centres.tolist(), sizes.tolist(), angles.tolist(), strict=True)
    return tuple((across, down, size, angle) for (across, down), size, angle in parts)


def drawn(scene: Scene, width: int, height: int, random: Generator | None = None) -> NDArray[np.uint8]:
    """(height, width, 3); of something unknown only with `random`."""
    if scene.shape == "unknown":
        return _unknown(random or np.random.default_rng(0), width, height)
    x = ((np.arange(width, dtype=np.float32) + 0.5) / width * scene.aspect)[None, :]
    y = ((np.arange(height, dtype=np.float32) + 0.5) / height)[:, None]
    pixel = scene.softness / height if scene.aspect < 1 else scene.softness * scene.aspect / width
    share = np.zeros((height, width), np.float32)
    for across, down, radius, angle in scene.places:
        a, b = (x - across) / radius, (y - down) / radius
        u, v = a * np.cos(angle) + b * np.sin(angle), b * np.cos(angle) - a * np.sin(angle)
        if scene.shape == "digit":
            share = np.maximum(share, _written(scene.strokes, u, v))
        else:
            share = np.maximum(share, np.clip(0.5 - _distance(scene.shape, u, v) * radius / pixel, 0, 1))
    ground, ink = np.array(scene.ground, np.float32), np.array(scene.ink, np.float32)
    return np.round(ground + share[..., None] * (ink - ground)).astype(np.uint8)


def _distance(shape: str, u: Array, v: Array) -> Array:
    """From the edge, about, inside negative; within a circle of radius one."""
    length = np.hypot(u, v)
    if shape == "circle":
        return length - 0.95
    if shape == "ring":
        return np.abs(length - 0.72) - 0.22
    if shape == "square":
        return np.maximum(np.abs(u), np.abs(v)) - 0.78
    if shape == "cross":
        a, b = np.abs(u), np.abs(v)
        return np.maximum(np.minimum(a, b) - 0.27, np.maximum(a, b) - 0.92)
    if shape == "triangle":
        sides = [u * np.sin(turn) - v * np.cos(turn) for turn in (np.pi, np.pi / 3, -np.pi / 3)]
        return np.maximum(np.maximum(*sides[:2]), sides[2]) - 0.5
    around = np.mod(np.arctan2(u, -v) + np.pi / 5, 2 * np.pi / 5) - np.pi / 5  # a fifth of a star, its tip upward
    a, b = np.abs(length * np.sin(around)), length * np.cos(around)
    inner = 0.42 * np.array((np.sin(np.pi / 5), np.cos(np.pi / 5)))
    edge = np.array((inner[0], inner[1] - 1.0))
    normal = np.array((-edge[1], edge[0])) / np.hypot(*edge)
    return a * normal[0] + (b - 1.0) * normal[1]


def _written(strokes: Array, u: Array, v: Array) -> Array:
    """A digit's 8 × 8 over the square around, between its samples in proportion."""
    x, y = (np.clip((part + 0.85) / 1.7 * 8 - 0.5 + 1, 0, 9) for part in (u, v))
    padded = np.pad(strokes, 1)
    x, y = np.broadcast_arrays(x, y)
    left, top = np.minimum(x.astype(int), 8), np.minimum(y.astype(int), 8)
    a, b = x - left, y - top
    upper = padded[top, left] * (1 - a) + padded[top, left + 1] * a
    lower = padded[top + 1, left] * (1 - a) + padded[top + 1, left + 1] * a
    return np.clip((upper * (1 - b) + lower * b) * 1.5 - 0.1, 0, 1)


def _unknown(random: Generator, width: int, height: int) -> NDArray[np.uint8]:
    """Waves, spots and noise in several colours."""
    x, y = np.meshgrid(np.linspace(0, 1, width, dtype=np.float32), np.linspace(0, 1, height, dtype=np.float32))
    waves = np.zeros((height, width, 3), np.float32)
    for _ in range(int(random.integers(3, 9))):
        across, down = random.normal(0, 9, 2)
        waves += np.sin(across * x + down * y + random.uniform(0, 7))[..., None] * random.normal(0, 50, 3)
    coarse = random.normal(0, random.uniform(0, 40), (9, 9, 3))
    blocks = coarse[(y * 8).astype(int), (x * 8).astype(int)]
    return np.clip(random.uniform(60, 200, 3) + waves + blocks, 0, 255).astype(np.uint8)
