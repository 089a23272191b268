"""Builds the images of the project and of the cluster, and loads them into the nodes: nothing is ever pulled."""

import hashlib
import os
import subprocess
import time
from pathlib import Path

from podscale import __version__
from tests.cluster import base_image, buildah, packages
from tests.cluster.layout import CACHE, CHECKOUT, HERE, Layout, NotStartedError
from tests.cluster.nodes import PAUSE_IMAGE
from tests.cluster.programs import program
from tests.cluster.progress import step

# The images of the project, and the targets of the Dockerfile that make them.
POD = f"docker.io/library/podscale:{__version__}"
LOCUST = f"docker.io/library/podscale-locust:{__version__}"
SWEEP = f"docker.io/library/podscale-sweep:{__version__}"
# The name of the official image, by which the chart asks for it. In ours is the same program without its web pages.
PROMETHEUS = "docker.io/prom/prometheus:v3.16.0"
TARGETS = {POD: "pod", LOCUST: "locust", SWEEP: "sweep"}
ARCHIVES = CACHE / "archives"
UNUSED_SECONDS = 3600
# The ids of what this process has built. The names are shared: a test run of another checkout gives them to its own.
_ids: dict[str, str] = {}


def build(image: str) -> str:
    """Build POD, LOCUST or SWEEP from the Dockerfile of this checkout; returns the id of the image."""
    if os.geteuid() != 0:
        raise NotStartedError("missing: root, to build images without a service that builds them; run as root")
    packages.install(packages.IMAGES)
    CACHE.mkdir(parents=True, exist_ok=True)
    base_image.make()
    with step(f"building the image {image}"):
        _ids[image] = buildah.build(image, CHECKOUT, "--target", TARGETS[image])
    return _ids[image]


def build_addons() -> list[str]:
    """Build what every cluster needs; returns the names."""
    packages.install((*packages.IMAGES, *packages.BUILD))
    return [
        _of_one_program(PAUSE_IMAGE, _pause()),
        _of_one_program("docker.io/library/coredns:test", program("coredns")),
        _of_one_program("docker.io/library/metrics-server:test", program("metrics-server")),
    ]


def build_prometheus(image: str = PROMETHEUS) -> str:
    """Build PROMETHEUS from its Go module; returns the name."""
    packages.install(packages.IMAGES)
    return _of_one_program(image, program("prometheus"))


def load(layout: Layout, image: str) -> None:
    """Give an image that this process has built to every node."""
    archive = str(_archive(image))
    sockets = [layout.node(node) / "containerd.sock" for node in layout.numbers]
    commands = [["ctr", f"--address={socket}", "--namespace=k8s.io", "images", "import", archive] for socket in sockets]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for command in commands]
    for command, loading in zip(commands, started, strict=True):
        output, _ = loading.communicate()
        if loading.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} failed: {output.decode()}")


def _of_one_program(image: str, path: Path) -> str:
    dockerfile = f'FROM scratch\nCOPY {path.name} /{path.name}\nENTRYPOINT ["/{path.name}"]\n'
    _ids[image] = buildah.build(image, path.parent, dockerfile=dockerfile)
    return image


def _pause() -> Path:
    """The first process of each pod, compiled."""
    source = HERE / "pause.c"
    made = CACHE / f"pause-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}" / "pause"
    if not made.exists():
        made.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["gcc", "-O2", "-Wall", "-static", "-s", "-o", str(made), str(source)], check=True)
    return made


def _archive(image: str) -> Path:
    """The image as a file, written once for each of its versions."""
    identity = _ids[image]
    name = image.rpartition("/")[2].replace(":", "-")
    wanted = ARCHIVES / f"{name}-{identity}.tar"
    if not wanted.exists():
        ARCHIVES.mkdir(parents=True, exist_ok=True)
        new = wanted.with_name(f"{name}-{os.getpid()}.new")
        new.unlink(missing_ok=True)  # buildah does not overwrite archives
        buildah.buildah("push", identity, f"docker-archive:{new}:{image}")
        new.replace(wanted)
    wanted.touch()
    for path in ARCHIVES.iterdir():  # a newer one may be of another checkout, whose tests run now
        if path.stat().st_mtime < time.time() - UNUSED_SECONDS:
            path.unlink()
    return wanted
