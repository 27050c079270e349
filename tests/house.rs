//! What Cargo cannot say of the house: inside a crate imports run one way, too, and every file can be read to its end.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of each crate: each imports only those before it. Which crate may import which stands in their Cargo.toml.
const ORDER: [(&str, &[&str]); 11] = [
    ("crates/core/src", &["number", "document", "artifact"]),
    ("crates/queues/src", &["ctmc", "law"]),
    (
        "crates/multiresource/src",
        &[
            "workload",
            "schedule",
            "policy",
            "artifact",
            "bound",
            "simulator",
            "live",
        ],
    ),
    (
        "crates/make/src",
        &[
            "program",
            "modulation",
            "analysis",
            "optimum",
            "bound",
            "synthesis",
        ],
    ),
    (
        "crates/traces/src",
        &["trace", "replay", "fit", "judge", "forecast"],
    ),
    (
        "ops/slurm/src",
        &["commands", "configuration", "order", "rule", "advice"],
    ),
    ("ops/slurm-bridge/src", &["bridge"]),
    (
        "kinds/compatibility/src",
        &[
            "workload",
            "artifact",
            "analysis",
            "policy",
            "simulator",
            "synthesis",
        ],
    ),
    (
        "kinds/malleable/src",
        &[
            "workload",
            "policy",
            "artifact",
            "simulator",
            "analysis",
            "synthesis",
        ],
    ),
    (
        "kinds/volunteer/src",
        &["workload", "policy", "artifact", "simulator", "synthesis"],
    ),
    (
        "src",
        &[
            "report",
            "kind",
            "multiresource",
            "compatibility",
            "malleable",
            "volunteer",
            "figures",
            "kinds",
            "cli",
        ],
    ),
];

/// A file longer than this is not read to its end.
const MOST_LINES: usize = 500;

#[test]
fn imports_run_one_way() {
    let mut broken = Vec::new();
    for (folder, order) in ORDER {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for file in files_below(&root) {
            let module = file.strip_prefix(&root).unwrap().iter().next().unwrap();
            let module = module.to_str().unwrap().trim_end_matches(".rs");
            let place = |name: &str| order.iter().position(|m| *m == name);
            let Some(own) = place(module) else {
                continue;
            };
            let text = fs::read_to_string(&file).unwrap();
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            for imported in code.flat_map(modules_named) {
                if place(imported).is_some_and(|other| other > own) {
                    broken.push(format!("{}: imports `{imported}`", file.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

/// The modules of its crate that a line of code names.
fn modules_named(line: &str) -> impl Iterator<Item = &str> {
    let after = line.split("crate::").skip(1);
    after.map(|path| {
        path.split(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .unwrap()
    })
}

/// The rule can fail.
#[test]
fn a_line_names_its_modules() {
    let line = "use crate::policy::Rule; let x = crate::synthesis::choose(crate::artifact::A);";
    let named: Vec<&str> = modules_named(line).collect();
    assert_eq!(named, ["policy", "synthesis", "artifact"]);
}

#[test]
fn every_file_can_be_read_to_its_end() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in ["src", "crates"]
        .iter()
        .flat_map(|folder| files_below(&root.join(folder)))
    {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= MOST_LINES, "{}: {lines} lines", file.display());
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| {
        if path.is_dir() {
            files_below(&path)
        } else {
            vec![path]
        }
    };
    let files = entries.flat_map(below);
    files
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect()
}
