"""Makes the image on which the Dockerfile builds, debian:trixie-slim, with debootstrap, as Debian makes its own.

Images cannot be pulled where there is no registry. The only addition is what this machine needs to reach packages.
"""

import hashlib
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from tests.cluster import buildah, machine
from tests.cluster.layout import CACHE, NotStartedError
from tests.cluster.progress import step

NAME = "docker.io/library/debian:trixie-slim"
SUITE = "trixie"
# What the published slim images leave out, also of packages that are installed later.
SLIM = """\
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
"""
EMPTY = ("usr/share/info", "usr/share/locale", "usr/share/man", "var/cache/apt", "var/lib/apt/lists", "var/log")


def make() -> None:
    """Have the base in the store: made anew each month, for Debian's updates, and for other settings of the machine."""
    files = machine.settings() | {"etc/dpkg/dpkg.cfg.d/docker": SLIM.encode()}
    wanted = hashlib.sha256(repr((SUITE, time.strftime("%Y-%m"), sorted(files.items()))).encode()).hexdigest()
    made = CACHE / "base-image"
    if buildah.exists(NAME) and made.exists() and made.read_text() == wanted:
        return
    with step(f"making the image {NAME} with debootstrap"), tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        root = Path(scratch) / "root"
        _debootstrap(root)
        _slim(root)
        for path, content in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
        archive = Path(scratch) / "root.tar"
        subprocess.run(["tar", "-C", str(root), "--numeric-owner", "-cf", str(archive), "."], check=True)
        shutil.rmtree(root)
        buildah.build(NAME, Path(scratch), dockerfile='FROM scratch\nADD root.tar /\nCMD ["bash"]\n')
    made.write_text(wanted)


def _debootstrap(root: Path) -> None:
    mirror = machine.debian_mirror()
    done = subprocess.run(
        ["debootstrap", "--variant=minbase", SUITE, str(root), *([mirror] if mirror else [])],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise NotStartedError(f"debootstrap of {SUITE} failed: {' '.join(done.stdout.splitlines()[-5:])}")


def _slim(root: Path) -> None:
    for folder in EMPTY:
        shutil.rmtree(root / folder, ignore_errors=True)
        (root / folder).mkdir()
    for path in (root / "usr/share/doc").rglob("*"):
        if not path.is_dir() and path.name != "copyright":
            path.unlink()
