"""What this machine needs to reach package registries, found at run time: mirror, proxies, certificates, index.

The test's base image gets these settings, so that the Dockerfile that users build is built here unchanged.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
CERTIFICATES_INSIDE = "/etc/machine-certificates.crt"
PIP_SETTINGS = ("extra-index-url", "index-url", "no-index", "proxy", "retries", "timeout", "trusted-host")
APT_SETTINGS = ("Acquire::http::Proxy", "Acquire::https::Proxy", "Acquire::Check-Date", "Acquire::Check-Valid-Until")


def settings() -> dict[str, bytes]:
    """Files of an image, by path from its root, with which apt-get and pip inside reach what they reach here."""
    files = {"etc/apt/apt.conf.d/90machine": _apt().encode(), "etc/pip.conf": _pip().encode()}
    certificates = Path(os.environ.get("PIP_CERT", CERTIFICATES))
    if certificates.is_file():
        files["etc/pip.conf"] += f"cert = {CERTIFICATES_INSIDE}\n".encode()
        files[CERTIFICATES_INSIDE.lstrip("/")] = certificates.read_bytes()
    return files


def debian_mirror() -> str | None:
    """Where this machine takes Debian's packages from; None if it is no Debian."""
    asked = ("indextargets", "--format", "$(ORIGIN) $(LABEL) $(REPO_URI)", "Created-By: Packages")
    for line in _output("apt-get", *asked).splitlines():
        origin, label, address = line.split(maxsplit=2)
        if (origin, label) == ("Debian", "Debian"):
            return address.rstrip("/")
    return None


def _apt() -> str:
    return "".join(f"{line}\n" for line in _output("apt-config", "dump").splitlines() if line.startswith(APT_SETTINGS))


def _pip() -> str:
    """`pip config list` prints where='value', for files and for the environment; later lines win, as in pip."""
    chosen = {}
    for line in _output(sys.executable, "-m", "pip", "config", "list").splitlines():
        name, _, value = line.partition("=")
        setting = name.rpartition(".")[2].replace("default-timeout", "timeout")
        if setting in PIP_SETTINGS:
            chosen[setting] = str(ast.literal_eval(value)).replace("\n", "\n    ")
    return "[global]\n" + "".join(f"{setting} = {value}\n" for setting, value in chosen.items())


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
