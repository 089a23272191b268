"""The chart with each of its ci files: one for each feature."""

from pathlib import Path

import kubernetes_validate
import pytest

from tests.chart.helm import CHART, CI_FILES, render, render_text, run
from tests.chart.schemas import VERSIONS, conform, validate

each_file = pytest.mark.parametrize("file", CI_FILES, ids=lambda file: file.name.removesuffix("-values.yaml"))


@each_file
def test_the_file_says_why_it_is_there(file: Path) -> None:
    """Its first line is the reason, as a sentence."""
    first = file.read_text().splitlines()[0]
    assert first.startswith("# ")
    assert first.endswith(".")


@each_file
def test_helm_lints_it(file: Path) -> None:
    """Helm finds nothing to warn of."""
    done = run("lint", str(CHART), "--strict", "--values", str(file))
    assert done.returncode == 0, done.stdout


@each_file
@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_takes_it(file: Path, version: str) -> None:
    """Each object fits the strict schema of that version."""
    for item in render("--values", str(file), "--kube-version", version):
        validate(item, version)


@pytest.mark.parametrize("version", VERSIONS)
def test_kubeconform_takes_all(version: str, tmp_path: Path) -> None:
    """A second tool, which also minds keys that stand twice, finds no fault in any of them."""
    manifests = [tmp_path / file.name for file in CI_FILES]
    for file, manifest in zip(CI_FILES, manifests, strict=True):
        manifest.write_text(render_text("--values", str(file), "--kube-version", version))
    assert conform(manifests, version, tmp_path / "schemas") == ""


def test_both_tools_find_faults(tmp_path: Path) -> None:
    """A key with a typing error is refused by both, so that their silence means something."""
    spoilt = render_text().replace("automountServiceAccountToken", "autmountServiceAccountToken")
    manifest = tmp_path / "spoilt.yaml"
    manifest.write_text(spoilt)
    assert "autmountServiceAccountToken" in conform([manifest], VERSIONS[0], tmp_path / "schemas")
    item = next(item for item in render() if item["kind"] == "ServiceAccount")
    with pytest.raises(kubernetes_validate.ValidationError):
        validate(item | {"autmountServiceAccountToken": False}, VERSIONS[0])


def test_an_older_kubernetes_is_refused() -> None:
    """The chart needs fields that 1.29 does not have, and says so."""
    done = run("template", "podscale", str(CHART), "--kube-version", "1.29.9")
    assert done.returncode != 0
    assert "1.30" in done.stderr
