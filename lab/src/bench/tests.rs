#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use super::measure::{Conditions, FamilyResult, PolicyRun};
use super::*;
use synth::document::digest;
use synth::multiresource::verbs::resolve::solve_load;
use synth::simulation::{Estimate, Health};
use synth::trace::{AccountRow, Reason};

#[test]
fn systems_never_change() {
    let of = |set, tier, n| {
        digest(&System::new(set, tier, n).unwrap().text)["sha256:".len()..][..16].to_owned()
    };
    let found = [
        of(Set::Tuning, Tier::Exact, 0),
        of(Set::Judging, Tier::Exact, 1),
        of(Set::Tuning, Tier::Bounded, 2),
        of(Set::Judging, Tier::Bounded, 3),
        of(Set::Judging, Tier::Bounded, 4),
        of(Set::Judging, Tier::Bounded, 14),
    ];
    let pinned = [
        "b39a50f1414d8706",
        "23788fc48b0492e1",
        "7d8e0dc4c4ae25c9",
        "86337d6e2121e0b6",
        "98be1fd2f43a6ee8",
        "b520a629fdf3cf35",
    ];
    assert_eq!(found, pinned);
    let of = |set, n| {
        digest(&LogDistribution::new(set, n).file(1).1)["sha256:".len()..][..16].to_owned()
    };
    let logs = [
        of(Set::Tuning, 0),
        of(Set::Judging, 1),
        of(Set::Judging, 11),
        of(Set::Judging, 15),
    ];
    let pinned = [
        "14a5b5c55178bb19",
        "96d202b2d22fc24f",
        "898d41ae7da4760e",
        "e85c439de218de06",
    ];
    assert_eq!(logs, pinned);
}

#[test]
fn logs_have_their_load_and_no_faults() {
    for n in [0, 5, 7, 15] {
        let origin = LogDistribution::new(Set::Tuning, n);
        let (texts, logs) = origin.draw(0..2).unwrap();
        assert_ne!(texts[0], texts[1]);
        let log = &logs[0];
        assert!(
            (log.load() / origin.load - 1.0).abs() < 0.04,
            "{}: {}",
            origin.name,
            log.load()
        );
        assert_eq!(log.has_limits, n % 4 != 3);
        assert!(
            log.jobs.iter().all(|job| job.size <= job.limit),
            "{}",
            origin.name
        );
        let is_missing = |row: &AccountRow| row.reason == Reason::NoLimit;
        assert!(log.account.rows.iter().all(is_missing), "{:?}", log.account);
    }
}

#[test]
fn replayed_means_match_an_independent_first_fit() {
    let origin = LogDistribution::new(Set::Tuning, 3);
    let terms = Conditions {
        budget: 0,
        ..terms()
    };
    let (texts, logs) = origin.draw(0..2).unwrap();
    let entrants = walk::entrants(&logs[0], &terms);
    let found = walk::walked(&origin, &logs, &entrants, &AtomicBool::new(false)).unwrap();
    let first_fit = found
        .iter()
        .find(|ran| ran.policy == "first-fit+fcfs")
        .unwrap();
    for (text, mean) in texts.iter().zip(&first_fit.replications) {
        let (expected, mean) = (first_fit_by_hand(text), mean.unwrap());
        assert!((mean / expected - 1.0).abs() < 1e-9, "{mean} {expected}");
    }
}

/// Returns the mean response time of the second half of the jobs, in seconds.
fn first_fit_by_hand(text: &str) -> f64 {
    let whole = |cell: &str| (1000.0 * cell.parse::<f64>().unwrap()).round() as u64;
    let jobs = text.lines().skip(1).map(|line| {
        let cells: Vec<u64> = line.split(',').map(whole).collect();
        [cells[0], cells[1], cells[2]]
    });
    let jobs: Vec<[u64; 3]> = jobs.collect();
    let (mut running, mut waiting) = (BTreeSet::new(), Vec::new());
    let (mut free, mut next, mut ends) = (1000, 0, vec![0; jobs.len()]);
    while next < jobs.len() || !running.is_empty() {
        let ended = running.first().map_or(u64::MAX, |own: &(u64, usize)| own.0);
        let now = jobs.get(next).map_or(ended, |job| ended.min(job[0]));
        while let Some(&(end, n)) = running.first().filter(|own| own.0 == now) {
            running.remove(&(end, n));
            free += jobs[n][2];
        }
        while next < jobs.len() && jobs[next][0] == now {
            waiting.push(next);
            next += 1;
        }
        waiting.retain(|&n| {
            let fits = jobs[n][2] <= free;
            if fits {
                free -= jobs[n][2];
                ends[n] = now + jobs[n][1];
                running.insert((ends[n], n));
            }
            !fits
        });
    }
    let middle = (jobs[0][0] + jobs[jobs.len() - 1][0]).div_ceil(2);
    let late = jobs.iter().zip(ends).filter(|(job, _)| job[0] >= middle);
    let stays: Vec<u64> = late.map(|(job, end)| end - job[0]).collect();
    stays.iter().sum::<u64>() as f64 / stays.len() as f64 / 1000.0
}

#[test]
fn systems_have_their_load() {
    for (tier, n) in [
        (Tier::Exact, 3),
        (Tier::Bounded, 0),
        (Tier::Bounded, 3),
        (Tier::Bounded, 4),
    ] {
        let system = System::new(Set::Tuning, tier, n).unwrap();
        let load = solve_load(None, &system.fleet).unwrap();
        assert!(
            (load / system.load - 1.0).abs() < 0.006,
            "{}: {load}",
            system.name
        );
        assert_eq!(
            system.fleet.is_one_server(),
            n != 3 && n != 4 || tier == Tier::Exact
        );
    }
}

