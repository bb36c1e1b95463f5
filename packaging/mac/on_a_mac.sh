#!/usr/bin/env bash
# What the workflow mac.yml does on a Mac: `assemble` builds and verifies, `start` runs what was built, `tool` installs
# Hunch as a tool, which writes its own app, `metal` compares the GPU with the CPU, `cask` has Homebrew judge the cask,
# and `tests` runs them.
set -euo pipefail
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

start() {
    local mounted
    mounted=$(hdiutil attach -nobrowse -readonly build/app/Hunch.dmg | sed -n 's/.*\(\/Volumes\/.*\)/\1/p')
    ditto "$mounted/Hunch.app" "$app"
    hdiutil detach -quiet "$mounted"
    xattr -w com.apple.quarantine "0081;00000000;Safari;" "$app"
    echo "Gatekeeper: $(spctl -a -vv "$app" 2>&1 | head -n 1)" >>"$summary"
    xattr -d com.apple.quarantine "$app"
    local libraries
    libraries=$(DYLD_PRINT_LIBRARIES=1 "$app/Contents/MacOS/Hunch" --smoke build/smoke.png 2>&1 >build/smoke.json |
        sed -n 's/.*> \(\/.*\)/\1/p' | grep -v -e ^/usr/lib -e ^/System -e "$PWD/$app" || true)
    [ -z "$libraries" ] || { echo "from outside the app: $libraries" && return 1; }
    { sw_vers && /usr/sbin/sysctl -n machdep.cpu.brand_string && cat build/smoke.json && echo "Speeds here mean nothing."; } >>"$summary"
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
    local status=0
    make test | tee build/tests.log || status=$?
    tail -n 1 build/tests.log >>"$summary"
    return "$status"
}

metal() {
    .venv/bin/python packaging/mac/on_metal.py >>"$summary"
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

"$@"
