"""Puts what a source sees and what happened since the reading before into one record."""

from podscale.sweep.watch.rates import History
from podscale.sweep.watch.results import Look
from podscale.sweep.watch.sources import Source


class Reader:
    """Looks at `source` whenever it is asked to."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._history = History()

    def look(self, at_seconds: float) -> Look:
        """Everything, now; rates are those since the look before."""
        seen = self._source.look()
        known = seen.pods is not None
        rows, total = self._history.take(seen.pods or [])
        return Look(
            at_seconds=at_seconds,
            what=self._source.what,
            wanted=seen.wanted,
            pods=rows,
            total=total if known else None,
            notes=seen.notes,
        )
