//! The house: imports run one way through `src/`, and every file can be read to its end.
//!
//! Beside the rooms, one a kind of workload, stand the parts that know no kind. Inside a room the
//! order is the user's own sentence (what arrives → what can run together → … → what we tell), so
//! that the simulator cannot see how the artifact that it validates was made. What is read is the text of the sources without comments, `#[cfg(test)]` included: a test
//! that needs the whole house belongs in `tests/`.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Each top-level module may import only what stands to its left, and itself; of rooms see [`ROOMS`].
const ORDER: [&str; 17] = [
    "number",
    "document",
    "ctmc",
    "law",
    "artifact",
    "simulation",
    "typed",
    "trace",
    "slurm",
    "report",
    "kind",
    "multiresource",
    "compatibility",
    "malleable",
    "volunteer",
    "kinds",
    "cli",
];

/// The rooms, one a kind of workload, each with the order of its own modules. A room never imports
/// another one.
const ROOMS: [(&str, &[&str]); 4] = [
    (
        "compatibility",
        &[
            "workload",
            "artifact",
            "analysis",
            "policy",
            "simulator",
            "synthesis",
            "report",
            "command",
        ],
    ),
    (
        "malleable",
        &[
            "workload",
            "policy",
            "artifact",
            "simulator",
            "analysis",
            "synthesis",
            "report",
            "command",
        ],
    ),
    (
        "multiresource",
        &[
            "workload",
            "schedule",
            "artifact",
            "program",
            "modulation",
            "analysis",
            "policy",
            "live",
            "optimum",
            "simulator",
            "replay",
            "synthesis",
            "fit",
            "bridge",
            "verbs",
            "report",
            "command",
        ],
    ),
    (
        "volunteer",
        &[
            "workload",
            "policy",
            "artifact",
            "simulator",
            "synthesis",
            "verbs",
            "report",
            "command",
        ],
    ),
];

/// In every room these know the artifact alone…
const BLIND: [&str; 3] = ["artifact", "policy", "simulator"];
/// …and never how it was made.
const MAKERS: [&str; 5] = ["program", "modulation", "analysis", "optimum", "synthesis"];

/// A file longer than this is not read to its end.
const MOST_LINES: usize = 600;

#[test]
fn every_module_of_src_has_its_place_in_the_order() {
    let homeless: Vec<String> = sources()
        .iter()
        .filter(|source| !matches!(source.module.as_str(), "lib" | "main"))
        .filter(|source| {
            let wing = source.wing.as_deref();
            let inner = inner_order(&source.module);
            place(&ORDER, &source.module).is_none()
                || inner.is_some_and(|order| wing.is_some_and(|w| place(order, w).is_none()))
        })
        .map(|source| format!("{}: give it its place in tests/house.rs", source.path))
        .collect();
    assert!(homeless.is_empty(), "\n{}", homeless.join("\n"));
}

