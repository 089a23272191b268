"""Which cluster a start takes over, and which it removes first."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster import cluster, control_plane, layout, processes, programs
from tests.cluster.cluster import Cluster, up
from tests.cluster.layout import Layout, NotStartedError

Leave = Callable[[dict[str, object]], Path]
LAYOUT = Layout("podscale-start")


@pytest.fixture
def leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Leave:
    """Leaves the files of a cluster with a given record; what would start a real one says so by its kubeconfig."""
    monkeypatch.setattr(layout, "CACHE", tmp_path)
    monkeypatch.setattr(cluster, "CACHE", tmp_path)
    monkeypatch.setattr(cluster, "_check_machine", lambda: None)
    monkeypatch.setattr(cluster, "_start", lambda layout, owner: Cluster(Path("new"), layout))
    monkeypatch.setattr(control_plane, "ready", lambda _: True)

    def left(record: dict[str, object]) -> Path:
        LAYOUT.root.mkdir(parents=True)
        (LAYOUT.root / "cluster.json").write_text(json.dumps(record))
        return LAYOUT.root

    return left


def whole(nodes: int = 2) -> str:
    """What the record of a finished start says."""
    return f"{nodes} nodes of {programs.folder()}"


def test_the_cluster_of_make_is_used(leave: Leave) -> None:
    """A cluster that nobody owns, that is whole and answers, saves the start."""
    left = leave({"owner": None, "whole": whole()})
    assert up(LAYOUT, owner=processes.this_run()).kubeconfig == left / "keys" / "admin.kubeconfig"


@pytest.mark.parametrize("record", [{}, {"owner": None}, {"owner": None, "whole": whole(nodes=3)}])
def test_anything_else_is_removed_first(leave: Leave, record: dict[str, object]) -> None:
    """A half-made cluster, or one of other programs or another size, makes room for a new one."""
    left = leave(record)
    assert up(LAYOUT, owner=processes.this_run()).kubeconfig == Path("new")
    assert not left.exists()


def test_the_cluster_of_a_killed_run_is_removed_first(leave: Leave) -> None:
    """An owner that no longer runs owns nothing, even if its id was given to another process."""
    me = processes.identify(os.getpid())
    assert me is not None
    left = leave({"owner": (me.pid, me.start_ticks - 1), "whole": whole()})
    assert up(LAYOUT, owner=processes.this_run()).kubeconfig == Path("new")
    assert not left.exists()


def test_the_cluster_of_a_running_test_is_left_alone(leave: Leave) -> None:
    """Two runs at once do not share a cluster: the second says whom it waits for."""
    left = leave({"owner": processes.identify(os.getppid()), "whole": whole()})
    with pytest.raises(NotStartedError, match=f"process {os.getppid()} uses the cluster"):
        up(LAYOUT, owner=processes.identify(os.getpid()))
    assert left.exists()


def test_workers_of_one_run_share_its_cluster(leave: Leave, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one worker of pytest-xdist has started belongs to the process that started the worker, as others find."""
    left = leave({"owner": processes.identify(os.getppid()), "whole": whole()})
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw7")
    assert up(LAYOUT, owner=processes.this_run()).kubeconfig == left / "keys" / "admin.kubeconfig"
    assert not cluster.belongs_to_this_process(LAYOUT)
