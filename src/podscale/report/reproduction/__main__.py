"""Prints `docs/articles.md` from the folders of its runs: `python -m podscale.report.reproduction FOLDER ...`."""

import sys
from pathlib import Path

from podscale.report.reproduction.document import document
from podscale.sweep.reproduce.results import load
from podscale.sweep.results import ResultError

try:
    sys.stdout.write(document([load(Path(folder)) for folder in sys.argv[1:]]))
except ResultError as error:
    sys.exit(f"podscale: {error}")
