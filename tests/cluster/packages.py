"""The Debian packages that the programs, the images and the cluster need: named here and installed here."""

import os
import shutil
import subprocess

from tests.cluster.layout import NotStartedError
from tests.cluster.progress import say

# What each is for, and its name.
BUILD = ("gcc", "libc6-dev", "libseccomp-dev", "pkg-config")  # runc, pause
IMAGES = ("buildah", "ca-certificates", "debootstrap")
NODES = ("conntrack", "containerd", "containernetworking-plugins", "iproute2", "nftables", "openssl", "util-linux")


def install(packages: tuple[str, ...]) -> None:
    """Install what is missing, as root; else NotStartedError that names it."""
    missing = [package for package in packages if not _installed(package)]
    if not missing:
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise NotStartedError(f"missing: {', '.join(missing)}; as root: apt-get install {' '.join(missing)}")
    say(f"installing {' '.join(missing)}")
    _apt_get("update")
    _apt_get("install", "--yes", "--no-install-recommends", *missing)


def _installed(package: str) -> bool:
    if shutil.which("dpkg-query") is None:
        raise NotStartedError("the test cluster takes its parts from Debian's packages, and dpkg-query is missing here")
    asked = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${db:Status-Status}", package],
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout == "installed"


def _apt_get(*arguments: str) -> None:
    done = subprocess.run(
        ["apt-get", "--quiet=2", *arguments],
        env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise NotStartedError(f"apt-get {' '.join(arguments)} failed: {done.stderr.strip()}")
