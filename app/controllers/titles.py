"""Titles of chats, by the main model, after their first reply.

Requested one at a time in the background. A title chosen by the user stays.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QObject, Signal

from app.bridge import EngineBridge
from app.controllers.background_reply import BackgroundReply
from app.controllers.models import ModelController
from app.markup.kinds import Language, kind_of
from app.settings import Settings, comes_with_app
from app.storage import ReplyStatus, Storage, StoredMessage
from app.view_models.model_list import PairState
from engine import ChatEngine, Failed, Finished, FinishReason

LONGEST = 60  # characters of a title
_MOST_TOKENS = 1024  # some models always think first
_ENOUGH = 240  # characters; a longer answer is no title
_EXCERPT = 600  # characters used of the question, and of the reply
_MESSAGES = 6  # a longer chat keeps its title
_ASKED: dict[str, str] = {  # by Language
    "en": "Write a title for the conversation below: at most six words, no quotes. Answer with the title only.",
    "ko": "아래 대화의 제목을 한국어로, 여섯 단어 이내로, 따옴표 없이 지어 주세요. 제목만 답하세요.",
    "ja": "次の会話に、日本語で15文字以内のタイトルを付けてください。かぎ括弧は使わず、タイトルだけを答えてください。",
    "zh": "请用中文为下面的对话起一个标题，不超过十二个字，不加引号。只回答标题。",
}
_MARKS = re.compile(r"^(?:#+|[-*>]|\d+[.)])\s+|[*_`~]{1,3}|<[^>]*>")
_LABEL = re.compile(r"^(?:title|chat title|제목|タイトル|题目|标题)\s*[:：]\s*", re.IGNORECASE)
_QUOTES = "\"'“”‘’«»「」『』《》〈〉【】 \t"
_ENDS = ".。．、,"


class Titles(QObject):
    titled = Signal(int)  # chat

    def __init__(
        self,
        engine: ChatEngine,
        bridge: EngineBridge,
        storage: Storage,
        settings: Settings,
        models: ModelController,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._storage = storage
        self._settings = settings
        self._models = models
        self._waiting: list[int] = []  # chats
        self._first_id = 0  # the message that the chat began with when a title was asked for
        self._tried: set[int] = set()  # chats for which no title was found
        self._storing: set[int] = set()  # chats whose title is being stored
        # for the first waiting chat
        self._reply = BackgroundReply(engine, bridge, self._on_end, _ENOUGH)
        models.pair_changed.connect(self._go_on)

    def on_reply(self, chat_id: int, status: ReplyStatus) -> None:
        """A reply in this chat is on disk."""
        if (
            status in (ReplyStatus.DONE, ReplyStatus.LENGTH)
            and chat_id not in self._waiting
            and self._may_have(chat_id)
        ):
            self._waiting.append(chat_id)
            self._go_on()

    def close(self) -> None:
        self._waiting.clear()
        self._reply.cancel()

    def _on_end(self, event: Finished | Failed) -> None:
        cut = isinstance(event, Finished) and event.reason in (FinishReason.CANCELLED, FinishReason.MODEL_CHANGED)
        is_shown = self._storage.read.messages.other_end(self._first_id) is None  # else another was asked instead
        if self._waiting and is_shown and (not cut or len(self._reply.text) > _ENOUGH):
            chat_id = self._waiting.pop(0)
            title = "" if isinstance(event, Failed) else title_of(self._reply.text)
            if title:
                self._store(chat_id, title)
            else:
                self._tried.add(chat_id)
        self._go_on()

    def _store(self, chat_id: int, title: str) -> None:
        def stored(_done: None) -> None:
            self._storing.discard(chat_id)
            self.titled.emit(chat_id)

        def refused(_problem: object) -> None:
            """The provisional title stays until the next reply."""
            self._storing.discard(chat_id)

        self._storing.add(chat_id)
        self._storage.write(lambda stores: stores.states.set_title(chat_id, title), stored, refused)

    def _go_on(self) -> None:
        if self._reply.is_running or self._models.pair.state is not PairState.READY:
            return
        self._waiting = [chat_id for chat_id in self._waiting if self._may_have(chat_id)]
        if self._waiting:
            branch = self._storage.read.messages.newest(self._waiting[0], _MESSAGES)
            self._first_id = branch[0].id
            self._reply.ask(prompt_for(branch), _MOST_TOKENS)

    def _may_have(self, chat_id: int) -> bool:
        """The starter model is too small to write titles."""
        wanted = self._settings.automatic_titles and not comes_with_app(self._settings.main_folder)
        if (
            not wanted
            or chat_id in self._tried | self._storing
            or not self._storage.read.states.has_open_title(chat_id)
        ):
            return False
        return 2 <= len(self._storage.read.messages.newest(chat_id, _MESSAGES + 1)) <= _MESSAGES


def prompt_for(branch: list[StoredMessage]) -> str:
    """A prompt for a title: the beginning of the chat, in the language of its question or its answer."""
    excerpts = [message.text.strip()[:_EXCERPT] for message in branch[:2]]
    spoken = next(filter(None, (kind_of(excerpt).language for excerpt in excerpts)), Language.ENGLISH)
    return "\n\n".join([_ASKED[spoken], "---", *excerpts])


def title_of(answer: str) -> str:
    """A title from the model's answer: its first line without marks, quotes and labels; "" if unusable."""
    answer = re.sub(r"<think>.*?(?:</think>|$)", "", answer, flags=re.DOTALL)
    line = next((line.strip() for line in answer.splitlines() if line.strip(_QUOTES + "#*-`")), "")
    line = "".join(each if each.isprintable() else " " for each in _MARKS.sub("", line)).strip()
    line = " ".join(_LABEL.sub("", line.strip(_QUOTES)).split()).strip(_QUOTES)
    line = line.rstrip(_ENDS).strip(_QUOTES)
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"
