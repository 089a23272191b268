"""Tests of the Kubernetes target."""
