"""A policy that runs a cluster: the interface of ``synth drive``."""

from __future__ import annotations

import json
from typing import Any

from . import _core
from ._call import InputError
from ._policy import CompiledPolicy


class Scheduler:
    """A policy with the jobs of a cluster. Tell it what happens, and it says which jobs start and stop.

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
        """Return what is decided after an event at time t, in the policy's unit; time never goes back.

        The keywords are the fields of the protocol: ``arrive="type", job="id"``; ``leave="id"``;
        ``withdraw="id"``; ``put_back="id"``; ``adopt="type", job="id", ran=5``; ``occupy={"cpu": 4}``. With the time
        alone the clocks that are due ring: ``wake`` says when the next one is.

        Raises:
            InputError: it cannot be; then nothing has changed.
        """
        try:
            answer: dict[str, Any] = json.loads(self._own.tell(json.dumps({"t": t, **what})))
        except ValueError as why:
            raise InputError(str(why)) from None
        return answer

    def doing(self) -> str:
        """Return what the policy does at present, in words."""
        return self._own.doing() or "starts whatever fits"