fn terms() -> Conditions {
    Conditions {
        bench: NAME.into(),
        set: Set::Judging,
        preemption: Preemption::None,
        budget: 1,
        events: 1,
        updates: 1,
        seed: 1,
        policies: Vec::new(),
    }
}

/// If the mean is 0, the policy has not converged.
fn ran(policy: &str, mean: f64) -> PolicyRun {
    let is_settled = mean > 0.0;
    let values = (0..8).map(|r| Some(mean * (1.0 + 0.001 * f64::from(r % 3))));
    PolicyRun {
        policy: policy.into(),
        rule: policy.into(),
        knows: Default::default(),
        health: Some(if is_settled {
            Health::Settled
        } else {
            Health::Unsettled
        }),
        failure: None,
        response: is_settled.then(|| Estimate::exact(mean)),
        replications: values.collect(),
        stay: mean,
        events: 1,
    }
}

fn line(n: u64, means: [f64; 2], optimum: Option<[f64; 2]>) -> Line {
    Line {
        system: name(Tier::Exact, n),
        tier: Tier::Exact,
        digest: String::new(),
        about: "two types".into(),
        load: 0.5,
        optimum,
        bound: 0.9,
        runs: vec![ran("choice", means[0]), ran("first-fit", means[1])],
        again: Vec::new(),
        families: Vec::new(),
        terms: terms(),
    }
}

#[test]
fn losses_are_confirmed_by_longer_runs() {
    let known = Some([1.0, 1.0]);
    let lines = [[1.1, 0.0], [1.1, 1.0], [0.0, 1.0]].map(|means| Line {
        again: line(0, means, known).runs,
        ..line(0, [1.1, 1.0], known)
    });
    let lost = lines
        .each_ref()
        .map(|own| own.lost(&own.runs[0]).map(|(to, _)| to.policy.as_str()));
    assert_eq!(lost, [None, Some("first-fit"), Some("first-fit")]);
    assert!(lines.iter().all(|own| own.lost(&own.runs[1]).is_none()));
}

// The selected policy is worse by 1 % and by 10 %, it has not converged, and it is better by 20 %.
#[test]
fn lost_systems_are_counted_and_named() {
    let known = Some([1.0, 1.0]);
    let tdc = |ratio| {
        let family = "tdc".into();
        vec![FamilyResult { family, ratio }]
    };
    let lines = [
        Line {
            families: tdc(Some(1.04)),
            ..line(0, [1.01, 1.0], known)
        },
        Line {
            families: tdc(None),
            ..line(1, [1.1, 1.0], known)
        },
        line(2, [0.0, 1.0], None),
        line(3, [1.0, 1.25], known),
    ];
    let results = Results::new(&lines);
    let found = serde_json::to_value(&results).unwrap();
    let tier = &found["tiers"][0];
    let choice = &tier["policies"][0];
    assert_eq!(
        (&choice["settled"], &choice["lost"]),
        (&3.into(), &2.into())
    );
    let near = |value: &serde_json::Value, expected: f64| {
        assert!(
            (value.as_f64().unwrap() - expected).abs() < 1e-9,
            "{value} {expected}"
        );
    };
    let counts = ["systems", "settled", "alike"].map(|key| &tier["families"][0][key]);
    assert_eq!(counts, [2, 1, 1]);
    let ahead = &tier["policies"][1]["ahead"];
    assert_eq!(*ahead, 2);
    near(&choice["ratio"][0], 1.01);
    near(&choice["ratio"][1], 1.1);
    near(&choice["gap"][1], 0.1);
    near(&tier["tightness"][1], 0.9);
    assert_eq!((&tier["closed"], &tier["near"][0]), (&3.into(), &3.into()));
    let text = results.report().text(100);
    assert!(
        text.contains("exact-01") && text.contains("exact-02"),
        "{text}"
    );
    assert!(
        !text.contains("exact-00") && !text.contains("exact-03"),
        "{text}"
    );
}

#[test]
fn reads_back_lines_and_truncates_incomplete_ones() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lines.jsonl");
    append(&file, &line(0, [1.0, 1.0], None)).unwrap();
    append(&file, &line(1, [1.0, 1.0], None)).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &text[..text.len() - 9]).unwrap();
    let names = |terms: &Conditions| -> Vec<String> {
        there(&file, terms)
            .unwrap()
            .into_iter()
            .map(|own| own.system)
            .collect()
    };
    assert_eq!(names(&terms()), ["exact-00"]);
    append(&file, &line(1, [1.0, 1.0], None)).unwrap();
    assert_eq!(names(&terms()), ["exact-00", "exact-01"]);
    let other = Conditions {
        events: 2,
        ..terms()
    };
    let why = there(&file, &other).unwrap_err().to_string();
    assert!(why.contains("(events: 1 there, 2 here)"), "{why}");
    std::fs::write(&file, text.replace("two types", "2 types")).unwrap();
    let why = there(&file, &terms()).unwrap_err().to_string();
    assert!(why.contains("line 1") && why.contains("modified"), "{why}");
}

#[test]
fn does_not_modify_other_files() {
    let folder = tempfile::tempdir().unwrap();
    for text in [
        "{\"format\":\"synth-policy\"}",
        "first\nlast",
        "{\"system\":\"x\"}\n{\"sys",
    ] {
        let file = folder.path().join("mine");
        std::fs::write(&file, text).unwrap();
        assert!(there(&file, &terms()).is_err(), "{text}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn shards_partition_the_systems() {
    let shards: Vec<Shard> = (1..=3).map(|k| Shard::new(k, 3).unwrap()).collect();
    for n in 0..10 {
        assert_eq!(shards.iter().filter(|own| own.has(n)).count(), 1);
    }
}
