"""Tests of the articles' rows."""
