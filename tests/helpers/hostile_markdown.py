"""Markdown that means harm, whole and as pieces to put together at random."""

from __future__ import annotations

from hypothesis import strategies as st

BIDI = "\u202e\u2066\u200b\u200f"
WHOLE = (
    "![x](https://evil.example/p.png) ![y](file:///etc/passwd) ![z](data:image/svg+xml;base64,PHN2Zz4=)",
    "<img src=x onerror=alert(1)><script>fetch('//evil.example')</script><svg onload=alert(1)>",
    "<style>@import url(file:///etc/passwd);</style><iframe src='file:///etc/passwd'></iframe><b>bold</b>",
    "[a](javascript:alert(1)) [b](FILE:///etc/passwd) [c](data:text/html,x) [d](vbscript:x) [e](\\\\host\\share)",
    "[f](//evil.example/x) [g](smb://host/x) [h](ms-settings:x) [i](tel:1) [j](x-apple.systempreferences:y)",
    "[k]: file:///etc/passwd\n\n[k] [k][] ![k]\n\n<file:///etc/passwd> <javascript:alert(1)>",
    f"[pay{BIDI}pal](https://xn--pypal-4ve.example) https://аррӏе.example/{BIDI}gnp.exe",
    "```html\n<img src=file:///etc/passwd>\n```\n\n    <script>x</script>\n\n`<img src=x>`",
    "| <img src=x> | ![t](file:///etc/passwd) |\n|---|---|\n| [x](file:///x) | `a` |",
    "[^1] [^<b>] \n\n[^1]: ![x](file:///etc/passwd) <img src=x>",
    "$\\href{file:///etc/passwd}{x}$ $$\\includegraphics{/etc/passwd}$$ $\\input{/etc/passwd}$",
    "```\n\x1b]0;owned\x07\x1b[31mred\x1b[0m\x1b]8;;file:///etc/passwd\x07x\n```",
    "\x00\x01\ufeff\ufffe\U0010ffff\ud800 text",
    "&#x3c;img src=file:///etc/passwd&#x3e; &lt;b&gt;",
)
# Each is repeated: deep, long, and what looks for a partner to the end of the text.
ROWS = (
    *("> ", "- ", "* [ ] ", "1. ", "  ", "\t", "#", "`", "```\n", "~~~\n", "$", "$$", "\\(", "\\[", "[", "!["),
    *("](", "<"),
    *("*", "**a", "_", "~~", "|", "|a", "|-|\n", "[^", "[^1]", "[^1]: ", "&", "\\", "(", "a(", "[]()", "\n", "> > a\n"),
    *("**a*", "*a **", "[a](", "<a", "https://", "\u0301", "\u200d", "👩\u200d", "ﷺ", "가", BIDI),
)

_WORD = st.sampled_from((*WHOLE, *ROWS, "word ", "말 ", "言葉", "\n\n", "\n", "---\n", "```py\n", "|---|---|\n"))
_REPEATED = st.builds(lambda row, times: row * times, st.sampled_from(ROWS), st.integers(1, 60))
texts = st.lists(st.one_of(_WORD, _REPEATED, st.text(max_size=20)), max_size=12).map("".join)
