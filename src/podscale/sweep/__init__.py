"""The room that measures: plan, run, targets, verdicts, results."""
