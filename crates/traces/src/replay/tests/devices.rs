use super::*;
use crate::trace::tests::{columns, on};

fn on_gpus(servers: &str, rows: &str) -> Log {
    let text = format!("submit,size,gpu\n{}\n", rows.replace(' ', "\n"));
    let mut options = on(servers);
    options.columns = columns("time=submit,size=size,gpu=gpu");
    log(file(text.as_bytes()).path(), &options)
}

#[test]
fn fractions_are_placed_on_devices() {
    let three = "0,3600,.6 10,3600,.6 20,3600,.6";
    let five = [
        "0,90,.5 1,90,.5 2,90,.5 3,90,1 4,9,.4",
        "0,90,.6 1,90,.5 2,9,.4 3,9,.5 4,9,2",
    ];
    for (servers, rows, expected) in [
        ("gpu:devices=2", three, vec![0.0, 10.0, 3600.0]),
        ("2xgpu:devices=1", three, vec![0.0, 10.0, 3600.0]),
        ("gpu=2", three, vec![0.0, 10.0, 20.0]),
        ("gpu:devices=2", five[0], vec![0.0, 1.0, 2.0, 91.0, 4.0]),
        ("gpu:devices=2", five[1], vec![0.0, 1.0, 2.0, 3.0, 91.0]),
    ] {
        let rule = if rows == three { "fcfs" } else { "first-fit" };
        let found = starts(&on_gpus(servers, rows), rule);
        assert_eq!(found, expected, "{servers} {rows}");
    }
    let remarks = |servers: &str| on_gpus(servers, three).account.remarks.join(" ");
    assert!(remarks("gpu=2").contains("may span devices"));
    assert!(remarks("gpu:devices=2").contains("lower bound"));
    assert!(!remarks("gpu=1").contains("devices"));
}

/// If amounts were counted, the job of 0.8 could start at 2. On devices, it has to wait until 50.
#[test]
fn jobs_planned_by_amounts_wait_for_a_device() {
    let log = on_gpus("gpu:devices=2", "0,50,.6 1,90,.6 2,9,.8 3,9,.4");
    for rule in "easy easy+fcfs first-fit+fcfs strict+fcfs conservative+fcfs".split(' ') {
        let all_wait = rule.starts_with("strict") || rule.starts_with("conservative");
        let last = if all_wait { 50.0 } else { 3.0 };
        assert_eq!(starts(&log, rule), [0.0, 1.0, 50.0, last], "{rule}");
    }
}
