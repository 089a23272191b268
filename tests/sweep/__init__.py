"""Tests of the sweep room."""
