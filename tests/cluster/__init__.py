"""A real Kubernetes on this one machine, for the tests: two nodes that reach each other and nothing else."""
