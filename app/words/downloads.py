"""A download in words: how far, how fast, how long, and what it waits for."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.words.formats import count, fill, size
from engine import Retry


def time_left(seconds: float) -> str:
    """Rounded coarsely, so that it does not flicker."""
    if seconds < 60:
        return fill(QCoreApplication.translate("Downloads", "%1 s left"), count(max(5, 5 * round(seconds / 5))))
    minutes = round(seconds / 60)
    if minutes < 60:
        return fill(QCoreApplication.translate("Downloads", "%1 min left"), count(minutes))
    if minutes < 48 * 60:
        return fill(
            QCoreApplication.translate("Downloads", "%1 h %2 min left"), count(minutes // 60), count(minutes % 60)
        )
    return fill(QCoreApplication.translate("Downloads", "%1 days left"), count(round(minutes / 60 / 24)))


def progress_text(done_bytes: int, total_bytes: int, bytes_per_second: float, seconds_left: float | None) -> str:
    """ "1.2 GB of 4.6 GB · 35.0 MB per second · 2 min left"; what is not known yet is left out."""
    if 0 < total_bytes <= done_bytes:
        return size(total_bytes)
    parts = [fill(QCoreApplication.translate("Downloads", "%1 of %2"), size(done_bytes), size(total_bytes))]
    if bytes_per_second >= 1000:  # less is next to nothing
        parts.append(fill(QCoreApplication.translate("Downloads", "%1 per second"), size(round(bytes_per_second))))
    if seconds_left is not None:
        parts.append(time_left(seconds_left))
    return " · ".join(parts)


def retry_text(retry: Retry) -> str:
    seconds = count(max(1, round(retry.in_s)))
    if retry.hub_is_busy:
        return fill(QCoreApplication.translate("Downloads", "Hub busy. Retrying in %1 s"), seconds)
    return fill(QCoreApplication.translate("Downloads", "Connection lost. Retrying in %1 s"), seconds)
