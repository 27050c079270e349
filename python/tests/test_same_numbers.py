"""The same numbers, texts and files as the command line, for all kinds of workload."""

import json
import subprocess
import sys

import pytest
import synthsched as ss

FEW = {"events": 40000, "seed": 7}
WORDS = ["--events=40000", "--seed=7"]

CAMPAIGN = """\
kind: volunteer
time_unit: h
horizon: 120
hosts:
  - name: homes
    count: 5
    cores: 4
    speed: {law: lognormal, mean: 1, scv: .1}
    buffer: {law: lognormal, mean: 6, scv: .5}
    error: .01
    vanish: .02
applications:
  - {name: docking, versions: [{name: v1, processor: cpu}]}
batches:
  - {name: survey, application: docking, size: {law: lognormal, mean: 3, scv: .1}, quality: throughput, bound: 48}
  - {name: screen, application: docking, size: {law: lognormal, mean: 2, scv: .1}, quality: afap, jobs: 10}
"""


def path_of(model, folder):
    """Return the path of a workload; that of volunteers is small here."""
    if model != "campaign":
        return f"models/{model}.yaml"
    path = folder / "campaign.yaml"
    path.write_text(CAMPAIGN)
    return str(path)


def typed(synth, folder, *words):
    """Run the program; return what it prints, its code, and the files that it writes."""
    files = {name: folder / f"out.{name}" for name in ("output", "csv", "html")}
    words = [*words, *(f"--{name}={path}" for name, path in files.items())]
    done = subprocess.run([synth, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    read = {name: path.read_text() for name, path in files.items() if path.exists()}
    return done.stdout, done.returncode, read


def check_same(result, printed):
    stdout, code, files = printed
    assert code == 0 and set(files) == {"output", "csv", "html"}
    assert result.text.rstrip() == stdout.rstrip()
    assert result.data == json.loads(files["output"])
    assert result.numbers.to_dict() == ss.Table.of_csv(files["csv"]).to_dict()
    assert len(result.numbers) > 10
    assert result.page.text == files["html"]


@pytest.mark.parametrize(
    "model, rules",
    [("vms", "first-fit,fcfs"), ("three_servers", "fcfs,random-ps"), ("training_stream", "equi,hell")],
)
def test_a_comparison(model, rules, synth, in_root, tmp_path):
    path = f"models/{model}.yaml"
    found = ss.compare(ss.Workload.read(path), rules.split(","), loads=[0.4, 0.6], **FEW)
    words = ["compare", path, f"--policies={rules}", "--loads=0.4,0.6", *WORDS]
    check_same(found, typed(synth, tmp_path, *words))


def test_a_comparison_of_campaigns(synth, in_root, tmp_path):
    path = path_of("campaign", tmp_path)
    found = ss.compare(ss.Workload.read(path), ["boinc-2025", "fixed"], seed=7, replications=4)
    words = ["compare", path, "--policies=boinc-2025,fixed", "--seed=7", "--replications=4"]
    check_same(found, typed(synth, tmp_path, *words))


def test_a_log(synth, in_root, tmp_path):
    path = "models/traces/cluster.swf"
    found = ss.Trace(path).replay(["easy", "fcfs"])
    check_same(found, typed(synth, tmp_path, "replay", path, "--policies=easy,fcfs"))
    jobs = ss.Trace(path).jobs("easy")
    file = tmp_path / "jobs.csv"
    words = [synth, "replay", path, "--policies=easy", f"--jobs={file}"]
    subprocess.run(words, check=True, capture_output=True)
    assert jobs.to_dict() == ss.Table.of_csv(file.read_text()).to_dict()


@pytest.mark.parametrize(
    "model, options",
    [
        ("vms", {"preemption": "none", "family": "msr"}),
        ("three_servers", {}),
        ("amdahl_training", {}),
        ("campaign", {}),
    ],
)
def test_a_policy_and_its_run(model, options, synth, in_root, tmp_path):
    path = path_of(model, tmp_path)
    policy = ss.synthesize(ss.Workload.read(path), seed=3, **options)
    words = [f"--{k}={v}" for k, v in options.items()]
    done = subprocess.run([synth, path, "--seed=3", *words], capture_output=True, text=True)
    assert done.returncode == 0 and policy.to_json() == done.stdout

    file = tmp_path / policy.name
    policy.save(file)
    read = ss.CompiledPolicy.read(file)
    few = {"seed": 7, **({"replications": 2} if model == "campaign" else {"events": 40000})}
    found = read.simulate(**few)
    words = ["simulate", str(file), *(f"--{k}={v}" for k, v in few.items())]
    output = tmp_path / "out.json"
    done = subprocess.run([synth, *words, f"--output={output}"], capture_output=True, text=True)
    assert done.returncode in (0, 1)
    assert found.text.rstrip() == done.stdout.rstrip()
    assert found.data == json.loads(output.read_text())


@pytest.mark.parametrize("words", [["rules"], ["show", "nowhere.json"], ["compare", "--policies=x"], ["--version"]])
def test_the_program_of_the_package(words, synth, in_root):
    def run(*program):
        done = subprocess.run([*program, *words], capture_output=True, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr

    main = "from synthsched._cli import main; main()"
    assert run(sys.executable, "-c", main) == run(synth)
