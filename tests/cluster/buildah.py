"""Runs buildah on a store of its own, apart from the images of whoever works on this machine."""

import contextlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.cluster.layout import CACHE

STORE = CACHE / "images"
MOST_UNNAMED = 300


def buildah(*arguments: str, given: str | None = None) -> str:
    """What buildah prints; RuntimeError with the end of its errors if it fails. `given` is its standard input."""
    done = subprocess.run(
        ["buildah", "--root", str(STORE), "--runroot", "/run/podscale-testcluster", *arguments],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"BUILDAH_ISOLATION": "chroot"},  # needs no more rights than a build in a container has
    )
    if done.returncode != 0:
        output = "\n".join((done.stdout + done.stderr).strip().splitlines()[-25:])
        raise RuntimeError(f"buildah {arguments[0]} failed:\n{output}")
    return done.stdout


def build(image: str, context: Path, *options: str, dockerfile: str | None = None) -> str:
    """Build and name an image, returns its id; layers whose inputs did not change are taken from the store."""
    source = ("--file", "-") if dockerfile is not None else ()
    printed = buildah(
        *("bud", "--layers", "--pull-never", "--tag", image, *options, *source, str(context)), given=dockerfile
    )
    if buildah("images", "--quiet", "--filter", "dangling=true").count("\n") > MOST_UNNAMED:
        with contextlib.suppress(RuntimeError):  # another run uses some of them
            buildah("rmi", "--prune")
    return printed.split()[-1]


def exists(image: str) -> bool:
    """Whether the store has an image of this name."""
    return image in buildah("images", "--format", "{{.Name}}:{{.Tag}}").split()


def inspect(image: str) -> dict[str, Any]:
    """What an image says of itself: its settings (`OCIv1`) and more."""
    found: dict[str, Any] = json.loads(buildah("inspect", "--type", "image", image))
    return found


def unpacked_bytes(image: str) -> int:
    """The size of all files of an image."""
    container = buildah("from", "--pull-never", image).strip()
    try:
        root = buildah("mount", container).strip()
        listed = subprocess.run(["du", "--summarize", "--bytes", root], capture_output=True, text=True, check=True)
        return int(listed.stdout.split()[0])
    finally:
        buildah("rm", container)
