"""The chart says the same as the code: ports, routes, labels, metrics, settings, file names."""

import dataclasses
import json
import re

import yaml

from podscale import contract
from podscale.pod.settings import TABLE, Row, Settings
from tests.chart.helm import (
    CHART,
    CHECKOUT,
    Object,
    container,
    of_kind,
    only,
    pod_labels,
    pod_specs,
    render,
    setting,
    with_values,
)
from tests.cluster.images import PROMETHEUS
from tests.cluster.programs import MODULES

# Settings that the chart decides by itself, and one that has no use where each pod has an address of its own.
CHARTS_OWN = {"host", "port", "admin_host", "admin_port", "pod_name", "grace_seconds", "reuse_port"}
# Where the chart's default differs, with reason: a pod has a memory limit, and a node may have very many cores.
CHARTS_DEFAULTS = {"offloadProcesses": 1}
COMPONENT = "app.kubernetes.io/component"
INSTANCE = "app.kubernetes.io/instance"


def test_ports() -> None:
    """Containers and Services have the ports of the contract, by name."""
    objects = render()
    pod = container(objects, "Deployment", "podscale")
    assert pod["ports"] == [
        {"name": "http", "containerPort": contract.HTTP_PORT},
        {"name": "admin", "containerPort": contract.ADMIN_PORT},
    ]
    (http,) = only(objects, "Service", "podscale")["spec"]["ports"]
    assert http == {"name": "http", "port": contract.HTTP_PORT, "targetPort": "http"}
    metrics = only(objects, "Service", "podscale-metrics")["spec"]
    assert metrics["ports"] == [{"name": "admin", "port": contract.ADMIN_PORT, "targetPort": "admin"}]
    assert metrics["clusterIP"] == "None"


def test_probes() -> None:
    """They ask the admin port's thread, which answers while the event loop is busy, with time for a slow node."""
    pod = container(render(), "Deployment", "podscale")
    for name, route in (("startup", contract.LIVE), ("liveness", contract.LIVE), ("readiness", contract.READY)):
        probe = pod[f"{name}Probe"]
        assert probe["httpGet"] == {"path": route, "port": "admin"}
        assert probe["timeoutSeconds"] >= 5
    assert pod["startupProbe"]["failureThreshold"] * pod["startupProbe"]["periodSeconds"] >= 60


def test_components() -> None:
    """Pods are found by these labels, from here and by the sweep."""
    labels = pod_labels(render())
    assert labels["Deployment podscale"][COMPONENT] == "pod"
    assert labels["Deployment podscale-locust-master"][COMPONENT] == "locust-master"
    assert labels["Deployment podscale-locust-worker"][COMPONENT] == "locust-worker"
    assert labels["Pod podscale-test-prime"][COMPONENT] == labels["Pod podscale-test-metrics"][COMPONENT] == "test"


def test_settings_are_those_of_the_pod() -> None:
    """Each row of the pod's table is a value, with the same default but where said above."""
    values = yaml.safe_load((CHART / "values.yaml").read_text())["settings"]
    rows = {_camel(row.name): row.default for row in TABLE if row.name not in CHARTS_OWN}
    assert values == rows | CHARTS_DEFAULTS


def test_the_schema_has_the_bounds_of_the_pod() -> None:
    """What the pod would refuse at its start, the chart refuses before."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    for row in TABLE:
        if row.name not in CHARTS_OWN:
            assert schema["properties"]["settings"]["properties"][_camel(row.name)] == _as_schema(row)


def test_the_pod_reads_its_environment() -> None:
    """With any ci file, the pod's own reader takes the variables and finds the values; large numbers are whole."""
    for file in ("default", "limited", "replicas", "full-node", "service"):
        settings = _settings(render(*with_values(file)))
        assert settings.max_number in {5_000_000_000, 500_000_000}
        assert settings.pod_name == "set-by-kubernetes"
    assert _settings(render(*with_values("full-node"))) == dataclasses.replace(
        Settings(),
        pod_name="set-by-kubernetes",
        grace_seconds=5,
        drain_seconds=2.5,
        max_cpu_time_ms=1000,
        max_limit=90_000,
        max_number=500_000_000,
        offload_processes=1,
        log_level="warning",
    )


