"""The date and the time, here or in another time zone, and a moment of one zone in another."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from app.tools.builtin.tool import Arguments, BuiltIn, Reach, Refusal, described, text_of
from app.tools.definitions import ToolResult


def _zone(name: str) -> tzinfo | None:
    """None: this machine's."""
    if not name or name.lower() == "local":
        return None
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        raise Refusal(f'"{name[:100]}" is no time zone; names are such as "Asia/Seoul" or "UTC"') from None


def _moment(text: str, zone: tzinfo | None) -> datetime:
    if not text:
        return datetime.now(UTC)
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is not None:
            return found
        return found.astimezone() if zone is None else found.replace(tzinfo=zone)
    except (ValueError, OverflowError, OSError):
        raise Refusal(f'"{text[:100]}" is no date and time; write "2026-11-28T15:00"') from None


def _run(arguments: Arguments, _reach: Reach) -> ToolResult:
    zone = _zone(text_of(arguments, "timezone"))
    moment = _moment(text_of(arguments, "at"), _zone(text_of(arguments, "at_timezone")))
    try:
        shown = moment.astimezone(zone)
    except (OverflowError, OSError, ValueError):
        raise Refusal("that moment is out of range") from None
    week = shown.isocalendar()
    offset = shown.strftime("%z")
    name = str(zone) if zone is not None else shown.tzname() or "local"
    return ToolResult(
        f"{shown:%A}, {shown.date().isoformat()}, {shown:%H:%M:%S} ({name}, UTC{offset[:3]}:{offset[3:5]},"
        f" ISO week {week.week} of {week.year}, day {shown.timetuple().tm_yday} of the year)"
    )


_NAME = {"type": "string", "description": 'Such as "Asia/Seoul"; left out: the user\'s'}

TOOLS = (
    BuiltIn(
        described(
            "time",
            "The present date, weekday and time, in the user's time zone or another one. With `at`: what a moment of"
            " one zone is in another.",
            {},
            {
                "timezone": _NAME,
                "at": {"type": "string", "description": 'A moment such as "2026-11-28T15:00"; left out: now'},
                "at_timezone": _NAME,
            },
        ),
        _run,
        is_free=lambda _arguments, _reach: True,
    ),
)
