"""Speaks HTTP by hand, for what a proper client refuses to send."""

import socket
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass
class Answer:
    """What came back on the wire."""

    status: int
    headers: dict[str, str]
    body: bytes


def connect(url: str, timeout: float = 10) -> socket.socket:
    """A new connection to the host and port of `url`."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    return socket.create_connection((parts.hostname, parts.port or 80), timeout=timeout)


def get(target: str, headers: str = "") -> bytes:
    """The bytes of a GET request."""
    return f"GET {target} HTTP/1.1\r\nHost: pod\r\n{headers}\r\n".encode()


def post(target: str, body: bytes, headers: str = "") -> bytes:
    """The bytes of a POST request."""
    head = f"POST {target} HTTP/1.1\r\nHost: pod\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    return head.encode() + body


def read(connection: socket.socket) -> Answer:
    """Read one answer, which has a Content-Length; raises ConnectionError where none comes."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            raise ConnectionError(f"the connection ended after {data!r}")
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    status_line, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    length = int(headers.get("content-length", 0))
    while len(body) < length:
        body += connection.recv(65536)
    return Answer(int(status_line.split()[1]), headers, body)


def exchange(url: str, request: bytes, timeout: float = 10) -> Answer:
    """Send `request` on a new connection and read the answer."""
    with connect(url, timeout) as connection:
        connection.sendall(request)
        return read(connection)


def is_closed(connection: socket.socket) -> bool:
    """Whether the other side closes; waits for the connection's timeout, else TimeoutError."""
    try:
        return connection.recv(65536) == b""
    except ConnectionError:
        return True