def test_the_grace_period_is_one_sum_in_chart_and_pod() -> None:
    """Kubernetes' period less the sleep is the pod's, and holds its drain and its longest job at the CPU limit."""
    for options, cores, seconds in (
        ((), 1, 30),
        (with_values("limited"), 0.25, 56),
        (setting(settings__maxLimit=600000), 1, 56),
    ):
        objects = render(*options)
        settings = _settings(objects)
        asked = pod_specs(objects)["Deployment podscale"]["terminationGracePeriodSeconds"]
        assert asked == seconds
        assert settings.grace_seconds == asked - 5
        assert settings.drain_seconds + settings.longest_job_seconds / cores + 1 <= settings.grace_seconds


def test_metrics_are_scraped_from_each_pod_and_from_locust() -> None:
    """A monitor's selector finds one Service whose port has the name that it asks for: the headless one of the pods."""
    objects = render(*with_values("monitoring"))
    for name, service in (("podscale", "podscale-metrics"), ("podscale-locust", "podscale-locust")):
        monitor = only(objects, "ServiceMonitor", name)["spec"]
        (endpoint,) = monitor["endpoints"]
        assert endpoint["path"] == contract.METRICS
        chosen = [
            item["metadata"]["name"]
            for item in objects
            if item["kind"] == "Service"
            and monitor["selector"]["matchLabels"].items() <= item["metadata"]["labels"].items()
            and endpoint["port"] in [port["name"] for port in item["spec"]["ports"]]
        ]
        assert chosen == [service]
        assert _seconds(endpoint["scrapeTimeout"]) < _seconds(endpoint["interval"])
        (relabeling,) = endpoint["relabelings"]
        assert relabeling["targetLabel"] == "release"
        (label,) = relabeling["sourceLabels"]
        assert label == "__meta_kubernetes_service_label_" + re.sub(r"[./]", "_", INSTANCE)
        assert only(objects, "Service", service)["metadata"]["labels"][INSTANCE] == "podscale"


def test_no_monitor_of_a_page_that_is_not_there() -> None:
    """A headless run has no page, and so no metrics of Locust."""
    objects = render(*with_values("monitoring"), *setting(locust__headless__enabled=True))
    assert [item["metadata"]["name"] for item in of_kind(objects, "ServiceMonitor")] == ["podscale"]


def test_prometheus_finds_pods_and_locust() -> None:
    """What its configuration keeps are the components and ports that pods have."""
    objects = render(*with_values("prometheus"))
    text = only(objects, "ConfigMap", "podscale-prometheus")["data"]["prometheus.yaml"]
    (job,) = yaml.safe_load(text)["scrape_configs"]
    kept = re.compile(job["relabel_configs"][0]["regex"])
    found = {
        name
        for name, specification in pod_specs(objects).items()
        for port in specification["containers"][0].get("ports", [])
        if kept.fullmatch(f"{pod_labels(objects)[name][COMPONENT]};{port['name']}")
    }
    assert found == {"Deployment podscale-locust-master", "Deployment podscale"}


def test_one_version_of_prometheus() -> None:
    """The image that the chart asks for is the program that the tests build and prove it with."""
    image = pod_specs(render(*with_values("prometheus")))["Deployment podscale-prometheus"]["containers"][0]["image"]
    assert f"docker.io/{image}" == PROMETHEUS
    pins = (MODULES / "prometheus" / "go.mod").read_text()
    # Prometheus 3.16.0 is the Go module v0.316.0: https://github.com/prometheus/prometheus#prometheus-code-base
    major, minor, patch = re.findall(r"\d+", image.rpartition(":")[2])
    assert f"github.com/prometheus/prometheus v0.{major}{minor}.{patch} " in pins


