"""Pictures that other programs send to the server."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile

from app.documents.picture_values import rgb_of
from app.documents.pictures import kind_of, picture_of
from app.documents.problems import Refused, WhyNot
from app.system.limited_child import Stop
from engine import Picture, PictureProblem, PictureRefused

_PROBLEMS = {
    WhyNot.IMAGE: PictureProblem.KIND,
    WhyNot.PICTURE_TOO_LARGE: PictureProblem.TOO_LARGE,
    WhyNot.PICTURE_TOO_NARROW: PictureProblem.TOO_NARROW,
}


class Decoder:
    """Decodes pictures from programs like attached ones: in the limited process, with the same digests."""

    def __init__(self) -> None:
        self._stop = Stop()

    def __call__(self, data: bytes) -> Picture:
        """Raises PictureRefused or, after `stop`, Stopped."""
        try:
            with NamedTemporaryFile() as file:
                file.write(data)
                file.flush()
                png = picture_of(Path(file.name), kind_of(data[:64]) or "", self._stop).png
        except Refused as refused:
            raise PictureRefused(_PROBLEMS.get(refused.why, PictureProblem.DAMAGED)) from refused
        except OSError as error:
            raise PictureRefused(PictureProblem.NO_ROOM) from error
        found = rgb_of(png)
        if found is None:
            raise PictureRefused(PictureProblem.DAMAGED)
        return Picture(*found, sha256(png).hexdigest())

    def stop(self) -> None:
        self._stop.ask()
