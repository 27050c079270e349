"""Control a cluster with a policy, using the interface of ``synth drive``."""

from __future__ import annotations

import json
from typing import Any

from . import _core
from ._call import InputError
from ._policy import CompiledPolicy


class Scheduler:
    """A policy that controls a cluster. It is told about each event, and returns which jobs are started and stopped.

    >>> scheduler = ss.Scheduler(policy)                            # doctest: +SKIP
    >>> scheduler.tell(3.2, arrive="small", job="17")               # doctest: +SKIP
    {'t': 3.2, 'start': ['17'], 'stop': [], 'wake': 9.71}
    """

    def __init__(self, policy: CompiledPolicy, seed: int = 1) -> None:
        try:
            self._own = _core.Scheduler(policy.to_json(), policy.name, seed)
        except (ValueError, OverflowError) as why:
            raise InputError(str(why)) from None

    def tell(self, t: float, **what: Any) -> dict[str, Any]:
        """Return the decisions after an event at time t, in the unit of the policy. The time must not decrease.

        The keywords are the fields of the protocol: ``arrive="type", job="id"``; ``leave="id"``;
        ``withdraw="id"``; ``put_back="id"``; ``adopt="type", job="id", ran=5``; ``occupy={"cpu": 4}``. If only the time
        is given, the clocks that are due fire. ``wake`` is the time at which the next clock fires.

        Raises:
            InputError: If the event is not possible. In this case, the state has not changed.
        """
        try:
            answer: dict[str, Any] = json.loads(self._own.tell(json.dumps({"t": t, **what})))
        except ValueError as why:
            raise InputError(str(why)) from None
        return answer

    def doing(self) -> str:
        """Return a description of what the policy is currently doing."""
        return self._own.doing() or "starts whatever fits"
