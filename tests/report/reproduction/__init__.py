"""Tests of the report of the articles' rows."""
