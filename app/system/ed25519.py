"""Whether an Ed25519 signature is right (RFC 8032, 5.1.7). Only that: nothing here signs or keeps a secret.

Stricter than the RFC asks, so that no two signatures or keys pass for one: numbers and points have to be in their
only form, and a key or a point that is of small order signs nothing.
"""

from __future__ import annotations

import hashlib

KEY_BYTES, SIGNATURE_BYTES = 32, 64
PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, PRIME) % PRIME
_ROOT = pow(2, (PRIME - 1) // 4, PRIME)  # of -1

Point = tuple[int, int, int, int]  # extended: x = X / Z, y = Y / Z, T = X * Y / Z
_NEUTRAL: Point = (0, 1, 1, 0)


def is_signed(message: bytes, signature: bytes, key: bytes) -> bool:
    if len(signature) != SIGNATURE_BYTES:
        return False
    mine, theirs = _point(key), _point(signature[:KEY_BYTES])
    number = int.from_bytes(signature[KEY_BYTES:], "little")
    if mine is None or theirs is None or number >= ORDER or _is_small(mine) or _is_small(theirs):
        return False
    digest = hashlib.sha512(signature[:KEY_BYTES] + key + message).digest()
    challenge = int.from_bytes(digest, "little") % ORDER
    return _same(times(number, BASE), _add(theirs, times(challenge, mine)))


def _point(encoded: bytes) -> Point | None:
    if len(encoded) != KEY_BYTES:
        return None
    number = int.from_bytes(encoded, "little")
    y, odd = number & (2**255 - 1), number >> 255
    x = _x_of(y, odd) if y < PRIME else None
    return None if x is None else (x, y, 1, x * y % PRIME)


def _x_of(y: int, odd: int) -> int | None:
    squared = (y * y - 1) * pow(_D * y * y + 1, -1, PRIME) % PRIME
    x = pow(squared, (PRIME + 3) // 8, PRIME)
    if x * x % PRIME != squared:
        x = x * _ROOT % PRIME
    if x * x % PRIME != squared or (x == 0 and odd):
        return None
    return x if x & 1 == odd else PRIME - x


def _add(one: Point, other: Point) -> Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % PRIME
    b = (one[1] + one[0]) * (other[1] + other[0]) % PRIME
    c, d = 2 * one[3] * other[3] * _D % PRIME, 2 * one[2] * other[2] % PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME


def times(number: int, point: Point) -> Point:
    result = _NEUTRAL
    while number:
        if number & 1:
            result = _add(result, point)
        point = _add(point, point)
        number >>= 1
    return result


def _same(one: Point, other: Point) -> bool:
    return not ((one[0] * other[2] - other[0] * one[2]) % PRIME or (one[1] * other[2] - other[1] * one[2]) % PRIME)


def _is_small(point: Point) -> bool:
    return _same(times(8, point), _NEUTRAL)


def _base() -> Point:
    y = 4 * pow(5, -1, PRIME) % PRIME
    x = _x_of(y, 0)
    assert x is not None
    return x, y, 1, x * y % PRIME


BASE = _base()
