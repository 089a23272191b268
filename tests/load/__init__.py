"""Tests of the load room."""
