"""A stand-in for Hunch as a program, and for the Python of its checkout: what packaging/mac/on_a_mac.py asks of them.

Needs no Qt and no MLX. `FAULT` in the environment names what it does wrong.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

FAULT = os.environ.get("FAULT", "")
WORDS = "words of a chat"
_SMOKE = {"reply": WORDS, "seconds_to_window": 0.5, "seconds_to_first_token": 0.1, "tokens_per_second": 300.0}


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["-c"]:
        if "save_kind" in arguments[1]:
            print(f"{arguments[2]}/dspark")
            return 0
        if "wheel()" in arguments[1]:
            print(f"Python 3.13, MLX 0.32\nDevice(gpu, 0)\n{'macosx_26_0_arm64' if FAULT == 'wheel' else 'other'}")
            return 0
    arguments = arguments[2:] if arguments[:1] in (["-c"], ["-m"]) else arguments
    if arguments[0] == "--smoke":
        if "DYLD_PRINT_LIBRARIES" in os.environ:
            loaded = "/opt/lib/libz.dylib" if FAULT == "libraries" else "/usr/lib/libz.dylib"
            print(f"dyld[7]: <UUID> {loaded}", file=sys.stderr)
        print(json.dumps(_SMOKE | {"drafted": 10, "accepted": 0 if FAULT == "drafts" else 8}))
        return 0
    return _ask(arguments) if arguments[0] == "ask" else _open(Path(arguments[1]))


def _ask(arguments: list[str]) -> int:
    if "--json" not in arguments:
        print(WORDS, flush=True)
    if "4000" in arguments:  # tokens
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job inherits that it is ignored
        try:
            time.sleep(600)
        except KeyboardInterrupt:
            return 1 if FAULT == "ctrl-c" else 130
    rounds = 1.0 if any("dspark" in word for word in arguments) else 3.0
    wrong = FAULT == "tokens" and any("eagle3" in word for word in arguments)
    print(json.dumps({"text": "초안", "tokens": [1, 2, 3 + wrong], "stats": {"tokens_per_pass": rounds}}))
    return 0


def _open(profile: Path) -> int:
    lock = profile / "lock"
    if lock.exists() and FAULT != "copies":
        return 0
    lock.touch()
    settings = json.loads((profile / "data" / "settings.json").read_text(encoding="utf-8"))

    def end(*_: object) -> None:
        lock.unlink()
        os._exit(3 if FAULT == "quit" else 0)

    signal.signal(signal.SIGTERM, end)
    _Server.profile = profile
    ThreadingHTTPServer(("127.0.0.1", settings["server_port"]), _Server).serve_forever()
    return 0


class _Server(BaseHTTPRequestHandler):
    profile: Path
    measuring = threading.Lock()

    def do_GET(self) -> None:
        self._send({"data": []})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.measuring:
            self._measure()
        drafts = asked.get("speculation") != "off"
        differs = FAULT == "texts" and drafts and asked["temperature"] > 0
        timings = {"predicted_n": 40, "predicted_ms": 100 if drafts else 200, "draft_n": 9 * drafts}
        message = {"content": f"{WORDS}, {asked['messages'][0]['content']}{' other' * differs}"}
        self._send(
            {
                "choices": [{"message": message}],
                "timings": timings | {"draft_n_accepted": 6 * drafts},
                "usage": {"completion_tokens": 40},
            }
        )

    def _measure(self) -> None:
        file = self.profile / "cache" / "calibration" / "pair.json"
        if file.exists():
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        again = 1.5 if FAULT == "prices" and "again" in self.profile.name else 1.0
        times = {str(width): 0.01 + 0.001 * width * (again if width > 1 else 1) for width in (*range(1, 18), 33)}
        machine = ["macOS 15.6", "Device(gpu, 0)", "Apple M3 Max", "applegpu", "False", "other", "0.32", "0.32"]
        found = {"verify_s": times, "deep_s": {"1": 1e-6}, "draft_s": {"draft": 1e-3}, "round_s": {"draft": 1e-3}}
        found["draft_deep_s"] = {"draft": 1e-8}
        file.with_suffix(".new").write_text(json.dumps(found | {"error": 0.01, "rounding": 0.0, "machine": machine}))
        file.with_suffix(".new").replace(file)

    def _send(self, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
