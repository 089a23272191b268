"""Tests of the whole: the command on real processes, the page in a real browser."""
