"""What is wrong is said, with its place; policies that fail; nothing is lost of the others."""

import copy
import re
import threading

import pytest
import synthsched as ss
from policies import Boom, FirstFit, Lowest, one_server

W = ss.model("vms").at_load(0.3)
FEW = {"events": 100_000}


def compare(*policies, **options):
    return ss.compare(W, list(policies), **{**FEW, **options})


def row(found, name):
    return next(iter(found.frame.where(policy=name, type="all").rows()))


def of(react, **attributes):
    return type("Own", (ss.Policy,), {"react": react, **attributes})


def test_classes():
    assert issubclass(ss.InputError, ValueError) and issubclass(ss.InputError, ss.SynthError)
    assert not issubclass(ss.Infeasible, ValueError) and issubclass(ss.Infeasible, ss.SynthError)


def test_texts_have_their_place():
    capacity, job = {"cpu": 4}, {"name": "a", "demand": {"cpu": 8}, "arrival_rate": 1, "mean_size": 1}
    with pytest.raises(ss.InputError, match=r"(?s)does not fit.*--> workload:\d+:\d+.*\^.*help: lower the demand"):
        ss.synthesize(ss.Workload(capacity, [job]), preemption="none")
    with pytest.raises(ss.Infeasible, match=r"(?s)no policy can be stable.*9/4.*prices"):
        ss.synthesize(ss.Workload(capacity, [{**job, "demand": {"cpu": 1}, "arrival_rate": 9}]), preemption="none")
    with pytest.raises(ss.InputError, match="similar argument exists: '--preemption'"):
        ss.synthesize(W, preemtion="none")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kind: nothing",
        "[1, 2",
        "\0",
        "\ud800",
        "- a\nb: c",
        "x" * 10000,
        "a: " * 1000,
        "&a [*a]",
        "kind: multiresource",
    ],
)
def test_what_is_no_workload(text):
    with pytest.raises(ss.InputError):
        ss.synthesize(ss.Workload.parse(text))
    with pytest.raises(ss.InputError):
        ss.compare(ss.Workload.parse(text), ["first-fit"], loads=[0.5])


@pytest.mark.parametrize("name", ["--help", "-", "-x.yaml", "", "a\0b"])
def test_names_of_documents_are_no_options(name):
    own = ss.Workload.parse(W.document, name)
    assert len(ss.compare(own, ["first-fit"], loads=[0.3], events=2000).numbers) > 3
    assert ss.synthesize(own, preemption="none", family="msr").load == pytest.approx(0.655)


@pytest.mark.parametrize("what", [None, "models/vms.yaml", 3, b"kind"])
def test_what_is_no_workload_at_all(what):
    for use in (ss.synthesize, ss.optimum, lambda w: ss.compare(w, ["fcfs"])):
        with pytest.raises(ss.InputError, match=f"a {type(what).__name__} is not a Workload"):
            use(what)


@pytest.mark.parametrize("load", [0, 1, -1, 2, float("nan"), float("inf")])
def test_loads(load):
    with pytest.raises(ss.InputError):
        W.at_load(load)
    with pytest.raises(ss.InputError):
        compare("fcfs", loads=[load])


@pytest.mark.parametrize(
    "options",
    [
        {"seed": -1},
        {"seed": 1 << 64},
        {"seed": 1.5},
        {"seed": "one"},
        {"seed": True},
        {"events": 0},
        {"events": -1},
        {"events": 10**30},
        {"events": float("nan")},
        {"precision": float("inf")},
        {"loads": []},
        {"loads": [0.5, 0.5]},
        {"replications": 10**9},
        {"time": "1 h; rm"},
        {"no_such": 1},
        {"output": "x.json"},
        {"csv": "x.csv"},
    ],
)
def test_options(options):
    with pytest.raises(ss.InputError):
        compare("fcfs", FirstFit, **options)


def test_an_option_that_is_none_is_none():
    assert compare("fcfs", seed=None).text == compare("fcfs").text == compare("fcfs", seed=1).text
    assert compare("fcfs", seed=0).text != compare("fcfs").text


