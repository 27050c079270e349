"""Which policy is faster, in one word and in one number."""

import math

import policies
import pytest
import synthsched as ss

W = ss.model("one_or_all").at_load(0.7)


def test_a_score_is_the_geometric_mean_of_ratios_on_the_same_jobs():
    systems = [ss.model("section7").at_load(0.6), ss.model("vms")]
    score = ss.score("most-servers-first", systems, loads=[0.5, 0.6], events=1e5)
    number, table = score
    assert table["system"] == ("section7", "section7", "vms", "vms")
    assert table["load"] == (0.5, 0.6, 0.5, 0.6)
    assert number == pytest.approx(math.prod(table["ratio"]) ** 0.25, rel=1e-12)
    compared = ss.compare(systems[0], ["most-servers-first", "first-fit"], loads=[0.5], events=1e5)
    own, other = compared.frame.where(type="all")["mean_response"]
    assert (table["most-servers-first"][0], table["first-fit"][0]) == (own, other)
    # The ratio is of pairs of replications, the means are of all jobs.
    assert abs(table["ratio"][0] - own / other) < table["half_width"][0]
    assert repr(score).splitlines()[0] == f"{number:.4g}"


def test_a_score_of_itself_is_one():
    assert ss.score(policies.FirstFit, [ss.model("vms").at_load(0.7)], events=2e5).number == 1


def test_a_score_of_what_is_unstable_or_fails():
    assert ss.score("fcfs", [W], events=2e6).number == math.inf
    assert math.isnan(ss.score("most-servers-first", [W], events=2e3).number)

    class Fails(ss.Policy):
        def react(self, event, system):
            raise ValueError("no idea")

    with pytest.raises(ss.InputError, match="no idea"):
        ss.score(Fails, [W], events=1e5)


def test_one_that_is_unstable_is_slower_and_one_that_is_not_there_is_a_fault():
    compared = ss.compare(W, ["adaptive-quickswap", "fcfs", policies.FirstFit], events=2e6)
    assert compared.surely_faster("adaptive-quickswap", "fcfs") is True
    assert compared.surely_faster("fcfs", policies.FirstFit()) is False
    assert compared.surely_faster(policies.FirstFit, "adaptive-quickswap", load=0.7) is False
    with pytest.raises(ss.InputError, match="msfq is not one of the .*: adaptive-quickswap, fcfs, FirstFit"):
        compared.surely_faster("msfq", "fcfs")
    with pytest.raises(ss.InputError, match=r"no load 0\.5; the loads are 0\.7"):
        compared.surely_faster("fcfs", "adaptive-quickswap", load=0.5)


def test_a_mean_is_a_column_even_where_there_is_none():
    assert ss.compare(W, ["fcfs"], events=2e6).frame.where(type="all")["mean_response"] == (None,)


def test_on_a_log_policies_are_compared_with_the_first():
    log = {"submit": [], "size": [], "limit": [], "cpu": []}
    # Each hour a long job that takes all, and short ones behind it: those that wait gain by going first.
    for hour in range(600):
        log["submit"] += [3600 * hour, 3600 * hour + 1, 3600 * hour + 2, 3600 * hour + 3]
        log["size"] += [1500, 1500, 60, 60]
        log["limit"] += [1500, 1500, 60, 60]
        log["cpu"] += [4, 4, 4, 4]
    compared = ss.Trace(log, capacity="cpu=4").replay(["easy", "easy+sjf", "first-fit"])
    assert compared.surely_faster("easy+sjf", "easy") is True
    assert compared.surely_faster("easy", "easy+sjf") is False
    assert compared.surely_faster("easy", "first-fit") is None
    with pytest.raises(ss.InputError, match="compared with the first, which is easy"):
        compared.surely_faster("easy+sjf", "first-fit")


def test_two_policies_of_one_family_under_their_names():
    w = ss.model("section7").at_load(0.5)
    slow, fast = (
        ss.synthesize(w, preemption="full", family="msr", switching_rate=rate).named(f"rate {rate}") for rate in (1, 4)
    )
    assert slow.check().startswith("valid") and slow.to_json() != fast.to_json()
    compared = ss.compare(w, [slow, fast], events=1e5)
    assert [own["name"] for own in compared.data["policies"]] == ["rate 1", "rate 4"]


def test_columns_alone_and_help_without_colours(capsys):
    table = ss.Table({"a": [1, 2], "b": [3, 4], "c": [5, 6]}).select("c", "a")
    assert table.columns == ("c", "a") and table["a"] == (1, 2)
    ss.help("compare")
    printed = capsys.readouterr().out
    assert "--loads" in printed and "\x1b" not in printed


def test_a_verb_without_load_says_so():
    with pytest.raises(ss.InputError, match="sweep-alpha can only use a workload at its own load"):
        ss.run("sweep-alpha", W)


def test_the_benchmark_takes_a_policy_of_ones_own():
    run = ss.run("bench", systems="exact-03", no_choice=True, events=1e6, policies=[policies.FirstFit()])
    rows = {row[0]: row[1:] for row in map(str.split, run.text.splitlines()) if row}
    # One system, and as far from its optimum as the rule of the library.
    assert rows["FirstFit"] == rows["first-fit"]
    assert rows["FirstFit"][:2] == ["1", "1"]
