"""A small HTTP server on 127.0.0.1 that serves one file well or badly, as a test tells it."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FileServer:
    """What is served, how, and the requests that came."""

    def __init__(self):
        self.files = {}  # path -> bytes
        self.ranges = True  # answers Range requests
        self.cut_after = []  # bytes after which each of the next answers breaks off
        self.stall_after = None  # bytes after which the server falls silent
        self.status = None  # answer every request with this error
        self.requests = []  # (path, Range header or None)
        self.release = threading.Event()

    @contextmanager
    def running(self):
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # a client that hangs up is part of the tests
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield self
        finally:
            self.release.set()
            server.shutdown()
            server.server_close()

    def _handler(self):
        state = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                wanted = self.headers.get("Range")
                state.requests.append((self.path, wanted))
                content = state.files.get(self.path)
                if state.status or content is None:
                    self.send_error(state.status or 404)
                    return
                start = 0
                if wanted and state.ranges:
                    start = int(wanted.removeprefix("bytes=").rstrip("-"))
                    if start >= len(content):
                        self.send_error(416)
                        return
                    self.send_response(206)
                    self.send_header(
                        "Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}"
                    )
                else:
                    self.send_response(200)
                self.send_header("Content-Length", str(len(content) - start))
                self.end_headers()
                body = content[start:]
                if state.cut_after:
                    body = body[: state.cut_after.pop(0)]
                if state.stall_after is not None:
                    self.wfile.write(body[: state.stall_after])
                    self.wfile.flush()
                    state.release.wait(30)
                    return
                self.wfile.write(body)
                self.close_connection = True

        return Handler
