#!/bin/sh
# Makes .venv with the locked versions: what the app needs, or with "dev" also what its developers need.
# Needs Python 3.11 or newer with venv; uses uv where there is one.
# Does nothing, in milliseconds, while .venv already holds what the lock says; for the app, also while it holds more.
set -eu
cd "$(dirname "$0")/.."

lock=packaging/requirements.lock
dev_lock=packaging/requirements-dev.lock # everything in the other one too, in the same versions
[ "${1:-}" != dev ] || lock=$dev_lock
installed=.venv/installed.lock # a copy of the lock, made once everything in it was installed
python=.venv/bin/python

if [ -x "$python" ] && { cmp -s "$lock" "$installed" || cmp -s "$dev_lock" "$installed"; }; then
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

with_uv() {
    # Networks that put their own certificate in between are known to the system's store, not to uv's.
    export UV_SYSTEM_CERTS=1 UV_NATIVE_TLS=1 # its new name and its old one
    if [ "$(examine "$python")" != ok ]; then
        base=$(find_python 2>/dev/null) || base=3.13 # uv fetches it
        uv venv $quiet --clear --python "$base" .venv || return 1
    fi
    uv pip install $quiet --python "$python" --require-hashes --only-binary :all: -r "$lock"
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

echo "Setting up .venv: once, and when the locked versions change"
# pip also knows the mirrors of pip.conf, so it gets a try where uv finds no way.
if ! { command -v uv >/dev/null && with_uv; }; then
    with_pip
fi
"$python" packaging/openblas.py || echo "OpenBLAS is not in place: on this machine drafting will not pay" >&2
cp "$lock" "$installed"
