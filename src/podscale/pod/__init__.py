"""The room that runs in the pod: settings, server, jobs, health, metrics."""
