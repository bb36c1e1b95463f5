"""Stand-ins for macOS's own programs, below a folder and where macOS has them: what packaging/mac asks them for.

`make test` is one, too; another target is made with the .venv that is here.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.architecture.project import ROOT

# Shell lines, by the place below "/". `apps` has the numbers of processes with a profile of their own.
PROGRAMS = {
    "usr/sbin/sysctl": """case $2 in
        hw.model) echo Mac15,3 ;; hw.memsize) echo 68719476736 ;; machdep.cpu.brand_string) echo Apple M3 Max ;;
        hw.perflevel0.physicalcpu) echo 12 ;; hw.perflevel1.physicalcpu) echo 4 ;; *) exit 1 ;; esac""",
    "usr/sbin/system_profiler": 'echo "      Total Number of Cores: 40"',
    "usr/sbin/scutil": 'echo "Grace’s MacBook Pro"',
    "usr/sbin/ioreg": """echo '    "IOPlatformSerialNumber" = "C02SECRET123"'
        echo '    "IOPlatformUUID" = "00001111-AAAA-BBBB-CCCC-222233334444"'""",
    "usr/sbin/spctl": 'echo "$4: rejected" >&2; exit 3',
    "usr/bin/sw_vers": "case $1 in -productVersion) echo 15.6 ;; *) echo 24G84 ;; esac",
    # A reply's assertion is named at every other look.
    "usr/bin/pmset": """case "$*" in
        "-g batt") echo "Now drawing from 'AC Power'" ;; -g) echo " lowpowermode 0" ;;
        "-g assertions") if [ -e "$here/looked" ]; then rm "$here/looked"; else touch "$here/looked"
            apps | sed 's/.*/   pid &(Hunch): [0x1] 00:00:01 NoIdleSleepAssertion named: "reply"/'; fi ;;
        sleepnow) touch "$here/slept" ;; esac""",
    "usr/bin/osascript": """pid=$(echo "$4" | sed 's/.*Identifier(\\([0-9]*\\)).*/\\1/')
        case $4 in *terminate) kill -TERM "$pid" ;; esac""",
    "usr/bin/lsappinfo": """case $1 in front) echo ASN:0x0-0x1: ;; info) apps | sed 's/.*/"pid"=&/' ;;
        list) echo '1) "Finder" pid = 1 type="Foreground"' ;; esac""",
    "usr/bin/sudo": "exit 0",
    "usr/bin/codesign": "exit 0",
    "usr/bin/xattr": "exit 0",
    "usr/bin/arch": "exit 1",
    "usr/bin/hdiutil": """[ "$1" != attach ] || cat <<END
<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict><key>system-entities</key><array>
<dict><key>mount-point</key><string>$here/volume</string></dict></array></dict></plist>
END""",
    "usr/bin/ditto": 'cp -R "$1" "$2"',
    "usr/bin/make": """case $1 in test) echo "== 3 passed in 1.0s ==" ;;
        *) ln -s "$root/.venv" .venv && exec /usr/bin/make "$@" ;; esac""",
    "bin/ps": "echo '  0:01.23'",
}


def put_programs(folder: Path) -> Path:
    for place, lines in PROGRAMS.items():
        put(folder, place, lines)
    (folder / "usr" / "bin" / "git").symlink_to(str(shutil.which("git")))
    return folder


def put_app(folder: Path, lines: str) -> Path:
    """An image whose app runs these lines."""
    put(folder, "volume/Hunch.app/Contents/MacOS/Hunch", lines)
    image = folder / "Hunch.dmg"
    image.write_bytes(bytes(1000))
    return image


def put(folder: Path, place: str, lines: str) -> None:
    """Instead of one that is there. `$here` is the folder."""
    program = folder / place
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!/bin/sh\nhere='{folder}'\nroot='{ROOT}'\napps() {{ pgrep -f -- --profile-dir; }}\n{lines}\n")
    program.chmod(0o755)
