"""Writing a small file so that a reader, or a power cut, finds the old content or the whole new one, never a part."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_atomically(path: Path, data: bytes | str, *, private: bool = True) -> None:
    """Replace `path` by a file of `data` (text as UTF-8), making its folder if there is none; any thread may call this.

    `private`: only this user may read it. Raises OSError; then `path` is as before and nothing else is left behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    flags, mode = os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666
    try:
        with os.fdopen(os.open(temporary, flags, mode), "wb") as file:
            file.write(data.encode("utf-8") if isinstance(data, str) else data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
