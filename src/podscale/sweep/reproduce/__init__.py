"""The systems of the three articles that this project began from, each run again: `rows` is the table of them."""
