"""Tests run with DejaVu Sans alone, which a package that the app needs brings. One about fonts starts a process with
fonts of its own; `--system-fonts` shows all tests those of the machine."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def no_fonts_but(folder: Path, *fonts: Path) -> dict[str, str]:
    """For the environment of a process before it starts Qt: it sees what is in these folders, on Linux."""
    folders = "".join(f"<dir>{each}</dir>" for each in (*fonts, folder / "none"))
    file = folder / "fonts.conf"
    cache = f"<cachedir>{folder / 'fontconfig'}</cachedir>"
    file.write_text(f"<fontconfig>{folders}{cache}</fontconfig>", encoding="utf-8")
    return {"FONTCONFIG_FILE": str(file)}


def usual_fonts() -> Path:
    spec = find_spec("ziafont")
    assert spec is not None
    assert spec.origin is not None
    fonts = Path(spec.origin).parent / "fonts"
    assert list(fonts.glob("DejaVu*.ttf"))
    return fonts
