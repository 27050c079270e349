//! The house: imports run one way through `src/`, and every file can be read to its end.
//!
//! The order is the user's own sentence (what arrives → what can run together → … → what we
//! tell), so that the simulator cannot see how the artifact that it validates was made. What is
//! read is the text of the sources without comments and literals, `#[cfg(test)]` included: a test
//! that needs the whole house belongs in `tests/`.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Each top-level module may import only what stands to its left, and itself.
const ORDER: [&str; 13] = [
    "ctmc",
    "workload",
    "schedule",
    "artifact",
    "program",
    "modulation",
    "analysis",
    "policy",
    "optimum",
    "simulator",
    "synthesis",
    "report",
    "cli",
];

/// These know the artifact alone…
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
        .filter(|source| place(&source.module).is_none())
        .map(|source| {
            format!(
                "{}: module `{}` is not in ORDER: move it into one of {ORDER:?}, or give it its \
                 place in ORDER (tests/house.rs) and in the table of lib.rs",
                source.path, source.module
            )
        })
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
        ("workload/mod.rs", "use crate::schedule::Schedule;"),
        ("policy/fcfs.rs", "use crate::program::Certificate;"),
        ("simulator.rs", "let x = crate::synthesis::synthesize(&w);"),
        (
            "artifact/check.rs",
            "use crate::{workload::Workload, program};",
        ),
        (
            "artifact/check.rs",
            "use crate::{\n    workload::{self, Job},\n    modulation::Loop,\n};",
        ),
        ("ctmc/qbd.rs", "pub(crate) use super::super::workload::Job;"),
        ("ctmc.rs", "use super::workload::Job;"),
        ("ctmc.rs", "mod tests { use super::super::workload::Job; }"),
        ("schedule/set.rs", "use crate::Certificate;"),
        ("schedule/set.rs", "use crate::*;"),
        (
            "program/mod.rs",
            "const QUOTE: char = '\"'; fn f<'a>(x: &'a crate::report::Table) {}",
        ),
        (
            "simulator/run.rs",
            "let s = r#\"a \" // \"#; crate::analysis::bound()",
        ),
    ];
    for (path, planted) in against {
        let found = violations(&Source::new(path, &format!("//! Doc.\n{planted}\n")));
        assert_eq!(found.len(), 1, "{path}: {planted}: {found:?}");
    }

    let found = violations(&Source::new(
        "policy/msf.rs",
        "//! Doc.\n\nuse crate::analysis::Bound;\n",
    ));
    assert_eq!(
        found,
        [
            "src/policy/msf.rs:3: `policy` imports `analysis`: artifact, policy, simulator never \
          import program, modulation, analysis, optimum, synthesis: put what both need into `artifact` or left of it"
        ]
    );
    let found = violations(&Source::new("ctmc.rs", "use crate::report::Table;"));
    assert_eq!(
        found,
        [
            "src/ctmc.rs:1: `ctmc` imports `report`, which stands to its right in ctmc · workload · \
          schedule · artifact · program · modulation · analysis · policy · optimum · simulator · synthesis · \
          report · cli: move what is shared to the left"
        ]
    );
}

