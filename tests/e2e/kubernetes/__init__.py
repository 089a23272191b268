"""What the README promises of Kubernetes, on a real cluster."""
