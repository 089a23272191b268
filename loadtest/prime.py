"""Is one number prime? The pod tries its divisors in a child process.

    locust -f loadtest/prime.py --host http://127.0.0.1:8000
    locust -f $(python -m podscale.load),loadtest/prime.py --host http://127.0.0.1:8000 --rate 5

Then open http://127.0.0.1:8089. The second line adds arrivals at a rate; see loadtest/README.md.
"""

from argparse import ArgumentError
from contextlib import suppress

from locust import FastHttpUser, events, task
from locust.argument_parser import LocustArgumentParser


@events.init_command_line_parser.add_listener
def add_arguments(parser: LocustArgumentParser) -> None:
    """The work of one request, as fields of the start form; another file of this folder may have added some of them."""
    with suppress(ArgumentError):
        parser.add_argument("--number", type=int, default=100_000_007, help="The number to test; this one is prime")
    with suppress(ArgumentError):
        parser.add_argument(
            "--algorithm", default="trial", help="primes: trial, sqrt, sieve; prime: exhaustive, trial, sqrt, fast"
        )


class Prime(FastHttpUser):
    """Asks about the same number again and again."""

    @task
    def prime(self) -> None:
        """One number."""
        asked = self.environment.parsed_options
        self.client.post("/prime", json={"number": asked.number, "algorithm": asked.algorithm}, name="/prime")
