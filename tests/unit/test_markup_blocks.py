"""Cutting replies into blocks, whole and while they grow, and what of growing text is shown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.markup import blocks
from app.markup.block import LIST, Block, BlockKind
from app.markup.blocks import LONG_PARAGRAPH_CHARS, Splitter, presentable, split, whole_graphemes
from app.markup.parser import parse

REPLY = r"""# Title

one **bold** `code` $x^2$ and more
second line

- item a
- item b
  ```python
  def f():
      return 1
  ```
- item c with **수락률(accept rate)**은

1. one
2. two

   $$
   x = 1
   $$
10. ten

| a | b |
|---|--:|
| 1 | 2 |

text
\[
y = \frac{1}{2}
\]
after

```python
x = 1

def f(): pass
```
> quote
> more

---
The end. 👩‍👩‍👧 done
"""


def meaning(block: Block) -> tuple[object, ...]:
    """A block without the line numbers, which count from where its parse began."""
    words = [(token.type, token.content, token.info) for token in block.tokens]
    children = [child for token in block.tokens for child in token.children or ()]
    links = [child.attrGet("href") for child in children if child.type == "link_open"]
    return block.kind, block.text, block.language, block.inside, block.closed, words, links


def kinds(source: str) -> list[str]:
    return [block.kind.value for block in split(source)]


def test_each_kind_of_block_stands_alone() -> None:
    expected = "text text text code text text formula text table text formula text code text text text"
    assert kinds(REPLY) == expected.split()


def test_code_in_a_list_is_lifted_out_and_the_list_goes_on() -> None:
    before, code, after = split("1. one\n   ```py\n   x\n   ```\n2. two")
    assert (code.kind, code.text, code.language, code.inside) == (BlockKind.CODE, "x\n", "py", LIST)
    assert after.joined
    assert not before.joined
    assert [token.info for token in after.tokens if token.type == "list_item_open" and not token.meta] == ["2"]


LINES = [
    *(*REPLY.splitlines(keepends=True), "    - deep\n", "~~~\n", "* * *\n", "$$ y $$\n"),
    *("text", "말", " ", "\n", "\n\n", "\r\n", "\r", "\u2028", "    ", "**", "`c`", "<b>", "$x$"),
    *("> ", "- ", "1. ", "# ", "---\n", "```py\n", "```\n", "| a | b |\n|---|---|\n", "| 1 | 2 |\n"),
    *("$$ x $$", "foo $$y$$ bar", "\\[ x \\]", "\\[", "\\]", "$$", "\\begin{cases}\na \\\\ b\n\\end{cases}\n"),
    *("[a]", "[a]: http://b.c\n", "[^1]", "[^1]: note\n"),
]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(LINES), max_size=14).map("".join), st.integers(1, 10), st.booleans())
@example("\u2028\nb\n", 1, False)
@example("\x0c\nb\n", 1, False)
@example("[a]\n\nb\n>[a]:http:\n", 1, False)
@example("- [a]:http:\n[a]\r[^1]:e\n", 1, False)
def test_any_arrangement_of_lines_ends_as_the_whole_text(source: str, step: int, ends_in_mid_line: bool) -> None:
    source = source.removesuffix("\n") if ends_in_mid_line else source
    splitter = Splitter()
    for start in range(0, len(source), step):
        splitter.append(source[start : start + step])
    splitter.finish()
    assert [meaning(block) for block in splitter.blocks] == [meaning(block) for block in split(source)]


def test_frozen_blocks_never_change() -> None:
    splitter = Splitter()
    frozen: list[Block] = []
    for char in REPLY:
        first = splitter.append(char)
        assert first >= len(frozen)
        assert splitter.blocks[: len(frozen)] == frozen
        frozen = splitter.blocks[: splitter.frozen]
    assert len(frozen) > 10


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the parser was given."""
    sources: list[str] = []

    def noted(source: str, **options: Any) -> Any:
        sources.append(source)
        return parse(source, **options)

    monkeypatch.setattr(blocks, "parse", noted)
    return sources


