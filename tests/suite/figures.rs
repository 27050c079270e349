//! Tables and pictures: of a sweep, and of comparisons.
#![allow(clippy::unwrap_used)]

use crate::common::*;

/// Section 7 at ρ = .9: the best switching rate of each route is the optimum that a synthesis finds, not the best of the grid.
#[test]
fn a_sweep_has_the_best_switching_rate() {
    let folder = Folder::new();
    let [page, table] = ["s.html", "s.csv"].map(|name| folder.name(name));
    works(&format!(
        "sweep-alpha models/section7.yaml --points 5 --html {page} -o {table}"
    ));
    let page = String::from_utf8(folder.bytes("s.html")).unwrap();
    for best in ["0.1731", "53.48", "0.05270"] {
        has(&page, &format!(">{best}<"));
    }
    let table = String::from_utf8(folder.bytes("s.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 4 * 6);
}

/// The table of a comparison has E[N] and the weighted mean on request, and arrival rates in place of loads.
#[test]
fn comparisons_show_other_means_and_rates() {
    let folder = Folder::new();
    let base = "compare --workload models/one_or_all.yaml --policies msfq,first-fit --events 2e5";
    let by_rate = folder.name("r.json");
    let output = works(&format!(
        "{base} --rates 2,3.9 --show number,weighted --output {by_rate}"
    ));
    let printed = stderr(&output) + &stdout(&output);
    for part in [
        "λ = 2",
        "λ = 3.9",
        "E[N] [jobs]",
        "weighted E[T] [s]",
        "λ = 2: ",
    ] {
        has(&printed, part);
    }
    // The page has the rates as typed, and no double with all its digits but where pictures are drawn.
    let page = folder.name("r.html");
    let typed = "--rates 1.973,3.1 --policies msfq,first-fit,server-filling";
    let compared = format!("compare --workload models/one_or_all.yaml {typed} --events 2e5");
    synth(&format!("{compared} --html {page}"));
    // But for the size of letters in pictures, which the library writes so.
    let page = String::from_utf8(folder.bytes("r.html")).unwrap();
    let page = page.replace("13.709677419354838", "");
    has(&page, "Jobs in the system at λ = 1.973");
    let is_long = |word: &str| {
        word.split_once('.')
            .is_some_and(|(_, digits)| digits.len() > 7)
    };
    let mut words = page.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    assert_eq!(words.find(|word| is_long(word)), None);
    assert!(!page.contains("at ρ = "));
    // The same cells as by loads.
    let loads = format!("{},{}", 2.0 / 6.0 * 0.76875, 3.9 / 6.0 * 0.76875);
    let by_load = folder.name("l.json");
    works(&format!("{base} --loads {loads} --output {by_load}"));
    let mean = |file: &str, n: usize| {
        folder.json(file)["cells"][n]["run"]["mean_response"]["mean"].clone()
    };
    assert!(mean("r.json", 0).is_number());
    assert_eq!(mean("r.json", 0), mean("l.json", 0));
    assert_eq!(mean("r.json", 3), mean("l.json", 3));
    fails(&format!("{base} --rates 8"), "give rates below 7.80");
    fails(
        &format!("{base} --rates 2 --loads .5"),
        "cannot be used with",
    );
    fails(
        "compare --workload models/campaign_small.yaml --policies fixed,literal --show number",
        "leave it out",
    );
    fails(
        "compare --workload models/amdahl_training.yaml --policies equi --rates 2",
        "leave it out",
    );
}
