"""Only processes that a cluster has started are ever taken for its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster import layout as places
from tests.cluster import processes
from tests.cluster.layout import Layout


def test_an_id_that_is_used_again_is_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record counts only with the start time: the id alone may since belong to somebody else."""
    monkeypatch.setattr(places, "CACHE", tmp_path)
    layout = Layout("records")
    records = layout.root / "processes"
    records.mkdir(parents=True)
    me = processes.identify(os.getpid())
    assert me is not None
    (records / "me.json").write_text(json.dumps(me))
    (records / "other.json").write_text(json.dumps((me.pid, me.start_ticks - 1)))
    (records / "torn.json").write_text("[12")
    assert list(processes.recorded(layout)) == [me]
    assert processes.ended(layout) == ["other", "torn"]


def test_a_process_that_waits_for_its_parent_has_ended() -> None:
    """A zombie is no running process."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert processes.identify(child.pid) is not None
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert processes.identify(child.pid) is None
    child.communicate()
