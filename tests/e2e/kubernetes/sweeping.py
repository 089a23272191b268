"""Runs `podscale sweep` on the cluster of the tests, as a user with a kubeconfig does."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from podscale.sweep import results
from podscale.sweep.results import Stage
from tests.e2e.commands import Command, podscale
from tests.e2e.kubernetes.release import Release

# One short stage of a size, without the goal's.
SHORT = ("--repeats=1", "--stage-seconds=3", "--warmup-seconds=1", "--no-goal", "--users=3", "--cpu-time-ms=50")
# Right after an install: Locust's page is served a moment after its pod is Ready.
PATIENT = "--wait-seconds=30"


@contextlib.contextmanager
def sweeping(release: Release, out: Path, *options: str) -> Iterator[Command]:
    """The command, started."""
    named = () if any(option.startswith(("--resume", "--deployment")) for option in options) else of(release)
    folder = () if any(option.startswith(("--resume", "--dry-run", "--restore")) for option in options) else to(out)
    with podscale("sweep", *named, *folder, *options, out=out, cluster=release.cluster) as command:
        yield command


def swept(release: Release, out: Path, *options: str, seconds: float = 240) -> Command:
    """The command, ended."""
    with sweeping(release, out, *options) as command:
        command.wait(seconds)
    return command


def of(release: Release) -> tuple[str, str]:
    """The options that name its pods."""
    return f"--deployment={release.deployment}", f"--namespace={release.namespace}"


def to(out: Path) -> tuple[str]:
    """The option that names the folder."""
    return (f"--out={out}",)


def stage_of(command: Command, size: int) -> Stage:
    """The stage of this size."""
    return next(stage for stage in results.load(command.out).stages if stage.size == size)


def codes(stage: Stage) -> set[str]:
    """Codes of its verdicts."""
    return {verdict.code for verdict in stage.verdicts}