@pytest.mark.parametrize("name", ["first-fit", "a,b", "a\nb", "\0", "\ud800"])
def test_names_of_policies(name):
    own = FirstFit()
    own.name = name
    with pytest.raises(ss.InputError):
        compare("first-fit", own)


@pytest.mark.parametrize("name", ["fcfs", "é", "p.json", "all", "p:1", "x" * 300])
def test_a_name_that_something_else_has_is_ones_own(name):
    own = FirstFit()
    own.name = name
    found = compare("first-fit", own)
    first, second = row(found, "first-fit"), row(found, name)
    assert second["mean_response"] == first["mean_response"] is not None


def test_policies_that_are_none():
    for own in (None, 3, object()):
        with pytest.raises(TypeError, match="no method react"):
            compare("first-fit", own)
    with pytest.raises(ss.InputError, match="no policy"):
        compare()
    with pytest.raises(ss.InputError, match="two policies are named 'FirstFit'"):
        compare(FirstFit, FirstFit())
    with pytest.raises(ss.InputError, match="multiresource workloads"):
        ss.compare(ss.model("three_servers"), [FirstFit], loads=[0.5])
    for attribute, value in (("clocks", -1), ("clocks", "a"), ("knows", 3), ("preempts", "yes")):
        with pytest.raises(TypeError, match=rf"Own\.{attribute} is {value}"):
            compare(of(FirstFit.react, **{attribute: value}))
    with pytest.raises(ValueError, match='"means", "estimates" or "sizes"'):
        compare(of(FirstFit.react, knows="all"))


def recursion(self, event, system):
    recursion(self, event, system)


def too_much(self, event, system):
    while system.waiting(event.type or 0):
        system.start(event.type or 0)
    system.start(3)


@pytest.mark.parametrize(
    "policy, words",
    [
        (Boom, r"ZeroDivisionError at time 10\.\d+:(?s:.*)in react(?s:.*)on purpose"),
        (ss.Policy, "NotImplementedError(?s:.*)Policy has no method react"),
        (of(recursion), "RecursionError"),
        (
            of(too_much),
            r"ValueError at time(?s:.*)system\.start\((?s:.*)"
            r"cannot start: (no such job waits|it does not fit into the free capacity \[)",
        ),
        (of(lambda self, event, system: system.start(99)), "IndexError(?s:.*)no type 99: types are numbered 0 to 3"),
        (of(lambda self, event, system: system.start(-1)), "OverflowError"),
        (of(lambda self, event, system: system.start("a")), "TypeError"),
        (of(lambda self, event, system: system.stop(event.type or 0)), "ValueError"),
        (of(lambda self, event, system: system.set_clock(0, 1)), "IndexError(?s:.*)as set by its attribute `clocks`"),
        (of(lambda self, event, system: system.set_clock(0, -1), clocks=1), "ValueError(?s:.*)rate of clock 0 is -1"),
        (of(lambda self, event, system: setattr(system, "now", 3)), "AttributeError"),
        (of(lambda self: None), "TypeError"),
    ],
)
def test_a_policy_that_raises_is_reported_and_the_others_go_on(policy, words):
    alone = row(compare("first-fit"), "first-fit")
    found = compare("first-fit", policy, Lowest)
    name = policy.__name__
    said = found.text + "\n".join(found.notes)
    assert re.search(rf"At ρ = 0\.3, {name}: the policy raised {words}", said), said
    assert re.search(rf"(?m)^ {name} +failed", found.text)
    own = row(found, "first-fit")
    assert own["mean_response"] == alone["mean_response"] and row(found, "Lowest")["mean_response"] > 0
    with pytest.raises(ss.InputError, match=f"the policy raised {words}"):
        ss.simulate(W, policy, **FEW)


