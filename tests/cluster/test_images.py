"""The images of the Dockerfile: what they carry, what they do not, and as whom they run."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cluster import base_image, buildah, images
from tests.cluster.fixtures import Quiet, or_skip

MOST_POD_BYTES = 160e6
LIBRARIES = "opt/podscale/lib/python3.13/site-packages"


class Image(NamedTuple):
    """An image, and the id of what was built under its name."""

    name: str
    identity: str


@pytest.fixture(scope="module", params=[images.POD, images.LOCUST], ids=["pod", "locust"])
def image(request: pytest.FixtureRequest, shown: Quiet) -> Image:
    """Each image of the project, built here."""
    name: str = request.param
    with shown():
        return Image(name, or_skip(lambda: images.build(name)))


@pytest.fixture(scope="module")
def root(image: Image) -> Iterator[Path]:
    """The files of the image."""
    container = buildah.buildah("from", "--pull-never", image.identity).strip()
    yield Path(buildah.buildah("mount", container).strip())
    buildah.buildah("rm", container)


def test_it_runs_as_a_number_in_exec_form(image: Image) -> None:
    """The kubelet can tell that the user is not root, and signals reach Python, not a shell."""
    settings = buildah.inspect(image.identity)["OCIv1"]["config"]
    user, _, group = settings["User"].partition(":")
    assert int(user) > 0
    assert int(group) > 0
    wanted = {
        images.POD: ["/opt/podscale/bin/python", "-m", "podscale.pod"],
        images.LOCUST: ["/opt/podscale/bin/locust"],
    }
    assert settings["Entrypoint"] == wanted[image.name]
    assert "Cmd" not in settings or not settings["Cmd"]


def test_it_has_no_tools_to_build_or_install_with(root: Path) -> None:
    """No compiler and no pip are left for whoever breaks in."""
    tools = ("pip", "pip3", "uv", "gcc", "cc", "cpp", "g++", "make", "go", "ld", "as")
    found = [path for folder in ("usr/bin", "usr/local/bin", "opt/podscale/bin") for path in (root / folder).iterdir()]
    assert not {path.name for path in found} & set(tools)
    libraries = {path.name for path in (root / LIBRARIES).iterdir()}
    assert not libraries & {"pip", "hatchling", "ensurepip"}
    assert "podscale" in libraries


def test_nothing_is_compiled_at_the_start(root: Path) -> None:
    """Each module has its bytecode, which Python cannot write on a read-only root; it is of the source beside it."""
    sources = list((root / LIBRARIES).rglob("*.py"))
    assert len(sources) > 500
    for source in sources:
        compiled = source.parent / "__pycache__" / f"{source.stem}.cpython-313.pyc"
        if not compiled.exists():
            assert not _compiles(source), f"{source} has no bytecode"
            continue
        header = compiled.read_bytes()[:16]
        assert int.from_bytes(header[8:12], "little") == int(source.stat().st_mtime), f"{compiled} is out of date"


def test_the_user_owns_nothing(root: Path) -> None:
    """Whoever breaks in can change no file of the image, whether the root is read-only or not."""
    changeable = ("(", "-uid", "65532", "-o", "-perm", "-o+w", "-not", "-type", "l", ")")
    usual = ("-not", "-path", "*/tmp", "-not", "-path", "*/dev/*", "-not", "-path", "*/run/lock")
    command = ["find", str(root), "-xdev", *changeable, *usual]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert listed.stdout == ""


def test_the_pod_carries_the_base_install_alone_and_is_small(image: Image, root: Path) -> None:
    """What serves weighs less than 160 MB beyond Debian; what loads has Locust, the plugin and the scenarios too."""
    beyond_the_base = buildah.unpacked_bytes(image.identity) - buildah.unpacked_bytes(base_image.NAME)
    libraries = {path.name for path in (root / LIBRARIES).iterdir()}
    heavy = {"locust", "gevent", "hdrh", "scipy", "httpx", "typer", "kubernetes"}
    if image.name == images.POD:
        assert beyond_the_base < MOST_POD_BYTES
        assert not libraries & heavy
    else:
        assert {"locust", "gevent", "hdrh"} <= libraries
        assert (root / "opt/podscale/loadtest/blocking.py").is_file()
        assert (root / "opt/podscale/plugin.py").readlink() == Path("/") / LIBRARIES / "podscale/load/plugin.py"


def _compiles(source: Path) -> bool:
    """Some libraries ship files for tests that are no Python of this version."""
    try:
        compile(source.read_bytes(), str(source), "exec")
    except (SyntaxError, ValueError):
        return False
    return True
