//! Tests of `synth compare --shard` and `synth merge`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::*;

const SECTION_SEVEN: &str =
    "--workload models/section7.yaml --policies first-fit,fcfs --loads .5,.7 --events 2e5";

fn part(question: &str, shard: &str, file: &str) {
    let ran = run_ok!("compare {question} --shard {shard} --output {file}");
    assert_eq!(stdout(&ran), "");
    assert_contains(&stderr(&ran), &format!("Shard {shard} "));
}

fn assert_same_outputs(folder: &Folder, question: &str, shards: usize, expected: i32) {
    let files = |name: &str| {
        let file = folder.path_string(name);
        format!("--output {file}.json --csv {file}.csv --html {file}.html")
    };
    let one = run_expecting_code(expected, &format!("compare {question} {}", files("one")));
    let parts = (1..=shards).rev().map(|n| {
        let file = folder.path_string(&format!("part-{n}.jsonl"));
        part(question, &format!("{n}/{shards}"), &file);
        file
    });
    let parts = parts.collect::<Vec<String>>().join(" ");
    let all = run_expecting_code(expected, &format!("merge {parts} {}", files("all")));
    assert_eq!(stdout(&all), stdout(&one), "{question:?}");
    for end in ["json", "csv", "html"] {
        let [one, all] = ["one", "all"].map(|name| folder.bytes(&format!("{name}.{end}")));
        assert!(one == all, "{question:?}: {end} differs");
    }
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn shards_give_the_same_result_as_one_machine() {
    let folder = Folder::new();
    let [one, other] = ["section7", "vms"].map(|model| folder.policy(model));
    let policies = format!("fcfs,{one},first-fit,{other} --loads .5,.8,.95");
    let others = "fcfs,random-ps,fcfs@zipf,random-ps@zipf";
    for (model, policies, shards, expected) in [
        ("section7", &*policies, 4, 1),
        ("one_or_all", "fcfs,first-fit --loads .3,.4", 3, 0),
        ("fleet", "first-fit,best-fit", 2, 0),
        ("three_servers", others, 5, 0),
        ("training_stream", "hesrpt,equi,srpt", 20, 0),
    ] {
        let question = format!("--workload models/{model}.yaml --events 2e5 --policies {policies}");
        assert_same_outputs(&folder, &question, shards, expected);
    }
}

#[test]
fn rejects_incomplete_parts() {
    let folder = Folder::new();
    let [a, b, other] = folder.paths(["a.jsonl", "b.jsonl", "other.jsonl"]);
    part(SECTION_SEVEN, "1/2", &a);
    part(SECTION_SEVEN, "2/2", &b);
    part(&format!("{SECTION_SEVEN} --seed 7"), "2/2", &other);
    let again = "synth compare --workload models/section7.yaml --policies first-fit,fcfs \
        --loads 0.5,0.7 --seed 1 --replications 8 --precision 0.01 --events 200000 \
        --shard 2/2 --resume --output ";
    let refused = |parts: &str, words: &[&str]| {
        for words in words {
            run_err(&format!("merge {parts}"), words);
        }
    };
    refused(&a, &["shard 2 of 2 is missing", again]);
    let differences = [
        "a.jsonl and ",
        "other.jsonl are parts of different",
        "seed: 1 there, 7 here",
    ];
    refused(&format!("{a} {other}"), &differences);
    let message = "models/section7.yaml is not a part of a comparison";
    refused(&format!("{a} models/section7.yaml"), &[message]);
    let message = "is an input and would be overwritten";
    refused(&format!("{a} {b} --output {b}"), &[message]);
    refused("", &["PART"]);
    let text = read_text(&b);
    fs::write(&b, &text[..text.len() / 2]).unwrap();
    let truncated = "b.jsonl: it is truncated in line ";
    refused(&format!("{a} {b}"), &[truncated, again]);
    run_ok!("compare {SECTION_SEVEN} --shard 2/2 --output {b} --resume");
    assert_eq!(read_text(&b), text);
    run_ok!("merge {b} {a} {b}");
}

#[test]
fn rejects_invalid_shards() {
    let folder = Folder::new();
    let file = folder.path_string("part.jsonl");
    let question = format!("compare {SECTION_SEVEN}");
    for shard in ["0/4", "5/4", "a/b", "1/0", "3", "''"] {
        let typed = format!("{question} --shard {shard} --output {file}");
        run_err(&typed, "such as 3/8");
    }
    let table = "
        QUESTION --shard 1/2 --output FILE --html c.html | cannot be used with '--html
        QUESTION --shard 1/2 --output FILE --csv c.csv | cannot be used with '--csv
        QUESTION --shard 1/2 | --output <FILE>
        QUESTION --shard 1/2 --output - | use `--output FILE`
        compare --workload models/amdahl_training.yaml --policies equi,srpt --shard 1/2 --output FILE | --shard applies only to jobs that arrive
        compare --workload models/campaign_small.yaml --policies fixed,literal --shard 1/2 --output FILE | --shard applies only to jobs that queue
        replay models/section7.yaml --policies first-fit --shard 1/2 --output FILE | --shard";
    assert_errors(table, &[("QUESTION", &question), ("FILE", &file)]);
    assert_eq!(folder.files(), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn resumes_an_interrupted_shard() {
    let folder = Folder::new();
    let [whole, cut] = folder.paths(["whole.jsonl", "cut.jsonl"]);
    let long =
        "--workload models/section7.yaml --policies first-fit,fcfs --precision 1e-6 --events 3e6";
    part(long, "1/1", &whole);
    let shard = format!("compare {long} --shard 1/1 --output {cut}");
    let mut running = command(&shard);
    let child = running.stderr(Stdio::piped()).spawn().unwrap();
    let partial = folder.path_string("cut.jsonl.partial");
    let lines = || fs::read_to_string(&partial).map_or(0, |text| text.lines().count());
    wait_for("finished cell", || lines() >= 2);
    interrupt(child);
    assert_eq!(folder.files(), ["cut.jsonl.partial", "whole.jsonl"]);
    run_err(&format!("merge {partial}"), "truncated");
    run_err(&shard, "--resume");
    run_ok!("{shard} --resume");
    assert_eq!(folder.bytes("cut.jsonl"), folder.bytes("whole.jsonl"));
}

fn path(before: &str) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_synth")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    format!("{before}:{}:{path}", binary.display())
}

#[cfg(unix)]
#[test]
fn a_slurm_job_array_gives_the_same_result_as_one_machine() {
    let folder = Folder::new();
    let sweep = folder.path_string("a sweep");
    folder.command("sbatch", "echo 7");
    let path = path(&folder.path_string(""));
    let mut written = Command::new("sh");
    written.current_dir(in_root("")).env("PATH", &path);
    written.args(["examples/sharded/slurm.sh", "3", &sweep]);
    let written = written.args(words(SECTION_SEVEN)).output();
    assert_eq!(code(written.as_ref().unwrap()), 0, "{written:?}");
    let script = |name: &str, task: &str| {
        let mut sh = Command::new("sh");
        sh.arg(Path::new(&sweep).join(name)).current_dir("/");
        sh.env("PATH", &path).env("SLURM_ARRAY_TASK_ID", task);
        sh.output().unwrap()
    };
    let run_shards = |tasks: [&str; 2]| {
        for task in tasks {
            let ran = script("shard.sbatch", task);
            assert_eq!(code(&ran), 0, "{}", stderr(&ran));
        }
    };
    run_shards(["1", "3"]);
    let missing = script("merge.sbatch", "");
    assert_eq!(code(&missing), 2);
    assert_contains(&stderr(&missing), "shard 2 of 3 is missing");
    run_shards(["2", "3"]);
    let merged = script("merge.sbatch", "");
    assert_eq!(code(&merged), 0, "{}", stderr(&merged));
    let one = folder.path_string("one.json");
    let ran = run_ok!("compare {SECTION_SEVEN} --output {one}");
    assert_eq!(stdout(&merged), stdout(&ran));
    let found = folder.bytes("a sweep/comparison.json");
    assert_eq!(found, folder.bytes("one.json"));
}

#[cfg(unix)]
#[test]
fn examples_distribute_a_comparison() {
    let folder = Folder::new();
    let one = folder.path_string("one.json");
    run_ok!("compare {SECTION_SEVEN} --output {one}");
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let has = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        let result = command.args(arguments).stdin(Stdio::null()).output();
        result.is_ok_and(|output| output.status.success())
    };
    let dask = has(&python, &["-c", "import dask.distributed"]);
    let parallel = has("parallel", &["--version"]);
    for (program, is_there, script) in [
        ("sh", parallel, "examples/sharded/parallel.sh"),
        (&*python, dask, "examples/sharded/with_dask.py"),
    ] {
        if !is_there {
            eprintln!("{script} skipped because GNU parallel or dask for $PYTHON is not installed");
            continue;
        }
        let parts = folder.path_string(&script.replace('/', "-"));
        let mut run = Command::new(program);
        run.current_dir(in_root("")).env("PATH", path("/usr/bin"));
        let ran = run.args([script, "3", &parts]);
        let ran = ran.args(words(SECTION_SEVEN)).output().unwrap();
        assert_eq!(code(&ran), 0, "{script}: {}", stderr(&ran));
        let merged = fs::read(Path::new(&parts).join("comparison.json")).unwrap();
        assert!(merged == folder.bytes("one.json"), "{script}");
    }
}
