"""The room that runs inside Locust: arrivals, recorder, stage control. Nothing of ours imports it."""
