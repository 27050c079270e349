//! End-to-end tests of `synth judge`.

use crate::common::*;

/// Every fifth job of this log is long. The limits are 20 % longer than the run times.
fn log(count: u64, has_limits: bool) -> String {
    let (mut submit, mut below) = (0, random_integers(1));
    let lines = (1..=count).map(|n| {
        submit += below(920);
        let is_long = below(5) == 0;
        let (shortest, range, first_user) = if is_long {
            (3000, 14_000, 10)
        } else {
            (30, 570, 0)
        };
        let (size, processors) = (shortest + below(range), 1 << below(4));
        let limit = if has_limits {
            (size * 6 / 5) as i64
        } else {
            -1
        };
        let user = (first_user + below(5)) as i64;
        swf_line(n, [submit, size], processors, limit, user)
    });
    format!("; MaxProcs: 16\n{}", lines.collect::<String>())
}

#[test]
fn judges_a_log_with_all_outputs() {
    let folder = Folder::new();
    let file = folder.write("log.swf", &log(400, true));
    let [document, page] = folder.paths(["j.json", "j.html"]);
    let run = run_ok!("judge {file} --every 1d --verbose -o {document} --html {page}");
    let printed = stdout(&run);
    for role in [
        "over 2 windows",
        "current",
        "selected in each window",
        "in hindsight",
        "sizes known",
    ] {
        assert_contains(&printed, role);
    }
    let found = folder.json("j.json");
    let rules = found["rules"].as_array().unwrap();
    let with = |role: &str| rules.iter().filter(|row| row["role"] == role).count();
    assert_eq!([with("now"), with("chosen"), with("recorded")], [1, 1, 0]);
    assert_eq!((with("hindsight"), with("yardstick")), (15, 3));
    assert_eq!(rules[0]["rule"], "easy+fcfs");
    let mean = |n: usize| rules[n]["outcome"]["mean_wait"].as_f64().unwrap();
    assert!(mean(1) < 0.8 * mean(0), "{} for {}", mean(1), mean(0));
    assert_eq!(found["windows"].as_array().unwrap().len(), 2);
    let html = read_text(&page);
    assert_contains(&html, "selected in each window");
    for loads in [
        "http://", "https://", "src=", "href=\"h", "<script", "url(", "@import",
    ] {
        let is_alone = !html.replace("http://www.w3.org/", "").contains(loads);
        assert!(is_alone, "{loads}");
    }
    let again = run_ok!("judge {file} --every 1d -o -");
    assert_eq!(json(&again), found);
    // No rule can meet this guarantee.
    let broken = run_expecting_code(1, &format!("judge {file} --longest 1e-6"));
    assert_contains(&stdout(&broken), "selected in each window");
}

#[test]
fn judges_a_log_without_limits() {
    let folder = Folder::new();
    let file = folder.write("log.swf", &log(300, false));
    let found = json(&run_ok!("judge {file} -o -"));
    assert_eq!(found["has_limits"], false);
    let estimates = found["estimates"].as_array().unwrap();
    let kinds: Vec<_> = estimates.iter().map(|own| &own["estimate"]).collect();
    assert_eq!(kinds, ["history", "tree"]);
}

#[test]
fn reports_logs_that_cannot_be_judged() {
    let folder = Folder::new();
    let file = folder.write("log.swf", &log(300, true));
    let short = folder.write("short.swf", &log(60, true));
    let empty = folder.write("empty.swf", "");
    let table = "judge missing.swf | cannot read missing.swf
        judge EMPTY | the file is empty
        judge SHORT | at least 50 and 1 are required
        judge FILE --past 1% | a different value
        judge FILE --past 100% | expected less than 100%
        judge FILE --every 0 | is not a positive number of seconds
        judge FILE --longest 0 | is not a positive number
        judge FILE --now nonsense | unknown backfilling `nonsense`
        judge FILE --now easy+sjf+size | uses the size of a job";
    let paths = [("FILE", &*file), ("SHORT", &*short), ("EMPTY", &*empty)];
    assert_errors(table, &paths);
}

#[test]
fn writes_the_policy_that_is_selected_on_a_log() {
    let folder = Folder::new();
    let [policy, order, workload] = folder.paths(["p.json", "order.yaml", "w.yaml"]);
    let log = "models/traces/cluster.swf";
    run_ok!("judge {log} --quiet --policy {order}");
    run_ok!("fit {log} --quiet --by-limit -o {workload}");
    run_ok!("analyze {order} --quiet --workload {workload} --work 1e6 -o {policy}");
    assert_contains(&stdout(&run_ok!("check {policy}")), "valid");
    assert_contains(&stdout(&run_ok!("show {policy}")), "Backfilling");
}