/// The rule can pass: imports along the order, and words that are no imports.
#[test]
fn what_is_allowed_is_not_refused() {
    let along = [
        (
            "schedule/set.rs",
            "use crate::{schedule::Schedule, workload::Workload};",
        ),
        (
            "policy/fcfs.rs",
            "use crate::artifact::Artifact; use super::Policy;",
        ),
        (
            "workload/mod.rs",
            "//! See [`crate::report`]. /* crate::cli */\n/* a /* b */ crate::cli */",
        ),
        (
            "workload/read.rs",
            "let s = \"\\\" crate::cli\"; let r = r\"\\\"; let t = '\\''; // crate::cli",
        ),
        (
            "workload/read.rs",
            "mod tests { use super::*; use mycrate::cli; }",
        ),
        (
            "workload/read.rs",
            "pub(in crate::workload) struct A; pub(crate) struct B;",
        ),
        (
            "cli/check.rs",
            "use synth::{Error, artifact::Artifact, synthesis}; use crate::cli::Answer;",
        ),
        (
            "main.rs",
            "mod cli; use synth::report; fn main() { crate::cli::run() }",
        ),
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
            depth: if is_root { 0 } else { parts.len() },
            text: text.to_owned(),
        }
    }

    /// The binary's own tree, which names the library `synth`.
    fn is_binary(&self) -> bool {
        matches!(self.module.as_str(), "main" | "cli")
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

fn place(module: &str) -> Option<usize> {
    ORDER.iter().position(|name| *name == module)
}

/// What the rules say against one file, one message per import.
fn violations(source: &Source) -> Vec<String> {
    if source.module == "lib" {
        return Vec::new(); // the root declares the modules, and may show the world any of them
    }
    imports(source)
        .into_iter()
        .filter_map(|(line, name)| {
            let (path, module) = (&source.path, &source.module);
            objection(source, &name)
                .map(|why| format!("{path}:{line}: `{module}` imports `{name}`{why}"))
        })
        .collect()
}

/// Why this file may not import that name of the crate's root; `None` if it may.
fn objection(source: &Source, name: &str) -> Option<String> {
    let module = source.module.as_str();
    if source.is_binary() {
        return None; // at the right end: it may see everything
    }
    let Some(theirs) = place(name) else {
        return Some(String::from(
            ", which is no module of the house: import from the module that defines it",
        ));
    };
    if BLIND.contains(&module) && MAKERS.contains(&name) {
        return Some(format!(
            ": {} never import {}: put what both need into `artifact` or left of it",
            BLIND.join(", "),
            MAKERS.join(", ")
        ));
    }
    // A module without a place is reported by its own test.
    (theirs > place(module)?).then(|| {
        format!(
            ", which stands to its right in {}: move what is shared to the left",
            ORDER.join(" · ")
        )
    })
}

/// The names of the crate's root that a file mentions, each with its line: `X` for `crate::X`, for
/// each part of `crate::{X, …}`, for `synth::X` in the binary, and for `super::…::X` where that
/// leads to the root.
fn imports(source: &Source) -> Vec<(usize, String)> {
    let code = code_of(&source.text);
    let mut found = Vec::new();
    for (start, _) in code.match_indices("::") {
        let Some(word) = last_word(&code[..start]) else {
            continue;
        };
        let before = &code[..start - word.len()];
        let after = &code[start + 2..];
        let names = match word {
            "crate" => heads(after),
            "synth" if source.is_binary() && !before.ends_with("::") => heads(after),
            "super" if (1..=count_supers(&code[..start])).contains(&source.depth) => heads(after)
                .into_iter()
                .filter(|(_, name)| place(name).is_some())
                .collect(),
            _ => continue,
        };
        found.extend(names.into_iter().map(|(offset, name)| {
            let line = 1 + code[..start + 2 + offset].matches('\n').count();
            (line, name)
        }));
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

/// The text with comments, strings and character literals blanked out; its lines stay.
fn code_of(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = hidden_length(rest);
        if length == 0 {
            code.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            code.push(' ');
            code.extend(rest[..length].matches('\n'));
            rest = &rest[length..];
        }
    }
    code
}

/// The length in bytes of the comment or literal that starts here; 0 if none does.
fn hidden_length(rest: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return comment_length(rest);
    }
    if let Some(inside) = rest.strip_prefix('"') {
        return 1 + length_to(inside, '"');
    }
    if let Some(raw) = rest.strip_prefix('r') {
        let quote = raw.trim_start_matches('#');
        let hashes = &raw[..raw.len() - quote.len()];
        let Some(inside) = quote.strip_prefix('"') else {
            return 0; // a word with an r in it, or r#type
        };
        let end = format!("\"{hashes}");
        let inside_length = inside.find(&end).map_or(inside.len(), |i| i + end.len());
        return rest.len() - inside.len() + inside_length;
    }
    if let Some(inside) = rest.strip_prefix('\'') {
        let mut next = inside.chars();
        let is_literal = next.next() == Some('\\') || next.next() == Some('\'');
        return if is_literal {
            1 + length_to(inside, '\'')
        } else {
            0
        }; // else a lifetime
    }
    0
}

/// The length of a block comment, which may hold others.
fn comment_length(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// The length up to and with the closing quote; a backslash hides what follows it.
fn length_to(inside: &str, quote: char) -> usize {
    let mut escaped = false;
    for (i, c) in inside.char_indices() {
        if c == quote && !escaped {
            return i + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    inside.len()
}
