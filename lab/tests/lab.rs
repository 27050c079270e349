//! Tests of the command line of `synth-lab`.
#![allow(clippy::unwrap_used)]

use std::ffi::OsString;
use std::path::Path;

use synth::cli::{EmbeddedAnswer, Embedding};

fn typed(line: &str) -> EmbeddedAnswer {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    synth_lab::PROGRAM.answer(&words, Embedding::new(Default::default(), None))
}

fn fails(line: &str, why: &str) {
    let answer = typed(line);
    let error = answer.error.unwrap_or_default();
    assert_eq!(answer.code, 2, "{line}: {error}");
    assert!(error.contains(why), "{line}: {error}");
}

#[test]
fn writes_figures_tables_and_findings() {
    let folder = tempfile::tempdir().unwrap();
    let name = |file: &str| folder.path().join(file).display().to_string();
    for (paper, figures, place) in [
        ("msr", "3,5", "7.3"),
        ("quickswap", "2,4,8", "6.2"),
        ("hesrpt", "4", "4.2, figure 4"),
        ("balanced-fairness", "1", "figures 1 to 4"),
    ] {
        let to = name(paper);
        let line = format!("figures {paper} --output {to} --figure {figures} --events 2e4");
        let answer = typed(&line);
        assert_eq!(answer.code, 0, "{line}: {:?}", answer.error);
        assert!(answer.printed.contains("Claims of the paper"));
        for figure in figures.split(',') {
            let read =
                |end: &str| std::fs::read_to_string(format!("{to}/figure{figure}.{end}")).unwrap();
            let (lines, picture) = (read("csv"), read("svg"));
            let heading = "panel,curve,kind,x,y,half_width";
            assert!(lines.lines().count() > 5 && lines.starts_with(heading));
            let numbers = !lines.contains("NaN") && !lines.contains("inf");
            assert!(numbers, "{paper} {figure}");
            assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
        }
        let findings = std::fs::read_to_string(format!("{to}/findings.csv")).unwrap();
        assert!(findings.contains(place), "{findings}");
        assert!(findings.lines().count() > 1);
    }
    let missing = format!("figures msr --output {} --figure 9", name("x"));
    fails(&missing, "there is no figure 9");
    fails("figures msr", "--output");
    fails(&format!("figures msq --output {}", name("x")), "msr");
}

#[test]
fn rejects_unwritable_destinations_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "as it was").unwrap();
    let name = |file: &Path| file.display().to_string();
    for place in ["missing/x", "file/x", "."] {
        let to = name(&folder.path().join(place));
        fails(&format!("bench --output {to}"), "cannot write");
    }
    for folder_for in ["figures msr --figure 2 --output", "bench --write"] {
        let line = format!("{folder_for} {}", name(&file));
        fails(&line, "cannot write to the folder");
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"as it was");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
