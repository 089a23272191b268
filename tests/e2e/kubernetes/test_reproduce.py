"""`podscale reproduce` on a Deployment: every row's claim on pods with equal quotas, and nothing is left changed."""

from pathlib import Path

import pytest

from podscale.sweep.reproduce import results
from podscale.sweep.reproduce.results import Reproduction
from podscale.sweep.reproduce.rows import ROWS
from tests.e2e.commands import podscale
from tests.e2e.kubernetes.release import QUICK_STOP, Release
from tests.e2e.kubernetes.test_compare import LOCUST, template
from tests.e2e.reproducing import rows_of, stands

pytestmark = pytest.mark.timeout(1500)
# Two of them leave a core to the load. The rows have work of several seconds, which a smaller quota would prolong.
HALF_CORE = ("resources.requests.cpu=50m", "resources.limits.cpu=500m")


def test_every_row_holds_on_pods_of_half_a_core(release: Release, tmp_path: Path) -> None:
    """All eleven with n = 2: every claim holds, figures are known, template and size are put back."""
    release.install(*HALF_CORE, *QUICK_STOP, *LOCUST, "locust.scenario=all")
    before = template(release)

    def measured(rows: list[str], *how: str) -> Reproduction:
        out = tmp_path / f"out{''.join(how)}"
        with podscale(*options(release, out, *rows), *how, "--n", "2", out=out, cluster=release.cluster) as command:
            code = command.wait(1200)
        found = results.load(out)
        assert code == (0 if all(row.holds for row in found.rows) else 1), command.stderr
        return found

    rows = rows_of(measured([], "--quick"), measured)
    assert list(rows) == list(ROWS)
    for row in rows.values():
        assert stands(row), (row.claims, [stage.verdicts for stage in row.stages])
        assert row.target == "kubernetes"
        for figures in row.measured.values():
            assert None not in figures.values(), row.row
    assert rows["primes"].claims[0].low == pytest.approx(0.95 * 2)
    assert template(release) == before
    assert release.replicas() == 1


@pytest.mark.waits
def test_a_locust_without_the_users_of_the_rows_is_refused(release: Release, tmp_path: Path) -> None:
    """Exit code 2, which user classes are missing, and how to install them."""
    release.install(*HALF_CORE, *QUICK_STOP)
    out = tmp_path / "out"
    with podscale(*options(release, out, "blocking", "primes"), out=out, cluster=release.cluster) as command:
        assert command.wait(60) == 2
    assert "runs Blocking, and not Primes: install the chart with locust.scenario=all" in " ".join(
        command.stderr.split()
    )


def options(release: Release, out: Path, *rows: str) -> tuple[str, ...]:
    """The command for the release."""
    where = ("--deployment", release.deployment, "--namespace", release.namespace)
    return ("reproduce", *rows, *where, "--out", str(out))
