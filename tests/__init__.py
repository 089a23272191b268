"""Tests of podscale: one folder for each room, one file for each source file."""
