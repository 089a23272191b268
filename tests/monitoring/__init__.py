"""The dashboards, rules and alerts as files: what they hold, and that alerts go off when they should."""