def test_a_policy_that_starts_nothing_is_unstable():
    found = compare("first-fit", of(lambda self, event, system: None, name="Never"))
    assert re.search("(?m)^ Never +unstable", found.text) and row(found, "first-fit")["mean_response"] > 0
    assert ss.simulate(W, of(lambda self, event, system: None), **FEW).health == "unstable"


def test_a_job_that_does_not_wait_does_not_start():
    def react(self, event, system):
        if system.waiting(0) == 2 and not system.running(0):
            head = system.queue(0)[0]
            system.start(0, head)
            system.start(0, head)

    job = {"name": "a", "demand": {"cpu": 1}, "arrival_rate": 1, "mean_size": 1}
    with pytest.raises(ss.InputError, match="job \\d+ of type 0 cannot start: it is not waiting"):
        ss.simulate(ss.Workload({"cpu": 2}, [job]), of(react), **FEW)


def test_the_system_outside_of_a_run():
    class Keeps(ss.Policy):
        kept = []

        def begin(self, system):
            self.system = system
            self.kept.append(system)

        def react(self, event, system):
            FirstFit.react(self, event, self.system)

    found = compare("first-fit", Keeps)
    assert row(found, "Keeps")["mean_response"] == row(found, "first-fit")["mean_response"]
    for system in Keeps.kept[:2]:
        for use in (lambda s: s.now, lambda s: s.waiting(0), lambda s: s.start(0), lambda s: s.free):
            with pytest.raises(RuntimeError, match="only within begin and react"):
                use(system)


def test_a_policy_that_cannot_be_copied():
    class Locked(FirstFit):
        def __init__(self):
            self.lock = threading.Lock()

    found = compare("first-fit", Locked())
    assert "cannot be copied by copy.deepcopy" in found.text + "".join(found.notes)
    with pytest.raises(TypeError):
        copy.deepcopy(Locked())


def test_a_policy_is_left_as_it_was():
    class Counts(FirstFit):
        count = 0

        def react(self, event, system):
            self.count += 1
            super().react(event, system)

    own = Counts()
    ss.simulate(one_server(0.5), own, events=1000)
    assert vars(own) == {}


def test_files_that_are_none(tmp_path):
    for use in (ss.Workload.read, ss.CompiledPolicy.read):
        with pytest.raises(FileNotFoundError):
            use(tmp_path / "nowhere")
    with pytest.raises(ss.InputError, match="nowhere.swf"):
        ss.judge(tmp_path / "nowhere.swf")
    policy = ss.synthesize(ss.model("vms"), preemption="none", family="msr")
    path = tmp_path / "p.json"
    path.write_text("{")
    with pytest.raises(ss.InputError, match="the text ends"):
        ss.CompiledPolicy.read(path)
    path.write_text(policy.to_json().replace("0.655", "0.5"))
    with pytest.raises(ss.Infeasible, match="(?s)the file was changed.*evidence.load: 0.5, expected 0.655"):
        ss.CompiledPolicy.read(path)
    with pytest.raises(ss.Infeasible, match="not made for"):
        policy.check(ss.model("section7"))


def test_the_scheduler():
    policy = ss.synthesize(ss.model("vms"), preemption="none", family="msr")
    scheduler = ss.Scheduler(policy, seed=2)
    first = scheduler.tell(1, arrive="type-1", job="a")
    assert first["start"] == ["a"] and first["wake"] > 1
    for what in (
        {"t": 0.5},
        {"t": float("nan")},
        {"t": "soon"},
        {"t": 2, "arrive": "type-9", "job": "b"},
        {"t": 2, "arrive": "type-1", "job": "a"},
        {"t": 2, "arrive": "type-1", "job": "\ud800"},
        {"t": 2, "leave": "b"},
        {"t": 2, "leaves": "a"},
    ):
        with pytest.raises(ss.InputError):
            scheduler.tell(**what)
    assert scheduler.tell(1.5, leave="a") == {**first, "t": 1.5, "start": []}
    assert scheduler.tell(first["wake"])["wake"] > first["wake"] and scheduler.doing()
    with pytest.raises(ss.InputError):
        ss.Scheduler(policy, seed=-1)
