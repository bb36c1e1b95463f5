"""The icon as macOS 26 draws it: light, dark and tinted, from the layers of an Icon Composer document.

Apple's actool alone compiles one, so elsewhere than on a Mac with Xcode 26 the app has its .icns only, which is one
picture for all three. The layers are the shapes of resources/app_icon.svg, whose first is the ground.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from xml.etree import ElementTree

NAME = "Hunch"
CATALOG = "Assets.car"
_SVG = "{http://www.w3.org/2000/svg}"
_SIDE = 1024
_DARKER = 0.3  # of the ground's brightness
# The picture of earlier systems stays the .icns: without fallbacks none of them looks into the catalog.
_OPTIONS = (
    *("--app-icon", NAME, "--include-all-app-icons", "--platform", "macosx", "--target-device", "mac"),
    *("--minimum-deployment-target", "15.0", "--development-region", "en", "--enable-on-demand-resources", "NO"),
    *("--enable-icon-stack-fallback-generation=disabled", "--output-partial-info-plist", "/dev/null"),
)
_MOST_S = 300


def add_catalog(drawing: Path, resources: Path) -> str:
    """Into an app's Resources. Returns why there is none, or ""."""
    xcrun = shutil.which("xcrun")
    if xcrun is None:
        return "it takes a Mac with Xcode 26"
    with tempfile.TemporaryDirectory() as folder:
        document, made = Path(folder) / f"{NAME}.icon", Path(folder) / "made"
        write_document(drawing, document)
        made.mkdir()
        command = [xcrun, "actool", str(document), "--compile", str(made), *_OPTIONS]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_MOST_S)
        if not (made / CATALOG).is_file():
            return f"actool ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}"
        shutil.copyfile(made / CATALOG, resources / CATALOG)
    return ""


def write_document(drawing: Path, document: Path) -> None:
    root = ElementTree.parse(drawing).getroot()
    ground, *shapes = [each for each in root if each.tag != f"{_SVG}defs"]
    left, side = float(ground.attrib["x"]), float(ground.attrib["width"])
    stops = [stop.attrib["stop-color"] for stop in root.iter(f"{_SVG}stop")]
    (document / "Assets").mkdir(parents=True)
    layers = []
    for number, shape in enumerate(shapes):
        name = f"{number}.svg"
        layers.append({"name": str(number), "image-name": name, "glass": shape.tag == f"{_SVG}rect"})
        moved = f"scale({_SIDE / side:.5f}) translate({-left:g} {-left:g})"
        picture = ElementTree.Element("svg", {"xmlns": _SVG[1:-1], "viewBox": f"0 0 {_SIDE} {_SIDE}"})
        group = ElementTree.SubElement(picture, "g", {"transform": moved})
        ElementTree.SubElement(group, shape.tag.removeprefix(_SVG), shape.attrib)
        ElementTree.ElementTree(picture).write(document / "Assets" / name, "utf-8")
    fills = [
        {"value": {"linear-gradient": [_colour(stop, 1) for stop in stops]}},
        {"appearance": "dark", "value": {"linear-gradient": [_colour(stop, _DARKER) for stop in stops]}},
    ]
    group_of_all = {"layers": layers, "shadow": {"kind": "neutral", "opacity": 0.5}}
    described = {"fill-specializations": fills, "groups": [group_of_all], "supported-platforms": {"squares": ["macOS"]}}
    (document / "icon.json").write_text(json.dumps(described, indent=2), "utf-8")


def _colour(written: str, brightness: float) -> str:
    parts = [int(pair, 16) / 255 * brightness for pair in re.findall("[0-9A-F]{2}", written)]
    return "srgb:" + ",".join(f"{part:.5f}" for part in (*parts, 1.0))