def test_only_the_tail_is_read_again(parsed: list[str]) -> None:
    paragraph = "Some words in a paragraph that is not long.\n\n"
    splitter = Splitter()
    splitter.append(paragraph * 400)
    assert parsed
    parsed.clear()
    splitter.append("And")
    assert 0 < sum(map(len, parsed)) < 2 * len(paragraph)


MARKS = [
    *("foo", "12", "1.", "- ", "*", "**", "_", "`", "\n", "\n\n", " ", "# ", "> ", "[x](http://a.b/c)", "[", "]"),
    *("(", ")"),
]
MARKS += [
    *("&amp;", ";", "<http://a.b", ">", "|", "|---|", "$", "\\(", "\\", "~~", "초안", "。", "```", "    "),
    *("[^1]: ", "[foo]: /url"),
]


@given(st.lists(st.sampled_from(MARKS), max_size=20).map("".join), st.integers(1, 9))
def test_text_that_grows_is_what_it_would_be_read_at_once(source: str, step: int) -> None:
    """Most letters are added without reading the paragraph again."""
    growing = Splitter()
    for end in range(0, len(source) + step, step):
        growing.append(source[end - step : end] if end else "")
        at_once = Splitter()
        at_once.append(source[:end])
        assert [meaning(block) for block in growing.blocks] == [meaning(block) for block in at_once.blocks]


def test_plain_letters_are_not_a_reason_to_read_the_paragraph_again(parsed: list[str]) -> None:
    splitter = Splitter()
    splitter.append("A **bold** word and `code`, then it goes")
    parsed.clear()
    for word in (" on", " and", " on, and", " (초안 모델이)", " ends."):
        splitter.append(word)
    assert parsed == []
    assert splitter.blocks[-1].tokens[1].content.endswith("then it goes on and on, and (초안 모델이) ends.")


def test_open_code_is_not_parsed_while_it_grows(parsed: list[str]) -> None:
    splitter = Splitter()
    splitter.append("```python\n")
    parsed.clear()
    for number in range(500):
        splitter.append(f"line {number}\n")
    assert parsed == []
    assert splitter.blocks[-1].text.count("\n") == 500
    assert not splitter.blocks[-1].closed
    splitter.append("```\n")
    assert splitter.blocks[-1].closed


def test_a_fence_inside_longer_fences_does_not_end_them() -> None:
    splitter = Splitter()
    splitter.append("````md\n```py\nx\n```\n````\nafter\n")
    splitter.finish()
    assert [block.text for block in splitter.blocks if block.kind is BlockKind.CODE] == ["```py\nx\n```\n"]


@pytest.mark.costly
@pytest.mark.parametrize("source", ["word " * 5000, "말" * 20000, "".join(f"- item {n} of many\n" for n in range(500))])
def test_a_block_without_end_is_cut_while_it_grows(source: str, parsed: list[str]) -> None:
    splitter = Splitter()
    for start in range(0, len(source), 50):
        splitter.append(source[start : start + 50])
    # Without the cut this would be quadratic: hundreds of times the text.
    assert sum(map(len, parsed)) < 3 * LONG_PARAGRAPH_CHARS * len(source) / 50
    assert splitter.frozen > 3
    assert all(block.joined for block in splitter.blocks[1:])


def test_an_item_that_may_continue_a_list_is_not_cut_off() -> None:
    splitter = Splitter()
    splitter.append("1. foo\n\n2")
    assert splitter.frozen == 0
    splitter.append(". bar\n")
    assert len(splitter.blocks) == 1


def test_link_references_are_found_at_the_end() -> None:
    splitter = Splitter()
    splitter.append("See [the page][1] for more.\n\nMore.\n\n[1]: https://example.com/\n")
    splitter.finish()
    inline = next(token for token in splitter.blocks[0].tokens if token.type == "inline")
    assert any(child.attrGet("href") == "https://example.com/" for child in inline.children or ())


