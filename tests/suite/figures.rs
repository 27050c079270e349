//! Tables and pictures of comparisons.
#![allow(clippy::unwrap_used)]

use crate::common::*;

/// The table of a comparison has E[N] and the weighted mean on request.
#[test]
fn comparisons_show_other_means() {
    let folder = Folder::new();
    let base = "compare --workload models/one_or_all.yaml --events 2e5 --policies msfq,first-fit";
    let output = works(&format!("{base} --loads .25,.5 --show number,weighted"));
    let printed = stderr(&output) + &stdout(&output);
    for part in ["E[N]", "Weighted E[T]", "ρ = 0.25 [jobs]"] {
        has(&printed, part);
    }
    // The page has no double with all its digits.
    let page = folder.name("r.html");
    synth(&format!(
        "{base},server-filling --loads .25279,.4 --html {page}"
    ));
    let page = String::from_utf8(folder.bytes("r.html")).unwrap();
    let is_long = |word: &str| {
        word.split_once('.')
            .is_some_and(|(_, digits)| digits.len() > 7)
    };
    let mut words = page.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    assert_eq!(words.find(|word| is_long(word)), None);
    fails(
        "compare --workload models/campaign_small.yaml --policies fixed,literal --show number",
        "leave it out",
    );
    fails(
        "compare --workload models/amdahl_training.yaml --policies equi --loads .2",
        "leave it out",
    );
    fails(&format!("{base} --rates 2"), "--loads");
}
