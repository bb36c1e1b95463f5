"""Averages the weights of main models that went on from the same one with other chats.

    python packaging/starter/average.py OUT FOLDER=SHARE FOLDER=SHARE ...

The first folder gives what lies beside the weights. Drafters have to go on from OUT afterwards, for a few steps.
"""

import argparse
import shutil
from pathlib import Path

from safetensors.torch import load_file, save_file

WEIGHTS = "model.safetensors"


def average(out: Path, shares: dict[Path, float]) -> None:
    if abs(sum(shares.values()) - 1) > 1e-6:
        raise SystemExit("the shares have to add up to 1")
    held = [(load_file(folder / WEIGHTS), share) for folder, share in shares.items()]
    mixed = {name: sum(share * weights[name].float() for weights, share in held).half() for name in held[0][0]}
    shutil.copytree(next(iter(shares)), out, dirs_exist_ok=True)
    save_file(mixed, out / WEIGHTS, metadata={"format": "mlx"})
    (out / WEIGHTS).chmod(0o644)  # safetensors writes for the owner only


def _share(text: str) -> tuple[Path, float]:
    folder, _, share = text.rpartition("=")
    return Path(folder), float(share)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("shares", nargs="+", type=_share, metavar="FOLDER=SHARE")
    options = parser.parse_args()
    average(options.out, dict(options.shares))
