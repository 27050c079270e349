//! These tests check rules that Cargo cannot check: the direction of imports between the modules of
//! a crate, the length of files and the use of dependencies.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of each crate. A module may only import the modules that are listed before it.
const ORDER: [(&str, &str); 12] = [
    ("crates/core/src", "number document artifact"),
    ("crates/queues/src", "ctmc distribution"),
    (
        "crates/multiresource/src",
        "workload schedule policy artifact bound simulator",
    ),
    (
        "crates/make/src",
        "program modulation analysis optimum bound synthesis",
    ),
    ("crates/traces/src", "trace replay"),
    ("ops/slurm/src", "commands configuration order change rule"),
    ("crates/verb/src", "files report output verb kind loads"),
    ("ops/advice/src", "judge forecast slurm"),
    (
        "kinds/compatibility/src",
        "workload artifact analysis policy simulator synthesis report verbs",
    ),
    (
        "kinds/malleable/src",
        "workload policy artifact simulator analysis synthesis policies report verbs",
    ),
    (
        "kinds/volunteer/src",
        "workload policy artifact simulator synthesis report policies verbs",
    ),
    ("src", "multiresource kinds cli"),
];

const MOST_LINES: usize = 500;

#[test]
fn imports_have_one_direction() {
    let mut broken = Vec::new();
    for (folder, order) in ORDER {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for file in files_below(&root) {
            let path = file.strip_prefix(&root).unwrap().with_extension("");
            let modules: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
            let place = |name: &str| order.split(' ').position(|own| own == name);
            let Some(own) = place(modules[0]) else {
                continue;
            };
            let depth = modules.len() - usize::from(modules.ends_with(&["mod"]));
            let text = fs::read_to_string(&file).unwrap();
            for imported in modules_named(&text, depth) {
                if place(&imported).is_some_and(|other| other > own) {
                    broken.push(format!("{}: imports `{imported}`", file.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

/// Returns the top-level modules that are named in the code of a module, after `crate::` or after
/// `depth` times `super::`, where `depth` is the depth of the module.
fn modules_named(text: &str, depth: usize) -> Vec<String> {
    let code = text.lines();
    let code = code.filter(|line| !line.trim_start().starts_with("//"));
    let code: String = code.flat_map(|line| [line, "\n"]).collect();
    let to_root = "super::".repeat(depth);
    let paths = code.split("crate::").skip(1);
    let paths = paths.chain(code.split(&to_root).skip(1));
    paths.flat_map(first_of_each).collect()
}

fn first_of_each(path: &str) -> Vec<String> {
    let Some(inside) = path.strip_prefix('{') else {
        let name = path.split(|c: char| !c.is_alphanumeric() && c != '_');
        return name.take(1).map(str::to_owned).collect();
    };
    let (mut depth, mut names, mut name) = (1, Vec::new(), Some(String::new()));
    for c in inside.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => names.extend(name.replace(String::new())),
            c if c.is_alphanumeric() || c == '_' => name.iter_mut().for_each(|own| own.push(c)),
            c if c.is_whitespace() => {}
            _ => names.extend(name.take()),
        }
        if depth == 0 {
            break;
        }
    }
    names.extend(name);
    names.retain(|name| !name.is_empty());
    names
}

#[test]
fn finds_the_modules_named_in_code() {
    let of = |text| modules_named(text, 2);
    let line = "use crate::policy::Rule; let x = crate::synthesis::choose(crate::artifact::A);";
    assert_eq!(of(line), ["policy", "synthesis", "artifact"]);
    let found = of("use crate::{\n    policy::{Job, Rule},\n    synthesis,\n};");
    assert_eq!(found, ["policy", "synthesis"]);
    assert_eq!(of("use super::super::simulator::Run;"), ["simulator"]);
    assert_eq!(of("use super::sibling;\n// use crate::policy;"), [""; 0]);
}

#[test]
fn files_are_not_too_long() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in ["src", "crates", "kinds", "ops", "lab"]
        .iter()
        .flat_map(|folder| files_below(&root.join(folder)))
    {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= MOST_LINES, "{}: {lines} lines", file.display());
    }
}

#[test]
fn every_dependency_is_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let below = |folder| fs::read_dir(root.join(folder)).unwrap();
    let crates = ["crates", "kinds", "ops"].into_iter().flat_map(below);
    let crates = crates.map(|entry| entry.unwrap().path());
    let mut unused = Vec::new();
    for package in crates.chain([root.to_path_buf(), root.join("lab")]) {
        let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
        let folders = ["src", "tests", "benches", "examples"].map(|own| package.join(own));
        let files = folders.iter().filter(|own| own.is_dir());
        let files = files.flat_map(|own| files_below(own));
        let code: String = files.map(|own| fs::read_to_string(own).unwrap()).collect();
        for name in dependencies(&manifest) {
            // A feature can be the only use of an optional dependency.
            if manifest.contains(&format!("\"{name}/")) {
                continue;
            }
            let called = name.replace('-', "_");
            if !code.contains(&format!("{called}::")) && !code.contains(&format!("use {called}")) {
                unused.push(format!("{}: `{name}`", package.display()));
            }
        }
    }
    assert_eq!(unused, [""; 0]);
}

fn dependencies(manifest: &str) -> Vec<&str> {
    let mut is_listed = false;
    let names = manifest.lines().filter_map(|line| {
        if line.starts_with('[') {
            is_listed = line.ends_with("dependencies]") && !line.contains("workspace");
        }
        let name = line.split(['.', ' ', '=']).next()?;
        let is_name = is_listed && name.starts_with(|c: char| c.is_ascii_alphabetic());
        is_name.then_some(name)
    });
    names.collect()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let entries = entries.map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| {
        if path.ends_with("target") {
            Vec::new()
        } else if path.is_dir() {
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
