"""Files beside the code of the app: Info.plist, names, icon, and the alert when it cannot start (`alert.sh`).

Used by packaging and by `hunch --install-app`.
"""

from __future__ import annotations

import plistlib
import shutil
from pathlib import Path

from app.system.build import ROOT
from app.system.services import MESSAGE, TEXT

LICENCE = "Apache-2.0"
MINIMUM_MACOS = (15, 0)  # PySide6's own modules say so; its Qt says 13, MLX says 14
LANGUAGES = {"en": "en", "ko": "ko", "ja": "ja", "zh_CN": "zh-Hans"}  # ours, and Apple's names
ALERT = "alert.sh"
_ALERTS = ROOT / "resources" / "alerts"
IDENTIFIER = "io.github.hunch.Hunch"
_DOCUMENTS = {
    "CFBundleTypeName": "Text, PDF, Word and pictures",
    "CFBundleTypeRole": "Viewer",
    "LSHandlerRank": "Alternate",
    "LSItemContentTypes": [
        "public.text",
        "public.source-code",
        "com.adobe.pdf",
        "org.openxmlformats.wordprocessingml.document",
        "public.image",
    ],
}

# In the Services menu of other apps, by language.
_ASK = {"en": "Ask Hunch", "ko": "Hunch에 질문", "ja": "Hunch に質問", "zh_CN": "向 Hunch 提问"}
# Shown when macOS asks whether Hunch may use the local network, at the first connection.
_NETWORK = {
    "en": "Hunch looks for Macs that help others, and connects only to those that you pair, or a mirror that you name.",
    "ko": "다른 Mac을 돕는 Mac을 찾고, 페어링한 Mac이나 지정한 모델 미러에만 연결해요.",
    "ja": "ほかの Mac を手伝う Mac を探し、ペアリングした Mac と指定したモデルのミラーだけに接続します。",
    "zh_CN": "查找可协助其他 Mac 的 Mac，只连接已配对的 Mac 或你指定的模型镜像。",
}
_SERVICE = {
    "NSMenuItem": {"default": _ASK["en"]},
    "NSMessage": MESSAGE,
    "NSPortName": "Hunch",
    "NSSendTypes": [TEXT, "NSStringPboardType"],
    "NSRequiredContext": {},  # else the entry has to be enabled in System Settings
}


def write(app: Path, version: str) -> None:
    """Add the files to an app's Contents."""
    contents = app / "Contents"
    info = {
        "CFBundleName": "Hunch",
        "CFBundleDisplayName": "Hunch",
        "CFBundleExecutable": "Hunch",
        "CFBundleIdentifier": IDENTIFIER,
        "CFBundleIconFile": "Hunch",
        "CFBundlePackageType": "APPL",
        "CFBundleInfoDictionaryVersion": "6.0",
        "CFBundleVersion": version,
        "CFBundleShortVersionString": version,
        "CFBundleDevelopmentRegion": "en",
        "CFBundleLocalizations": list(LANGUAGES.values()),
        "CFBundleURLTypes": [{"CFBundleURLName": IDENTIFIER, "CFBundleURLSchemes": ["hunch"]}],
        "CFBundleDocumentTypes": [_DOCUMENTS],
        "NSServices": [_SERVICE],
        "NSLocalNetworkUsageDescription": _NETWORK["en"],
        "NSBonjourServices": ["_hunch-helper._tcp"],  # of other kinds nothing is found or announced
        "LSMinimumSystemVersion": ".".join(map(str, MINIMUM_MACOS)),
        "LSApplicationCategoryType": "public.app-category.productivity",
        "LSArchitecturePriority": ["arm64"],
        "NSHighResolutionCapable": True,
        "NSRequiresAquaSystemAppearance": False,
        "UIDesignRequiresCompatibility": True,  # the look before macOS 26, until Qt draws the new one
        "NSSupportsAutomaticTermination": False,
        "NSSupportsSuddenTermination": False,
        "NSHumanReadableCopyright": f"Hunch {version}, {LICENCE}",
    }
    if (contents / "Resources" / "Assets.car").is_file():  # for macOS 26: light, dark and tinted
        info["CFBundleIconName"] = "Hunch"
    (contents / "Info.plist").write_bytes(plistlib.dumps(info))
    (contents / "PkgInfo").write_bytes(b"APPL????")
    _write_words(contents / "Resources")
    shutil.copyfile(_ALERTS / ALERT, contents / "Resources" / ALERT)
    shutil.copyfile(ROOT / "resources" / "app_icon.icns", contents / "Resources" / "Hunch.icns")


def _write_words(resources: Path) -> None:
    for ours, language in LANGUAGES.items():
        folder = resources / f"{language}.lproj"
        folder.mkdir(parents=True)
        strings = {"CFBundleName": "Hunch", "CFBundleDisplayName": "Hunch"}
        strings["NSLocalNetworkUsageDescription"] = _NETWORK[ours]
        (folder / "InfoPlist.strings").write_bytes(plistlib.dumps(strings))
        (folder / "ServicesMenu.strings").write_bytes(plistlib.dumps({_ASK["en"]: _ASK[ours]}))
        shutil.copyfile(_ALERTS / f"{ours}.txt", folder / "Alerts.txt")
