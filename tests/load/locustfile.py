"""A plain locustfile, as anybody may have it: it knows nothing of podscale."""

import time

from locust import FastHttpUser, HttpUser, SequentialTaskSet, between, task

# Nothing listens on the first port (it is never given out), and nobody has the second name (RFC 2606).
REFUSED = "http://127.0.0.1:1/"
NO_NAME = "http://nobody.invalid/"


class Delay(FastHttpUser):
    """Answered after 2 ms."""

    @task
    def delay(self) -> None:
        """One request."""
        self.client.get("/delay")


class HttpDelay(HttpUser):
    """The same with requests in place of geventhttpclient."""

    @task
    def delay(self) -> None:
        """One request."""
        self.client.get("/delay")


class Queue(FastHttpUser):
    """Answered in turn, 1 ms each."""

    @task
    def queue(self) -> None:
        """One request."""
        self.client.get("/queue")


class Slow(FastHttpUser):
    """Answered after 100 ms."""

    @task
    def slow(self) -> None:
        """One request."""
        self.client.get("/slow")


class Heavy(FastHttpUser):
    """A visit that costs the generator 10 ms of its own CPU."""

    @task
    def heavy(self) -> None:
        """Burn, then ask."""
        end = time.process_time() + 0.01
        while time.process_time() < end:
            pass
        self.client.get("/ok")


class Failing(FastHttpUser):
    """One task for each way to fail."""

    @task
    def refused(self) -> None:
        """Nobody listens."""
        self.client.get(REFUSED)

    @task
    def no_name(self) -> None:
        """Nobody has this name."""
        self.client.get(NO_NAME)

    @task
    def reset(self) -> None:
        """The server resets the connection."""
        self.client.get("/reset")

    @task
    def hang(self) -> None:
        """The server never answers."""
        self.client.get("/hang")

    @task
    def not_found(self) -> None:
        """The server says that it is the client's mistake."""
        self.client.get("/status/404")

    @task
    def broken(self) -> None:
        """The server says that it is its own."""
        self.client.get("/status/500")

    @task
    def refused_by_the_file(self) -> None:
        """The locustfile itself does not like the answer."""
        with self.client.get("/ok", catch_response=True) as answer:
            answer.failure("not what I wanted")

    @task
    def raising(self) -> None:
        """The task fails before it asks anything."""
        raise LookupError("a mistake in the locustfile")


class HttpFailing(HttpUser):
    """The same tasks with requests in place of geventhttpclient."""

    tasks = Failing.tasks


class Steps(SequentialTaskSet):
    """A nested task set whose tasks come in order."""

    def on_start(self) -> None:
        """Once for each user."""
        self.client.get("/enter")

    @task
    def first(self) -> None:
        """Step 1."""
        self.client.get("/first")

    @task
    def second(self) -> None:
        """Step 2, with two requests."""
        self.client.get("/second")
        self.client.get("/second")


class Foreign(HttpUser):
    """A user with all that Locust offers: on_start, on_stop, a waiting time, nested tasks."""

    wait_time = between(0.001, 0.002)
    tasks = [Steps]  # noqa: RUF012  # as Locust's own examples have it

    def on_start(self) -> None:
        """Log in."""
        self.client.get("/login")

    def on_stop(self) -> None:
        """Log out."""
        self.client.get("/logout")


class Weighted(FastHttpUser):
    """Two tasks, 9 to 1."""

    @task(9)
    def often(self) -> None:
        """Nine times."""
        self.client.get("/often")

    @task(1)
    def seldom(self) -> None:
        """Once."""
        self.client.get("/seldom")
