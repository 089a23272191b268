"""The room that shows results: charts, page, terminal."""
