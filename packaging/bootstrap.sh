#!/bin/sh
# Makes .venv with the locked versions. Needs Python 3.11 or newer with venv; uses uv where there is one.
# Does nothing, in milliseconds, while .venv already holds what the lock says.
set -eu
cd "$(dirname "$0")/.."

lock=packaging/requirements.lock
installed=.venv/installed.lock # a copy of the lock, made once everything in it was installed
python=.venv/bin/python

if [ -x "$python" ] && cmp -s "$lock" "$installed"; then
    exit 0
fi

# Prints "ok" when the interpreter can make .venv, else why it cannot; nothing when it does not run at all.
examine() {
    "$1" -c '
import platform, sys
if sys.version_info < (3, 11):
    print("is Python %s" % platform.python_version())
elif (sys.platform, platform.machine()) == ("darwin", "x86_64"):
    print("is built for Intel, and MLX needs one for Apple silicon")
else:
    try:
        import ensurepip, venv
    except ImportError:
        print("has no venv: sudo apt install python%d.%d-venv" % sys.version_info[:2])
    else:
        print("ok")
' 2>/dev/null || true
}

# The first that will do. A name can be on PATH and still not run (version managers), so each is asked.
find_python() {
    complaint=
    for candidate in python3.13 python3.12 python3.11 python3 python3.14; do
        answer=$(examine "$candidate")
        if [ "$answer" = ok ]; then
            echo "$candidate"
            return
        fi
        [ -z "$answer" ] || complaint="; $candidate $answer"
    done
    echo "Hunch needs Python 3.11 or newer (brew install python@3.13, or sudo apt install python3-venv)$complaint" >&2
    return 1
}

uv=$(command -v uv || true)
quiet=--quiet
if [ -t 1 ]; then quiet=; fi # people see progress, logs stay short

echo "Setting up .venv: once, and when the locked versions change"
if [ "$(examine "$python")" != ok ]; then
    if [ -n "$uv" ]; then
        base=$(find_python 2>/dev/null) || base=3.13 # uv fetches it
        "$uv" venv $quiet --clear --python "$base" .venv
    else
        base=$(find_python)
        "$base" -m venv --clear .venv
    fi
fi
if [ -n "$uv" ]; then
    "$uv" pip install $quiet --python "$python" --require-hashes --only-binary :all: -r "$lock"
else
    "$python" -m pip --version >/dev/null 2>&1 || "$python" -m ensurepip
    "$python" -m pip install $quiet --disable-pip-version-check --no-input \
        --require-hashes --only-binary :all: -r "$lock"
fi
cp "$lock" "$installed"
