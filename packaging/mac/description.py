"""What macOS is told of the app: Info.plist, its names in each language, its icon."""

from __future__ import annotations

import plistlib
import tomllib
from pathlib import Path

import icon

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSION = PROJECT["version"]
MINIMUM_MACOS = (15, 0)  # PySide6's own modules say so; its Qt says 13, MLX says 14
LANGUAGES = {"en": "en", "ko": "ko", "ja": "ja", "zh_CN": "zh-Hans"}  # ours, and Apple's names
IDENTIFIER = "io.github.hunch.Hunch"


def write(app: Path) -> None:
    contents = app / "Contents"
    info = {
        "CFBundleName": "Hunch",
        "CFBundleDisplayName": "Hunch",
        "CFBundleExecutable": "Hunch",
        "CFBundleIdentifier": IDENTIFIER,
        "CFBundleIconFile": "Hunch",
        "CFBundlePackageType": "APPL",
        "CFBundleInfoDictionaryVersion": "6.0",
        "CFBundleVersion": VERSION,
        "CFBundleShortVersionString": VERSION,
        "CFBundleDevelopmentRegion": "en",
        "CFBundleLocalizations": list(LANGUAGES.values()),
        "CFBundleURLTypes": [{"CFBundleURLName": IDENTIFIER, "CFBundleURLSchemes": ["hunch"]}],
        "CFBundleDocumentTypes": [
            {
                "CFBundleTypeName": "Text",
                "CFBundleTypeRole": "Viewer",
                "LSHandlerRank": "Alternate",
                "LSItemContentTypes": ["public.text", "public.source-code", "com.adobe.pdf"],
            }
        ],
        "LSMinimumSystemVersion": ".".join(map(str, MINIMUM_MACOS)),
        "LSApplicationCategoryType": "public.app-category.productivity",
        "LSArchitecturePriority": ["arm64"],
        "NSHighResolutionCapable": True,
        "NSRequiresAquaSystemAppearance": False,
        "NSSupportsAutomaticTermination": False,
        "NSSupportsSuddenTermination": False,
        "NSHumanReadableCopyright": f"Hunch {VERSION}, {PROJECT['license']}",
    }
    (contents / "Info.plist").write_bytes(plistlib.dumps(info))
    (contents / "PkgInfo").write_bytes(b"APPL????")
    for language in LANGUAGES.values():
        folder = contents / "Resources" / f"{language}.lproj"
        folder.mkdir(parents=True)
        strings = {"CFBundleName": "Hunch", "CFBundleDisplayName": "Hunch"}
        (folder / "InfoPlist.strings").write_bytes(plistlib.dumps(strings))
    icon.write_icns(ROOT / "resources" / "app_icon.svg", contents / "Resources" / "Hunch.icns")
