"""In-process clustering, for comparison with pods: uvicorn's supervisor, whose workers share one listening socket.

The supervisor owns the admin port. Its workers show their pulse and their counters in files of a private folder, one
set for each place in the team and not for each process: who takes a dead worker's place counts on where it ended.
"""

import logging
import mmap
import os
import signal
import socket
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from prometheus_client import CollectorRegistry, values
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from uvicorn import Config
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from podscale.pod import children, parts
from podscale.pod.collectors import LostWorkersCollector
from podscale.pod.health import PULSE_BYTES, Pulse
from podscale.pod.server import PodServer, bind
from podscale.pod.settings import SettingError, Settings

logger = logging.getLogger("podscale.pod")


def run_workers(settings: Settings) -> None:
    """Serve with several workers until a stop signal and the drain of each are over."""
    listener = bind("PODSCALE_PORT", settings.host, settings.port, reuse_port=settings.reuse_port)
    listener.set_inheritable(True)
    with listener, _private_folder() as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        places = [Place(index, Path(folder)) for index in range(settings.workers)]
        pulses = [place.open_pulse() for place in places]
        registry = CollectorRegistry()
        MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call] # the library has no types for it
        with parts.admin_port(settings, registry, pulses):
            parts.announce(settings)
            supervisor = Supervisor(settings, listener, places, pulses)
            registry.register(LostWorkersCollector(lambda: supervisor.lost))
            supervisor.run()


def _private_folder() -> "tempfile.TemporaryDirectory[str]":
    try:
        return tempfile.TemporaryDirectory(prefix="podscale-")
    except OSError as error:
        raise SettingError(
            f"PODSCALE_WORKERS above 1 needs a folder for its counters, but {error}; set TMPDIR to one that is writable"
        ) from None


@dataclass(frozen=True)
class Place:
    """A worker's place in the team, and the files that belong to it."""

    index: int
    folder: Path

    def open_pulse(self) -> Pulse:
        """The pulse of whoever holds this place, shared by all who open it."""
        with (self.folder / f"pulse-{self.index}").open("a+b") as file:
            file.truncate(PULSE_BYTES)
            return Pulse(mmap.mmap(file.fileno(), PULSE_BYTES))

    def use_counters(self) -> None:
        """Called in a worker before its first metric is made: keep the counters in this place's files."""
        values.ValueClass = values.MultiProcessValue(lambda: self.index)  # type: ignore[no-untyped-call]

    def clear_gauges(self) -> None:
        """Called when the worker is dead: what it had in progress is gone, what it had counted stays."""
        mark_process_dead(self.index, str(self.folder))  # type: ignore[no-untyped-call] # the library has no types


class Worker(Process):
    """A worker process, as uvicorn's supervisor handles it."""

    def __init__(self, config: Config, listener: socket.socket, settings: Settings, place: Place) -> None:
        self._settings = settings
        self._place = place
        super().__init__(config, [listener])

    def start(self) -> None:
        """Start the process."""
        with children.stop_signals_blocked():
            super().start()

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        """What the process does."""
        # Ctrl-C goes to the whole group, but when to stop is the supervisor's to say.
        children.follow_parent(signal.SIGINT)
        self._place.use_counters()
        self._server = self._build_server()
        super().target(sockets)
        # uvicorn opens it again for debuggers, and leaves it open.
        sys.stdin.close()

    def _build_server(self) -> PodServer:
        # The supervisor tells what goes on; a worker tells only what goes wrong.
        parts.configure_logging("error" if self._settings.log_level == "error" else "warning")
        pulse = self._place.open_pulse()
        server = parts.build_server(self._settings, CollectorRegistry(), pulse, (signal.SIGTERM,))
        parts.give_back_memory()
        return server


class Supervisor(Multiprocess):
    """Starts the workers, replaces one that is lost, and passes a stop on to all."""

    def __init__(self, settings: Settings, listener: socket.socket, places: list[Place], pulses: list[Pulse]) -> None:
        # The app is never loaded from here: each worker builds its own.
        config = Config("podscale.pod.app:create_app", log_config=None, workers=settings.workers)
        super().__init__(config, [listener])
        self._settings = settings
        self._listener = listener
        self._places = places
        self._pulses = pulses
        self._stopping = False
        self.lost = 0
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        for number in (signal.SIGHUP, signal.SIGTTIN, signal.SIGTTOU):
            signal.signal(number, signal.SIG_IGN)

    def init_processes(self) -> None:
        """Start all workers."""
        self.processes = [self._start_worker(place) for place in self._places]

    def keep_subprocess_alive(self) -> None:
        """Called twice a second: put a new worker in the place of a lost one.

        uvicorn would also ping each worker and wait for its answer, and end one that does not give it. A worker that
        is killed between the two would hold us up, and with us a stop signal, and a long job would end as a lost
        worker. One that stands still shows in /live, by its pulse.
        """
        for place, process in zip(self._places, list(self.processes), strict=True):
            if self._stopping:
                return
            if not process.process.is_alive():
                process.kill()  # closes its pipe
                process.join()
                logger.warning("worker %s is lost (exit code %s); a new one starts", process.pid, process.exitcode)
                self.lost += 1
                place.clear_gauges()
                self.processes[place.index] = self._start_worker(place)

    def terminate_all(self) -> None:
        """Pass the stop on."""
        logger.info("draining: not ready, serving for %g s more", self._settings.drain_seconds)
        super().terminate_all()

    def _start_worker(self, place: Place) -> Worker:
        self._pulses[place.index].reset(time.monotonic())
        worker = Worker(self.config, self._listener, self._settings, place)
        worker.start()
        return worker

    def _stop(self, sig: int, frame: FrameType | None) -> None:
        """A stop signal: unready at once. The first is passed on when `run` comes to it, later ones at once."""
        for pulse in self._pulses:
            pulse.enter("draining")
        self.signal_queue.append(sig)
        if self._stopping:
            for process in self.processes:
                if process.exitcode is None and process.pid is not None:
                    os.kill(process.pid, signal.SIGTERM)
        self._stopping = True