def test_rules_know_the_metrics() -> None:
    """Each series in a rule is one of the contract, or recorded by another, and of this release."""
    metrics = {value for name, value in vars(contract).items() if name.isupper() and isinstance(value, str)}
    groups = only(render(*with_values("monitoring"), release="demo"), "PrometheusRule")["spec"]["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    metrics |= {rule["record"] for rule in rules if "record" in rule} | {"up"}
    for rule in rules:
        used = re.findall(r"([a-z][a-z0-9_:]+)\{([^}]*)\}", rule["expr"])
        assert used
        for metric, labels in used:
            assert metric.removesuffix("_bucket") in metrics or metric in metrics
            assert labels.startswith('release="demo"')
        if "alert" in rule:
            assert rule["annotations"]["summary"].endswith(".")


def test_locust_is_one_image_and_one_start() -> None:
    """Master and worker run the same image with the same files; workers find the master's Service and its port."""
    for options in ((), with_values("placement"), with_values("locustfile"), with_values("config-map")):
        objects = render(*options)
        master = container(objects, "Deployment", "podscale-locust-master")
        worker = container(objects, "Deployment", "podscale-locust-worker")
        assert master["image"] == worker["image"]
        assert master["args"][0] == worker["args"][0]
        assert master["env"] == worker["env"]
        service = only(objects, "Service", "podscale-locust-master")
        assert f"--master-host={service['metadata']['name']}" in worker["args"]
        (port,) = service["spec"]["ports"]
        assert f"--master-port={port['port']}" in worker["args"]
        assert f"--master-bind-port={port['port']}" in master["args"]


def test_scenarios_are_the_locustfiles_of_the_image() -> None:
    """The schema allows those that loadtest/ has, or all; one's own locustfile takes the place of all of them."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    allowed = schema["properties"]["locust"]["properties"]["scenario"]["enum"]
    assert sorted(allowed) == sorted(["all", *(path.stem for path in (CHECKOUT / "loadtest").glob("*.py"))])
    for options, file in (
        (setting(locust__scenario="prime"), "/opt/podscale/loadtest/prime.py"),
        (setting(locust__scenario="all"), "/opt/podscale/loadtest"),
        (with_values("locustfile"), "/locustfile/locustfile.py"),
        (with_values("config-map"), "/locustfile/locustfile.py"),
    ):
        first = container(render(*options), "Deployment", "podscale-locust-worker")["args"][0]
        assert first == f"--locustfile=/opt/podscale/plugin.py,{file}"


def test_a_locustfile_arrives_as_it_is() -> None:
    """By --set-file, any text comes through whole: tabs, quotes, braces, no newline at its end."""
    path = CHECKOUT / "loadtest" / "prime.py"
    options = ("--set-file", f"locust.locustfile={path}")
    assert only(render(*options), "ConfigMap")["data"]["locustfile.py"] == path.read_text()
    odd = yaml.safe_load((CHART / "ci" / "locustfile-values.yaml").read_text())["locust"]["locustfile"]
    assert only(render(*with_values("locustfile")), "ConfigMap")["data"]["locustfile.py"] == odd


def test_the_target_is_a_whole_name() -> None:
    """It ends in a dot, so that no new connection searches through several domains; the namespace is the pod's own."""
    for name in ("podscale-locust-master", "podscale-locust-worker"):
        variables = {row["name"]: row for row in container(render(), "Deployment", name)["env"]}
        assert variables["LOCUST_HOST"]["value"] == "http://podscale.$(NAMESPACE).svc.cluster.local.:8000"
        assert list(variables).index("NAMESPACE") < list(variables).index("LOCUST_HOST")  # else it is not put in
        assert variables["NAMESPACE"]["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.namespace"


def _settings(objects: list[Object]) -> Settings:
    from podscale.pod.settings import from_environment

    rows = container(objects, "Deployment", "podscale")["env"]
    return from_environment({row["name"]: row.get("value", "set-by-kubernetes") for row in rows})


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _as_schema(row: Row) -> dict[str, object]:
    if isinstance(row.default, str):
        return {"enum": row.pattern.split("|")}
    kind = "integer" if isinstance(row.default, int) else "number"
    return {"type": kind, "minimum": row.lower, "maximum": row.upper}


def _seconds(text: str) -> int:
    return int(text.removesuffix("s"))
