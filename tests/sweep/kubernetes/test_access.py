"""Tests of speaking to the API server: patience, words, and what is found of kubeconfigs."""

from pathlib import Path

import pytest

from podscale.sweep.kubernetes import access
from podscale.sweep.kubernetes.access import ApiError, AwayError, connect
from podscale.sweep.targets import TargetError
from tests.sweep.kubernetes.cluster import pretended


def test_a_server_that_is_away_for_a_while_is_waited_for_and_that_is_said_once() -> None:
    """Two answers of 503, then the object: one line for the user, no error."""
    with pretended(patience_seconds=5) as (cluster, api, said):
        answers = [(503, {}), (503, {}), (200, {"kind": "Pod"})]
        api.get("/version")
        cluster.handlers["/thing"] = lambda *_: answers.pop(0)
        assert api.get("/thing") == {"kind": "Pod"}
        assert said == ["the API server says 503; trying for up to 5 s"]


def test_patience_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was never heard of gets less of it, and the message names the context."""
    monkeypatch.setattr(access, "FIRST_SECONDS", 0.5)
    with pretended() as (_, api, _):
        api._client.configuration.host = "http://127.0.0.1:9"
        with pytest.raises(AwayError, match=r"does not answer: .*Connection refused, for 0 s now; is pretended up\?"):
            api.get("/version")


def test_a_refusal_has_the_servers_words_and_a_missing_object_is_none() -> None:
    """403 is an error with its status; 404 is an answer for who only looks."""
    with pretended() as (cluster, api, _):
        cluster.handlers["/shut"] = lambda *_: (403, {"message": "pods is forbidden"})
        with pytest.raises(ApiError, match="refused GET /shut: pods is forbidden") as caught:
            api.get("/shut")
        assert caught.value.status == 403
        assert api.find("/none") is None


def test_without_a_cluster_the_message_says_where_to_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No kubeconfig, or no such context in it: one sentence, no traceback."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "none"))
    with pytest.raises(TargetError, match=r"no cluster to be found: .*kubectl config get-contexts"):
        connect("moon", None, print)
