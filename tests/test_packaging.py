"""Tests of what is shipped: the wheel's files, and a pod on the base install alone."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx
import pytest

from podscale import __version__
from podscale.sweep.children import free_port
from tests.processes import wait_until

TOP = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=TOP, check=True, capture_output=True, timeout=60)
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_code_locustfiles_template_and_licence(wheel: Path) -> None:
    """What the commands need at run time is in it, and no test is."""
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in ("blocking", "worker", "primes", "prime", "timestamp"):
        assert f"podscale/loadtest/{name}.py" in names
    assert {"podscale/py.typed", "podscale/load/plugin.py", "podscale/report/templates/report.html.j2"} <= names
    assert f"podscale-{__version__}.dist-info/licenses/LICENSE" in names
    assert not [name for name in names if name.startswith("tests")]


def test_the_base_install_runs_a_pod_and_nothing_else(wheel: Path, tmp_path: Path) -> None:
    """With the pod's lock alone a pod serves, and the command says what it lacks."""
    python = tmp_path / "venv" / "bin" / "python"
    uv = [str(Path(sys.executable).parent / "uv"), "--quiet"]
    install = [*uv, "pip", "install", "--python", str(python)]
    subprocess.run([*uv, "venv", "--python", sys.executable, str(tmp_path / "venv")], check=True, timeout=60)
    lock = str(TOP / "requirements" / "pod.txt")
    subprocess.run([*install, "--require-hashes", "--requirement", lock], check=True, timeout=120)
    subprocess.run([*install, "--no-deps", str(wheel)], check=True, timeout=60)
    port, admin_port = free_port(), free_port()
    settings = {"HOST": "127.0.0.1", "PORT": port, "ADMIN_HOST": "127.0.0.1", "ADMIN_PORT": admin_port}
    environment = {"PATH": os.environ["PATH"]} | {f"PODSCALE_{name}": str(value) for name, value in settings.items()}
    command = [str(python), "-W", "error", "-m", "podscale.pod"]
    pod = subprocess.Popen(command, env=environment, cwd=tmp_path, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: _ready(admin_port), 20, "the pod to be ready")
        found = httpx.get(f"http://127.0.0.1:{port}/primes?limit=100")
        assert len(found.text.split()) == 25
    finally:
        pod.kill()
        pod.wait(10)
    bare = subprocess.run([str(python), "-m", "podscale.cli", "sweep"], capture_output=True, text=True, check=False)
    assert bare.returncode == 2
    assert "pip install 'podscale[load,sweep]'" in bare.stderr


def _ready(admin_port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{admin_port}/ready").status_code == 200
    except httpx.TransportError:
        return False
