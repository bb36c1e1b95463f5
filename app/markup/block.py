"""One piece of a reply: text, code, a table or a formula. No Qt."""

from dataclasses import dataclass, field
from enum import StrEnum

from markdown_it.token import Token

APART = "\n\n"
LIST = "l"
QUOTE = "q"
NOTE = "n"


class BlockKind(StrEnum):
    TEXT = "text"
    CODE = "code"
    TABLE = "table"
    FORMULA = "formula"


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a reply. `tokens` for text and tables; `text` for code and formulas."""

    kind: BlockKind
    tokens: tuple[Token, ...] = ()
    text: str = ""
    language: str = ""
    closed: bool = True  # nothing will be added to it
    inside: str = ""  # enclosing LIST, QUOTE or NOTE, outermost first
    shared: int = 0  # number of these that also enclose the block above
    joined: bool = False  # continues the list, quote or long block above
    goes_on: bool = False  # code with a further piece
    glue: str = APART  # separator from the block above in a copy
    start: int = field(default=0, compare=False)  # where its first line begins in the text

    @property
    def continues_code(self) -> bool:
        """It is a piece of the code that the block above shows the beginning of."""
        return self.kind is BlockKind.CODE and self.joined and not self.inside

    @property
    def is_note(self) -> bool:
        """The text of a footnote."""
        return bool(self.tokens) and self.tokens[0].type == "footnote_reference_open"

    @property
    def heading(self) -> int:
        """1 to 6 for a heading, else 0."""
        is_heading = bool(self.tokens) and self.tokens[0].type == "heading_open"
        return int(self.tokens[0].tag[1]) if is_heading else 0
