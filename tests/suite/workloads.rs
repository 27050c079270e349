//! Tests of invalid workloads. The errors are listed in `tests/corpus/workloads/faults.txt`.

use crate::common::*;
use synth::artifact::Content;
use synth::document::DocumentError;
use synth::kind::Kind;
use synth::kinds::{self, Visitor};

#[derive(Clone, Copy)]
struct Faults<'a>(&'a str);

impl Visitor for Faults<'_> {
    type Output = Option<(Vec<String>, String)>;

    fn visit<K: Kind>(self) -> Self::Output {
        let kind = format!("kind: {}\n", K::Content::WORKLOAD);
        if !self.0.starts_with(&kind) {
            return None;
        }
        match K::Content::parse(self.0, "w.yaml") {
            Err(DocumentError::Faults { faults, report }) => {
                Some((faults.iter().map(ToString::to_string).collect(), report))
            }
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("expected an error in {}", self.0),
        }
    }
}

/// An error that is caused by another error must not be reported.
#[test]
fn rejects_invalid_workloads() {
    for section in read_text("tests/corpus/workloads/faults.txt").split("\n\n") {
        let (document, cases) = section.split_once("\n---\n").unwrap();
        for case in cases.lines() {
            let parts: Vec<String> = case.split(" => ").map(|p| p.replace("\\n", "\n")).collect();
            let [from, to, words] = &parts[..] else {
                panic!("{case}")
            };
            assert_contains(document, from);
            let changed = document.replacen(from, to, 1) + "\n";
            let found = kinds::each(Faults(&changed)).into_iter().flatten().next();
            let (faults, report) = found.unwrap_or_else(|| panic!("{case}: of no kind"));
            let is_reported = faults.iter().any(|fault| fault.contains(words.trim_end()));
            assert!(is_reported, "{case}: {faults:#?}");
            assert!(report.contains("= help: "), "{report}");
            assert!(report.contains("w.yaml:"), "{report}");
        }
    }
}
