"""Names and selectors: for any release, and for two in one namespace."""

import itertools

import pytest

from tests.chart.helm import CI_FILES, Object, container, of_kind, pod_labels, render, setting, with_values

LONGEST = "r" * 53  # helm takes no longer one
ALMOST = "r" * 52 + "s"
EVERYTHING = ("autoscaling", "disruption-budget", "network-policy", "monitoring", "locustfile")

# The most that a name of an object may have, where it becomes a label or a name in DNS.
MOST_CHARACTERS = 63


@pytest.mark.parametrize("release", ["a", "demo", "my-podscale", "1x", LONGEST, "load-" * 10 + "abc"])
@pytest.mark.parametrize("run", ["login", "headless"])
def test_names_of_any_release(release: str, run: str) -> None:
    """With all that can be turned on, all names are short enough, well formed and distinct within their kind."""
    options = [option for file in (*EVERYTHING, run) for option in with_values(file)]
    seen = set()
    for kind, name in _names(render(*options, release=release)):
        assert len(name) <= MOST_CHARACTERS
        assert name == name.strip("-")
        assert (kind, name) not in seen
        seen.add((kind, name))


@pytest.mark.parametrize(
    ("one", "other"), [("a", "b"), ("demo", "demo-podscale"), (LONGEST, ALMOST), ("podscale", "x")]
)
@pytest.mark.parametrize("file", ["login", "headless", "network-policy"])
def test_two_releases_in_one_namespace(one: str, other: str, file: str) -> None:
    """No name is in both, and no selector of the one finds a pod of the other."""
    first, second = (render(*with_values(file), release=release) for release in (one, other))
    assert not set(_names(first)) & set(_names(second))
    for mine, theirs in ((first, second), (second, first)):
        for selector, labels in itertools.product(_selectors(mine), pod_labels(theirs).values()):
            assert not selector.items() <= labels.items()


def test_the_name_of_a_release() -> None:
    """No podscale-podscale; any other release is part of the name; the user's own name is taken as it is."""
    assert ("Deployment", "podscale") in _names(render())
    assert ("Deployment", "demo-podscale") in _names(render(release="demo"))
    assert ("Deployment", "prime-numbers") in _names(render(*with_values("names"), release="demo"))


@pytest.mark.parametrize("file", CI_FILES, ids=lambda file: file.name.removesuffix("-values.yaml"))
def test_selectors_find_their_own_pods_alone(file: object) -> None:
    """Each selector names a component, so that an autoscaler or a Service of the pods never sees Locust or a test."""
    objects = render("--values", str(file))
    for selector in _selectors(objects):
        assert selector.keys() >= {
            "app.kubernetes.io/name",
            "app.kubernetes.io/instance",
            "app.kubernetes.io/component",
        }
        assert "helm.sh/chart" not in selector
    labels = pod_labels(objects)
    for name, one in labels.items():
        if name.startswith("Deployment"):
            (deployment,) = of_kind(objects, *name.split())
            chosen = deployment["spec"]["selector"]["matchLabels"]
            assert [other for other, its in labels.items() if chosen.items() <= its.items()] == [name]
            assert chosen.items() <= one.items()


@pytest.mark.parametrize(
    ("kind", "name", "pods"),
    [
        ("Service", "podscale", "Deployment podscale"),
        ("Service", "podscale-metrics", "Deployment podscale"),
        ("Service", "podscale-locust", "Deployment podscale-locust-master"),
        ("Service", "podscale-locust-master", "Deployment podscale-locust-master"),
        ("PodDisruptionBudget", "podscale", "Deployment podscale"),
        ("NetworkPolicy", "podscale", "Deployment podscale"),
        ("NetworkPolicy", "podscale-locust-master", "Deployment podscale-locust-master"),
        ("NetworkPolicy", "podscale-locust-worker", "Deployment podscale-locust-worker"),
    ],
)
def test_whom_a_selector_finds(kind: str, name: str, pods: str) -> None:
    """The pods that the object is for and no others; a Service finds their port by its name."""
    objects = render(*[option for file in EVERYTHING for option in with_values(file)])
    (item,) = of_kind(objects, kind, name)
    (selector,) = [item["spec"]["selector"]] if kind == "Service" else _selectors([_aims(item)])
    assert [found for found, labels in pod_labels(objects).items() if selector.items() <= labels.items()] == [pods]
    if kind == "Service":
        ports = [port["name"] for port in container(objects, *pods.split())["ports"]]
        assert all(port["targetPort"] in ports for port in item["spec"]["ports"])


