"""The cheapest request there is: milliseconds since the epoch. It measures everything around the work.

    locust -f loadtest/timestamp.py --host http://127.0.0.1:8000
    locust -f $(python -m podscale.load),loadtest/timestamp.py --host http://127.0.0.1:8000 --rate 200

Then open http://127.0.0.1:8089. The second line adds arrivals at a rate; see loadtest/README.md.
"""

from locust import FastHttpUser, task


class Timestamp(FastHttpUser):
    """Asks for the time again and again."""

    @task
    def timestamp(self) -> None:
        """One time."""
        self.client.get("/timestamp", name="/timestamp")
