"""Speed and time left of a download, as a person reads them: no bursts, no guesses, no stall that looks like work."""

from __future__ import annotations

import threading

import pytest

from engine import DownloadId, DownloadProgress, Retry
from engine.hub import download
from engine.hub.download import Meter, Rate
from engine.hub.repository import RemoteFile
from engine.hub.stop import Retries, StopKind, Stopped, StopSignal, Throttle

SUM = "0" * 64


def test_a_burst_weighs_no_more_than_the_time_it_took() -> None:
    rate = Rate(over_s=3)
    rate.add(1, 0.1)
    rate.add(1_000_000, 0.001)  # what lay in the socket already
    for _ in range(30):
        rate.add(10_000, 0.1)
    assert 100_000 <= rate.per_second <= 300_000
    for _ in range(150):
        rate.add(10_000, 0.1)
    assert rate.per_second == pytest.approx(100_000, rel=0.02)


def test_a_speed_is_told_once_it_has_been_seen_for_a_second() -> None:
    """What all lines had at once was told as twice the speed: 2 MiB within 0.2 s, at a limit of 4 MB/s."""
    rate = Rate(over_s=3)
    rate.add(2_097_152, 0.1)
    told = []
    for _ in range(40):
        rate.add(400_000, 0.1)
        told.append(rate.per_second)
    assert set(told[:9]) == {0.0}
    assert told[10:] == pytest.approx([4_000_000] * 30)


def test_nobody_guesses_how_long_it_takes() -> None:
    """Time before the first bytes, and those, say nothing about the line."""
    rate = Rate(over_s=15)
    assert rate.seconds_for(9_000_000) is None
    rate.add(0, 100.0)
    rate.add(7777, 1.0)
    rate.add(1000, 1.0)
    assert rate.seconds_for(9000) is None
    rate.add(1000, 1.0)
    assert rate.seconds_for(9000) == pytest.approx(9.0)
    for _ in range(60):
        rate.add(1, 1.0)
    assert rate.seconds_for(9_000_000) is None  # 200 days, at a byte a second, which is told as lost soon


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(download, "time", clock)
    return clock


def test_each_file_and_the_whole_have_speed_and_time_left(clock: Clock) -> None:
    told: list[DownloadProgress] = []
    meter = Meter(DownloadId(1), "org/name", told.append)
    meter.start([RemoteFile("a", 10_000, SUM), RemoteFile("b", 30_000, SUM)])
    meter.add("a", 5000, fresh=False)  # was here already
    for _ in range(30):
        clock.now += 0.1
        meter.add("b", 500, fresh=True)
    last = told[-1]
    assert (last.done_bytes, last.total_bytes) == (20_000, 40_000)
    assert last.bytes_per_second == pytest.approx(5000)
    assert last.seconds_left == pytest.approx(4.0)
    first, second = last.files
    assert (first.name, first.done_bytes, first.bytes_per_second, first.seconds_left) == ("a", 5000, 0.0, None)
    assert (second.done_bytes, second.total_bytes) == (15_000, 30_000)
    assert second.seconds_left == pytest.approx(3.0)


def test_no_time_left_is_told_that_the_speed_beside_it_contradicts(clock: Clock) -> None:
    """A line that became slow: the last 15 seconds said half a minute, the last three seven."""
    told: list[DownloadProgress] = []
    meter = Meter(DownloadId(1), "org/name", told.append)
    meter.start([RemoteFile("a", 9_000_000, SUM)])
    for number in range(400):
        clock.now += 0.1
        meter.add("a", 20_000 if number < 100 else 1_400, fresh=True)
    shown = [(each.seconds_left, each.bytes_per_second, each.total_bytes - each.done_bytes) for each in told]
    assert any(left_s is None for left_s, *_ in shown[100:])
    for left_s, speed, left_bytes in shown[20:]:
        assert left_s is None or left_bytes / speed / 2 <= left_s * 1.01 <= 2.1 * left_bytes / speed
    assert shown[-1][0] is not None


def test_progress_is_told_at_most_ten_times_a_second(clock: Clock) -> None:
    told: list[DownloadProgress] = []
    meter = Meter(DownloadId(1), "org/name", told.append)
    for _ in range(2000):
        clock.now += 0.001
        meter.add("a", 1, fresh=True)
    assert 19 <= len(told) <= 21
    assert all(event.bytes_per_second > 0 for event in told[-5:])


def test_time_in_which_the_program_was_stopped_is_no_slow_line(clock: Clock) -> None:
    """After a minute of that, a twentieth of the speed was told, and twelve minutes for what took ten seconds."""
    told: list[DownloadProgress] = []
    meter = Meter(DownloadId(1), "org/name", told.append)
    meter.start([RemoteFile("a", 100_000, SUM)])
    for number in range(60):
        clock.now += 70.0 if number == 30 else 0.1
        meter.add("a", 500, fresh=True)
    assert told[31].bytes_per_second == pytest.approx(5000)
    assert told[-1].bytes_per_second == pytest.approx(5000)
    assert told[-1].seconds_left == pytest.approx(14.0, abs=0.2)


def test_waiting_for_the_hub_is_told_and_bytes_end_it(clock: Clock) -> None:
    told: list[DownloadProgress] = []
    meter = Meter(DownloadId(1), "org/name", told.append, lambda: Retry(8.0 - clock.now, hub_is_busy=False))
    for _ in range(20):
        clock.now += 0.2
        meter.tick()
    assert len(told) == 4  # as the wait begins, then once a second
    assert told[0].retry == Retry(pytest.approx(7.8), hub_is_busy=False)  # type: ignore[arg-type]
    clock.now += 0.2
    meter.add("b", 1, fresh=True)
    assert told[-1].retry is None  # another file comes


def test_who_does_not_want_to_wait_need_not() -> None:
    stop = StopSignal()
    looked = threading.Event()
    retries = Retries(stop, looked.set)
    thread = threading.Thread(target=lambda: retries.wait(1000, hub_is_busy=True))
    thread.start()
    assert looked.wait(60)
    soonest = retries.soonest()
    assert soonest is not None
    assert soonest.hub_is_busy
    retries.go_on()
    thread.join(60)
    assert not thread.is_alive()
    assert retries.soonest() is None


def test_a_stop_ends_every_wait() -> None:
    stop = StopSignal()
    stop.request(StopKind.PAUSE)
    with pytest.raises(Stopped):
        Retries(stop).wait(1000, hub_is_busy=False)
    throttle = Throttle()
    throttle.set_limit(1)
    with pytest.raises(Stopped):
        throttle.take(1000, stop)


def test_a_limit_can_be_lifted_while_somebody_waits() -> None:
    throttle, stop = Throttle(), StopSignal()
    throttle.set_limit(1)
    thread = threading.Thread(target=lambda: throttle.take(10**6, stop))
    thread.start()
    throttle.set_limit(0)
    thread.join(60)
    assert not thread.is_alive()


def test_what_is_here_counts_once_though_a_second_place_is_asked(clock: Clock) -> None:
    """A mirror goes on where the hub was lost: what had arrived is found on the disk again."""
    told: list[DownloadProgress] = []
    meter = Meter(DownloadId(1), "org/name", told.append)
    for place in range(2):
        meter.start([RemoteFile("a", 10_000, SUM)])
        meter.add("a", 4000, fresh=place == 0)
    meter.add("a", 6000, fresh=True)
    meter.finish()
    assert (told[-1].done_bytes, told[-1].total_bytes) == (10_000, 10_000)