#[test]
fn imports_run_one_way() {
    let broken: Vec<String> = sources().iter().flat_map(violations).collect();
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn every_file_can_be_read_to_its_end() {
    let long: Vec<String> = sources()
        .iter()
        .map(|source| (source, source.text.lines().count()))
        .filter(|(_, lines)| *lines > MOST_LINES)
        .map(|(source, lines)| {
            format!(
                "{}: {lines} lines, at most {MOST_LINES}: split it by subject",
                source.path
            )
        })
        .collect();
    assert!(long.is_empty(), "\n{}", long.join("\n"));
}

/// The rule can fail: each planted line is refused, at its line, for its reason.
#[test]
fn a_planted_import_against_the_order_is_found() {
    let against = [
        (
            "multiresource/workload/mod.rs",
            "use crate::multiresource::schedule::Schedule;",
        ),
        (
            "multiresource/policy/fcfs.rs",
            "use crate::multiresource::program::Certificate;",
        ),
        (
            "multiresource/simulator.rs",
            "let x = crate::multiresource::synthesis::synthesize(&w);",
        ),
        (
            "multiresource/artifact/check.rs",
            "use crate::multiresource::{workload::Workload, program};",
        ),
        (
            "multiresource/artifact/check.rs",
            "use crate::{\n    ctmc,\n    multiresource::{workload::{self, Job}, modulation::Loop},\n};",
        ),
        (
            "multiresource/policy/fcfs.rs",
            "use super::super::program::Certificate;",
        ),
        (
            "multiresource/artifact/check/exact.rs",
            "mod tests { use super::super::super::super::program::Master; }",
        ),
        (
            "ctmc/qbd.rs",
            "pub(crate) use super::super::multiresource::Job;",
        ),
        ("ctmc.rs", "use super::multiresource::Job;"),
        ("ctmc.rs", "mod tests { use super::super::kinds::visit; }"),
        ("multiresource/schedule/set.rs", "use crate::Certificate;"),
        ("multiresource/schedule/set.rs", "use crate::*;"),
        (
            "multiresource/program/mod.rs",
            "const QUOTE: char = '\"'; fn f<'a>(x: &'a crate::kinds::Table) {}",
        ),
    ];
    for (path, planted) in against {
        let found = violations(&Source::new(path, &format!("//! Doc.\n{planted}\n")));
        assert_eq!(found.len(), 1, "{path}: {planted}: {found:?}");
    }

    let found = violations(&Source::new(
        "multiresource/policy/msf.rs",
        "//! Doc.\n\nuse crate::multiresource::analysis::Bound;\n",
    ));
    assert_eq!(
        found,
        [
            "src/multiresource/policy/msf.rs:3: imports `multiresource::analysis`: artifact, policy, \
             simulator never import program, modulation, analysis, optimum, synthesis: put what both \
             need into `artifact` or left of it"
        ]
    );
    let found = violations(&Source::new("ctmc.rs", "use crate::kinds::visit;"));
    assert_eq!(
        found,
        [format!(
            "src/ctmc.rs:1: imports `kinds`, which stands to its right in {}: move what is shared to \
             the left",
            ORDER.join(" · ")
        )]
    );
}

/// The rule can pass: imports along the order, and words that are no imports.
#[test]
fn what_is_allowed_is_not_refused() {
    let along = [
        (
            "multiresource/schedule/set.rs",
            "use crate::{ctmc::Qbd, multiresource::{schedule::Schedule, workload::Workload}};",
        ),
        (
            "multiresource/policy/fcfs.rs",
            "use crate::multiresource::artifact::Artifact; use super::Policy;",
        ),
        (
            "multiresource/workload/mod.rs",
            "//! See [`crate::kinds`].\nlet s = 1; // crate::cli",
        ),
        (
            "multiresource/workload/read.rs",
            "mod tests { use super::*; use mycrate::cli; }",
        ),
        (
            "multiresource/workload/read.rs",
            "pub(in crate::multiresource::workload) struct A; pub(crate) struct B;",
        ),
        ("main.rs", "mod cli; fn main() { crate::cli::run() }"),
        ("lib.rs", "pub mod cli; pub use crate::report::Table;"),
    ];
    for (path, text) in along {
        let found = violations(&Source::new(path, text));
        assert!(found.is_empty(), "{path}: {text}: {found:?}");
    }
}

/// One file of `src/`.
struct Source {
    /// From the root of the repository, for messages.
    path: String,
    /// The top-level module that it belongs to (`lib` and `main` for the roots).
    module: String,
    /// The module inside of it, below the file or folder of the first.
    wing: Option<String>,
    /// How many times `super::` leads from its top to the crate's root; 0 for a root. More of
    /// them, as in `mod tests`, are taken to lead there too.
    depth: usize,
    text: String,
}

impl Source {
    /// `path` is relative to `src/`, with `/` between its parts.
    fn new(path: &str, text: &str) -> Self {
        let stem = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let parts: Vec<&str> = stem.split('/').collect();
        let is_root = matches!(stem, "lib" | "main");
        Self {
            path: format!("src/{path}"),
            module: parts[0].to_owned(),
            wing: parts.get(1).map(|part| (*part).to_owned()),
            depth: if is_root { 0 } else { parts.len() },
            text: text.to_owned(),
        }
    }
}

/// All of `src/**/*.rs`, in the order of their paths.
fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    collect(&root, &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "no sources in {}", root.display());
    paths
        .iter()
        .map(|path| {
            let inside = path.strip_prefix(&root).expect("collected below the root");
            let name = inside.to_str().expect("names in src/ are UTF-8");
            let text = fs::read_to_string(path).expect("a source can be read");
            Source::new(&name.replace('\\', "/"), &text)
        })
        .collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of src/ can be listed") {
        let path = entry.expect("an entry of src/ can be read").path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

fn place(order: &[&str], module: &str) -> Option<usize> {
    order.iter().position(|name| *name == module)
}

/// The order inside of a room; `None` for what is no room.
fn inner_order(module: &str) -> Option<&'static [&'static str]> {
    let room = ROOMS.iter().find(|(name, _)| *name == module);
    room.map(|(_, order)| *order)
}

/// What the rules say against one file, one message per import.
fn violations(source: &Source) -> Vec<String> {
    // The root declares the modules, and the binary is at the right end: these may see everything.
    if matches!(source.module.as_str(), "lib" | "main" | "cli") {
        return Vec::new();
    }
    imports(source)
        .into_iter()
        .filter_map(|(line, top, inner)| {
            let name = inner
                .as_ref()
                .map_or(top.clone(), |i| format!("{top}::{i}"));
            let why = objection(source, &top, inner.as_deref())?;
            Some(format!("{}:{line}: imports `{name}`{why}", source.path))
        })
        .collect()
}

