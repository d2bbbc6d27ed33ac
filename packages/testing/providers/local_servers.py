"""Servers on loopback that tasks of provider packages talk to, in one process; it ends when its input does.

    python local_servers.py [<certificate> <key>]

Prints one line of JSON: the ports of `ftp`, `ftps` (with a certificate), `ssh` (also sftp), `smtp` and `http`, and the folder that files
of ftp and sftp are in. `GET /received` of `http` answers what came: requests (method, path, headers, body) and mails. `/get`, `/post`,
`/put` and `/delete` say what they were sent, as httpbin does, which examples of providers ask.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

USER, PASSWORD = "ada", "local-secret-1815"
requests: list = []
mails: list = []


class Handler(BaseHTTPRequestHandler):
    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", errors="replace")
        if self.path == "/received":
            return self._say({"requests": requests, "mails": mails})
        headers = {name.lower(): value for name, value in self.headers.items()}
        requests.append({"method": self.command, "path": self.path, "headers": headers, "body": body})
        if self.path.startswith("/slack/hook"):
            return self._say("ok", plain=True)
        if self.path.startswith("/slack/api/"):
            return self._say(self._slack(self.path.removeprefix("/slack/api/").split("?")[0]))
        if self.path.startswith("/missing"):
            return self._say({"error": "missing"}, status=404)
        if urlsplit(self.path).path in ("/get", "/post", "/put", "/delete"):
            return self._say(self._echo(headers, body))
        return self._say({"answer": 42, "headers": headers, "sent": body, "like": "httpbin"})

    do_GET = do_POST = do_HEAD = do_PUT = do_DELETE = _answer

    def _echo(self, headers: dict, body: str) -> dict:
        is_json, is_form = (kind in headers.get("content-type", "") for kind in ("json", "form-urlencoded"))
        return {
            "args": dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True)),
            "data": "" if is_form else body,
            "form": dict(parse_qsl(body)) if is_form else {},
            "headers": headers,
            "json": json.loads(body) if is_json and body else None,
        }

    def _slack(self, method: str) -> dict:
        here = f"http://{self.headers['host']}"
        more = {
            "conversations.list": {"channels": [{"id": "C1", "name": "general"}]},
            "conversations.history": {"messages": []},
            "files.getUploadURLExternal": {"upload_url": f"{here}/slack/upload", "file_id": "F1"},
            "files.completeUploadExternal": {"files": [{"id": "F1", "title": "a file"}]},
        }
        return {"ok": True, "channel": "C1", "ts": "1", **more.get(method, {})}

    def _say(self, value, *, status: int = 200, plain: bool = False) -> None:
        text = (value if plain else json.dumps(value)).encode()
        self.send_response(status)
        self.send_header("content-type", "text/plain" if plain else "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_) -> None: ...


def start_http() -> int:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def start_ftp(folder: str, certificate: list[str]) -> int:
    from pyftpdlib import handlers
    from pyftpdlib.authorizers import DummyAuthorizer
    from pyftpdlib.ioloop import IOLoop
    from pyftpdlib.log import config_logging
    from pyftpdlib.servers import ThreadedFTPServer

    config_logging(level="ERROR")
    authorizer = DummyAuthorizer()
    authorizer.add_user(USER, PASSWORD, folder, perm="elradfmwMT")
    kind = handlers.TLS_FTPHandler if certificate else handlers.FTPHandler
    files = dict(zip(("certfile", "keyfile"), certificate, strict=False))
    handler = type("Handler", (kind,), {"authorizer": authorizer, **files})
    # Each has a loop of its own: the one that they would share is not made for two threads.
    server = ThreadedFTPServer(("127.0.0.1", 0), handler, ioloop=IOLoop())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.address[1]


async def start_smtp() -> int:
    from aiosmtpd.smtp import SMTP

    class Sink:
        async def handle_DATA(self, server, session, envelope):  # noqa: N802  its library's name
            text = envelope.content.decode("utf-8", errors="replace")
            mails.append({"from": envelope.mail_from, "to": envelope.rcpt_tos, "text": text})
            return "250 kept"

    server = await asyncio.get_running_loop().create_server(lambda: SMTP(Sink()), "127.0.0.1", 0)
    return server.sockets[0].getsockname()[1]


async def start_ssh(folder: str) -> int:
    import asyncssh

    class Server(asyncssh.SSHServer):
        def begin_auth(self, username: str) -> bool:
            return True

        def password_auth_supported(self) -> bool:
            return True

        def validate_password(self, username: str, password: str) -> bool:
            return (username, password) == (USER, PASSWORD)

    async def run(process) -> None:
        shell = await asyncio.create_subprocess_shell(
            process.command or "true", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=folder
        )
        out, error = await shell.communicate()
        process.stdout.write(out)
        process.stderr.write(error)
        process.exit(shell.returncode or 0)

    server = await asyncssh.create_server(
        Server,
        "127.0.0.1",
        0,
        server_host_keys=[asyncssh.generate_private_key("ssh-ed25519")],
        process_factory=run,
        encoding=None,
        sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=folder),
    )
    return server.sockets[0].getsockname()[1]


async def main() -> None:
    with tempfile.TemporaryDirectory(prefix="svc-local-servers-") as folder:
        os.chmod(folder, 0o755)
        ports = {"http": start_http(), "ftp": start_ftp(folder, [])}
        if sys.argv[1:]:
            # Apart from the other: what one client makes is in the way of the next.
            os.mkdir(os.path.join(folder, "ftps"), 0o755)
            ports["ftps"] = start_ftp(os.path.join(folder, "ftps"), sys.argv[1:])
        ports.update(smtp=await start_smtp(), ssh=await start_ssh(folder))
        sys.stdout.write(json.dumps({**ports, "folder": folder}) + "\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
