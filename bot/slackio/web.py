"""Plain HTTP beside the Web API, for the bytes of files; through the proxy of the client, and never redirected."""

from __future__ import annotations

import ssl
from functools import lru_cache

import httpx
from slack_sdk import WebClient

_TIMEOUT = httpx.Timeout(30.0, connect=10.0)


def web(client: WebClient) -> httpx.Client:
    """An HTTP client that knows no token."""
    return httpx.Client(
        proxy=client.proxy or None,
        verify=client.ssl or _trusted(),
        trust_env=False,
        follow_redirects=False,
        timeout=_TIMEOUT,
        headers={"Accept-Encoding": "identity", "User-Agent": "k3-triage"},
    )


@lru_cache(maxsize=1)
def _trusted() -> ssl.SSLContext:
    return ssl.create_default_context()
