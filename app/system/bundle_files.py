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
# Why, when macOS asks whether Hunch may: the local network at the first connection, the rest for a path or a tool
# server, whose processes are Hunch to macOS. Without a reason it refuses those of tools, and asks nothing.
_NETWORK = {
    "en": "Hunch looks for Macs that help others, and connects only to those that you pair, or a mirror that you name.",
    "ko": "다른 Mac을 돕는 Mac을 찾고, 페어링한 Mac이나 지정한 모델 미러에만 연결해요.",
    "ja": "ほかの Mac を手伝う Mac を探し、ペアリングした Mac と指定したモデルのミラーだけに接続します。",
    "zh_CN": "查找可协助其他 Mac 的 Mac，只连接已配对的 Mac 或你指定的模型镜像。",
}
_FILES = {
    "en": "Hunch uses there what you choose, and what tools that you added ask for.",
    "ko": "선택한 것과 추가한 도구가 요청한 것만 사용해요.",
    "ja": "選んだものと、追加したツールが求めるものだけを使います。",
    "zh_CN": "只使用你选择的内容，以及你添加的工具所请求的内容。",
}
_TOOLS = {
    "en": "A tool that you added to Hunch asks for it.",
    "ko": "Hunch에 추가한 도구가 요청했어요.",
    "ja": "Hunch に追加したツールが求めています。",
    "zh_CN": "你添加到 Hunch 的工具请求使用。",
}
_OF_FILES = ("DesktopFolder", "DocumentsFolder", "DownloadsFolder", "NetworkVolumes", "RemovableVolumes")
_OF_TOOLS = ("AppleEvents", "Calendars", "CalendarsFullAccess", "Contacts", "Reminders", "RemindersFullAccess")
_REASONS = {"LocalNetwork": _NETWORK} | dict.fromkeys(_OF_FILES, _FILES) | dict.fromkeys(_OF_TOOLS, _TOOLS)
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
        **_reasons("en"),
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
        strings = {"CFBundleName": "Hunch", "CFBundleDisplayName": "Hunch", **_reasons(ours)}
        (folder / "InfoPlist.strings").write_bytes(plistlib.dumps(strings))
        (folder / "ServicesMenu.strings").write_bytes(plistlib.dumps({_ASK["en"]: _ASK[ours]}))
        shutil.copyfile(_ALERTS / f"{ours}.txt", folder / "Alerts.txt")


def _reasons(language: str) -> dict[str, str]:
    return {f"NS{what}UsageDescription": said[language] for what, said in _REASONS.items()}
