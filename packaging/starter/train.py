"""Trains the starter from the guide: one command, CPU only, seeded.

    python packaging/starter/train.py                              # everything, into resources/starter
    python packaging/starter/train.py --drafters-only
    python packaging/starter/train.py --only main --resume 1 --steps 200 --rate 1e-3 --favour install-model delete-model
    python packaging/starter/train.py --steps 2 --eager --out build/tried  # whether it runs from start to end

The tokenizer comes first, then the main model from data (pair.py), then the draft, which learns the main model's
distribution on the same kind of data, and the drafters (dflash.py, heads.py), which learn it from the main model's
hidden states. What the data looks like is in chats.py; what the result is worth is measured by evaluate.py.
"""

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from corpus import load_guide
from plan import Plan

ROOT = Path(__file__).parents[2]
SEED = 20_240_607
PLANS = {
    "main": Plan(1800, 2e-3, SEED, long_share=0.12),
    "draft": Plan(500, 4e-3, SEED + 1, long_share=0.12),
    "dflash": Plan(1100, 4e-3, SEED + 2, long_share=0.2),
    "eagle3": Plan(1100, 4e-3, SEED + 3, long_share=0.2),
    "mtp": Plan(1100, 4e-3, SEED + 4, long_share=0.2),
}  # by folder, in the order in which they need one another
DRAFTERS = ("dflash", "eagle3", "mtp")


@dataclass(frozen=True)
class Order:
    """What is to be trained, where, and whether it goes on from what is there."""

    out: Path
    plans: dict[str, Plan]
    resume: bool
    favoured: frozenset[str]


def order(arguments: list[str] | None = None) -> Order:
    """Raises SystemExit for arguments that are wrong."""
    options = _parser().parse_args(arguments)
    wanted = DRAFTERS if options.drafters_only else options.only or PLANS
    plans = {name: plan for name, plan in PLANS.items() if name in wanted}
    given = {"steps": options.steps, "rate": options.rate, "long_share": options.long_share}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    changes["compiled"] = not options.eager
    plans = {name: replace(plan, seed=plan.seed + 10 * options.resume, **changes) for name, plan in plans.items()}
    return Order(options.out, plans, options.resume > 0, frozenset(options.favour))


def carry_out(what: Order) -> None:
    import drafters
    from chats import ChatMaker
    from dflash import Dflash
    from export import size_bytes
    from heads import Eagle, Mtp
    from pair import MAIN, saved_model, saved_tokenizer, train_draft, train_main

    kinds = {"dflash": Dflash, "eagle3": Eagle, "mtp": Mtp}
    guide, main_folder = replace(load_guide(), favoured=what.favoured), what.out / "main"
    for name, plan in what.plans.items():
        folder = what.out / name
        if name == "main":
            train_main(guide, folder, plan, resume=what.resume)
        elif name == "draft":
            train_draft(guide, folder, main_folder, plan, resume=what.resume)
        else:
            main_model = saved_model(main_folder, MAIN)
            maker = ChatMaker(guide, saved_tokenizer(main_folder), plan.seed, opening_share=0.1)
            drafters.train(kinds[name](MAIN), main_model, maker, folder, plan, resume=what.resume)
    print(f"{size_bytes(what.out) / 1e6:.1f} MB in {what.out}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "resources" / "starter")
    parser.add_argument("--only", nargs="+", choices=list(PLANS), help="all but main need a trained main in --out")
    parser.add_argument("--drafters-only", action="store_true", help=f"only {', '.join(DRAFTERS)}")
    parser.add_argument(
        "--resume", type=_natural, default=0, help="go on from --out for this many-th time, with other chats"
    )
    facts = [fact.id for fact in load_guide().facts["en"]]
    parser.add_argument(
        "--favour", nargs="+", choices=facts, default=(), metavar="FACT", help="ask about these more often than others"
    )
    parser.add_argument("--steps", type=_positive, help="of each part, in place of its own number")
    parser.add_argument("--rate", type=float, help="of learning, in place of each part's own")
    parser.add_argument("--long-share", type=float, help="of the steps, with long chats")
    parser.add_argument("--eager", action="store_true", help="do not compile: for a few steps")
    return parser


def _natural(text: str) -> int:
    if (number := int(text)) < 0:
        raise argparse.ArgumentTypeError("a number from 0 on")
    return number


def _positive(text: str) -> int:
    if (number := _natural(text)) < 1:
        raise argparse.ArgumentTypeError("a number from 1 on")
    return number


if __name__ == "__main__":
    carry_out(order())
