"""What can go wrong at Slack's end, judged.

SlackError                      Slack refuses the call
├── SlackGone                   the token is revoked, the app removed
├── SlackCannotPost             not there: not a member, archived, restricted, unknown
├── SlackMessageGone            the message was deleted
└── SlackRetryLater             busy, broken or unreachable: the same call may succeed later
"""

from __future__ import annotations

import math
import re
import socket
import ssl
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import URLError

from slack_sdk.errors import SlackApiError, SlackClientError

from bot.errors import BotError

LONGEST_WAIT = 120.0
"""Seconds that a Retry-After is believed at most."""
TROUBLE = (SlackClientError, OSError, HTTPException)
"""What a call of the SDK may raise."""

_CODE = re.compile(r"[a-z][a-z0-9_.]{1,60}")
_GONE = frozenset(
    {
        *("account_inactive", "app_uninstalled", "invalid_auth", "not_authed", "org_login_required"),
        *("team_access_not_granted", "team_not_found", "token_expired", "token_revoked"),
    }
)
_CANNOT_POST = frozenset(
    {
        *("cannot_dm_bot", "cannot_reply_to_message", "channel_not_found", "channel_type_not_supported", "is_archived"),
        *(
            "is_inactive",
            "messages_tab_disabled",
            "no_permission",
            "not_in_channel",
            "posting_to_general_channel_denied",
        ),
        *("restricted_action", "thread_not_found", "user_disabled", "user_not_found", "user_not_in_channel"),
        *("user_not_visible", "users_not_found"),
    }
)
_LATER = frozenset(
    {
        *("accesslimited", "external_channel_migrating", "message_limit_exceeded", "rate_limited", "ratelimited"),
        *("service_unavailable", "team_added_to_org"),
    }
)
_UNSURE = frozenset({"fatal_error", "internal_error", "request_timeout"})
"""Errors of which Slack says that the call may have been carried out, in part or as a whole."""


class SlackError(BotError):
    """Slack refuses a call. The text is Slack's name of the error, and nothing of what was sent."""


class SlackGone(SlackError):
    """Slack does not let us in any more: the token is revoked, or the app removed."""


class SlackCannotPost(SlackError):
    """The bot cannot write there."""


class SlackMessageGone(SlackError):
    """The message was deleted."""


class SlackRetryLater(SlackError):
    """The same call may succeed later, after `retry_after` seconds where Slack names them.

    `unsure`: it may have been carried out.
    """

    def __init__(self, reason: str, retry_after: float | None = None, *, unsure: bool = False) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        self.unsure = unsure


def judged(error: Exception) -> SlackError:
    """What an error of the SDK, one of TROUBLE, comes to."""
    if isinstance(error, SlackApiError):
        return _refused(error)
    if isinstance(error, URLError):
        return SlackRetryLater("unreachable", unsure=not _never_sent(error.reason))
    if isinstance(error, SlackClientError):
        return SlackError(type(error).__name__)
    return SlackRetryLater("unreachable", unsure=not _never_sent(error))


def _never_sent(reason: object) -> bool:
    # socket.gaierror has no name of its own here: its errno is negative.
    return isinstance(reason, ConnectionRefusedError) or (isinstance(reason, OSError) and (reason.errno or 0) < 0)


def _refused(error: SlackApiError) -> SlackError:
    response: Any = error.response
    status = int(getattr(response, "status_code", 200) or 200)
    code = code_of(error)
    if status == 429 or code in ("ratelimited", "rate_limited"):
        return SlackRetryLater("ratelimited", retry_after_of(getattr(response, "headers", None) or {}))
    if code in _GONE:
        return SlackGone(code)
    if code in _CANNOT_POST or code.startswith("restricted_action"):
        return SlackCannotPost(code)
    if code in _LATER:
        return SlackRetryLater(code)
    if code == "message_not_found":
        return SlackMessageGone(code)
    if code in _UNSURE or status >= 500 or code == "no_json":
        return SlackRetryLater(code, unsure=True)
    return SlackError(code)


def code_of(error: SlackApiError) -> str:
    """Slack's name of the error; `http_503` or `no_json` where the answer was none of Slack's API."""
    response: Any = error.response
    status = int(getattr(response, "status_code", 200) or 200)
    try:
        code = response.get("error") if response is not None else None
    except ValueError:  # the SDK's word for an empty answer
        code = None
    if isinstance(code, str) and _CODE.fullmatch(code):
        return code
    return "no_json" if status == 200 else f"http_{status}"


def unreachable(error: OSError, patience: float) -> str:
    """Why a host cannot be reached, in words; `patience`: the seconds for which an answer was awaited."""
    reason = getattr(error, "reason", error)
    if isinstance(reason, socket.gaierror):
        return "its name is not known to the name server"
    if isinstance(reason, ssl.SSLCertVerificationError):
        why = getattr(reason, "verify_message", None) or "verification failed"
        return f"its certificate is not trusted ({why}); a proxy may have put its own in place"
    if isinstance(reason, TimeoutError):
        return f"no answer within {patience:g} seconds"
    if isinstance(reason, ConnectionRefusedError):
        return "the connection is refused"
    if isinstance(reason, OSError):
        return reason.strerror or str(reason) or type(reason).__name__
    return str(reason)


def retry_after_of(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header, between 0.1 and LONGEST_WAIT; None where it is missing or no number."""
    value = next((value for name, value in headers.items() if name.lower() == "retry-after"), None)
    try:
        seconds = float(str(value))
    except ValueError:
        return None
    return None if math.isnan(seconds) else min(max(seconds, 0.1), LONGEST_WAIT)