@pytest.mark.parametrize(
    "text", ["a\r\nb\r\n\r\nc\r", "a\r\r\n\n\rb", "```\r\na\r\n\r\n```\r\nb", "|a|\r\n|-|\r\n|b|\r\n"]
)
def test_a_line_end_may_come_in_two_pieces(text: str) -> None:
    whole = [meaning(block) for block in split(text)]
    for place in range(len(text) + 1):
        splitter = Splitter()
        for piece in (text[:place], "", text[place:]):
            splitter.append(piece)
        splitter.finish()
        assert [meaning(block) for block in splitter.blocks] == whole, place


@given(st.text(st.sampled_from("a|->`$ \n\r\u2028\x0b\x85"), max_size=40))
def test_line_ends_of_any_kind_are_read(text: str) -> None:
    """Markdown takes a carriage return by itself for a line end, Python's split does not."""
    as_line_feeds = text.replace("\r\n", "\n").replace("\r", "\n")
    assert [meaning(block) for block in split(text)] == [meaning(block) for block in split(as_line_feeds)]


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("So\n\\begin{cases} x \\\\ a \\end{cases}\nend", r"\begin{cases} x \\ a \end{cases}"),
        (
            "\\begin{array}{cc}\n1 & 2 \\\\\n3 & 4\n\\end{array}\n",
            "\\begin{array}{cc}\n1 & 2 \\\\\n3 & 4\n\\end{array}",
        ),
        ("- a\n  \\begin{align*}\n  x\n  \\end{align*}\n", "\\begin{align*}\nx\n\\end{align*}"),
        ("> \\begin{pmatrix}\n> 1 \\\\\n> \\end{pmatrix}\n", "\\begin{pmatrix}\n1 \\\\\n\\end{pmatrix}"),
        ("\\begin{itemize}\n\\item a\n\\end{itemize}", ""),
        ("\\begin{cases} a \\end{cases} and words", ""),
    ],
)
def test_an_environment_by_itself_is_a_formula_as_it_is_written(text: str, tex: str) -> None:
    assert "".join(block.text for block in split(text) if block.kind is BlockKind.FORMULA) == tex
    for end in range(len(text)):
        formulas = [block for block in split(text[:end], streaming=True) if block.kind is BlockKind.FORMULA]
        assert all(text.replace("> ", "").replace("  ", "").find(each.text) >= 0 for each in formulas)


def test_headings_know_their_level() -> None:
    assert [block.heading for block in split("## two\n\ntext")] == [2, 0]


def cells_of(block: Block) -> int:
    return sum(token.type in ("td_open", "th_open") for token in block.tokens)


def test_a_table_of_very_many_columns_is_cut_after_few_rows() -> None:
    """Each cell costs as much as a short paragraph."""
    splitter = Splitter()
    splitter.append("|a" * 300 + "|\n" + "|-" * 300 + "|\n" + ("|b" * 300 + "|\n") * 20)
    splitter.finish()
    assert [cells_of(block) for block in splitter.blocks] == [600] * 20


@pytest.mark.costly
@pytest.mark.parametrize(
    ("mark", "columns", "rows"), [("", 240, 90), ("", 900, 90), ("", 20, 1500), ("> ", 20, 500), ("- ", 20, 500)]
)
def test_rows_that_leave_out_cells_do_not_make_tens_of_thousands(mark: str, columns: int, rows: int) -> None:
    lines = ["|a" * columns + "|", "|-" * columns + "|", *["|"] * rows]
    splitter = Splitter()
    splitter.append("\n".join(mark.replace("-", " " if number else "-") + line for number, line in enumerate(lines)))
    splitter.finish()
    assert max(cells_of(block) for block in splitter.blocks) <= 1500


# The end of growing text: nothing is shown that would have to be taken back.


