#!/usr/bin/env bash
# On a Mac, once: `packaging/mac/on_a_mac.sh [Hunch.app or Hunch.dmg]` looks at what needs no hands, in at most twenty
# minutes, and writes build/on-a-mac.md, to attach to an issue (on_a_mac.py; --help has more).
# The workflow mac.yml gives one word: `assemble` builds and verifies, `start` runs what was built, `tool` installs Hunch
# as a tool, which writes its own app, `metal` compares the GPU with the CPU, `cask` has Homebrew judge the cask, and
# `tests` runs them.
set -euo pipefail
unset CDPATH # where cd would look for a folder "packaging" first
from=$PWD # what is given lies there
cd "$(dirname "$0")/../.."
app=build/app/Hunch.app
summary=${GITHUB_STEP_SUMMARY:-/dev/stdout}

# Of our lock, in a folder of its own: the .venv that uv makes has no pip.
uv() {
    if [ ! -x build/uv/bin/uv ]; then
        .venv/bin/python -m venv build/uv
        build/uv/bin/python -m pip install --quiet --require-hashes --only-binary :all: -r packaging/requirements-uv.lock
        cp packaging/requirements-uv.lock build/uv/installed.lock # which bootstrap.sh looks for
    fi
    build/uv/bin/uv "$@"
}

assemble() {
    make venv
    uv python install --install-dir build/python cpython-3.13-macos-aarch64-none
    keys=$(mktemp -d)
    trap 'rm -rf "$keys"' EXIT
    if [ -n "${HUNCH_P12_BASE64:-}" ]; then
        export HUNCH_P12=$keys/developer.p12
        base64 --decode <<<"$HUNCH_P12_BASE64" >"$HUNCH_P12"
    fi
    make app ARGS="--python $(echo build/python/cpython-3.13*)" | tee -a "$summary"
    [ -z "${HUNCH_NOTARY_KEY:-}" ] || notarize
    codesign --verify --strict -vv "$app"
    hdiutil verify -quiet build/app/Hunch.dmg
    shasum -a 256 build/app/Hunch.dmg build/app/Hunch.zip >build/app/Hunch.sha256
    if [ -n "${GITHUB_REPOSITORY:-}" ]; then
        local page=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY
        .venv/bin/python packaging/mac/cask.py build/app/Hunch.dmg \
            "$page/releases/download/v#{version}/Hunch.dmg" "$page" ${HUNCH_NOTARY_KEY:+notarized} >build/app/Hunch.rb
    fi
    rm -rf "$app" # the image and the zip have it
}

# By Apple, with a key of App Store Connect. Image and app then say so also without a network.
notarize() {
    printf '%s\n' "$HUNCH_NOTARY_KEY" >"$keys/notary.p8"
    xcrun notarytool submit --wait --key "$keys/notary.p8" --key-id "$HUNCH_NOTARY_KEY_ID" \
        --issuer "$HUNCH_NOTARY_ISSUER" build/app/Hunch.dmg
    xcrun stapler staple build/app/Hunch.dmg
    xcrun stapler staple "$app"
    rm build/app/Hunch.zip
    ditto -c -k --keepParent "$app" build/app/Hunch.zip
}

# Steps of on_a_mac.py, which makes .venv itself: until then it runs with the Python of macOS's tools.
look() {
    local python=$PWD/.venv/bin/python script=$PWD/packaging/mac/on_a_mac.py status=0
    [ -x "$python" ] || python=$(command -v python3)
    (cd "$from" && "$python" "$script" "$@") || status=$?
    [ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat build/on-a-mac.md >>"$summary"
    return "$status"
}

start() {
    look --of app --only image,gatekeeper,libraries,start,seal
}

tool() {
    local app=~/Applications/Hunch.app
    uv tool install --quiet --python 3.13 .
    "$(uv tool dir --bin)/hunch" --install-app
    "$app/Contents/MacOS/Hunch" --smoke build/tool.png >build/tool.json
    open "$app"
    sleep 30
    # Whether macOS takes Python's process for the app is what this line says.
    echo "The app of the tool, to macOS: $(lsappinfo list | grep -A 2 '"Hunch"' || echo "not named Hunch")" >>"$summary"
    osascript -e 'quit app "Hunch"' || true
}

tests() {
    look --only setup,tests,crashes --minutes 50
}

metal() {
    look --of checkout --only mlx,drafters
}

cask() {
    brew tap-new --no-git hunch/local >/dev/null
    local casks
    casks=$(brew --repository hunch/local)/Casks
    mkdir -p "$casks"
    cp build/app/Hunch.rb "$casks/hunch.rb"
    brew style hunch/local
    brew audit --cask hunch/local/hunch
}

case "${1:-}" in
assemble | start | tool | tests | metal | cask) "$@" ;;
*) look "$@" ;;
esac
