"""podscale: scales a CPU-bound service pod by pod and says how many pods a latency goal needs."""

__version__ = "0.1.0"
