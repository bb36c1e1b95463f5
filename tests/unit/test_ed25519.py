"""Signatures: those of RFC 8032 are right, and whatever differs from them is not."""

from __future__ import annotations

import hashlib

import pytest

from app.system.ed25519 import BASE, ORDER, PRIME, _point, is_signed, times
from tests.helpers.notices import signing

# RFC 8032, 7.1: tests 1, 2, 3 and "SHA(abc)": secret, public key, message, signature.
VECTORS = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        b"",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        b"\x72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        b"\xaf\x82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
    (
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        hashlib.sha512(b"abc").digest(),
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589"
        "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ),
]
SECRET, KEY, SIGNATURE = (bytes.fromhex(str(VECTORS[2][at])) for at in (0, 1, 3))
MESSAGE = b"\xaf\x82"
# The points whose eighth multiple is nothing: of order 1, 2, 4, 4, 8, 8, 8, 8.
SMALL = [
    "01" + "00" * 31,
    "ec" + "ff" * 30 + "7f",
    "00" * 32,
    "00" * 31 + "80",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
]


@pytest.mark.parametrize(("secret", "key", "message", "signature"), VECTORS)
def test_the_signatures_of_the_standard_are_right(secret: str, key: str, message: bytes, signature: str) -> None:
    assert is_signed(message, bytes.fromhex(signature), bytes.fromhex(key))
    assert signing().public_key(bytes.fromhex(secret)).hex() == key
    assert signing().signature(message, bytes.fromhex(secret)).hex() == signature


@pytest.mark.costly
@pytest.mark.parametrize("bit", range(0, 512, 23))
def test_one_other_bit_is_another_signature(bit: int) -> None:
    def turned(data: bytes) -> bytes:
        at = bit % (8 * len(data))
        return bytes(each ^ (1 << at % 8 if place == at // 8 else 0) for place, each in enumerate(data))

    assert not is_signed(MESSAGE, turned(SIGNATURE), KEY)
    assert not is_signed(turned(MESSAGE), SIGNATURE, KEY)
    assert not is_signed(MESSAGE, SIGNATURE, turned(KEY))


def test_the_same_number_written_otherwise_is_refused() -> None:
    """Or one signature could be made into another that is right, too."""
    number = int.from_bytes(SIGNATURE[32:], "little") + ORDER
    assert not is_signed(MESSAGE, SIGNATURE[:32] + number.to_bytes(32, "little"), KEY)


@pytest.mark.parametrize("point", SMALL)
def test_a_key_of_small_order_signs_nothing(point: str) -> None:
    key = bytes.fromhex(point)
    mine = signing().encoded(times(5, BASE)) + (5).to_bytes(32, "little")
    for message in (bytes([each]) for each in range(16)):
        assert not is_signed(message, key + bytes(32), key)
        assert not is_signed(message, mine, key)


def test_a_signature_at_a_point_of_small_order_is_refused() -> None:
    """Made by who has the key, for the number 0: the equation holds, and the point says nothing of the message."""
    point = bytes.fromhex(SMALL[0])
    tools = signing()
    challenge = tools._number(point + KEY + MESSAGE)
    made = point + (challenge * tools._scalar(SECRET) % ORDER).to_bytes(32, "little")
    assert tools.encoded(times(int.from_bytes(made[32:], "little"), BASE)) == tools.encoded(
        times(challenge * tools._scalar(SECRET), BASE)
    )
    assert not is_signed(MESSAGE, made, KEY)


@pytest.mark.parametrize("y", [PRIME, PRIME + 1, PRIME + 18, 2**255 - 1])
def test_a_point_beyond_the_field_is_none(y: int) -> None:
    for high in (0, 1 << 255):
        point = (y | high).to_bytes(32, "little")
        assert not is_signed(MESSAGE, point + SIGNATURE[32:], KEY)
        assert not is_signed(MESSAGE, SIGNATURE, point)


def test_each_point_is_written_in_one_way() -> None:
    on_the_curve = [y for y in range(19) if _point(y.to_bytes(32, "little")) is not None]
    assert len(on_the_curve) > 3
    assert not any(_point((y + PRIME).to_bytes(32, "little")) for y in on_the_curve)


@pytest.mark.parametrize(
    ("signature", "key"), [(b"", KEY), (SIGNATURE[:-1], KEY), (SIGNATURE + b"\0", KEY), (SIGNATURE, b"")]
)
def test_what_has_another_length_is_refused(signature: bytes, key: bytes) -> None:
    assert not is_signed(MESSAGE, signature, key)
