"""`python -m podscale.pod`: read the settings, then serve until a signal comes.

Child processes import this file again, so it imports nothing that a child does not need.
"""

import os
import sys
from collections.abc import Mapping, Sequence

USAGE = """usage: python -m podscale.pod [--help | --version]

Serves CPU-bound work on one port, health and metrics on another. Settings are variables of the environment:

"""


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a pod; returns the exit code: 0 after a clean stop, 2 for a bad setting or a port that is taken."""
    # Meant for another program, this would turn our plain counters into multi-process ones.
    os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)
    from podscale.pod import settings  # noqa: PLC0415 - a child process needs none of this

    if arguments:
        return _explain(arguments, settings.describe())
    try:
        chosen = settings.from_environment(environment)
        from podscale.pod.run import run  # noqa: PLC0415 - a wrong setting is told before the libraries are loaded

        run(chosen)
    except settings.SettingError as error:
        print(f"podscale: {error}", file=sys.stderr)  # noqa: T201 - a line for a person, also before there is a log
        return 2
    return 0


def _explain(arguments: Sequence[str], table: str) -> int:
    from podscale import __version__  # noqa: PLC0415 - see main

    answers = {"--help": USAGE + table, "-h": USAGE + table, "--version": __version__}
    if len(arguments) == 1 and arguments[0] in answers:
        print(answers[arguments[0]])  # noqa: T201 - it was asked for
        return 0
    print(f"podscale: unexpected {arguments[0]!r}; settings are variables, --help lists them", file=sys.stderr)  # noqa: T201 - see main
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
