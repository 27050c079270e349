//! These tests check `README.md` and `docs/`: the commands print what the documents show, the
//! workloads are valid, and the links are not broken.
//!
//! A command is a line of a ```` ```console ```` block that begins with `$ `, and it is followed by
//! its output. The commands of a document run in order in one folder, which contains `models/`. The
//! commands of cargo, of `scripts/`, of Python and of `synth-lab` are skipped. A document may omit
//! lines of the output, and `…` may replace the end of a line. All other lines must appear in the
//! same order. Lines that contain `±` are not compared. A command must return the exit code in its
//! comment, such as `# exit code 1`, or 0. If a block follows `<!-- file: NAME -->`, it is written
//! to this file.
//!
//! Simulations use fewer events than in the document, so only the exit code and the headers of the
//! tables are compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::common::{in_root, path_with, read_text};

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
}

fn documents() -> Vec<(PathBuf, String)> {
    let mut paths = vec![in_root("README.md")];
    pages(&in_root("docs"), &mut paths);
    paths.sort();
    let paths = paths.into_iter();
    paths.map(|path| (path.clone(), read_text(path))).collect()
}

fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut inside: Option<(bool, String)> = None;
    for line in text.lines() {
        match (&mut inside, line.strip_prefix("```")) {
            (None, Some(info)) => inside = Some((info.trim() == language, String::new())),
            (None, None) => {}
            (Some((is_match, block)), Some(_)) => {
                if *is_match {
                    blocks.push(std::mem::take(block));
                }
                inside = None;
            }
            (Some((_, block)), None) => {
                block.push_str(line);
                block.push('\n');
            }
        }
    }
    assert!(inside.is_none(), "a fenced block is not closed");
    blocks
}

struct Step {
    command: String,
    code: i32,
    shown: Vec<String>,
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for block in blocks(text, "console") {
        assert!(block.starts_with("$ "), "begin with a command:\n{block}");
        for line in block.lines() {
            let Some(typed) = line.strip_prefix("$ ") else {
                steps.last_mut().unwrap().shown.push(line.to_owned());
                continue;
            };
            let (command, code) = match typed.split_once("# exit code ") {
                Some((command, code)) => (command, code.trim().parse().unwrap()),
                None => (typed, 0),
            };
            steps.push(Step {
                command: command.trim().to_owned(),
                code,
                shown: Vec::new(),
            });
        }
    }
    steps.retain(|step| {
        let skipped = ["cargo ", "scripts/", "python3 ", "synth-lab "];
        !skipped.iter().any(|start| step.command.starts_with(start))
    });
    steps
}

/// Returns the options that make a simulation shorter, if there is one.
fn fewer_events(command: &str) -> Option<&'static str> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let has = |pair: [&str; 2]| words.windows(2).any(|w| w == pair);
    match words[..] {
        ["synth", "compare" | "simulate", ..] if words.contains(&"--events") => None,
        // The number of events is given by the trace or by the recorded jobs.
        ["synth", "replay", ..] => None,
        ["synth", "simulate", ..] if words.contains(&"--jobs") => None,
        ["synth", "simulate", ..] => Some("--events 2e6"),
        ["synth", "compare", ..] => Some("--events 1e6"),
        ["synth", "optimum", ..] => Some("--events 2e5"),
        ["synth", "limit", ..] => Some("--events 1e6"),
        ["synth", "--workload", model, ..] if model.starts_with("models/campaign_") => {
            Some("--work 4e6 --campaigns 2")
        }
        ["synth", "--workload" | "--quiet", ..]
            if has(["--preemption", "none"])
                && !has(["--family", "msr"])
                && !has(["--workload", "models/fleet.yaml"])
                // With a smaller budget, another policy that is as good could be selected.
                && !has(["--workload", "models/vms.yaml"]) =>
        {
            Some("--work 2e7")
        }
        _ => None,
    }
}

fn is_rule(line: &str) -> bool {
    line.starts_with('─')
}

/// Returns the lines that must be printed, which are only the table headers if `simulated`.
fn compared(step: &Step, simulated: bool) -> Vec<String> {
    let line = |n: usize| step.shown.get(n).map_or("", String::as_str);
    let is_compared = |n: &usize| {
        let is_head = is_rule(line(n + 1)) && (*n == 0 || !line(n - 1).starts_with(' '));
        is_head || !simulated && !is_rule(line(*n))
    };
    let lines = (0..step.shown.len()).filter(is_compared);
    lines
        .map(|n| words(line(n)))
        .filter(|line| !line.is_empty() && line != "…" && !line.contains('±'))
        // Run times depend on the machine.
        .filter(|line| !line.contains(" took "))
        .collect()
}

