"""Programs come from the committed pins, each for itself."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster import programs
from tests.cluster.layout import NotStartedError
from tests.cluster.programs import ALL, MODULES, Program


@pytest.mark.parametrize("name", ALL)
def test_each_program_is_pinned(name: str) -> None:
    """The committed go.mod names the program's package, and go.sum has the hash of each module that it asks for."""
    how = ALL[name]
    pins = (MODULES / how.module / "go.mod").read_text()
    assert how.package in pins.split()
    hashes = set((MODULES / how.module / "go.sum").read_text().splitlines())
    asked = re.findall(r"^\t(?:require )?([\w./~-]+\.[\w./~-]+) (v\S+)", pins, re.MULTILINE)
    known = {tuple(line.split()[:2]) for line in hashes}
    replaced = dict(re.findall(r"^replace (\S+) => \S+ (v\S+)$", pins, re.MULTILINE))
    assert asked
    for module, version in asked:
        pinned = replaced.get(module, version)
        assert {(module, pinned), (module, f"{pinned}/go.mod")} & known, f"{module} {pinned} has no hash"


def test_a_changed_pin_is_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of other pins are never taken for those of these."""
    before = programs.folder()
    for path in MODULES.glob("*/go.*"):
        copy = tmp_path / path.relative_to(MODULES)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(path.read_bytes())
    monkeypatch.setattr(programs, "MODULES", tmp_path)
    assert programs.folder.__wrapped__() == before
    sums = tmp_path / "helm" / "go.sum"
    sums.write_text(sums.read_text().replace("h1:", "h1:x", 1))
    assert programs.folder.__wrapped__() != before


def test_prometheus_is_not_of_the_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another Prometheus is built for itself, and leaves the running cluster as it is."""
    before = programs.folder(), programs.folder(beside=True)
    for path in MODULES.glob("*/go.*"):
        copy = tmp_path / path.relative_to(MODULES)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(path.read_bytes() + (b"//" if path.parent.name == "prometheus" else b""))
    monkeypatch.setattr(programs, "MODULES", tmp_path)
    assert programs.folder.__wrapped__() == before[0]
    assert programs.folder.__wrapped__(beside=True) != before[1]


def test_a_program_is_built_and_runs(program_path: Callable[[str], Path]) -> None:
    """A test that needs kubeconform gets it, without a wait for the rest."""
    done = subprocess.run([program_path("kubeconform"), "-"], input="", capture_output=True, text=True, check=True)
    assert done.returncode == 0


def test_a_failed_build_says_what_go_said(
    program_path: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build that fails leaves no program, and its reason stands in the error."""
    program_path("kubeconform")  # skips where there is no Go
    monkeypatch.setattr(programs, "folder", lambda: tmp_path)
    monkeypatch.setitem(ALL, "missing", Program("kubeconform", "github.com/yannh/kubeconform/cmd/missing"))
    with pytest.raises(NotStartedError, match=r"building missing failed: .*cmd/missing"):
        programs.program("missing")
    assert not (tmp_path / "missing").exists()


def test_a_missing_go_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has no Go learns which one to install."""
    monkeypatch.setattr(programs, "folder", lambda: tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotStartedError, match=r"missing: go, 1\.\d+\.\d+ or later, to build helm"):
        programs.program("helm")
