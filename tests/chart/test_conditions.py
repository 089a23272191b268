"""Each condition of the chart: what a value brings, and that it is not there without it."""

import pytest

from tests.chart.helm import Object, container, of_kind, only, pod_specs, render, setting, with_values

POD = "podscale"
MASTER = "podscale-locust-master"
WORKER = "podscale-locust-worker"


@pytest.mark.parametrize(
    ("kind", "name", "file"),
    [
        ("HorizontalPodAutoscaler", "podscale", "autoscaling"),
        ("PodDisruptionBudget", "podscale", "disruption-budget"),
        ("NetworkPolicy", "podscale", "network-policy"),
        ("NetworkPolicy", MASTER, "network-policy"),
        ("NetworkPolicy", WORKER, "network-policy"),
        ("ServiceMonitor", "podscale", "monitoring"),
        ("PrometheusRule", "podscale", "monitoring"),
        ("ConfigMap", "podscale-locust-file", "locustfile"),
        ("ConfigMap", "podscale-locust-login", "login"),
        ("Secret", "podscale-locust-login", "login"),
        ("ServiceAccount", "podscale-sweep", "sweep"),
        ("Role", "podscale-sweep", "sweep"),
        ("RoleBinding", "podscale-sweep", "sweep"),
    ],
)
def test_an_object_that_is_off_by_default(kind: str, name: str, file: str) -> None:
    """It is rendered with its values and not without."""
    assert of_kind(render(*with_values(file)), kind, name)
    assert not of_kind(render(), kind, name)


@pytest.mark.parametrize(
    ("kind", "name", "file"),
    [
        ("ServiceAccount", "podscale", "names"),
        ("Deployment", MASTER, "no-locust"),
        ("Deployment", WORKER, "no-locust"),
        ("Service", "podscale-locust", "no-locust"),
        ("Service", MASTER, "no-locust"),
        ("Deployment", MASTER, "headless"),
        ("Deployment", WORKER, "headless"),
        ("Service", "podscale-locust", "headless"),
    ],
)
def test_an_object_that_is_on_by_default(kind: str, name: str, file: str) -> None:
    """It is rendered by default, and not with the values that put it away."""
    assert of_kind(render(), kind, name)
    assert not of_kind(render(*with_values(file)), kind, name)


@pytest.mark.parametrize("file", ["network-policy", "login", "locustfile", "headless"])
def test_nothing_of_locust_without_it(file: str) -> None:
    """With Locust off, none of its options brings anything of it."""
    objects = render(*with_values(file), *setting(locust__enabled=False))
    assert not [item["metadata"]["name"] for item in objects if "locust" in item["metadata"]["name"]]


def test_an_existing_secret_is_used() -> None:
    """A Secret that is there already is named and none is made; the login itself is mounted."""
    objects = render(*with_values("login-secret"))
    assert not of_kind(objects, "Secret")
    assert of_kind(objects, "ConfigMap", "podscale-locust-login")
    references = [row["valueFrom"]["secretKeyRef"] for row in _env(objects, MASTER) if row["name"].startswith("LOGIN_")]
    assert references == [
        {"name": "kept-elsewhere", "key": "username"},
        {"name": "kept-elsewhere", "key": "password"},
    ]


def test_the_login_is_the_masters_alone() -> None:
    """The master loads it before the locustfile and turns it on; workers know nothing of it, nor does a default."""
    objects, default = render(*with_values("login")), render()
    assert "--web-login" in _arguments(objects, MASTER)
    assert _locustfiles(objects, MASTER) == [
        "/opt/podscale/plugin.py",
        "/login/login.py",
        "/opt/podscale/loadtest/blocking.py",
    ]
    for arguments in (_arguments(objects, WORKER), _arguments(default, MASTER)):
        assert not [argument for argument in arguments if "login" in argument]


def test_a_headless_run_has_no_login() -> None:
    """There is no page to log in to, so nothing of a login is rendered."""
    objects = render(*with_values("login"), *setting(locust__headless__enabled=True))
    assert not of_kind(objects, "Secret")
    assert not of_kind(objects, "ConfigMap")


@pytest.mark.parametrize(
    ("options", "replicas"),
    [
        ((), None),
        (setting(replicaCount=3), 3),
        (setting(replicaCount=0), 0),
        (with_values("autoscaling"), None),
    ],
)
def test_the_number_of_pods(options: tuple[str, ...], replicas: int | None) -> None:
    """It is rendered only if it is said, and never beside an autoscaler, which owns it then."""
    assert only(render(*options), "Deployment", POD)["spec"].get("replicas") == replicas


