"""Pictures that clients send, as base64 within their messages. Nothing is fetched, and no file is named.

A message that was read holds marks in place of pictures; decoding comes after it, on threads.
"""

from __future__ import annotations

import asyncio
import binascii
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256

from engine.api.types import Message, ModelInfo, Picture, PictureDetail, Request
from engine.server.options import MEGABYTE, PictureDecoder, PictureProblem, PictureRefused
from engine.server.problems import Problem, full, no_sight, shutting_down
from engine.server.problems import picture_refused as _refused

MOST_PICTURES = 64  # of a request
LARGEST_PICTURE = 20 * MEGABYTE  # as a file
MOST_PIXELS = 64 * MEGABYTE  # of a request
_BYTES = 3  # of a pixel
# Bytes of pixels of the latest pictures, no more of them than a request has: a chat's next turn brings them again.
_MOST_KEPT = 64 * MEGABYTE
_AT_A_TIME = 2
_LONGEST_TYPE = 100  # characters of a data URL before its data

_SENTENCES = {
    PictureProblem.KIND: ("is of no kind that is read here", "unsupported_image_media_type"),
    PictureProblem.TOO_LARGE: ("has too many pixels", "image_too_large"),
    PictureProblem.TOO_NARROW: ("is too long for its width", "invalid_image"),
    PictureProblem.DAMAGED: ("is damaged", "image_parse_error"),
}
_NO_ROOM = "Pictures cannot be read now: this machine has no room for temporary files, or cannot start what reads them."


class SentPictures:
    """Those of one request, in base64, until they are read."""

    def __init__(self, model: ModelInfo | None, owner: str, decodes: bool) -> None:
        self._model = model
        self.owner = owner
        self._decodes = decodes
        self.texts: list[str] = []
        self.pixels = 0  # read up to now

    def add(self, text: str, detail: PictureDetail | None = None) -> Picture:
        """Returns the placeholder. Raises Problem for a picture that no model here can see."""
        if self._model is not None and not self._model.sees:
            raise no_sight()
        if not self._decodes:
            raise _refused("This server has nothing that decodes pictures.")
        if len(self.texts) == MOST_PICTURES:
            raise _refused(f"There are more than {MOST_PICTURES} pictures.", "too_many_images")
        if len(text) > LARGEST_PICTURE * 4 // 3 + 4:
            raise _refused(f"A picture is larger than {LARGEST_PICTURE} bytes.", "image_file_too_large")
        self.texts.append(text)
        return Picture(0, 0, b"", str(len(self.texts) - 1), detail)

    def add_url(self, url: str, detail: PictureDetail | None) -> Picture:
        """Add the picture in a data URL."""
        kind, comma, _ = url[:_LONGEST_TYPE].partition(",")
        form = kind.casefold()
        if not comma or not form.startswith("data:") or not form.endswith(";base64"):
            raise _refused("Pictures are taken as data: URLs in base64 only; none is fetched.", "invalid_image_url")
        return self.add(url[len(kind) + 1 :], detail)


class PictureReader:
    """Decodes for all clients of a server, a few pictures at a time."""

    def __init__(self, decode: PictureDecoder | None, most_held: int) -> None:
        self._decode = decode
        self._most_held = most_held
        self._held = 0  # bytes of pixels, of all open requests
        self._threads = ThreadPoolExecutor(_AT_A_TIME, "pictures")
        self._closed = False
        self._lock = threading.Lock()  # of what follows
        self._kept: dict[tuple[str, bytes], Picture] = {}  # by owner and the files' digests; the latest are last

    def stop(self) -> None:
        """Pictures that are being read, or wait for it, are refused at once: the end of the program waits for them."""
        self._closed = True
        if self._decode is not None:
            self._decode.stop()

    def close(self) -> None:
        self.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)

    @contextmanager
    def sent(self, model: ModelInfo | None, owner: str) -> Iterator[SentPictures]:
        """Of a request, for as long as it is open."""
        sent = SentPictures(model, owner, self._decode is not None)
        try:
            yield sent
        finally:
            self._held -= sent.pixels * _BYTES

    def shows(self, model: ModelInfo) -> bool:
        """Whether clients may send pictures to it."""
        return model.sees and self._decode is not None

    async def read(self, sent: SentPictures, requests: Sequence[Request]) -> list[Request]:
        """The requests with pictures in place of their marks. Raises Problem."""
        loop = asyncio.get_running_loop()
        pictures: list[Picture] = []
        while sent.texts:
            picture = await loop.run_in_executor(self._threads, self._picture, sent.texts.pop(0), sent.owner)
            pixels = picture.width * picture.height
            sent.pixels += pixels
            self._held += pixels * _BYTES
            if sent.pixels > MOST_PIXELS:
                raise _refused("The pictures have too many pixels in all.", "image_too_large")
            if self._held > self._most_held:
                raise full("pictures")
            pictures.append(picture)
        return await loop.run_in_executor(self._threads, _shown, requests, pictures) if pictures else list(requests)

    def _picture(self, text: str, owner: str) -> Picture:
        try:
            data = binascii.a2b_base64("".join(text.split()), strict_mode=True)
        except ValueError as error:
            raise _refused("A picture is not in base64.", "invalid_base64_image") from error
        if self._closed:
            raise shutting_down()
        file = owner, sha256(data).digest()
        with self._lock:
            picture = self._kept.pop(file, None)
        if picture is None:
            picture = self._decoded(data)
        with self._lock:
            self._kept[file] = picture
            while len(self._kept) > MOST_PICTURES or sum(len(each.rgb) for each in self._kept.values()) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return picture

    def _decoded(self, data: bytes) -> Picture:
        assert self._decode is not None
        try:
            return self._decode(data)
        except Exception as error:
            if self._closed:
                raise shutting_down() from error
            if not isinstance(error, PictureRefused):
                raise
            if error.why is PictureProblem.NO_ROOM:
                raise Problem(503, _NO_ROOM, "server_error", "no_room", retry=False) from error
            sentence, code = _SENTENCES[error.why]
            raise _refused(f"A picture {sentence}.", code) from error


def _shown(requests: Sequence[Request], pictures: Sequence[Picture]) -> list[Request]:
    """Requests of one client have the same messages."""
    messages = tuple(_with(message, pictures) if message.pictures else message for message in requests[0].messages)
    return [replace(each, messages=messages) for each in requests]


def _with(message: Message, pictures: Sequence[Picture]) -> Message:
    shown = (replace(pictures[int(mark.digest)], detail=mark.detail) for mark in message.pictures)
    return replace(message, pictures=tuple(shown))
