"""Keys, certificates and kubeconfigs of a cluster. Made anew for each, good for a year, never leaving its folder."""

import secrets
import subprocess
from pathlib import Path

from tests.cluster.layout import API, KUBERNETES_SERVICE, Layout

KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{{name: {name}, cluster: {{server: "https://{api}:6443", certificate-authority: "{folder}/ca.crt"}}}}]
users: [{{name: user, user: {{token: "{token}"}}}}]
contexts: [{{name: {name}, context: {{cluster: {name}, user: user}}}}]
current-context: {name}
"""
NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def make(layout: Layout) -> Path:
    """Write all of them; returns their folder."""
    folder = layout.root / "keys"
    folder.mkdir(mode=0o700, parents=True)
    _authority(folder, "ca")
    _authority(folder, "front-ca")
    _signed(folder, "api", "ca", f"DNS:kubernetes.default.svc,IP:127.0.0.1,IP:{API},IP:{KUBERNETES_SERVICE}")
    _signed(folder, "front", "front-ca", "DNS:front")
    _openssl("genpkey", "-algorithm", "EC", *NEW_KEY[2:4], "-out", f"{folder}/accounts.key")
    _openssl("pkey", "-in", f"{folder}/accounts.key", "-pubout", "-out", f"{folder}/accounts.pub")
    _tokens(layout, folder)
    return folder


def _authority(folder: Path, name: str) -> None:
    files = ("-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.crt")
    _openssl("req", "-x509", *NEW_KEY, *files, "-days", "365", "-subj", f"/CN=test-{name}")


def _signed(folder: Path, name: str, authority: str, names: str) -> None:
    """A certificate for /CN=<name> with the further names `names`."""
    files = ("-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.crt")
    by = ("-CA", f"{folder}/{authority}.crt", "-CAkey", f"{folder}/{authority}.key")
    extensions = ("-addext", f"subjectAltName={names}", "-addext", "basicConstraints=critical,CA:FALSE")
    _openssl("req", "-x509", *NEW_KEY, *files, *by, "-days", "365", "-subj", f"/CN={name}", *extensions)


def _tokens(layout: Layout, folder: Path) -> None:
    """Who is who, as a table that the API server reads, and a kubeconfig for each."""
    users = [("admin", "admin", "system:masters")]
    users += [(name, f"system:{name}", "") for name in ("kube-controller-manager", "kube-scheduler", "kube-proxy")]
    users += [(f"node{node}", f"system:node:node{node}", "system:nodes") for node in layout.numbers]
    lines = []
    for name, user, group in users:
        token = secrets.token_hex(16)
        lines.append(f"{token},{user},{name}{',' if group else ''}{group}\n")
        text = KUBECONFIG.format(name=layout.name, api=API, folder=folder, token=token)
        (folder / f"{name}.kubeconfig").write_text(text)
    (folder / "tokens.csv").write_text("".join(lines))


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
