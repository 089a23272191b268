"""One server, one Locust master and two workers for all tests of this room: starting them takes seconds."""

from collections.abc import Callable, Iterator

import pytest

from tests.load.locusts import Locusts, TinyServer, running_locust, tiny_server

_figures: list[str] = []


@pytest.fixture
def show() -> Callable[[str], None]:
    """Takes a line of figures that the test run shows at its end, also when all is well."""
    return _figures.append


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what the tests of this room have measured."""
    if _figures:
        terminalreporter.section("measured by the load's tests")
        for line in _figures:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyServer]:
    """A server whose counts are known."""
    with tiny_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="session")
def locusts(tmp_path_factory: pytest.TempPathFactory, server: TinyServer) -> Iterator[Locusts]:
    """A master with two workers that load it."""
    folder = tmp_path_factory.mktemp("locust")
    with running_locust(folder, server.url, "--expect-workers-max-wait", "2") as running:
        yield running