def test_a_new_version_of_the_chart_restarts_nothing() -> None:
    """Pods carry no label of the chart or its version, which would replace them in the middle of a measurement."""
    for name, labels in pod_labels(render()).items():
        if not name.startswith("Pod "):  # tests are made anew each time
            assert not {"helm.sh/chart", "app.kubernetes.io/version"} & labels.keys()


def test_a_changed_locustfile_restarts_locust() -> None:
    """Its checksum is on the pods that read it; the login's on the master's alone."""
    before, after = (_annotations(render(*setting(locust__locustfile=text))) for text in ("one", "two"))
    for name in ("podscale-locust-master", "podscale-locust-worker"):
        assert before[name] != after[name]
    default, login = _annotations(render()), _annotations(render(*with_values("login")))
    changed = _annotations(render(*with_values("login"), *setting(locust__login__password="other")))
    assert login["podscale-locust-master"] != changed["podscale-locust-master"]
    assert login["podscale-locust-worker"] == default["podscale-locust-worker"] == {}


def test_a_changed_run_is_a_new_job() -> None:
    """A Job cannot be changed: what changes the run changes both names, anything else neither."""
    options = with_values("headless")
    names = _jobs(options)
    assert _jobs((*options, *setting(replicaCount=7))) == names
    for change in (
        setting(locust__headless__run="3"),
        setting(locust__headless__users=7),
        setting(locust__worker__replicaCount=3),
        setting(locust__worker__resources__requests__cpu="1"),
    ):
        assert not _jobs((*options, *change)) & names


def test_workers_find_the_master_of_their_run() -> None:
    """The Service names its Job, so that a master of before, which is still ending, gets none of them."""
    objects = render(*with_values("headless"))
    (service,) = of_kind(objects, "Service", "podscale-locust-master")
    (master,) = [name for name in _jobs(with_values("headless")) if "master" in name]
    assert service["spec"]["selector"]["batch.kubernetes.io/job-name"] == master
    (page,) = of_kind(render(), "Service", "podscale-locust-master")
    assert "batch.kubernetes.io/job-name" not in page["spec"]["selector"]


def _names(objects: list[Object]) -> list[tuple[str, str]]:
    return [(item["kind"], item["metadata"]["name"]) for item in objects]


def _jobs(options: tuple[str, ...]) -> set[str]:
    return {item["metadata"]["name"] for item in of_kind(render(*options), "Job")}


def _annotations(objects: list[Object]) -> dict[str, dict[str, str]]:
    deployments = of_kind(objects, "Deployment")
    return {
        item["metadata"]["name"]: item["spec"]["template"]["metadata"].get("annotations", {}) for item in deployments
    }


def _aims(item: Object) -> Object:
    """The part of a specification that says for which pods it is, without those that it lets in."""
    return {key: value for key, value in item["spec"].items() if key in {"podSelector", "selector"}}


def _selectors(objects: list[Object]) -> list[dict[str, str]]:
    """All selectors of pods, wherever they stand in the objects."""
    return [selector for item in objects for selector in _selectors_in(item)]


def _selectors_in(value: object, key: str = "") -> list[dict[str, str]]:
    if isinstance(value, list):
        return [found for item in value for found in _selectors_in(item)]
    if not isinstance(value, dict):
        return []
    if key == "matchLabels" or (key == "selector" and "matchLabels" not in value):
        return [value] if any(name.startswith("app.kubernetes.io/") for name in value) else []
    return [found for name, item in value.items() for found in _selectors_in(item, name)]
