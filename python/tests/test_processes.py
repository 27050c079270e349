"""Ctrl-C, threads, forks, and pickles."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
import synthsched as ss
from policies import Boom, FirstFit, Lowest

BEFORE = """\
import signal, threading
import synthsched as ss
from policies import FirstFit, Loop

w = ss.model("vms").at_load(.5)
endless = {"events": 1e14, "precision": 1e-9}

class Looks(FirstFit):
    def begin(self, system):
        print("running", flush=True)

class Loops(Looks, Loop):
    def react(self, event, system):
        while True:
            pass

"""


def interrupted(code, says="running"):
    """Send SIGINT once the program says that it runs; return its output and code. One that goes on is killed."""
    words = [sys.executable, "-c", BEFORE + textwrap.dedent(code)]
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": paths}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment) as own:
        try:
            assert own.stdout.readline().strip() == says
            own.send_signal(signal.SIGINT)
            said, _ = own.communicate(timeout=60)
        finally:
            own.kill()
    return said, own.returncode


@pytest.mark.parametrize(
    "code",
    [
        "ss.simulate(w, Loops)",
        "ss.compare(w, ['first-fit', Loops], events=2000)",
        "ss.compare(ss.model('fleet').at_load(.3), [Loops], events=2000)",
        "ss.simulate(w, Looks, **endless)",
        "ss.compare(w, [Looks, 'first-fit'], **endless)",
        # The first time that rules run is long over when they are interrupted: they are never done.
        "print('running', flush=True); ss.compare(w, ['first-fit', 'fcfs'], **endless)",
        "print('running', flush=True); ss.optimum(ss.model('section7').at_load(.9), tolerance='1e-7', states=10**9)",
        # In every copy.
        """
        class Begins(FirstFit):
            def begin(self, system):
                print("running", flush=True)
                while True:
                    pass
        ss.simulate(w, Begins)
        """,
        """
        class Copied(FirstFit):
            def __deepcopy__(self, memo):
                print("running", flush=True)
                while True:
                    pass
        ss.simulate(w, Copied)
        """,
    ],
)
def test_ctrl_c(code):
    said, code = interrupted(code)
    assert said.rstrip().endswith("KeyboardInterrupt"), said
    assert code == -signal.SIGINT


def test_ctrl_c_ends_the_call_and_not_the_session():
    said, code = interrupted("""
        try:
            ss.simulate(w, Looks, **endless)
        except KeyboardInterrupt:
            print("interrupted", threading.active_count())
        print(ss.simulate(w, "first-fit", events=1000).health)
        print(signal.set_wakeup_fd(-1))
    """)
    # The signal may come while a copy says that it runs.
    assert said.replace("running", "").split() == ["interrupted", "1", "unsettled", "-1"] and code == 0


def test_a_policy_that_swallows_ctrl_c_is_ended():
    said, code = interrupted("""
        class Swallows(Looks):
            def react(self, event, system):
                try:
                    super().react(event, system)
                except BaseException:
                    pass
        ss.simulate(w, Swallows, **endless)
    """)
    assert said.rstrip().endswith("KeyboardInterrupt") and code == -signal.SIGINT


def test_a_handler_of_ones_own_runs_and_the_call_ends():
    said, code = interrupted("""
        signal.signal(signal.SIGINT, lambda *_: print("handled"))
        try:
            ss.simulate(w, Looks, **endless)
        except KeyboardInterrupt:
            print("ended")
    """)
    # Each copy says that it runs; the signal may come between two of them.
    assert said.replace("running", "").split() == ["handled", "ended"] and code == 0


def test_ctrl_c_is_of_the_main_thread_alone():
    said, code = interrupted("""
        found = []
        other = threading.Thread(target=lambda: found.append(ss.simulate(w, FirstFit, events=600_000)))
        other.start()
        try:
            ss.simulate(w, Looks, **endless)
        except KeyboardInterrupt:
            print("interrupted")
        other.join()
        print(found[0].data["run"]["events"])
    """)
    assert said.replace("running", "").split() == ["interrupted", "600000"] and code == 0


def test_another_exception_that_is_no_error_goes_through():
    class Exits(ss.Policy):
        def react(self, event, system):
            raise SystemExit(3)

    with pytest.raises(SystemExit) as raised:
        ss.compare(ss.model("vms"), ["first-fit", Exits], loads=[0.5], events=2000)
    assert raised.value.code == 3


def work(n):
    """Return all numbers of one of two comparisons."""
    model, policy = [("vms", FirstFit), ("section7", Lowest)][n % 2]
    found = ss.compare(ss.model(model), ["first-fit", policy, Boom], loads=[0.4], events=100_000, seed=n % 2 + 1)
    return found.numbers.to_csv() + "".join(found.notes)


def test_threads():
    expected = [work(n) for n in range(4)]
    found = {}
    threads = [threading.Thread(target=lambda n=n: found.update({n: work(n)})) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[n] for n in range(4)] == expected
    assert expected[0] != expected[1] and len(expected[0]) > 1000


def synthesized():
    return ss.synthesize(ss.model("vms"), preemption="none", family="msr").to_json()


def in_child(function, *arguments):
    """Return what a function returns in a fork of this process, which must not take long."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(function(*arguments)))
    child.start()
    try:
        assert receiver.poll(60), "the child hangs"
        return receiver.recv()
    finally:
        child.kill()
        child.join()


def in_thread(function, *arguments):
    found = []
    thread = threading.Thread(target=lambda: found.append(function(*arguments)))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forks():
    # The threads of the pool are those of this process.
    expected, policy = [work(0), work(1)], synthesized()
    assert in_child(lambda: [work(0), work(1)]) == expected
    assert in_child(in_thread, work, 1) == expected[1]
    assert in_child(in_child, work, 0) == expected[0]
    assert in_child(synthesized) == policy
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        assert pool.map_async(work, [0, 1, 0]).get(60) == [*expected, expected[0]]
    assert work(0) == expected[0]


def test_pickles():
    w = ss.model("vms").at_load(0.4)
    policy = ss.synthesize(w, preemption="none", family="msr")
    found = ss.compare(w, ["first-fit", policy, FirstFit], events=100_000)
    for own in (
        w,
        policy,
        found,
        policy.simulate(events=100_000),
        ss.Trace({"submit": [1], "size": [1], "cpu": [1]}),
        FirstFit(),
    ):
        for again in (pickle.loads(pickle.dumps(own)), copy.deepcopy(own)):
            assert type(again) is type(own)
            if not isinstance(own, (ss.Policy, ss.Workload)):
                assert repr(again) == repr(own)
    again = pickle.loads(pickle.dumps(found))
    assert again.data == found.data and again.page.text == found.page.text and again.notes == found.notes
    assert pickle.loads(pickle.dumps(policy)).to_json() == policy.to_json()
    mean = ss.simulate(w, "first-fit", events=100_000).mean
    again = pickle.loads(pickle.dumps(mean))
    assert (again, again.low, again.high) == (mean, mean.low, mean.high) and mean.low < mean < mean.high
