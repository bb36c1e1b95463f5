"""A chat as it is exported. Without pytest: processes of tests write it, too."""

from __future__ import annotations

from app.portable.markdown import MarkdownWords
from app.storage import Attachment, AttachmentKind
from app.storage.portable import PortableChat, PortableMessage

WORDS = MarkdownWords(
    "You",
    "Reply",
    "Thinking",
    "Attachment",
    "Pasted text",
    "Picture",
    "Tool",
    "Result",
    "Summary",
    "Files",
    lambda message: "fast" if message.stats else "",
    lambda _s: "",
)


def say(number: int, parent: int | None, text: str, role: str = "user", **more: object) -> PortableMessage:
    return PortableMessage(number, parent, role, text, **more)  # type: ignore[arg-type]


CHAT = PortableChat(
    "x:1",
    "Ducks & <b>geese</b>",
    (
        say(1, None, "How many?", parts=(Attachment("a.md", AttachmentKind.TEXT, "```\nx\n```", 9),)),
        say(2, 1, "Three.", "assistant", thinking="I count.\nSlowly.", main_name="Qwen3", stats={"rounds": 3}),
        say(3, 1, "Four.", "assistant"),
        say(4, 2, "Sure?"),
    ),
    shown=4,
)
