"""An environment for reinforcement learning."""

from __future__ import annotations

import operator
from typing import Any, Callable, Optional

from . import _core
from ._call import InputError
from ._workload import Workload


class Environment:
    """A run of a workload with the API of gymnasium. There is a step whenever a waiting job could be started.

    *Action*: ``i < K`` starts the oldest waiting job of type i, and ``K`` waits for the next event after which a
    waiting job fits. If the job cannot be started, the action has no effect except that it takes a step.
    ``info["action_mask"]`` is 1 for possible actions and 0 for the others.

    *Observation*: ``[waiting_1 … waiting_K, running_1 … running_K, free_1 … free_R]`` contains the number of jobs of
    each type and the fraction of each resource that is free. It is a numpy array if gymnasium is installed, or else a
    list.

    *Reward*: The negative of the time that all jobs have spent in the system during the step, ``-∫ N dt``, in the unit
    of the workload. By Little's law, the sum of all rewards divided by the number of jobs that have arrived is the
    negative of the mean response time.

    An episode does not end by itself. It is truncated after ``events`` events. The arrivals and sizes of episode n are
    the same as in replication n of ``compare`` with the same seed.
    """

    metadata: dict[str, Any] = {"render_modes": []}
    render_mode = None
    spec = None

    def __init__(self, workload: Workload, events: int = 10_000, seed: int = 1) -> None:
        self._seed, self._number, self.events = seed, 0, events
        try:
            self._run = _core.Episode(workload.document, workload.name, workload.load, seed, 0)
        except (ValueError, OverflowError) as why:
            raise InputError(str(why).replace("error: ", "", 1)) from None
        self.types, self.resources = self._run.names()
        self._capacity = self._run.state()[3]
        self._left = events
        self._array: Callable[[list[float]], Any] = list
        try:
            import numpy
            from gymnasium import spaces
        except ImportError:
            return
        count = 2 * len(self.types) + len(self.resources)
        self._array = numpy.array
        self.action_space = spaces.Discrete(len(self.types) + 1)
        self.observation_space = spaces.Box(0.0, numpy.inf, (count,), dtype=numpy.float64)

    @property
    def unwrapped(self) -> Environment:
        """The environment itself."""
        return self

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a new episode with different random numbers. If a seed is given, start with its first episode."""
        if seed is not None:
            self._seed, self._number = seed, 0
        self._run.reset(self._seed, self._number)
        self._number += 1
        self._left = self.events
        self._advance()
        return self._observed()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return the observation, the reward, False, whether the episode was truncated, and additional information."""
        reward, action = 0.0, operator.index(action)
        if action == len(self.types):
            reward = -self._advance()
        elif not 0 <= action < len(self.types):
            raise InputError(f"the action is {action}, expected 0 to {len(self.types)}")
        else:
            self._run.start(action)
        observation, info = self._observed()
        return observation, reward, False, self._left <= 0, info

    def _advance(self) -> float:
        count, spent = self._run.advance(max(self._left, 1))
        self._left -= count
        return spent

    def _observed(self) -> tuple[Any, dict[str, Any]]:
        time, waiting, running, free, can = self._run.state()
        parts = [own / most for own, most in zip(free, self._capacity)]
        info = {"time": time, "action_mask": [*map(int, can), 1]}
        return self._array([*map(float, waiting), *map(float, running), *parts]), info

    def render(self) -> None:
        """Draw nothing."""

    def close(self) -> None:
        """Do nothing."""


def gym(workload: Workload, events: int = 10_000, seed: int = 1) -> Environment:
    """Return an ``Environment``. If gymnasium is installed, it is also a ``gymnasium.Env`` and has spaces."""
    try:
        import gymnasium
    except ImportError:
        return Environment(workload, events, seed)

    class Registered(Environment, gymnasium.Env):  # type: ignore[misc]
        """The environment as a ``gymnasium.Env``."""

        def reset(
            self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None
        ) -> tuple[Any, dict[str, Any]]:
            """Start a new episode; see ``Environment``."""
            gymnasium.Env.reset(self, seed=seed)
            return Environment.reset(self, seed=seed, options=options)

    return Registered(workload, events, seed)