def test_the_number_of_workers() -> None:
    """It is rendered only if it is said."""
    assert "replicas" not in only(render(), "Deployment", WORKER)["spec"]
    assert only(render(*with_values("replicas")), "Deployment", WORKER)["spec"]["replicas"] == 2


@pytest.mark.parametrize(
    ("options", "bound"),
    [
        ((), {"maxUnavailable": 1}),
        (setting(podDisruptionBudget__maxUnavailable=2), {"maxUnavailable": 2}),
        (setting(podDisruptionBudget__minAvailable=1), {"minAvailable": 1}),
        (
            setting(podDisruptionBudget__minAvailable="50%", podDisruptionBudget__maxUnavailable=None),
            {"minAvailable": "50%"},
        ),
    ],
)
def test_one_bound_of_the_budget(options: tuple[str, ...], bound: dict[str, object]) -> None:
    """Kubernetes takes one of the two; minAvailable, which is never set by default, goes first."""
    spec = only(render(*setting(podDisruptionBudget__enabled=True), *options), "PodDisruptionBudget")["spec"]
    assert {key: value for key, value in spec.items() if key.endswith("vailable")} == bound


def test_the_sleep_before_the_signal() -> None:
    """Kubernetes sleeps by itself, without a shell in the image; 0, which older versions refuse, renders nothing."""
    assert container(render(), "Deployment", POD)["lifecycle"] == {"preStop": {"sleep": {"seconds": 5}}}
    assert "lifecycle" not in container(render(*with_values("service")), "Deployment", POD)


def test_no_cpu_limit_unless_it_is_set() -> None:
    """By default all containers have requests and a memory limit; the pod alone gets a CPU limit, where it is set."""
    for options, limited in (((), set()), (with_values("limited"), {"pod", "test"})):
        for specification in pod_specs(render(*options)).values():
            (one,) = specification["containers"]
            assert set(one["resources"]["requests"]) == {"cpu", "memory"}
            assert set(one["resources"]["limits"]) == ({"cpu", "memory"} if one["name"] in limited else {"memory"})


def test_placement_of_pods_and_of_locust() -> None:
    """Each has its own; without it there is no such field."""
    placed, default = pod_specs(render(*with_values("placement"))), pod_specs(render())
    assert placed["Deployment podscale"]["nodeSelector"] == {"pool": "pods"}
    assert placed["Pod podscale-test-prime"]["nodeSelector"] == {"pool": "pods"}
    for name in (MASTER, WORKER):
        assert placed[f"Deployment {name}"]["nodeSelector"] == {"pool": "load"}
        assert placed[f"Deployment {name}"]["tolerations"] == [{"key": "load", "operator": "Exists"}]
    assert all(specification["imagePullSecrets"] == [{"name": "registry"}] for specification in placed.values())
    for specification in default.values():
        assert not {"nodeSelector", "tolerations", "affinity", "imagePullSecrets"} & specification.keys()


def test_labels_and_annotations_of_the_users() -> None:
    """They are on the pods if they are set; the selector stays as it was, since it cannot change."""
    objects, default = render(*with_values("placement")), render()
    for name in (POD, MASTER, WORKER):
        deployment, before = only(objects, "Deployment", name), only(default, "Deployment", name)
        assert deployment["spec"]["template"]["metadata"]["labels"]["team"] == "mine"
        assert deployment["spec"]["template"]["metadata"]["annotations"] == {"example.org/owner": "me"}
        assert "annotations" not in before["spec"]["template"]["metadata"]
        assert deployment["spec"]["selector"] == before["spec"]["selector"]


@pytest.mark.parametrize(
    ("kind", "name", "file"),
    [
        ("Service", "podscale", "service"),
        ("ServiceAccount", "podscale", "service"),
        ("Service", "podscale-locust", "login"),
    ],
)
def test_annotations_of_objects(kind: str, name: str, file: str) -> None:
    """An object has annotations only if they are set."""
    assert only(render(*with_values(file)), kind, name)["metadata"]["annotations"]
    assert "annotations" not in only(render(), kind, name)["metadata"]


def test_the_spread_over_nodes() -> None:
    """A constraint without a selector gets that of the pods, one with a selector keeps it, and none renders nothing."""
    (spread,) = pod_specs(render())["Deployment podscale"]["topologySpreadConstraints"]
    assert spread["topologyKey"] == "kubernetes.io/hostname"
    assert spread["labelSelector"] == only(render(), "Deployment", POD)["spec"]["selector"]
    (own,) = pod_specs(render(*with_values("placement")))["Deployment podscale"]["topologySpreadConstraints"]
    assert own["labelSelector"] == {"matchLabels": {"team": "mine"}}
    assert "topologySpreadConstraints" not in pod_specs(render(*with_values("full-node")))["Deployment podscale"]


