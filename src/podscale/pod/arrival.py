"""When a request arrived: also one that the kernel had to keep, because a job held the loop that would have read it.

Without this, a pod would say that a request waited for nothing while its client has waited for a whole job.
"""

import socket
import struct
from collections.abc import Callable

from starlette.types import Scope

TRANSPORT_KEY = "podscale.transport"  # where the protocol leaves the connection's transport, in the scope's state

# tcpi_last_data_recv in struct tcp_info of linux/tcp.h, in ms: time since the last data came. It counts in ticks of
# the kernel of up to 10 ms, so it is asked only after the loop was held.
_LAST_DATA_OFFSET = 52
_LAST_DATA = struct.Struct("I")
# Reading all sockets after a job takes a while when there are hundreds.
_RECENTLY_SECONDS = 0.05


class Arrivals:
    """Tells when requests arrived; told by `loop_was_held` when a job has ended that held the loop."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._free_since = -1.0

    def loop_was_held(self) -> None:
        """A job on the loop has ended just now."""
        self._free_since = self.clock()

    def since(self, scope: Scope) -> float:
        """The moment of the clock when this request, which the loop sees now, has arrived."""
        now = self.clock()
        if now - self._free_since > _RECENTLY_SECONDS:
            return now
        return now - _seconds_in_kernel(scope)


def _seconds_in_kernel(scope: Scope) -> float:
    transport = scope.get("state", {}).get(TRANSPORT_KEY)
    if transport is None:
        return 0
    try:
        info = transport.get_extra_info("socket").getsockopt(
            socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_DATA_OFFSET + _LAST_DATA.size
        )
        (milliseconds,) = _LAST_DATA.unpack_from(info, _LAST_DATA_OFFSET)
    except (OSError, AttributeError, struct.error):  # the connection is gone, or the kernel does not tell
        return 0
    return float(milliseconds) / 1000
