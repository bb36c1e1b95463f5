"""What is typed into a field, as a message."""


def as_message(typed: str) -> str:
    """Without the space around it. Of several lines the first keeps its indentation, which code needs."""
    text = typed.rstrip()
    begins = len(text) - len(text.lstrip())
    lines = text[text.rfind("\n", 0, begins) + 1 :]
    return lines if "\n" in lines else lines.lstrip()


def after_message(sent: str, typed: str) -> str | None:
    """What is typed below a message that was sent; None if something else was typed."""
    if not sent:
        return None if typed.strip() else ""
    before, found, after = typed.partition(sent)
    return after.lstrip() if found and not before.strip() else None
