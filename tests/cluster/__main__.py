"""`python -m tests.cluster up | down | shell [COMMAND...]`: the test cluster by hand, as root."""

import os
import sys
from collections.abc import Callable

from tests.cluster import cluster, images, processes
from tests.cluster.layout import Layout, NotStartedError


def main(arguments: list[str]) -> int:
    """Exit code 0 when it is done, 2 when it cannot be done here."""
    layout = Layout()
    match arguments:
        case ["up"]:
            return _up(layout)
        case ["down"]:
            cluster.down(layout)
            return 0
        case ["shell", *command]:
            return _shell(layout, command)
    sys.stderr.write(f"{__doc__}\n")
    return 2


def _up(layout: Layout) -> int:
    """Start it with the project's images on its nodes; the path of the kubeconfig is the last line."""
    running = cluster.up(layout, owner=None)
    for image in images.TARGETS:
        running.provide(image, images.build, processes.this_run())
    sys.stdout.write(f"{running.kubeconfig}\n")
    return 0


def _shell(layout: Layout, command: list[str]) -> int:
    """Become the command, or a shell, with kubectl and helm, in the network of node 1."""
    running = cluster.Cluster(layout.kubeconfig, layout)
    if not running.kubeconfig.exists():
        raise NotStartedError("there is no cluster; start one: make cluster-up")
    inside = running.command(*(command or [os.environ.get("SHELL", "/bin/sh")]))
    sys.stdout.flush()
    os.execvpe(inside[0], inside, running.environment())


def _told(run: Callable[[list[str]], int], arguments: list[str]) -> int:
    """A person gets a line, not a traceback, for what is missing."""
    try:
        return run(arguments)
    except (NotStartedError, RuntimeError) as error:
        sys.stderr.write(f"tests.cluster: {error}\n")
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(_told(main, sys.argv[1:]))
