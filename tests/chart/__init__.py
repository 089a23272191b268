"""The chart in helm/podscale: what it renders, refuses and says. Whether that works, a real cluster shows."""
