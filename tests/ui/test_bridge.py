"""Events on their way to the GUI thread: order, joining, pace, and an end."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QThread, QTimer
from pytestqt.qtbot import QtBot

from app.bridge import DRAIN_INTERVAL_MS, EngineBridge, merged
from engine import (
    DownloadId,
    DownloadProgress,
    Event,
    Finished,
    FinishReason,
    PromptProgress,
    Queued,
    RequestId,
    RequestStats,
    SpanKind,
    TextDelta,
)
from tests.helpers.stillness import one_turn


def delta(text: str, request: int = 1, kind: SpanKind = SpanKind.ANSWER, generated: int = 0) -> TextDelta:
    return TextDelta(RequestId(request), kind, text, RequestStats(generated_tokens=generated))


def finished(request: int = 1) -> Finished:
    return Finished(RequestId(request), FinishReason.STOP, RequestStats(), (), 0)


@pytest.fixture
def bridge(qapp: QCoreApplication) -> Iterator[EngineBridge]:
    bridge = EngineBridge()
    yield bridge
    bridge.close()


@pytest.fixture
def arrived(bridge: EngineBridge) -> list[Event]:
    events: list[Event] = []
    bridge.text_arrived.connect(events.append)
    bridge.event_arrived.connect(events.append)
    return events


def test_merge_keeps_kinds_and_requests_apart_their_ends_in_place_and_only_the_latest_progress() -> None:
    thought = delta("t", kind=SpanKind.THINKING)
    events: list[Event] = [thought, delta("a"), delta("x", request=2), delta("b"), delta("y", request=2)]
    assert merged(events) == [thought, delta("ab"), delta("xy", request=2)]

    events = [Queued(RequestId(1)), delta("a"), finished(), delta("x", request=2)]
    assert merged(events) == events

    progress = [PromptProgress(RequestId(1), done, 9) for done in (1, 5, 9)]
    downloads = [DownloadProgress(DownloadId(1), "r", done, 9, 1.0) for done in (1, 5)]
    assert merged([*progress, *downloads]) == [progress[-1], downloads[-1]]


def test_events_arrive_on_the_gui_thread_in_order(qtbot: QtBot, bridge: EngineBridge, arrived: list[Event]) -> None:
    threads: list[QThread] = []
    for signal in (bridge.text_arrived, bridge.event_arrived):
        signal.connect(lambda _: threads.append(QThread.currentThread()))

    def work() -> None:
        bridge.post(Queued(RequestId(1)))
        for number in range(1000):
            bridge.post(delta(f"{number} "))
        bridge.post(finished())

    thread = threading.Thread(target=work)
    thread.start()
    qtbot.waitUntil(lambda: finished() in arrived)
    thread.join()
    text = "".join(event.text for event in arrived if isinstance(event, TextDelta))
    assert text == "".join(f"{number} " for number in range(1000))
    assert (arrived[0], arrived[-1]) == (Queued(RequestId(1)), finished())
    assert set(threads) == {bridge.thread()}


def test_streaming_text_comes_at_most_every_33_ms(qtbot: QtBot, qapp: QCoreApplication) -> None:
    now_s = [100.0]
    bridge, arrived = EngineBridge(clock=lambda: now_s[0]), list[Event]()
    bridge.text_arrived.connect(arrived.append)
    bridge.post(delta("a"))
    one_turn()
    assert arrived == [delta("a")]
    bridge.post(delta("b"))
    bridge.post(delta("c"))
    now_s[0] += (DRAIN_INTERVAL_MS - 1) / 1000
    # However often the event loop comes round in the meantime: on the bridge's clock the time has not come.
    with qtbot.waitSignal(bridge.findChildren(QTimer)[0].timeout):
        pass
    one_turn()
    assert arrived == [delta("a")]
    now_s[0] += 0.001
    qtbot.waitUntil(lambda: len(arrived) == 2)
    assert arrived[1] == delta("bc")
    bridge.close()


def test_end_does_not_wait_for_the_next_drain(qtbot: QtBot, bridge: EngineBridge, arrived: list[Event]) -> None:
    bridge.post(delta("a"))
    qtbot.waitUntil(lambda: len(arrived) == 1)
    bridge.post(delta("b"))
    bridge.post(finished())
    one_turn()
    assert arrived[1:] == [delta("b"), finished()]


def test_closed_bridge_drops_late_events(bridge: EngineBridge, arrived: list[Event]) -> None:
    bridge.post(Queued(RequestId(1)))
    bridge.close()
    bridge.post(finished())
    one_turn()
    assert arrived == []


def test_slot_that_closes_the_bridge_gets_no_more_events(bridge: EngineBridge, arrived: list[Event]) -> None:
    bridge.event_arrived.connect(lambda _: bridge.close())
    bridge.post(Queued(RequestId(1)))
    bridge.post(finished())
    one_turn()
    assert arrived == [Queued(RequestId(1))]
