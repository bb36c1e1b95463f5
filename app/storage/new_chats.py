"""The chats that have no message yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator


class NewChats:
    """Each has a number of its own, under which it will be stored. `waiting`: those where something is to be sent;
    others get `numbers`.
    """

    def __init__(self, waiting: Iterable[int], numbers: Iterator[int]) -> None:
        self._free = numbers
        self._numbers = list(waiting)
        self.waiting = bool(self._numbers)
        if not self.waiting:
            self._numbers.append(next(self._free))

    def __contains__(self, chat_id: object) -> bool:
        return chat_id in self._numbers

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    @property
    def latest(self) -> int:
        return self._numbers[-1]

    def other_than(self, is_storing: Callable[[int], bool]) -> int:
        """The latest whose first message is not being stored."""
        for number in reversed(self._numbers):
            if not is_storing(number):
                return number
        self._numbers.append(next(self._free))
        return self.latest

    def put_last(self, chat_id: int) -> None:
        """The disk has refused its first message, which would not be seen otherwise."""
        self._numbers.remove(chat_id)
        self._numbers.append(chat_id)

    def end(self, chat_id: int) -> None:
        """It has a message."""
        self._numbers.remove(chat_id)
        if not self._numbers:
            self._numbers.append(next(self._free))