FAMILY = "👩\u200d👩\u200d👧"
THUMB = "👍\U0001f3fd"
FLAG = "🇰🇷"


@pytest.mark.parametrize("cluster", [FAMILY, THUMB, FLAG, "❤\ufe0f", "\u1112\u1161\u11ab"])
def test_clusters_are_shown_whole(cluster: str) -> None:
    for cut in range(1, len(cluster) + 1):
        assert whole_graphemes("a" + cluster[:cut]) == 1
    text = "a" + cluster + "b"
    assert whole_graphemes(text) == len(text)


@pytest.mark.parametrize("text", ["", "word", "한글", "日本語", "中文。", "a\n", "🎉" * 40])
def test_ordinary_text_and_a_row_of_emoji_never_wait(text: str) -> None:
    assert whole_graphemes(text) == len(text)


@pytest.mark.parametrize(
    ("tail", "shown"),
    [
        ("some **bo", "some **bo**"),
        ("some **bold*", "some **bold**"),
        ("some **", "some "),
        ("a `co", "a `co`"),
        ("a *word", "a *word*"),
        ("~~gone", "~~gone~~"),
        ("`a ** b` and", "`a ** b` and"),
        ("see [page](https://exa", "see page"),
        ("see [page](https://example.com/a_(b", "see page"),
        ("see [page](https://example.com/a_(b)", "see page"),
        ('see [page](https://example.com "A ti', "see page"),
        ("x is $\\frac{1", "x is "),
        ("costs $5 and", "costs $5 and"),
        ("let $f(x)$, then", "let $f(x)$, then"),
        ("其中$f(x)$是什么", "其中$f(x)$是什么"),
        ("$\\{a\\}$, $b_", "$\\{a\\}$, "),
        ("其中$\\frac{1", "其中"),
        ("so $$x + 1$", "so "),
        ("so $", "so "),
        ("in `$HOME` and", "in `$HOME` and"),
        ("in `$HO", "in `$HO`"),
        ("\\$5 (\\$6), or", "\\$5 (\\$6), or"),
        ("costs 5$ (or 6$)", "costs 5$ (or 6$)"),
        ("text\n#", "text\n"),
        ("text\n- ", "text\n"),
        ("text\n- [x", "text\n"),
        ("text\n2. [X] ", "text\n"),
        ("text\n- [x] y", "text\n- [x] y"),
        ("text\n2.", "text\n"),
        ("text\n``", "text\n"),
        ("text\n```pyth", "text\n"),
        ("text\n$$", "text\n"),
        ("text\n---", "text\n"),
        ("text\n| a | b |", "text\n"),
        ("text\n\n| a | b |\n", "text\n\n"),
        ("| a |\n|---|\n| 1 |\n", "| a |\n|---|\n| 1 |\n"),
        ("done **bold** text", "done **bold** text"),
        ("2 * 3", "2 * 3"),
        ("2 ** 3 is", "2 ** 3 is"),
        ("a ~~ b, **c", "a ~~ b, **c**"),
        ("one<b", "one"),
        ("one<br", "one"),
        ("one<br /", "one"),
        ("a < b", "a < b"),
        ("- item\n  ```py\n  a ** b", "- item\n  ```py\n  a ** b"),
    ],
)
def test_the_end_of_growing_text(tail: str, shown: str) -> None:
    assert presentable(tail) == shown


def test_a_long_list_with_other_line_marks_keeps_its_items() -> None:
    """Python ends a line at these, Markdown does not."""
    source = "".join(f"- item {number} \x0b of \u2028 many \x85 words\n" for number in range(60))
    splitter = Splitter()
    for line in source.splitlines(keepends=True):
        splitter.append(line)
    splitter.finish()
    shown = " ".join(token.content for block in splitter.blocks for token in block.tokens if token.type == "inline")
    assert [number for number in range(60) if f"item {number} " not in shown] == []
