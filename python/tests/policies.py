"""Policies of one's own that tests share."""

import synthsched as ss


class FirstFit(ss.Policy):
    """Starts the oldest job that fits, again and again."""

    def react(self, event, system):
        while (i := system.oldest_fitting()) is not None:
            system.start(i)


class Lowest(ss.Policy):
    """Starts the types in turn."""

    def react(self, event, system):
        for i in system.types:
            while system.waiting(i) and system.fits(i):
                system.start(i)


class Boom(ss.Policy):
    def react(self, event, system):
        if system.now > 10:
            raise ZeroDivisionError("on purpose")


class Loop(ss.Policy):
    def react(self, event, system):
        while True:
            pass


def one_server(rate, mean=1.0, **job):
    """Return a queue of one server."""
    own = {"name": "a", "demand": {"cpu": 1}, "arrival_rate": rate, "mean_size": mean}
    return ss.Workload({"cpu": 1}, [{**own, **job}])
