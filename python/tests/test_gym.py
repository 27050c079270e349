"""A system as an environment for learning."""

import warnings

import pytest
import synthsched as ss

gymnasium = pytest.importorskip("gymnasium")


def lowest(mask):
    """Return the first type that can start, and to wait where none can."""
    return mask.index(1)


def play(env, seed=None, choose=lowest):
    """Play an episode: observations, rewards, times, and masks."""
    observation, info = env.reset(seed=seed)
    seen, over = [], False
    while not over:
        mask = info["action_mask"]
        observation, reward, ended, over, info = env.step(choose(mask))
        assert ended is False and reward <= 0 and len(mask) == env.action_space.n
        assert env.observation_space.contains(observation)
        seen.append((tuple(observation), reward, info["time"], tuple(info["action_mask"])))
    return seen


def test_gymnasium_finds_no_fault():
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # That the least and the largest number of waiting jobs are 0 and infinity is no fault.
        warnings.filterwarnings("ignore", message=".*(minimum|maximum) value.*")
        check_env(ss.gym(ss.model("vms").at_load(0.6), events=300), skip_render_check=True)


def test_rewards_are_what_an_observer_counts():
    class Counts(ss.Policy):
        """Decides as `lowest`, and adds up N dt at every event."""

        # So its jobs have their sizes from the start, as in a comparison, and as those of an environment.
        knows = "sizes"
        total, last, events = 0.0, (0.0, 0), 0
        at = {}

        def react(self, event, system):
            cls = type(self)
            time, count = cls.last
            cls.total += count * (system.now - time)
            cls.events += 1
            for i in system.types:
                while system.waiting(i) and system.fits(i):
                    system.start(i)
            cls.last = (system.now, sum(system.waiting(i) + system.running(i) for i in system.types))
            cls.at[system.now] = cls.total

    w, seed = ss.model("vms").at_load(0.6), 5
    ss.simulate(w, Counts, events=4000, replications=1, seed=seed)
    env = ss.gym(w, events=3000)
    seen = play(env, seed)
    end = seen[-1][2]
    assert len(seen) > 3000 and Counts.events == 4000
    assert -sum(reward for _, reward, _, _ in seen) == pytest.approx(Counts.at[end], rel=1e-9)


def test_episodes():
    def make():
        return ss.gym(ss.model("section7").at_load(0.7), events=500, seed=3)

    one, two = make(), make()
    first, second = play(one), play(one)
    assert first != second
    assert [play(two), play(two)] == [first, second]
    assert play(two, seed=3) == first
    assert play(two, seed=4) not in (first, second)
    assert play(ss.gym(ss.model("section7").at_load(0.5), events=500, seed=3)) != first


def test_the_mask_says_what_can_start():
    w = ss.model("section7").at_load(0.9)
    env = ss.gym(w, events=400, seed=1)
    count = len(env.types)
    assert env.types == ["type-1", "type-2", "type-3"] and len(env.resources) == 3
    observation, info = env.reset()
    over, refused, started = False, 0, 0
    while not over:
        before = list(observation)
        for i in range(count):
            if not info["action_mask"][i]:
                same, reward, *_ = env.step(i)
                refused += 1
                assert (list(same), reward) == (before, 0.0)
        action = lowest(info["action_mask"])
        observation, reward, _, over, info = env.step(action)
        if action < count:
            started += 1
            assert reward == 0
            assert observation[action] == before[action] - 1
            assert observation[count + action] == before[count + action] + 1
        else:
            assert reward < 0
    assert refused > 100 < started


@pytest.mark.parametrize("action, error", [(-1, ss.InputError), (4, ss.InputError), (1.5, TypeError), ("0", TypeError)])
def test_actions_that_are_none(action, error):
    env = ss.gym(ss.model("section7"))
    env.reset()
    with pytest.raises(error):
        env.step(action)


def test_workloads_that_are_none():
    with pytest.raises(ss.InputError, match="compatibility"):
        ss.gym(ss.model("three_servers"))
    with pytest.raises(ss.InputError):
        ss.gym(ss.model("vms"), seed=-1)


def test_without_gymnasium(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "gymnasium", None)
    env = ss.gym(ss.model("vms"), events=50)
    observation, info = env.reset()
    assert isinstance(observation, list) and not hasattr(env, "action_space")
