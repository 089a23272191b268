"""What a pod answers instead of doing the work: each error is a status and one line of text for a person."""


class RequestError(Exception):
    """A request that is not carried out. `status` and `headers` go on the answer, the message is its one line."""

    status = 400
    headers: dict[str, str] = {}  # noqa: RUF012 - a constant of the class; answers only read it


class BadInputError(RequestError):
    """The request asks for something that does not exist or is not allowed; the line names it and the limit."""


class TooLargeError(RequestError):
    """The body is longer than allowed; the rest of it is not read."""

    status = 413
    headers = {"Connection": "close"}  # noqa: RUF012 - see RequestError


class UnavailableError(RequestError):
    """The request is good, but cannot be served now; another pod, or this one in a moment, can."""

    status = 503
    headers = {"Retry-After": "1"}  # noqa: RUF012 - see RequestError


class QueueFullError(UnavailableError):
    """As many jobs wait already as the queue may hold."""


class StoppingError(UnavailableError):
    """The pod stops, and the job could not end within the grace period."""


class ChildLostError(UnavailableError):
    """The child process that ran the job was killed, for example for want of memory."""


class ClientLeftError(RequestError):
    """The client closed its connection before its answer; nobody reads this. 499 is nginx's code for it."""

    status = 499


def shown(value: str, length: int = 40) -> str:
    """`value` as one short, printable line in quotes, for a message or a log."""
    cut = value[:length]
    return f"{cut!a}{'...' if len(value) > length else ''}"
