"""What the chart refuses, each with a sentence that names the value."""

import json

import jsonschema
import pytest
import yaml

from tests.chart.helm import CHART, refusal, render, setting, with_values


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("replicaCount", "two"),
        ("replicaCount", -1),
        ("service__port", 0),
        ("service__port", "http"),
        ("service__type", "ExternalName"),
        ("settings__drainSeconds", -1),
        ("settings__maxNumber", 1),
        ("settings__logLevel", "loud"),
        ("settings__workers", 1.5),
        ("resources__limits__cpu", "much"),
        ("resources__limits__cpu", "-1"),
        ("autoscaling__minReplicas", 0),
        ("autoscaling__enabled", "maybe"),
        ("podDisruptionBudget__minAvailable", "some"),
        ("serviceMonitor__interval", "often"),
        ("prometheus__scrapeInterval", "often"),
        ("prometheusRule__p99GoalSeconds", "soon"),
        ("prometheusRule__p99GoalSeconds", 0),
        ("dashboards__labels", "all"),
        ("locust__scenario", "unheard-of"),
        ("locust__headless__runTime", "soon"),
        ("locust__worker__replicaCount", "few"),
        ("locust__connections", "some"),
        ("locust__connections", 0),
        ("locust__host", "shop.example.org"),
        ("livenessProbe__timeoutSeconds", 0),
        ("nameOverride", "Not_A_Name"),
        ("image__repository", ""),
        ("imagePullSecrets", "registry"),
    ],
)
def test_a_value_of_the_wrong_kind(name: str, value: object) -> None:
    """The schema refuses it and says where it stands."""
    assert f"'/{name.replace('__', '/')}'" in refusal(*setting(**{name: value}))


@pytest.mark.parametrize(
    "name", ["replicas", "image__name", "settings__port", "locust__workers", "locust__login__user", "autoscaling__min"]
)
def test_an_unknown_value(name: str) -> None:
    """A typing error is refused, at every level."""
    *_, last = name.split("__")
    assert f"additional properties '{last}' not allowed" in refusal(*setting(**{name: 1}))


def test_globals_are_free() -> None:
    """A parent chart may hand down whatever it has."""
    assert render(*setting(global__any__thing=1))


def test_every_value_is_in_the_schema() -> None:
    """The schema names each key of values.yaml, and no key more; values.yaml itself passes."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(values, schema)
    assert _keys(values, schema, schema["definitions"]) == []


@pytest.mark.parametrize(
    ("seconds", "fits"),
    [(21, True), (20, False)],
)
def test_the_grace_period_must_suffice(seconds: int, *, fits: bool) -> None:
    """By default 5 s of sleep, 5 s of drain, 10 s for the longest job and 1 s to end."""
    asked = setting(terminationGracePeriodSeconds=seconds)
    if fits:
        assert render(*asked)
    else:
        assert "terminationGracePeriodSeconds is 20, but a pod needs up to 21.0 s to stop" in refusal(*asked)


@pytest.mark.parametrize(
    "change",
    [
        setting(preStopSleepSeconds=40),
        setting(settings__drainSeconds=20),
        setting(settings__maxCpuTimeMs=25000),
        setting(settings__maxLimit=600000),
        setting(settings__maxNumber=15000000000),
        setting(resources__limits__cpu="250m"),
    ],
)
def test_whatever_makes_the_grace_period_too_short(change: tuple[str, ...]) -> None:
    """Each part of the sum counts: the sleep, the drain, each of the three caps, and the CPU limit."""
    assert "but a pod needs up to" in refusal(*change, *setting(terminationGracePeriodSeconds=30))
    assert render(*change)  # null computes what is needed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (setting(settings__maxCpuTimeMs=3600000, resources__limits__cpu="100m"), "7200 s is the most it can"),
        (setting(autoscaling__enabled=True, resources__requests__cpu=None), "needs resources.requests.cpu"),
        (setting(autoscaling__enabled=True, autoscaling__minReplicas=11), "above autoscaling.maxReplicas"),
        (setting(locust__login__enabled=True), "needs locust.login.password, or locust.login.existingSecret"),
        ((*with_values("config-map"), *setting(locust__locustfile="x")), "exclude each other"),
        (setting(podDisruptionBudget__enabled=True, podDisruptionBudget__maxUnavailable=None), "Set one"),
        (
            setting(dashboards__enabled=True),
            "set prometheusRule.enabled (with the Prometheus operator) or prometheus.en",
        ),
    ],
)
def test_values_that_do_not_go_together(options: tuple[str, ...], words: str) -> None:
    """The chart refuses them and says what to do."""
    assert words in refusal(*options)


def _keys(values: object, schema: object, definitions: dict[str, object], path: str = "") -> list[str]:
    """Where values and schema differ in their keys."""
    if not isinstance(schema, dict):
        return []
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if not (isinstance(values, dict) and isinstance(schema, dict) and schema.get("additionalProperties") is False):
        return []
    known = set(schema["properties"])
    # A probe and resources may have more than they have by default.
    extra = set() if path.endswith(("Probe", "resources")) else known - values.keys()
    differing = [f"{path}.{key}" for key in (values.keys() - known) | extra]
    deeper = [
        _keys(value, schema["properties"].get(key), definitions, f"{path}.{key}") for key, value in values.items()
    ]
    return differing + [item for items in deeper for item in items]
