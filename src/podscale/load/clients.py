"""The connection policy and the timeout, applied to a Locust user from outside, so that any locustfile has them."""

import functools
from typing import Any

import geventhttpclient.client
from locust import FastHttpUser, HttpUser, User


def forbid_hidden_retries() -> None:
    """Make a connection that breaks a failure, as it is with requests.

    geventhttpclient sends an idempotent request again, up to eleven times, when the connection closes without an
    answer: failures around a scale event would vanish, and a server in trouble would get twelve times the load.
    There is no setting for it (geventhttpclient.client.HTTPClient.request).
    """
    geventhttpclient.client._may_retry_after_send_error = lambda method: False


def set_timeout(user: User, timeout_seconds: float) -> None:
    """Make connecting and each wait for data end after `timeout_seconds`; Locust's own default is 60 s, or never."""
    if isinstance(user, FastHttpUser):
        # The pool builds its clients from these on first use.
        user.client.client.clientpool.client_args.update(
            connection_timeout=timeout_seconds, network_timeout=timeout_seconds
        )
    elif isinstance(user, HttpUser):
        # get(), post() and the others go through request(); a timeout that the locustfile gives itself wins.
        session: Any = user.client
        session.request = functools.partial(session.request, timeout=timeout_seconds)


def close_connections(user: User) -> None:
    """Close the user's idle connections from the client's side; its next request opens a new one."""
    if isinstance(user, FastHttpUser):
        user.client.client.close()
    elif isinstance(user, HttpUser):
        user.client.close()