/// Why this file may not import that module; `None` if it may.
fn objection(source: &Source, top: &str, inner: Option<&str>) -> Option<String> {
    let Some(theirs) = place(&ORDER, top) else {
        return Some(String::from(
            ", which is no module of the house: import from the module that defines it",
        ));
    };
    let to_the_right = |order: &[&str]| {
        let order = order.join(" · ");
        format!(", which stands to its right in {order}: move what is shared to the left")
    };
    if top != source.module {
        if inner_order(top).is_some() && inner_order(&source.module).is_some() {
            return Some(": rooms never import each other".into());
        }
        // A module without a place is reported by its own test.
        return (theirs > place(&ORDER, &source.module)?).then(|| to_the_right(&ORDER));
    }
    let (order, wing, inner) = (inner_order(top)?, source.wing.as_deref()?, inner?);
    if BLIND.contains(&wing) && MAKERS.contains(&inner) {
        return Some(format!(
            ": {} never import {}: put what both need into `artifact` or left of it",
            BLIND.join(", "),
            MAKERS.join(", ")
        ));
    }
    (place(order, inner)? > place(order, wing)?).then(|| to_the_right(order))
}

/// The modules that a file mentions, each with its line: the first name below the crate's root, and
/// the second one where the first is a room. Read are `crate::X`, each part of `crate::{X, …}`,
/// and `super::…::X` where that leads to the root or to the room's.
fn imports(source: &Source) -> Vec<(usize, String, Option<String>)> {
    let code = code_of(&source.text);
    let mut found = Vec::new();
    for (start, _) in code.match_indices("::") {
        let Some(word) = last_word(&code[..start]) else {
            continue;
        };
        let after = start + 2;
        match word {
            "crate" => found.extend(from_root(&code, after)),
            "super" => {
                let supers = count_supers(&code[..start]);
                let leads = |length: usize| length > 0 && supers >= length;
                let known = |order: &[&str], name: &str| place(order, name).is_some();
                if leads(source.depth) {
                    let names = from_root(&code, after).into_iter();
                    found.extend(names.filter(|(_, top, _)| known(&ORDER, top)));
                }
                if let Some(order) = inner_order(&source.module)
                    && leads(source.depth.saturating_sub(1))
                {
                    let names = heads(&code[after..]).into_iter();
                    let names = names.filter(|(_, name)| known(order, name));
                    let module = || source.module.clone();
                    found.extend(names.map(|(at, name)| (after + at, module(), Some(name))));
                }
            }
            _ => {}
        }
    }
    let line = |offset: usize| 1 + code[..offset].matches('\n').count();
    let found = found
        .into_iter()
        .map(|(at, top, inner)| (line(at), top, inner));
    found.collect()
}

/// What is named from the crate's root at this offset: top-level modules, and modules of rooms.
fn from_root(code: &str, after: usize) -> Vec<(usize, String, Option<String>)> {
    let mut found = Vec::new();
    for (at, top) in heads(&code[after..]) {
        let rest = after + at + top.len();
        let inside = match inner_order(&top) {
            Some(_) if code[rest..].starts_with("::") => heads(&code[rest + 2..]),
            _ => Vec::new(),
        };
        if inside.is_empty() {
            found.push((after + at, top, None));
        } else {
            let names = inside.into_iter();
            found.extend(names.map(|(i, name)| (rest + 2 + i, top.clone(), Some(name))));
        }
    }
    found
}

/// The identifier that ends the text, if one does.
fn last_word(text: &str) -> Option<&str> {
    let start = text.trim_end_matches(is_word).len();
    (start < text.len()).then(|| &text[start..])
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How many `super`s in a row end the text: 2 for `use super::super`.
fn count_supers(text: &str) -> usize {
    let chain = text.trim_end_matches(|c| is_word(c) || c == ':').len();
    text[chain..]
        .rsplit("::")
        .take_while(|part| *part == "super")
        .count()
}

/// The first names of what follows `crate::`, with their offsets: one, or one per part of a group.
fn heads(tail: &str) -> Vec<(usize, String)> {
    let Some(group) = tail.strip_prefix('{') else {
        return head(tail, 0).into_iter().collect();
    };
    let mut names = Vec::new();
    let (mut depth, mut part) = (1, 0);
    for (i, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && c == ',') {
            names.extend(head(&group[part..i], part + 1));
            part = i + 1;
        }
        if depth == 0 {
            break;
        }
    }
    names
}

/// The name at the start of the text, or `*`; its place is counted from `offset`.
fn head(text: &str, offset: usize) -> Option<(usize, String)> {
    let trimmed = text.trim_start();
    let end = trimmed
        .find(|c| !is_word(c) && c != '*')
        .unwrap_or(trimmed.len());
    let start = offset + text.len() - trimmed.len();
    (end > 0).then(|| (start, trimmed[..end].to_owned()))
}

/// The text without what follows `//`; its lines stay.
fn code_of(text: &str) -> String {
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned() + "\n";
    text.lines().map(code).collect()
}
