"""Draws the screen of `podscale watch` while two pods of this machine work.

    python -m tests.pictures.watch

It writes docs/pictures/watch.svg, and the same as plain text into watch.txt.
"""

import io
import os
import re
import subprocess
import sys
import tempfile
import time

from rich.console import Console
from rich.text import Text

from podscale.sweep.locust import locustfile_of
from tests.e2e.terminal import Terminal, terminal
from tests.pictures import PICTURES

COLUMNS = 80
LOAD_SECONDS = 12
USERS = 3
# rich's fonts come from the network; without them it is the reader's own monospace.
FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def main() -> None:
    """Two pods, load from Locust, and their picture after some readings."""
    with terminal([sys.executable, "-m", "podscale.cli", "watch", "--start=2"], os.environ) as screen:
        title = screen.wait_for(lambda lines: any("2 of 2 pods Ready" in line for line in lines), 30, "two pods")[0]
        (url,) = re.findall(r"http://\S+", title)
        painted = under_load(screen, url)
        screen.press("q")
        screen.ended(15)
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / "watch.svg").write_text(drawn(painted))
    (PICTURES / "watch.txt").write_text(plain(painted))


def under_load(screen: Terminal, url: str) -> str:
    """The picture, with its colours, after Locust has asked for some time."""
    command = [sys.executable, "-m", "locust", "-f", str(locustfile_of("blocking")), "--host", url]
    options = [
        "--headless",
        f"--users={USERS}",
        f"--spawn-rate={USERS}",
        f"--run-time={LOAD_SECONDS}",
        "--only-summary",
    ]
    with tempfile.TemporaryFile() as log, subprocess.Popen([*command, *options], stdout=log, stderr=log) as load:
        begun = time.monotonic()
        painted = screen.painted()
        while load.poll() is None and time.monotonic() < begun + 0.8 * LOAD_SECONDS:
            screen.read(0.2)
            painted = screen.painted()
        load.terminate()
    return painted


def drawn(painted: str) -> str:
    """A terminal's picture as SVG that asks for nothing."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    for line in painted.replace("\r", "").splitlines()[: plain(painted).count("\n")]:
        console.print(Text.from_ansi(line), crop=True, no_wrap=True)
    return FONTS.sub("", console.export_svg(title="podscale watch --start 2", unique_id="watch"))


def plain(painted: str) -> str:
    """The same without colours."""
    lines = [Text.from_ansi(line).plain.rstrip() for line in painted.replace("\r", "").splitlines()]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    main()
