"""What the generator used in the window."""

from podscale.load.usage import Usage, Used


class World:
    """A clock, a CPU and a cgroup that stand where they are put."""

    def __init__(self) -> None:
        self.wall_seconds = 100.0
        self.cpu_seconds = 7.0
        self.throttled_seconds: float | None = 2.0

    def usage(self) -> Usage:
        """A usage of this world."""
        return Usage(
            cpu_seconds=lambda: self.cpu_seconds,
            wall_seconds=lambda: self.wall_seconds,
            throttled_seconds=lambda: self.throttled_seconds,
        )


def test_only_the_window_counts() -> None:
    """CPU and throttling are those between start and stop."""
    world = World()
    usage = world.usage()
    assert usage.so_far() == Used(None, None)
    usage.start()
    world.wall_seconds, world.cpu_seconds, world.throttled_seconds = 110.0, 9.5, 2.25
    assert usage.so_far() == Used(0.25, 0.25)
    usage.stop()
    world.wall_seconds, world.cpu_seconds, world.throttled_seconds = 200.0, 99.0, 50.0
    usage.stop()
    assert usage.so_far() == Used(0.25, 0.25)


def test_a_cgroup_that_cannot_be_read_is_unknown() -> None:
    """Throttling is none then, and the CPU is known all the same."""
    world = World()
    usage = world.usage()
    usage.start()
    world.wall_seconds, world.throttled_seconds = 101.0, None
    assert usage.so_far() == Used(0.0, None)
