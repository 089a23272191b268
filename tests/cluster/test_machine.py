"""The settings with which this machine reaches its registries are found, and go into test images only."""

import configparser
import shutil
from pathlib import Path

import pytest

from tests.cluster import machine


@pytest.mark.skipif(shutil.which("apt-config") is None, reason="missing: apt-config; images are built on Debian only")
def test_pip_inside_uses_the_index_and_the_certificates_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What pip is told by variables outside stands in its settings inside, certificates as a file beside them."""
    certificates = tmp_path / "authority.crt"
    certificates.write_text("a certificate")
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.example/simple")
    monkeypatch.setenv("PIP_TRUSTED_HOST", "mirror.example")
    monkeypatch.setenv("PIP_CERT", str(certificates))
    files = machine.settings()
    settings = configparser.ConfigParser()
    settings.read_string(files["etc/pip.conf"].decode())
    inside = settings["global"]
    assert inside["index-url"] == "https://mirror.example/simple"
    assert inside["trusted-host"] == "mirror.example"
    assert files[inside["cert"].lstrip("/")] == b"a certificate"


def test_the_mirror_is_that_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's own packages, not its security updates and nobody else's; None where there are none."""
    targets = tmp_path / "apt-get"
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    targets.write_text(
        "#!/bin/sh\n"
        "echo 'Else Else http://else.example/'\n"
        "echo 'Debian Debian-Security http://security.example/debian-security/'\n"
        "echo 'Debian Debian http://mirror.example/debian/'\n"
    )
    targets.chmod(0o755)
    assert machine.debian_mirror() == "http://mirror.example/debian"
    targets.write_text("#!/bin/sh\n")
    assert machine.debian_mirror() is None
