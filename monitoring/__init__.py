"""What people look at: Grafana's dashboards, Prometheus' rules and alerts. `make render` writes them."""
