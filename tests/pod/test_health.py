"""The verdicts on the pulse of a process, with a clock that the test sets."""

import math
import mmap

import pytest

from podscale.pod.health import BEAT_SECONDS, PULSE_BYTES, Health, Pulse, live_seconds, stretched_seconds


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def serving(clock: Clock) -> Pulse:
    """The pulse of a process that serves."""
    pulse = Pulse(bytearray(PULSE_BYTES))
    pulse.reset(clock())
    pulse.enter("serving")
    return pulse


def test_live_until_the_loop_has_stood_still_too_long() -> None:
    """Within the allowed time a still loop is alive, beyond it it is not, and the line names the age."""
    clock = Clock()
    health = Health([serving(clock)], 30, clock)
    clock.now += 29.9
    assert health.live() == (True, "live: the event loop came round 29.9 s ago")
    clock.now += 0.2
    assert health.live() == (False, "not live: the event loop has stood still for 30.1 s, 30 s are allowed")


def test_a_beat_brings_it_back() -> None:
    """A loop that comes round again is alive."""
    clock = Clock()
    pulse = serving(clock)
    clock.now += 100
    pulse.beat(clock())
    assert Health([pulse], 30, clock).live()[0]


def test_live_and_ready_ask_every_process() -> None:
    """One still or draining process is enough for a no."""
    clock = Clock()
    still, good = serving(clock), serving(clock)
    clock.now += 31
    good.beat(clock())
    health = Health([good, still], 30, clock)
    assert not health.live()[0]
    assert health.ready() == (True, "ready")
    still.enter("draining")
    assert health.ready() == (False, "not ready: draining")


def test_ready_only_while_serving() -> None:
    """Starting and draining are not ready; a late loop is."""
    clock = Clock()
    pulse = Pulse(bytearray(PULSE_BYTES))
    pulse.reset(clock())
    health = Health([pulse], 30, clock)
    assert health.ready() == (False, "not ready: starting")
    pulse.enter("serving")
    clock.now += 1000
    assert health.ready() == (True, "ready")
    pulse.enter("draining")
    assert health.ready() == (False, "not ready: draining")
    assert pulse.draining


def test_a_beat_does_not_undo_a_stop_signal() -> None:
    """The phase that a signal handler has set stays, whatever beat comes after."""
    clock = Clock()
    pulse = serving(clock)
    pulse.enter("draining")
    pulse.beat(clock())
    assert pulse.phase == "draining"


def test_lag_is_how_late_the_loop_is_or_was() -> None:
    """It grows while the loop is held, and says how late the last beat came afterwards."""
    clock = Clock()
    pulse = serving(clock)
    health = Health([pulse], 30, clock)
    clock.now += BEAT_SECONDS
    assert health.lag_seconds() == 0
    clock.now += 5
    assert health.lag_seconds() == 5
    pulse.beat(clock())
    assert health.lag_seconds() == 5
    clock.now += BEAT_SECONDS
    pulse.beat(clock())
    assert health.lag_seconds() == 0


def test_a_pulse_is_shared_through_memory() -> None:
    """What one writes to the memory, another that opens it reads."""
    memory = mmap.mmap(-1, PULSE_BYTES)
    writer, reader = Pulse(memory), Pulse(memory)
    writer.reset(5)
    writer.enter("serving")
    assert reader.phase == "serving"
    assert reader.age_seconds(7) == 2


@pytest.mark.parametrize(
    ("asked", "share_cores", "seconds"), [(0, math.inf, 60), (0, 4.0, 60), (0, 0.25, 240), (7, 0.25, 7)]
)
def test_live_seconds_follow_the_longest_job_and_the_cpu_limit(
    asked: float, share_cores: float, seconds: float
) -> None:
    """Without a setting, six times what a job of 10 s takes with its share; with one, that."""
    assert live_seconds(asked, 10, share_cores) == seconds


def test_a_job_of_one_thread_is_not_faster_on_many_cores() -> None:
    """More than one core does not shorten a job."""
    assert stretched_seconds(10, 8.0) == 10
    assert stretched_seconds(10, 0.5) == 20
