"""What is beside the code of the app, assembled or written by `hunch --install-app`: Info.plist, names, icon, and what
it says where it cannot start (`alert.sh`)."""

from __future__ import annotations

import plistlib
import shutil
import struct
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QImage, QImageWriter, QPainter
from PySide6.QtSvg import QSvgRenderer

from app.system.build import ROOT
from app.system.services import MESSAGE, TEXT

LICENCE = "Apache-2.0"
MINIMUM_MACOS = (15, 0)  # PySide6's own modules say so; its Qt says 13, MLX says 14
LANGUAGES = {"en": "en", "ko": "ko", "ja": "ja", "zh_CN": "zh-Hans"}  # ours, and Apple's names
ALERT = "alert.sh"
_ALERTS = ROOT / "resources" / "alerts"
IDENTIFIER = "io.github.hunch.Hunch"
_DOCUMENTS = {
    "CFBundleTypeName": "Text, PDF and pictures",
    "CFBundleTypeRole": "Viewer",
    "LSHandlerRank": "Alternate",
    "LSItemContentTypes": ["public.text", "public.source-code", "com.adobe.pdf", "public.image"],
}

# In the Services menu of other apps, by language.
_ASK = {"en": "Ask Hunch", "ko": "Hunch에 질문", "ja": "Hunch に質問", "zh_CN": "向 Hunch 提问"}
# Beside macOS's question whether Hunch may reach what is in the local network: asked at the first such connection.
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
    "NSRequiredContext": {},  # without it the entry is there only after it was switched on in System Settings
}
_TYPES = {
    b"ic04": 16,
    b"ic05": 32,
    b"ic07": 128,
    b"ic08": 256,
    b"ic09": 512,
    b"ic10": 1024,
    b"ic11": 32,  # for screens of twice the density
    b"ic12": 64,
    b"ic13": 256,
    b"ic14": 512,
}
_PACKED = (b"ic04", b"ic05")  # as Apple's iconutil has them: a PNG of this size is not drawn for an app


def write(app: Path, version: str) -> None:
    """Beside what is in its Contents already."""
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
    write_icns(ROOT / "resources" / "app_icon.svg", contents / "Resources" / "Hunch.icns")


def _write_words(resources: Path) -> None:
    for ours, language in LANGUAGES.items():
        folder = resources / f"{language}.lproj"
        folder.mkdir(parents=True)
        strings = {"CFBundleName": "Hunch", "CFBundleDisplayName": "Hunch"}
        strings["NSLocalNetworkUsageDescription"] = _NETWORK[ours]
        (folder / "InfoPlist.strings").write_bytes(plistlib.dumps(strings))
        (folder / "ServicesMenu.strings").write_bytes(plistlib.dumps({_ASK["en"]: _ASK[ours]}))
        shutil.copyfile(_ALERTS / f"{ours}.txt", folder / "Alerts.txt")


def write_icns(drawing: Path, target: Path) -> None:
    parts = [(kind, (argb if kind in _PACKED else png)(drawing, size)) for kind, size in _TYPES.items()]
    body = b"".join(kind + struct.pack(">I", len(data) + 8) + data for kind, data in parts)
    target.write_bytes(b"icns" + struct.pack(">I", len(body) + 8) + body)


def argb(drawing: Path, size: int) -> bytes:
    """The channels one after another, packed: a byte n below 128 before n + 1 of them, else before one to repeat."""
    image = drawn(drawing, size).convertToFormat(QImage.Format.Format_ARGB32)
    pixels = bytes(image.constBits())  # rows of 4-byte pixels, blue first
    return b"ARGB" + b"".join(map(_packed, (pixels[at::4] for at in (3, 2, 1, 0))))


def _packed(channel: bytes) -> bytes:
    """Runs of three to 130; none takes the last byte, since macOS drops a run at the end."""
    packed, plain, at, end = b"", b"", 0, len(channel) - 1
    while at < len(channel):
        run = 1
        while run < 130 and at + run < end and channel[at + run] == channel[at]:
            run += 1
        if run >= 3:
            packed += _plain(plain) + bytes((run + 125, channel[at]))
            plain, at = b"", at + run
        else:
            plain, at = plain + channel[at : at + 1], at + 1
    return packed + _plain(plain)


def _plain(data: bytes) -> bytes:
    return b"".join(bytes((len(part) - 1,)) + part for part in (data[at : at + 128] for at in range(0, len(data), 128)))


def png(drawing: Path, size: int) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, b"png").write(drawn(drawing, size))
    return bytes(buffer.data().data())


def drawn(drawing: Path, size: int) -> QImage:
    image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(drawing)).render(painter)
    painter.end()
    return image