def test_whom_a_network_policy_lets_in() -> None:
    """The lists add peers to our own, the API server to each port; an empty list adds none."""
    ours, lists = setting(networkPolicy__enabled=True), with_values("network-policy")
    for name, before, after in ((POD, [2, 2], [4, 3]), (MASTER, [1], [1, 2])):
        for options, peers in ((ours, before), (lists, after)):
            policy = only(render(*options), "NetworkPolicy", name)["spec"]
            assert [len(rule["from"]) for rule in policy["ingress"]] == peers
    assert len(only(render(*ours), "NetworkPolicy", WORKER)["spec"]["egress"]) == 3
    assert len(only(render(*lists), "NetworkPolicy", WORKER)["spec"]["egress"]) == 4
    headless = render(*lists, *setting(locust__headless__enabled=True))
    assert len(only(headless, "NetworkPolicy", MASTER)["spec"]["ingress"]) == 1


def test_labels_for_the_operator() -> None:
    """A Prometheus selects monitors and rules by a label of the user's; alerts carry theirs."""
    objects = render(*with_values("monitoring"))
    for kind in ("ServiceMonitor", "PrometheusRule"):
        assert only(objects, kind)["metadata"]["labels"]["release"] == "prometheus"
        plain = render(*setting(serviceMonitor__enabled=True, prometheusRule__enabled=True))
        assert "release" not in only(plain, kind)["metadata"]["labels"]
    bare = render(*with_values("monitoring"), *setting(prometheusRule__alertLabels__severity=None))
    for rules, labels in ((objects, {"severity": "warning"}), (bare, None)):
        (group,) = only(rules, "PrometheusRule")["spec"]["groups"]
        assert {str(rule.get("labels")) for rule in group["rules"]} == {str(labels)}


def test_arguments_and_environment_of_locust() -> None:
    """Arguments go to the master, which hands them on; variables go to both; the target can be another."""
    headless, other = render(*with_values("headless")), render(*with_values("config-map"))
    (master,) = [name for name in pod_specs(headless) if "Job podscale-locust-master" in name]
    assert {"--rate=50", "--connections=20"} < set(pod_specs(headless)[master]["containers"][0]["args"])
    assert "--rate=50" not in _arguments(render(), MASTER)
    assert "--connections=new" in _arguments(render(), MASTER)
    for name in (MASTER, WORKER):
        assert [row["name"] for row in _env(other, name)] == ["HOME", "LOCUST_HOST", "SHOP_KEY"]
        assert _env(other, name)[1]["value"] == "http://shop.example.org"


def test_what_the_sweeps_job_runs() -> None:
    """Off by default; it scales its own pods or others, knows the password where there is a login, and runs anew."""
    assert not of_kind(render(), "Job")
    login, plain = render(*with_values("sweep")), render(*with_values("sweep"), *setting(locust__login__enabled=False))
    other = render(*with_values("sweep"), *setting(sweep__deployment="shop", sweep__run=2))
    jobs = [only(objects, "Job") for objects in (login, plain, other)]
    arguments = [set(job["spec"]["template"]["spec"]["containers"][0]["args"]) for job in jobs]
    assert {"--deployment=podscale", "--locust=podscale", "--sizes=1,2"} < arguments[0]
    assert "--deployment=shop" in arguments[2]
    names = [[row["name"] for row in job["spec"]["template"]["spec"]["containers"][0]["env"]] for job in jobs]
    assert names[0] == ["HOME", "LOCUST_LOGIN_PASSWORD"]
    assert names[1] == ["HOME"]
    assert jobs[0]["metadata"]["name"] == jobs[1]["metadata"]["name"] != jobs[2]["metadata"]["name"]
    assert f"--keep={jobs[0]['metadata']['name']}" in arguments[0]
    assert jobs[0]["spec"]["template"]["spec"]["nodeSelector"] == {"kubernetes.io/os": "linux"}


def _env(objects: list[Object], deployment: str) -> list[Object]:
    return list(container(objects, "Deployment", deployment)["env"])


def _arguments(objects: list[Object], deployment: str) -> list[str]:
    return list(container(objects, "Deployment", deployment)["args"])


def _locustfiles(objects: list[Object], deployment: str) -> list[str]:
    return _arguments(objects, deployment)[0].removeprefix("--locustfile=").split(",")
