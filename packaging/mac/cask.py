"""The cask for a tap of one's own, to stdout: cask.py IMAGE ADDRESS HOMEPAGE [notarized]

ADDRESS is where the image lies; `#{version}` in it stands for the version.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

from app.system.build import project
from app.system.bundle_files import IDENTIFIER, MINIMUM_MACOS

_NAMES = {14: "sonoma", 15: "sequoia", 26: "tahoe"}  # Homebrew's, of macOS
_DESC = "Chat with local language models, sped up by a draft model"
_CASK = """\
cask "hunch" do
  version "{version}"
  sha256 "{sha256}"

  url "{address}"
  name "Hunch"
  desc "{desc}"
  homepage "{homepage}"

  depends_on arch: :arm64
  depends_on macos: :{macos}

  app "Hunch.app"
  binary "#{{appdir}}/Hunch.app/Contents/MacOS/Hunch", target: "hunch"

  uninstall quit: "{identifier}"

  zap trash: [
    "~/Library/Application Support/Hunch",
    "~/Library/Caches/Hunch",
    "~/Library/Logs/Hunch",
    "~/Library/Preferences/{identifier}.plist",
    "~/Library/Saved Application State/{identifier}.savedState",
  ]
{caveats}end
"""
_CAVEATS = """
  caveats <<~EOS
    Hunch is not notarized by Apple. If macOS refuses to open it, choose
    System Settings > Privacy & Security > Open Anyway.
  EOS
"""


def cask(image: Path, address: str, homepage: str, notarized: str = "") -> str:
    return _CASK.format(
        version=project()["version"],
        sha256=hashlib.sha256(image.read_bytes()).hexdigest(),
        address=address,
        desc=_DESC,
        homepage=homepage,
        macos=_NAMES[MINIMUM_MACOS[0]],
        identifier=IDENTIFIER,
        caveats="" if notarized else _CAVEATS,
    )


if __name__ == "__main__":
    sys.stdout.write(cask(Path(sys.argv[1]), *sys.argv[2:]))
