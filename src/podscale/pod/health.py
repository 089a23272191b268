"""Whether the pod lives and whether it is ready, as the admin port tells it, from the pulse of each serving process."""

import mmap
import struct
from collections.abc import Callable, Sequence
from typing import Literal

Phase = Literal["starting", "serving", "draining"]
_PHASES: tuple[Phase, ...] = ("starting", "serving", "draining")

BEAT_SECONDS = 0.25
_BEAT = struct.Struct("dd")  # time of the last beat, how late it came
_PHASE = struct.Struct("d")  # index of the phase; apart, because a signal handler writes it at any moment
PULSE_BYTES = _BEAT.size + _PHASE.size


class Pulse:
    """What one serving process shows of itself: the last beat of its loop, and its phase.

    The memory is shared with the admin thread, or with the supervisor where there are workers. Times are of
    time.monotonic, which on Linux is the same for all processes. A reader may see a beat in the making; each of the
    numbers is whole all the same.
    """

    def __init__(self, memory: "bytearray | mmap.mmap") -> None:
        self._memory = memory
        self.draining = False  # also here, because each answer asks for it

    def reset(self, now: float) -> None:
        """A process starts, from now on."""
        _BEAT.pack_into(self._memory, 0, now, 0)
        self.enter("starting")

    def beat(self, now: float) -> None:
        """The loop has come round."""
        before, _ = self._last_beat()
        _BEAT.pack_into(self._memory, 0, now, max(0, now - before - BEAT_SECONDS))

    def enter(self, phase: Phase) -> None:
        """The process enters another phase; safe in a signal handler."""
        self.draining = phase == "draining"
        _PHASE.pack_into(self._memory, _BEAT.size, _PHASES.index(phase))

    @property
    def phase(self) -> Phase:
        """The phase the process is in."""
        (index,) = _PHASE.unpack_from(self._memory, _BEAT.size)
        return _PHASES[int(index)]

    def age_seconds(self, now: float) -> float:
        """Time since the last beat."""
        return max(0.0, now - self._last_beat()[0])

    def lag_seconds(self, now: float) -> float:
        """How late the loop is now, or was at its last beat, whichever is more."""
        before, late = self._last_beat()
        return max(late, now - before - BEAT_SECONDS)

    def _last_beat(self) -> tuple[float, float]:
        before, late = _BEAT.unpack_from(self._memory)
        return before, late


class Health:
    """The verdicts on all serving processes together: (good or not, one line that says why).

    Args:
        pulses: one for each serving process.
        live_seconds: how long a loop may stand still; far above the longest legal job, which holds it.
        clock: time.monotonic.
    """

    def __init__(self, pulses: Sequence[Pulse], live_seconds: float, clock: Callable[[], float]) -> None:
        self._pulses = pulses
        self._live_seconds = live_seconds
        self._clock = clock

    def live(self) -> tuple[bool, str]:
        """Good while every loop comes round."""
        age = max(pulse.age_seconds(self._clock()) for pulse in self._pulses)
        if age < self._live_seconds:
            return True, f"live: the event loop came round {age:.1f} s ago"
        return False, f"not live: the event loop has stood still for {age:.1f} s, {self._live_seconds:g} s are allowed"

    def ready(self) -> tuple[bool, str]:
        """Good while every process serves; load does not change it."""
        phases = [pulse.phase for pulse in self._pulses]
        for phase in ("draining", "starting"):
            if phase in phases:
                return False, f"not ready: {phase}"
        return True, "ready"

    def lag_seconds(self) -> float:
        """How late the latest loop is."""
        return max(pulse.lag_seconds(self._clock()) for pulse in self._pulses)


def live_seconds(asked_seconds: float, longest_job_seconds: float, share_cores: float) -> float:
    """How long a loop may stand still before its process counts as dead.

    Where nothing is asked (0): six times what the longest job takes with its share of the CPU limit, because on a full
    node a pod may get only a part of that, and a slow pod must not be restarted for it.
    """
    return asked_seconds or 6 * stretched_seconds(longest_job_seconds, share_cores)


def stretched_seconds(cpu_seconds: float, share_cores: float) -> float:
    """What a job of one thread takes with less than a core."""
    return cpu_seconds / min(1.0, share_cores)
