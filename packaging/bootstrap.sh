#!/bin/sh
# Makes .venv with the locked versions: what the app needs, or with "dev" also what its developers need.
# Needs Python 3.11 to 3.14 with venv, or uv, or, as on a Mac with nothing but /usr/bin/python3, an older Python that can
# install uv, which then fetches a newer Python.
# Does nothing, in milliseconds, while .venv already holds what the lock says; for the app, also while it holds more.
set -eu
unset CDPATH # where cd would look for a folder "packaging" first
cd "$(dirname "$0")/.."

lock=packaging/requirements.lock
dev_lock=packaging/requirements-dev.lock # everything in the other one too, in the same versions
[ "${1:-}" != dev ] || lock=$dev_lock
installed=.venv/installed.lock # a copy of the lock, made once everything in it was installed
uv_lock=packaging/requirements-uv.lock
python=.venv/bin/python
system=$(uname -s 2>/dev/null) || system=

if [ -x "$python" ] && { cmp -s "$lock" "$installed" || cmp -s "$dev_lock" "$installed"; }; then
    exit 0
fi

if [ "$system" = Darwin ]; then
    if [ "$(/usr/sbin/sysctl -n hw.optional.arm64 2>/dev/null)" != 1 ]; then
        echo "Hunch needs a Mac with Apple silicon: MLX, with which it computes, runs on no other" >&2
        exit 1
    fi
    # For which macOS wheels are taken, whatever the Python believes: one that was built for an older macOS is told 16.0.
    # MLX's for macOS 26, which use the neural accelerators of an M5, need 26.2: that is Darwin 25.2.
    case $(uname -r) in
    2[0-3].*) macos=14.4 ;;
    24.* | 25.[01].*) macos=15.0 compat=1 ;;
    *) macos=26.2 compat=0 ;;
    esac
    export MACOSX_DEPLOYMENT_TARGET="$macos" SYSTEM_VERSION_COMPAT="${compat:-0}" # uv reads the first, pip the second
fi

# Prints "ok" when the interpreter can make .venv, or with "uv" a place for uv; else why it cannot; nothing when it does
# not run at all.
examine() {
    "$1" -c '
import platform, sys
for_uv = sys.argv[1:] == ["uv"]
if sys.version_info < ((3, 8) if for_uv else (3, 11)):
    print("is Python %s" % platform.python_version())
elif sys.version_info >= (3, 15) and not for_uv:
    print("is Python %s, for which there is no MLX yet" % platform.python_version())
elif (sys.platform, platform.machine()) == ("darwin", "x86_64") and not for_uv:
    print("is built for Intel, and MLX needs one for Apple silicon")
else:
    try:
        import ensurepip, venv
    except ImportError:
        print("has no venv: sudo apt install python%d.%d-venv" % sys.version_info[:2])
    else:
        print("ok")
' "${2:-}" 2>/dev/null || true
}

# The first that will do. A name can be on PATH and still not run (version managers), so each is asked.
find_python() {
    complaint=
    for candidate in python3.13 python3.12 python3.11 python3 python3.14; do
        answer=$(examine "$candidate" "${1:-}")
        if [ "$answer" = ok ]; then
            echo "$candidate"
            return
        fi
        [ -z "$answer" ] || complaint="; $candidate $answer"
    done
    echo "Hunch needs Python 3.11 to 3.14 (brew install python@3.13, or sudo apt install python3-venv)$complaint" >&2
    return 1
}

# Both know by hash what they fetch: pip by our lock, uv by a list of its own.
fetch_uv() {
    base=$(find_python uv 2>/dev/null) || return 1
    echo "No Python 3.11 or newer is here: fetching uv (about 20 MB), and with it Python 3.13 (about 30 MB, from GitHub)"
    "$base" -m venv --clear build/uv || return 1
    build/uv/bin/python -m pip install $quiet --disable-pip-version-check --no-input \
        --require-hashes --only-binary :all: -r "$uv_lock" || return 1
    cp "$uv_lock" build/uv/installed.lock
}

# Prints nothing where there is none.
find_uv() {
    command -v uv && return
    ! cmp -s "$uv_lock" build/uv/installed.lock || echo build/uv/bin/uv
}

with_uv() {
    # Networks that put their own certificate in between are known to the system's store, not to uv's.
    export UV_SYSTEM_CERTS=1 UV_NATIVE_TLS=1 # its new name and its old one
    if [ "$(examine "$python")" != ok ]; then
        # Where there is none uv fetches it, by its whole name on a Mac: a shell under Rosetta would get one for Intel.
        fetched=3.13
        [ "$system" != Darwin ] || fetched=cpython-3.13-macos-aarch64-none
        base=$(find_python 2>/dev/null) || base=$fetched
        "$uv" venv $quiet --clear --python "$base" .venv || return 1
    fi
    "$uv" pip install $quiet --python "$python" ${macos:+--python-platform aarch64-apple-darwin} --require-hashes --only-binary :all: -r "$lock"
}

with_pip() {
    if [ "$(examine "$python")" != ok ]; then
        base=$(find_python) || return 1
        "$base" -m venv --clear .venv || return 1
    fi
    # uv leaves pip out.
    "$python" -m pip --version >/dev/null 2>&1 || "$python" -m ensurepip >/dev/null || return 1
    "$python" -m pip install $quiet --disable-pip-version-check --no-input \
        --require-hashes --only-binary :all: -r "$lock"
}

quiet=--quiet
if [ -t 1 ]; then quiet=; fi # people see progress, logs stay short

[ ! -e "$installed" ] || : >"$installed" # until all of the new lock is there, .venv holds neither
echo "Setting up .venv: once, and when the locked versions change"
uv=$(find_uv)
if [ -z "$uv" ] && ! find_python >/dev/null 2>&1 && fetch_uv; then uv=$(find_uv); fi
# pip also knows the mirrors of pip.conf, so it gets a try where uv finds no way.
if ! { [ -n "$uv" ] && with_uv; }; then
    with_pip
fi
"$python" packaging/openblas.py || echo "OpenBLAS is not in place: on this machine drafting will not pay" >&2
cp "$lock" "$installed"
