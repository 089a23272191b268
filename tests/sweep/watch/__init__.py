"""Tests of the room `sweep.watch`."""
