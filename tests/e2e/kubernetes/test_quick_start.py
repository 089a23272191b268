"""The Kubernetes quick starts of the documents, line by line as they stand there."""

import re
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cluster.layout import CHECKOUT
from tests.e2e.kubernetes.release import Release

pytestmark = pytest.mark.waits
# These go on until Ctrl-C; what they print first tells whether they work.
ENDLESS = {"port-forward": "Forwarding from 127.0.0.1:8089", "--watch": "NAME"}


@pytest.mark.parametrize("document", ["README.md", "docs/kubernetes.md"])
def test_the_quick_start_works_as_written(release: Release, document: str) -> None:
    """Every command of helm and kubectl succeeds, and at the end four pods are Ready; images are there already."""
    for command in commands(CHECKOUT / document):
        run(release, command.replace("--namespace podscale", f"--namespace {release.namespace}"))
    release.wait_until_settled()
    assert len(release.pods()) == 4


def commands(document: Path) -> list[str]:
    """The lines of helm and kubectl up to `kubectl scale` and what follows it in the same block."""
    blocks = re.findall(r"```sh\n(.*?)```", document.read_text(), re.DOTALL)
    last = next(number for number, block in enumerate(blocks) if " scale deployment/podscale" in block)
    lines = "".join(blocks[: last + 1]).replace("\\\n", "").splitlines()
    return [line.strip() for line in lines if line.strip().startswith(("helm ", "kubectl "))]


def run(release: Release, command: str) -> None:
    """Run one line in the checkout; an endless one until it has said that it works."""
    sign = next((sign for part, sign in ENDLESS.items() if part in command), None)
    started = subprocess.Popen(
        release.cluster.command(*shlex.split(command)),
        cwd=CHECKOUT,
        env=release.cluster.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert started.stdout is not None
    if sign is not None:
        line = started.stdout.readline()
        started.send_signal(signal.SIGINT)
        started.communicate(timeout=30)
        assert sign in line, f"{command}: {line}"
        return
    output, _ = started.communicate(timeout=120)
    assert started.returncode == 0, f"{command}: {output}"