fn shows(shown: &str, printed: &str) -> bool {
    match shown.split_once('…') {
        Some((start, _)) => printed.starts_with(start.trim_end()),
        None => printed == shown,
    }
}

/// The width of a column depends on rows that the document may omit.
fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn run(document: &Path, text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let link = |from: &Path, to: &str| {
        std::os::unix::fs::symlink(from, folder.path().join(to)).unwrap();
    };
    link(&in_root("models"), "models");
    fs::create_dir(folder.path().join("bin")).unwrap();
    link(Path::new(env!("CARGO_BIN_EXE_synth")), "bin/synth");
    let path = path_with(&folder.path().join("bin"));
    for file in text.split("<!-- file: ").skip(1) {
        let (name, rest) = file.split_once(" -->\n```").unwrap();
        let (_, block) = rest.split_once('\n').unwrap();
        let (block, _) = block.split_once("```").unwrap();
        fs::write(folder.path().join(name), block).unwrap();
    }
    let mut others: Vec<String> = Vec::new();
    for step in steps(text) {
        let fewer = fewer_events(&step.command);
        let reads_other = others.iter().any(|file| step.command.contains(file));
        let is_other = fewer.is_some() || reads_other;
        if is_other {
            let mut words = step.command.split_whitespace();
            words.find(|word| ["-o", "--output"].contains(word));
            others.extend(words.next().filter(|file| *file != "-").map(str::to_owned));
        }
        let (own, piped) = match step.command.split_once(" | ") {
            Some((own, piped)) => (own, format!("| {piped}")),
            None => (&*step.command, String::new()),
        };
        let typed = format!("{own} {} {piped}", fewer.unwrap_or_default());
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1; {typed}")])
            .current_dir(folder.path())
            .env("PATH", &path)
            .env_remove("COLUMNS")
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let place = format!("{}: $ {typed}", document.display());
        let found = output.status.code();
        assert_eq!(found, Some(step.code), "{place}\nprinted:\n{printed}");
        let mut lines = printed.lines().map(words);
        for shown in compared(&step, is_other) {
            assert!(
                lines.any(|line| shows(&shown, &line)),
                "{place}\nthe command does not print these lines in this order:\n{shown}\noutput:\n{printed}"
            );
        }
    }
}

fn is_tutorial_or_readme(path: &Path) -> bool {
    path.ends_with("README.md") || path.iter().any(|part| part == "tutorials")
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn commands_print_what_the_documents_show() {
    run_all(is_tutorial_or_readme);
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn commands_print_what_all_other_documents_show() {
    run_all(|path| !is_tutorial_or_readme(path));
}

fn run_all(is_in: fn(&Path) -> bool) {
    let mut documents = documents();
    documents.retain(|(path, _)| is_in(path));
    thread::scope(|scope| {
        for (path, text) in &documents {
            scope.spawn(move || run(path, text));
        }
    });
    let commands: usize = documents.iter().map(|(_, text)| steps(text).len()).sum();
    assert!(commands > 15, "{commands} commands");
}

#[test]
fn links_are_not_broken() {
    for (path, text) in documents() {
        let links = text.split("](").skip(1).filter_map(|s| s.split_once(')'));
        for (link, _) in links {
            let file = link.split('#').next().unwrap();
            if file.is_empty() || file.starts_with("http") {
                continue;
            }
            let target = path.parent().unwrap().join(file);
            assert!(target.exists(), "{}: ({link})", path.display());
        }
    }
}

#[test]
fn every_page_is_in_the_index() {
    let docs = in_root("docs");
    let index = read_text("docs/index.md");
    for (path, _) in documents() {
        if let Ok(page) = path.strip_prefix(&docs)
            && page != Path::new("index.md")
        {
            let link = format!("]({})", page.display());
            assert!(index.contains(&link), "docs/index.md has no {link}");
        }
    }
}

#[test]
fn the_reference_is_up_to_date() {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let mut check = Command::new(python);
    check.arg(in_root("scripts/reference")).arg("--check");
    let Ok(output) = check.env("SYNTH", env!("CARGO_BIN_EXE_synth")).output() else {
        eprintln!("skipped: python3 is not installed and $PYTHON is not set");
        return;
    };
    assert!(output.status.success(), "{output:?}");
}
