"""Tests of the pod room."""
