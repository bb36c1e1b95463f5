"""Heat and energy saving of the machine, and activities that keep macOS from napping or sleeping.

By ctypes on Foundation and IOKit; on other systems nothing is known and nothing is held.
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import c_bool, c_char_p, c_double, c_long, c_uint64, c_void_p
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import cached_property

from app.system.objc import Library, Methods, ObjectiveC, on_a_mac

_FOUNDATION = "/System/Library/Frameworks/Foundation.framework/Foundation"
_IOKIT = "/System/Library/Frameworks/IOKit.framework/IOKit"

METHODS: Methods = {
    "processInfo": (c_void_p,),
    "thermalState": (c_long,),
    "isLowPowerModeEnabled": (c_bool,),
    "beginActivityWithOptions:reason:": (c_void_p, c_uint64, c_void_p),
    "endActivity:": (None, c_void_p),
    "stringWithUTF8String:": (c_void_p, c_char_p),
    "retain": (c_void_p,),
    "release": (None,),
}
_FROM_OUTSIDE = -2.0  # kIOPSTimeRemainingUnlimited: on mains


class Activity(IntEnum):
    """NSActivityOptions. Neither lets App Nap slow the process; the first also keeps the Mac from sleeping idly."""

    NO_SLEEP = 0x00FFFFFF  # NSActivityUserInitiated
    NO_NAP = 0x00EFFFFF  # NSActivityUserInitiatedAllowingIdleSystemSleep


class Heat(IntEnum):
    """NSProcessInfoThermalState."""

    NOMINAL, FAIR, SERIOUS, CRITICAL = range(4)


class Slowdown(StrEnum):
    """Why replies are slow, or not drafted."""

    NONE = ""
    HOT = "hot"
    SAVING = "saving"
    BATTERY = "battery"  # no drafts on battery, by the settings


@dataclass(frozen=True, slots=True)
class Power:
    heat: Heat = Heat.NOMINAL
    saves: bool = False  # Low Power Mode
    on_battery: bool = False

    @property
    def is_hot(self) -> bool:
        return self.heat >= Heat.SERIOUS

    @property
    def spares(self) -> bool:
        """Whether background work is deferred."""
        return self.is_hot or self.saves


class EnergySource:
    """A machine that never naps. One activity is held at a time. GUI thread only."""

    def power(self) -> Power:
        return Power()

    def hold(self, activity: Activity | None) -> None:
        """Replace the held activity; None: hold none, so that the process may nap."""


class Mac(EnergySource):
    def __init__(self, library: Library = ctypes.CDLL) -> None:
        """Raises OSError or AttributeError where macOS does not have what is called."""
        self._objc = ObjectiveC(_FOUNDATION, METHODS, library)
        self._time_left = library(_IOKIT).IOPSGetTimeRemainingEstimate
        self._time_left.restype = c_double
        self._time_left.argtypes = []
        self._held: tuple[Activity, int] | None = None

    def power(self) -> Power:
        with self._objc.pool():
            heat = self._objc.send(self._info, "thermalState")
            saves = self._objc.send(self._info, "isLowPowerModeEnabled")
        return Power(Heat(min(max(heat, 0), Heat.CRITICAL)), bool(saves), self._time_left() != _FROM_OUTSIDE)

    def hold(self, activity: Activity | None) -> None:
        before = self._held
        if activity == (before and before[0]):
            return
        self._held = None
        with self._objc.pool():
            if activity is not None:
                reason = self._objc.string("work")
                token = self._objc.send(self._info, "beginActivityWithOptions:reason:", activity, reason)
                self._held = activity, self._objc.send(token, "retain")
            if before is not None:
                self._objc.send(self._info, "endActivity:", before[1])
                self._objc.send(before[1], "release")

    @cached_property
    def _info(self) -> int:
        """Lives as long as the process."""
        info: int = self._objc.send(self._objc.class_named("NSProcessInfo"), "processInfo")
        return info


def knows_battery() -> bool:
    return sys.platform == "darwin"


def this_machine() -> EnergySource:
    return on_a_mac(Mac, "heat and power are not known") or EnergySource()
