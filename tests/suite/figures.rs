//! Tests of the tables and figures of comparisons.
#![allow(clippy::unwrap_used)]

use crate::common::*;

#[test]
fn comparisons_show_rounded_numbers() {
    let folder = Folder::new();
    let base = "compare --workload models/one_or_all.yaml --events 2e5 --policies msfq,first-fit";
    let page = folder.path_string("r.html");
    synth(&format!(
        "{base},server-filling --loads .25279,.4 --html {page}"
    ));
    let page = read_text(page);
    let is_long = |word: &str| {
        word.split_once('.')
            .is_some_and(|(_, digits)| digits.len() > 7)
    };
    let mut words = page.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    assert_eq!(words.find(|word| is_long(word)), None);
    let typed = "compare --workload models/amdahl_training.yaml --policies equi --loads .2";
    run_err(typed, "leave it out");
    run_err(&format!("{base} --rates 2"), "--loads");
}
