"""All rows, by name, in the order of the articles. A row has no code of its own, and the words for it are in `row`.

Facts of the articles are given in our words; a ratio is theirs, worked out of their figures.
"""

from collections.abc import Iterable, Mapping

from podscale.sweep.options import OptionError
from podscale.sweep.reproduce import first_article, second_article, third_article
from podscale.sweep.reproduce.row import Row

ROWS: Mapping[str, Row] = {row.name: row for row in (*first_article.ROWS, *second_article.ROWS, *third_article.ROWS)}


def chosen(names: Iterable[str]) -> list[Row]:
    """The rows of these names in the table's order, all where none is named; raises OptionError."""
    wanted = list(names)
    for name in wanted:
        if name not in ROWS:
            raise OptionError(f"{name!r} is no row; there are {', '.join(ROWS)}")
    return [row for row in ROWS.values() if not wanted or row.name in wanted]
