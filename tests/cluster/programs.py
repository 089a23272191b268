"""Builds the programs of the cluster from pinned Go modules, each when it is first asked for.

The pins are go.mod and go.sum in `modules/`, one folder for what has to agree on its versions. To change one:
`cd tests/cluster/modules/helm && go get -tool helm.sh/helm/v4/cmd/helm@v4.3.1`.
"""

import hashlib
import os
import re
import shutil
import subprocess
import threading
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.cluster import packages
from tests.cluster.layout import CACHE, HERE, NotStartedError, locked
from tests.cluster.progress import say

MODULES = HERE / "modules"
SAY_EVERY_SECONDS = 15


@dataclass(frozen=True)
class Program:
    """How one is built. `tags` are Go's build tags, with a comma between them."""

    module: str
    package: str
    tags: str = ""


PROGRAMS = {
    "kubelet": Program("kubernetes", "k8s.io/kubernetes/cmd/kubelet"),
    "kube-apiserver": Program("kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver"),
    "kube-controller-manager": Program("kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    "kube-scheduler": Program("kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler"),
    "kube-proxy": Program("kubernetes", "k8s.io/kubernetes/cmd/kube-proxy"),
    "kubectl": Program("kubernetes", "k8s.io/kubernetes/cmd/kubectl"),
    "etcd": Program("etcd", "go.etcd.io/etcd/server/v3"),
    "coredns": Program("coredns", "github.com/coredns/coredns"),
    "metrics-server": Program("metrics-server", "sigs.k8s.io/metrics-server/cmd/metrics-server"),
    "helm": Program("helm", "helm.sh/helm/v4/cmd/helm"),
    "kubeconform": Program("kubeconform", "github.com/yannh/kubeconform/cmd/kubeconform"),
    "helm-docs": Program("helm-docs", "github.com/norwoodj/helm-docs/cmd/helm-docs"),
    # Debian's runc 1.1 hides why a sandbox does not start.
    "runc": Program("runc", "github.com/opencontainers/runc", tags="seccomp"),
}
# Not of the cluster, so that with other pins of these it is still the same cluster. The tags leave out how it finds
# targets in the clouds, whose libraries take longer to build than all the rest.
_SEARCH = "remove_all_sd,enable_kubernetes_sd"
BESIDE = {
    "prometheus": Program("prometheus", "github.com/prometheus/prometheus/cmd/prometheus", tags=_SEARCH),
    "promtool": Program("prometheus", "github.com/prometheus/prometheus/cmd/promtool", tags=_SEARCH),
}
ALL = PROGRAMS | BESIDE
C_TAGS = {"seccomp"}


def program(name: str) -> Path:
    """The path of a program; builds it if this machine has none with these pins yet.

    Raises:
        NotStartedError: Go or a Debian package is missing, or the build failed; says which and why.
    """
    wanted = (folder(beside=True) if name in BESIDE else folder()) / name
    if not wanted.exists():
        with locked(wanted.parent / f".{name}.lock"):  # another test run may be building the same
            if not wanted.exists():
                _build(name, ALL[name], wanted)
    return wanted


@cache
def folder(*, beside: bool = False) -> Path:
    """Where the programs of the cluster with the committed pins are; `beside`: the others."""
    programs = BESIDE if beside else PROGRAMS
    modules = {how.module for how in programs.values()}
    pins = hashlib.sha256(repr(programs).encode())
    for path in sorted(path for path in MODULES.glob("*/go.*") if path.parent.name in modules):
        pins.update(f"{path.relative_to(MODULES)}\n".encode() + path.read_bytes())
    return CACHE / pins.hexdigest()[:16] / "bin"


def _build(name: str, how: Program, wanted: Path) -> None:
    if shutil.which("go") is None:
        raise NotStartedError(f"missing: go, {_go_version()} or later, to build {name}")
    has_c_parts = how.tags in C_TAGS
    if has_c_parts:
        packages.install(packages.BUILD)
    say(f"building {name} from {how.package} ...")
    started = time.monotonic()
    made = wanted.with_name(f".{name}.new")
    linker = f"-s -w {_kubernetes_version() if how.module == 'kubernetes' else ''}"
    options = ["-v", "-trimpath", "-buildvcs=false", "-tags", how.tags, "-ldflags", linker, "-o", str(made)]
    build = subprocess.Popen(
        ["go", "build", *options, how.package],
        cwd=MODULES / how.module,
        env=os.environ | {"CGO_ENABLED": "1" if has_c_parts else "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = _follow(name, build, started)
    if build.returncode != 0:
        raise NotStartedError(f"building {name} failed: {''.join(lines[-10:])}")
    made.replace(wanted)
    say(f"built {name}: {time.monotonic() - started:.0f} s")


def _follow(name: str, build: "subprocess.Popen[str]", started: float) -> list[str]:
    """Say how far the build is until it ends; returns what it printed: a line for each Go package."""
    lines: list[str] = []
    assert build.stderr is not None
    reader = threading.Thread(target=lines.extend, args=(build.stderr,))
    reader.start()
    while reader.is_alive():
        reader.join(SAY_EVERY_SECONDS)
        if reader.is_alive():
            say(f"building {name}: {len(lines)} Go packages in {time.monotonic() - started:.0f} s")
    build.stderr.close()
    build.wait()
    return lines


def _kubernetes_version() -> str:
    """Linker flags: without them the programs call themselves v0.0.0, which charts and clients refuse."""
    version, major, minor = _pin(r"k8s\.io/kubernetes (v(\d+)\.(\d+)\.\d+)", "kubernetes")
    place = "-X k8s.io/component-base/version"
    return f"{place}.gitVersion={version} {place}.gitMajor={major} {place}.gitMinor={minor}"


def _go_version() -> str:
    """The newest Go that a program asks for."""
    return max(_pin(r"\ngo ([\d.]+)", path.name)[0] for path in MODULES.iterdir())


def _pin(pattern: str, module: str) -> tuple[str, ...]:
    found = re.search(pattern, (MODULES / module / "go.mod").read_text())
    assert found is not None
    return found.groups()
