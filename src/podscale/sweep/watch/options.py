"""The options of `podscale watch` that a sweep does not have, as rows of the same kind."""

from podscale.sweep.options import Option

# What a row may be sorted by, as people say it.
SORTS = ("name", "cpu", "throttled", "requests", "p99", "queue")

WATCH_OPTIONS: dict[str, Option] = {
    row.name: row
    for row in (
        Option(
            "start", "--start", None, "Start so many pods on this machine, and end them with the command.", 1, 10_000
        ),
        Option(
            "interval_seconds",
            "--interval",
            2.0,
            "Seconds between two readings, more in the live table where one takes over 5 % of a core.",
            0.5,
            3600,
        ),
        Option("count", "--count", None, "End after so many readings.", 1, 1_000_000, default_note="when you stop it"),
        Option("sort", "--sort", "name", "The order; pods that are not Ready come first.", choices=SORTS),
    )
}
