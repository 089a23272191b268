"""Tests of the Kubernetes target's parts; the whole of it is in tests/e2e/kubernetes."""
