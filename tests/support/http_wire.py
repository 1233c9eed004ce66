"""HTTP/1.1 on a bare socket: exactly the bytes a test wants to send, and what comes back.

No library stands between the test and the wire, because most tests here send what no library
would. All waits are bounded by the socket's timeout.
"""

import socket
from dataclasses import dataclass

TIMEOUT_SECONDS = 20


@dataclass
class Answer:
    status: int
    version: str
    fields: list  # (name in lower case, value), in order
    body: bytes
    interim: list  # statuses of the 1xx answers before it

    def field(self, name):
        """The value of a field that stands once; None if it does not stand."""
        values = [value for key, value in self.fields if key == name.lower()]
        assert len(values) < 2, f"{name} stands {len(values)} times"
        return values[0] if values else None


class Connection:
    def __init__(self, address, receive_buffer=None, wrap=None, token=None):
        self.token = token
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(TIMEOUT_SECONDS)
        self.socket.connect(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if wrap is not None:
            self.socket = wrap(self.socket)
        self.host = "%s:%d" % address
        self._input = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, *pieces):
        self.socket.sendall(b"".join(pieces))

    def send_until_refused(self, data):
        """Sends what the server takes; it may have had enough before the end."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def head(self, request_line, fields=()):
        """The bytes of a head. "GET /a" becomes HTTP/1.1; Host, and the token for what writes, are
        given unless they stand."""
        if " HTTP/" not in request_line:
            request_line += " HTTP/1.1"
        lines = [request_line]
        if not any(field.lower().startswith("host:") for field in fields):
            lines.append(f"Host: {self.host}")
        writes = request_line.startswith(("PUT ", "DELETE "))
        if writes and self.token and not any(f.lower().startswith("authorization:")
                                             for f in fields):
            lines.append(f"Authorization: Bearer {self.token}")
        return "\r\n".join([*lines, *fields, "", ""]).encode()

    def ask(self, request_line, fields=(), body=b""):
        """One request and its answer. A body without framing of its own gets a Content-Length."""
        framed = any(f.lower().startswith(("content-length:", "transfer-encoding:"))
                     for f in fields)
        if not framed and (body or request_line.startswith("PUT ")):
            fields = [*fields, f"Content-Length: {len(body)}"]
        self.send(self.head(request_line, fields), body)
        return self.answer(head_only=request_line.startswith("HEAD "))

    def answer(self, head_only=False):
        """The next answer, 1xx ones apart."""
        interim = []
        while True:
            version, status, fields = self.answer_head()
            if status >= 200:
                break
            interim.append(status)
        answer = Answer(status, version, fields, b"", interim)
        if not head_only and status not in (204, 304):
            answer.body = self._body(answer)
        return answer

    def answer_head(self):
        """(version, status, fields) of the next head; what follows it stays unread."""
        while (end := self._input.find(b"\r\n\r\n")) < 0:
            self._more()
        head, self._input = self._input[:end].decode("latin-1"), self._input[end + 4:]
        status_line, *lines = head.split("\r\n")
        version, status, _ = status_line.split(" ", 2)
        fields = []
        for line in lines:
            name, colon, value = line.partition(":")
            assert colon and name == name.strip() and "\n" not in line, f"bad field {line!r}"
            fields.append((name.lower(), value.strip()))
        return version, int(status), fields

    def _body(self, answer):
        if answer.field("transfer-encoding") is not None:
            assert answer.field("transfer-encoding") == "chunked"
            assert answer.field("content-length") is None
            return self._chunks()
        return self.take(int(answer.field("content-length")))

    def _chunks(self):
        body = b""
        while True:
            while b"\r\n" not in self._input:
                self._more()
            size, self._input = self._input.split(b"\r\n", 1)
            body += self.take(int(size, 16))
            assert self.take(2) == b"\r\n"
            if int(size, 16) == 0:
                return body

    def take(self, count):
        """Exactly `count` bytes."""
        pieces = [self._input[:count]]
        self._input = self._input[count:]
        missing = count - len(pieces[0])
        while missing > 0:
            piece = self.socket.recv(min(missing, 1 << 20))
            if not piece:
                raise ConnectionError(f"closed {missing} of {count} bytes too early")
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def _more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError(f"closed after {self._input!r}")
        self._input += piece

    def rest(self):
        """Everything until the server closes; a reset is an end, too."""
        pieces = [self._input]
        self._input = b""
        try:
            while piece := self.socket.recv(1 << 20):
                pieces.append(piece)
        except ConnectionResetError:
            pass
        return b"".join(pieces)
