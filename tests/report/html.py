"""Reads the tables and texts of a page, as far as the tests need it."""

from html.parser import HTMLParser


class Reader(HTMLParser):
    """Tables as lists of rows of cell texts, by the heading before them; all text; all tag names."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._heading = ""
        self._into = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a heading, row or cell."""
        self.tags.append((tag, dict(attrs)))
        self._into = tag if tag in {"h2", "th", "td", "style", "title"} else self._into
        if tag == "h2":
            self._heading = ""
        elif tag == "tr":
            self.tables.setdefault(self._heading, []).append([])
        elif tag in {"th", "td"}:
            self.tables[self._heading][-1].append("")
        elif tag == "span" and self._into == "th":
            self.tables[self._heading][-1][-1] = self.tables[self._heading][-1][-1].rstrip() + " "

    def handle_endtag(self, tag: str) -> None:
        """End a heading or cell."""
        if tag == self._into:
            self._into = ""

    def handle_data(self, data: str) -> None:
        """Text goes to the heading or cell that is open, and to the whole."""
        if self._into == "style":
            return
        self.text += data
        if self._into == "h2":
            self._heading += data
        elif self._into in {"th", "td"}:
            self.tables[self._heading][-1][-1] += data

    def row(self, table: str, stage: str) -> dict[str, str]:
        """The row of a stage, by column heading with its unit."""
        heading, *rows = self.tables[table]
        return next(dict(zip(heading, cells, strict=True)) for cells in rows if cells[0].startswith(stage))
