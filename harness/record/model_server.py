"""The scripted model on loopback: an OpenAI-compatible server that streams what the script says.

Requests are answered concurrently, each on its own thread, so that a delay in one lane holds up no other.
"""

from __future__ import annotations

import http.server
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Self

from harness.model.stimulus import Stimulus
from harness.record.model_script import MODEL, ModelScript

_COMPLETIONS = "/v1/chat/completions"
_MODELS = "/v1/models"
_REQUEST_BYTES_LIMIT = 32 * 1024 * 1024
"""Larger requests are refused; the product's largest seen one (a thousand tool results) is below 2 MiB."""


class ScriptedModel(ModelScript):
    """The script on its server, from `start` to `stop`; also a context manager.

    `url` is the base URL for the product's settings.
    """

    def __init__(self, stimulus: Stimulus, watch: Callable[[bytes], None] = lambda _body: None) -> None:
        super().__init__(stimulus, watch)
        self._stopping = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends all pending delays, answers nothing more and waits for the server's threads."""
        self._stopping.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def wait_delay(self, milliseconds: int) -> bool:
        """Waits a reply's delay; False when the server stops meanwhile."""
        return not self._stopping.wait(milliseconds / 1000)


class _Server(http.server.ThreadingHTTPServer):
    model: ScriptedModel
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """A product that goes away in the middle of a request is part of a run, not worth a traceback."""


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args: object) -> None:
        """Nothing: the model keeps its own log."""

    def do_GET(self) -> None:
        if self.path == _MODELS:
            self.server.model.listed()
            self._send(HTTPStatus.OK, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
            return
        self.server.model.unforeseen("GET", self.path)
        self._refuse(HTTPStatus.NOT_FOUND, "not part of the script")

    def do_POST(self) -> None:
        model = self.server.model
        length = int(self.headers.get("Content-Length") or -1)
        if self.path != _COMPLETIONS or not 0 <= length <= _REQUEST_BYTES_LIMIT:
            model.unforeseen("POST", self.path)
            self.close_connection = True
            self._refuse(HTTPStatus.NOT_FOUND, "not part of the script")
            return
        entry = model.admit(self.rfile.read(length))
        reply = entry.reply
        if not model.wait_delay(0 if reply is None else reply.delay_ms):
            self.close_connection = True
            return
        try:
            if self._hung_up():
                raise ConnectionResetError
            # Said before it is true: whoever has read the end of a reply must find it delivered.
            model.delivered(entry, "whole")
            if reply is None:
                self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, "the script has no reply")
            elif reply.status != HTTPStatus.OK:
                self._refuse(reply.status, reply.text or "scripted refusal")
            else:
                self._stream(model.stream(entry, reply))
        except OSError:
            model.delivered(entry, "cut")
            self.close_connection = True

    def _hung_up(self) -> bool:
        """Whether the product has given up this request: a first write to its closed end would still succeed."""
        try:
            seen: bytes = self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        return not seen

    def _refuse(self, status: int, message: str) -> None:
        self._send(status, {"error": {"message": message, "type": "scripted"}})

    def _send(self, status: int, answer: Mapping[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, events: Iterator[bytes]) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for data in events:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.write(b"0\r\n\r\n")
