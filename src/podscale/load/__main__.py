"""Prints where the plugin is: `locust -f $(python -m podscale.load),locustfile.py`."""

import sys
from pathlib import Path

sys.stdout.write(f"{Path(__file__).with_name('plugin.py')}\n")
