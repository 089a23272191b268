"""Sweeps a Deployment on a cluster. The official client is imported when a sweep asks for a cluster, not before."""
