"""Appends plain text to a paragraph without parsing all of it again. No Qt.

Most of a reply is text that changes nothing before it. Where that is certain, the last text of the last block grows;
everything else is parsed again.
"""

import re
from dataclasses import replace

from markdown_it.token import Token

from app.markup.block import Block, BlockKind

# No mark of the dialect is among them, and none of them ends what a mark has begun but for the openers below.
_PLAIN = re.compile(r"(?:[^\W_]|[ .,;:!?'\"/()–—…，。、！？：；（）「」-])*")
_OPENERS = frozenset("[&<|\\$")
# Before its first letter a line may still become an item, a rule or a heading.
_LETTER = re.compile(r"[^\W\d_]")


def grown(block: Block, shown: str, added: str) -> Block | None:
    """The block that was read last in `shown`, with what is added to that; None where it has to be read."""
    last_line = shown[shown.rfind("\n") + 1 :]
    if not _PLAIN.fullmatch(added) or not _LETTER.search(last_line) or not _PLAIN.fullmatch(shown[-1]):
        return None
    at = _last_inline(block.tokens) if block.kind is BlockKind.TEXT else None
    if at is None:
        return None
    inline = block.tokens[at]
    text = inline.children[-1] if inline.children else None
    is_last = inline.map is not None and inline.map[1] == shown.count("\n") + 1
    if text is None or text.type != "text" or not is_last or not inline.content.endswith(text.content):
        return None
    if _OPENERS.intersection(inline.content):
        return None
    more = (shown[len(shown.rstrip()) :] + added).rstrip()
    children = [*(inline.children or ())[:-1], text.copy(content=text.content + more)]
    longer = inline.copy(content=inline.content + more, children=children)
    return replace(block, tokens=(*block.tokens[:at], longer, *block.tokens[at + 1 :]))


def added_text(before: tuple[Token, ...], after: tuple[Token, ...]) -> str | None:
    """What the last text of `after` has more, where it otherwise consists of the very tokens of `before`."""
    at = _last_inline(after)
    if at is None or len(before) != len(after):
        return None
    old = before[at].children or []
    new = after[at].children or []
    same = all(a is b or place == at for place, (a, b) in enumerate(zip(before, after, strict=True)))
    if not same or not new or len(old) != len(new) or any(a is not b for a, b in zip(old[:-1], new[:-1], strict=True)):
        return None
    shown = old[-1].content
    goes_on = old[-1].type == new[-1].type == "text" and bool(shown) and new[-1].content.startswith(shown)
    return new[-1].content.removeprefix(shown) if goes_on else None


def _last_inline(tokens: tuple[Token, ...]) -> int | None:
    return next((at for at in range(len(tokens) - 1, -1, -1) if tokens[at].type == "inline"), None)


def may_have_address(tokens: tuple[Token, ...]) -> bool:
    """Whether the last text has a bare address, which is shown as a link and may go on."""
    at = _last_inline(tokens)
    children = None if at is None else tokens[at].children
    return children is not None and any("http" in child.content for child in children[-1:])
