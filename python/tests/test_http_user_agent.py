"""The User-Agent of the operator reaches both kinds of sessions of the HTTP hook."""

from __future__ import annotations

import os
import unittest
from types import ModuleType
from unittest import mock

from svc_runtime.run import http_user_agent


class Session:
    def __init__(self) -> None:
        self.headers = {"User-Agent": "library/1"}


class ClientSession:
    def __init__(self, *, headers: dict | None = None, timeout: int = 0) -> None:
        self.headers, self.timeout = headers, timeout


def hook_module() -> ModuleType:
    module, library = ModuleType("hook"), ModuleType("aiohttp")
    library.__dict__.update(ClientSession=ClientSession, BasicAuth="kept")
    module.__dict__.update(Session=Session, aiohttp=library)
    return module


class HttpUserAgent(unittest.TestCase):
    def test_is_the_default_of_both_sessions_and_yields_to_what_a_call_names(self) -> None:
        module = hook_module()
        with mock.patch.dict(os.environ, {http_user_agent.VARIABLE: "acme/2"}):
            http_user_agent.use_in(module)
        self.assertEqual(module.Session().headers["User-Agent"], "acme/2")
        self.assertEqual(module.aiohttp.ClientSession(timeout=3).headers, {"User-Agent": "acme/2"})
        self.assertEqual(module.aiohttp.ClientSession(timeout=3).timeout, 3)
        named = module.aiohttp.ClientSession(headers={"User-Agent": "mine"})
        self.assertEqual(named.headers, {"User-Agent": "mine"})
        self.assertEqual(module.aiohttp.BasicAuth, "kept")

    def test_without_a_setting_nothing_is_touched(self) -> None:
        module = hook_module()
        with mock.patch.dict(os.environ):
            os.environ.pop(http_user_agent.VARIABLE, None)
            http_user_agent.use_in(module)
        self.assertIs(module.Session, Session)
        self.assertIs(module.aiohttp.ClientSession, ClientSession)


if __name__ == "__main__":
    unittest.main()
