"""Missing Debian packages are installed by root and named to anybody else."""

import os
from pathlib import Path

import pytest

from tests.cluster import packages
from tests.cluster.layout import NotStartedError


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins for Debian's programs: only `there` is installed, and apt-get writes down what it is asked."""
    asked = tmp_path / "asked"
    answers = {
        "dpkg-query": 'case "$3" in there) printf installed;; *) exit 1;; esac',
        "apt-get": f'echo "$*" >>{asked}; case "$*" in *broken*) echo no such package >&2; exit 100;; esac',
    }
    for name, script in answers.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return asked


def test_only_what_is_missing_is_installed(called: Path) -> None:
    """The lists are fetched anew first: a fresh machine has none."""
    packages.install(("there",))
    assert not called.exists()
    packages.install(("there", "absent"))
    assert called.read_text().splitlines() == [
        "--quiet=2 update",
        "--quiet=2 install --yes --no-install-recommends absent",
    ]


def test_who_is_not_root_is_told_what_to_install(called: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the packages and the command; nothing is tried."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(NotStartedError, match="missing: absent, gone; as root: apt-get install absent gone"):
        packages.install(("there", "absent", "gone"))
    assert not called.exists()


def test_a_failed_installation_says_why(called: Path) -> None:
    """What apt-get said is part of the reason."""
    with pytest.raises(NotStartedError, match="no such package"):
        packages.install(("broken",))
    assert called.exists()
