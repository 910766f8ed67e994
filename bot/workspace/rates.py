"""Rate limits per method, as documented: docs.slack.dev/apis/web-api/rate-limits.

A tier says "at least so many a minute"; here it is exactly so many, with one minute's worth saved up for a burst.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from bot.workspace.clock import Clock


@dataclass(frozen=True, slots=True)
class Tier:
    """So many calls a minute, and so many at once. `per_channel` counts each channel for itself."""

    per_minute: float
    burst: int
    per_channel: bool = False


TIER_1 = Tier(1, 10)
TIER_2 = Tier(20, 20)
TIER_3 = Tier(50, 50)
TIER_4 = Tier(100, 100)
SPECIAL = Tier(600, 600)
POSTING = Tier(60, 10, per_channel=True)  # "one message per second per channel", short bursts allowed; the size is ours


class Rates:
    """Token buckets of one app in one team. `enabled` can be turned off for a test about something else."""

    def __init__(self, clock: Clock) -> None:
        self.enabled = True
        self._clock = clock
        self._buckets: dict[tuple[str, str], tuple[float, float]] = {}

    def take(self, method: str, tier: Tier, channel: str = "") -> int:
        """0 when the call may go on, else the seconds to wait, as in Retry-After."""
        if not self.enabled:
            return 0
        key = (method, channel if tier.per_channel else "")
        now, per_second = self._clock.now(), tier.per_minute / 60
        left, since = self._buckets.get(key, (float(tier.burst), now))
        left = min(float(tier.burst), left + (now - since) * per_second)
        allowed = left >= 1
        self._buckets[key] = (left - 1 if allowed else left, now)
        return 0 if allowed else max(1, math.ceil((1 - left) / per_second))
