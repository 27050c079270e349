//! End-to-end tests of `synth judge`.

use std::fmt::Write as _;
use std::fs;

use crate::common::*;

/// Every fifth job of this log is long. The limits are 20 % longer than the run times.
fn log(count: u64, has_limits: bool) -> String {
    let mut text = String::from("; MaxProcs: 16\n");
    let (mut state, mut submit) = (1_u64, 0);
    let mut below = |limit: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % limit
    };
    for n in 1..=count {
        submit += below(920);
        let is_long = below(5) == 0;
        let size = if is_long {
            3000 + below(14_000)
        } else {
            30 + below(570)
        };
        let processors = 1 << below(4);
        let limit = if has_limits {
            (size * 6 / 5).to_string()
        } else {
            "-1".into()
        };
        let user = below(5) + if is_long { 10 } else { 0 };
        writeln!(
            text,
            "{n} {submit} -1 {size} {processors} -1 -1 -1 {limit} -1 1 {user} -1 -1 -1 -1 -1 -1"
        )
        .unwrap();
    }
    text
}

#[test]
fn judges_a_log_with_all_outputs() {
    let folder = Folder::new();
    let file = folder.write("log.swf", &log(400, true));
    let (document, page) = (folder.path_string("j.json"), folder.path_string("j.html"));
    let typed = format!("judge {file} --every 1d -o {document} --html {page}");
    let run = run_ok(&typed);
    let printed = stdout(&run);
    let changed = printed.replace('\n', " ");
    assert_contains(&changed, "selected for each of 2 windows");
    for role in [
        "current",
        "chosen in each window",
        "in hindsight",
        "sizes known",
    ] {
        assert_contains(&printed, role);
    }
    let found: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&document).unwrap()).unwrap();
    let rules = found["rules"].as_array().unwrap();
    let with = |role: &str| rules.iter().filter(|row| row["role"] == role).count();
    assert_eq!([with("now"), with("chosen"), with("recorded")], [1, 1, 0]);
    assert_eq!((with("hindsight"), with("yardstick")), (15, 3));
    assert_eq!(rules[0]["rule"], "easy+fcfs");
    let mean = |n: usize| rules[n]["outcome"]["mean_wait"].as_f64().unwrap();
    assert!(mean(1) < 0.8 * mean(0), "{} for {}", mean(1), mean(0));
    assert_eq!(found["windows"].as_array().unwrap().len(), 2);
    let html = fs::read_to_string(&page).unwrap();
    assert_contains(&html, "chosen in each window");
    for loads in [
        "http://", "https://", "src=", "href=\"h", "<script", "url(", "@import",
    ] {
        let is_alone = !html.replace("http://www.w3.org/", "").contains(loads);
        assert!(is_alone, "{loads}");
    }
    let again = run_ok(&format!("judge {file} --every 1d -o -"));
    assert_eq!(json(&again), found);
    // No rule can meet this guarantee.
    let broken = run_expecting_code(1, &format!("judge {file} --longest 1e-6"));
    assert_contains(&stdout(&broken), "chosen in each window");
}

#[test]
fn judges_a_log_without_limits() {
    let folder = Folder::new();
    let file = folder.write("log.swf", &log(300, false));
    let found = json(&run_ok(&format!("judge {file} -o -")));
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
    run_err("judge missing.swf", "cannot read missing.swf");
    run_err(&format!("judge {empty}"), "the file is empty");
    run_err(&format!("judge {short}"), "at least 50 and 1 are required");
    run_err(&format!("judge {file} --past 1%"), "a different value");
    run_err(
        &format!("judge {file} --past 100%"),
        "expected less than 100%",
    );
    let typed = "is not a positive number of seconds";
    run_err(&format!("judge {file} --every 0"), typed);
    let typed = format!("judge {file} --longest 0");
    run_err(&typed, "is not a positive number");
    let typed = format!("judge {file} --now nonsense");
    run_err(&typed, "unknown backfilling `nonsense`");
    let typed = format!("judge {file} --now easy+sjf+size");
    run_err(&typed, "uses the size of a job");
}

#[test]
fn writes_the_policy_that_is_selected_on_a_log() {
    let folder = Folder::new();
    let [policy, order, workload] =
        ["p.json", "order.yaml", "w.yaml"].map(|own| folder.path_string(own));
    let log = "models/traces/cluster.swf";
    run_ok(&format!("judge {log} --quiet --policy {order}"));
    run_ok(&format!("fit {log} --quiet --by-limit -o {workload}"));
    let typed = format!("analyze {order} --quiet --workload {workload} --work 1e6 -o {policy}");
    run_ok(&typed);
    assert_contains(&stderr(&run_ok(&format!("check {policy}"))), "valid");
    assert_contains(&stdout(&run_ok(&format!("show {policy}"))), "Backfilling");
}
