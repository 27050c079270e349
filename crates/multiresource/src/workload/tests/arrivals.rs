//! Arrivals other than Poisson, and sizes without stages, in documents and records.

use super::*;

/// A workload with one type for each spelling of arrivals.
fn with_arrivals(arrivals: &[&str]) -> String {
    let mut text = format!("{HEAD}server: {{capacity: {{cpu: 8}}}}\njobs:\n");
    for (i, arrivals) in arrivals.iter().enumerate() {
        text += &format!("  - {{name: t{i}, demand: {{cpu: 1}}, mean_size: .1, {arrivals}}}\n");
    }
    text
}

const ARRIVALS: [&str; 6] = [
    "arrival_rate: 4",
    "arrivals: {process: poisson, rate: 4}",
    "arrivals: {process: renewal, interarrival: {law: lognormal, mean: .25, scv: 4}}",
    "arrivals: {rates: [1, 10], switching: [[0, .1], [.2, 0]], process: markov-modulated}",
    "arrivals: {process: batches, rate: 2, sizes: [1, 5.0], probabilities: [.9, .1]}",
    "arrivals: {process: batches, rate: 2, sizes: [1, 3]}",
];

#[test]
fn arrivals_are_kept_as_written_in_document_record_and_digest() {
    let workload = parse(&with_arrivals(&ARRIVALS));
    let record = workload.record();
    let json: Vec<String> = record
        .types
        .iter()
        .filter_map(|t| Some(serde_json::to_string(t.arrivals.as_ref()?).unwrap()))
        .collect();
    assert_eq!(
        json,
        [
            r#"{"process":"renewal","interarrival":{"law":"lognormal","mean":0.25,"scv":4.0}}"#,
            r#"{"process":"markov-modulated","rates":[1.0,10.0],"switching":[[0.0,0.1],[0.2,0.0]]}"#,
            r#"{"process":"batches","rate":2.0,"sizes":[1,5],"probabilities":[0.9,0.1]}"#,
            r#"{"process":"batches","rate":2.0,"sizes":[1,3]}"#,
        ]
    );
    let rates = [4.0, 4.0, 4.0, 4.0, 2.8, 4.0];
    for (kind, rate) in workload.types().iter().zip(rates) {
        assert!((kind.arrival_rate() - rate).abs() < 1e-14, "{kind:?}");
        assert_eq!(kind.offered_load(), kind.arrival_rate() * 0.1);
    }
    let poisson: Vec<bool> = workload.types().iter().map(JobType::is_poisson).collect();
    assert_eq!(poisson, [true, true, false, false, false, false]);
    assert_eq!(record.check().unwrap().envelope(), &workload);
    let text = serde_json::to_string(&record).unwrap();
    let back: Record = serde_json::from_str(&text).unwrap();
    assert_eq!(back.check().unwrap().envelope(), &workload);
    // A record's arrivals are a document's arrivals.
    for (written, json) in ARRIVALS[2..].iter().zip(json) {
        let again = format!("arrivals: {json}");
        assert_eq!(
            parse(&with_arrivals(&[&again])),
            parse(&with_arrivals(&[written]))
        );
    }
    let mut digests: Vec<String> = ARRIVALS
        .iter()
        .map(|a| parse(&with_arrivals(&[a])).digest())
        .collect();
    digests.sort();
    digests.dedup();
    // One process stands twice.
    assert_eq!(digests.len(), ARRIVALS.len() - 1);
}

#[test]
fn scaling_changes_the_rate_of_every_process() {
    let workload = parse(&with_arrivals(&ARRIVALS));
    let scaled = workload.scaled(0.5).unwrap();
    for (kind, scaled) in workload.types().iter().zip(scaled.types()) {
        assert!((scaled.arrival_rate() - 0.5 * kind.arrival_rate()).abs() < 1e-15);
        assert_eq!(scaled.arrivals().process(), kind.arrivals().process());
    }
    assert_eq!(scaled.scaled(2.0).unwrap(), workload);
    // However a factor is rounded, what comes out is a workload that an artifact can carry.
    let odd = workload.scaled(1.0 / 3.0).unwrap();
    assert_eq!(odd.record().check().unwrap().envelope(), &odd);
    for factor in [f64::MAX, f64::from_bits(1)] {
        report(workload.scaled(factor).unwrap_err());
    }
}

#[test]
fn a_process_of_rate_0_is_left_out_as_an_arrival_rate_of_0_is() {
    let text = with_arrivals(&["arrivals: {process: poisson, rate: 0}", ARRIVALS[2]]);
    let Parsed { workload, warnings } = Workload::parse(&text, "t.yaml").unwrap();
    assert_eq!(workload.unserved(), ["t0"]);
    assert_eq!(workload.types().len(), 1);
    assert!(warnings[0].contains("t.yaml:5:84"), "{}", warnings[0]);
}

#[test]
fn every_fault_of_arrivals_is_reported_where_it_stands() {
    let text = with_arrivals(&[
        "arrivals: {process: batches, rate: 0, sizes: [1, 0], probabilities: [.5, .6]}",
        "arrivals: {process: markov-modulated, rates: [1, -1], switching: [[0, -1], [x, 0]]}",
        "arrivals: {process: renewal, interarrival: {law: weibull, mean: -1, scv: 0}}",
    ]);
    let places = [
        "jobs[0].arrivals.rate",
        "jobs[0].arrivals.sizes[1]",
        "jobs[0].arrivals.probabilities",
        // Of a process one number of which cannot be read nothing else is said.
        "jobs[1].arrivals.switching[1][0]",
        "jobs[2].arrivals.interarrival.mean",
        "jobs[2].arrivals.interarrival.scv",
    ];
    assert_faults(&text, &places, "5:84 5:98 6:125 7:113");
}

/// The one fault of a record after a change, as text.
fn fault_after(change: impl FnOnce(&mut RecordType)) -> String {
    let mut record = parse(&with_arrivals(&ARRIVALS[3..4])).record();
    change(&mut record.types[0]);
    let faults = record.check().unwrap_err();
    let first = faults.iter().find(|f| f.place.to_string() != "digest");
    first.unwrap_or(&faults[0]).to_string()
}

#[test]
fn a_record_whose_rate_is_not_that_of_its_arrivals_is_refused() {
    let decimal = |text: &str| Decimal::parse(text).unwrap();
    let fault = fault_after(|t| t.arrival_rate = decimal("4.1"));
    assert!(
        fault.starts_with("types[0].arrival_rate: arrival rate 4.1 of type `t0`, expected "),
        "{fault}"
    );
    let fault = fault_after(|t| {
        t.arrivals = Some(ArrivalProcess::Poisson {
            rate: t.arrival_rate,
        });
    });
    assert!(fault.starts_with("types[0].arrivals: Poisson"), "{fault}");
    let fault = fault_after(|t| t.arrivals = None);
    assert!(fault.starts_with("digest"), "{fault}");
    let fault = fault_after(|t| {
        if let Some(ArrivalProcess::MarkovModulated { switching, .. }) = &mut t.arrivals {
            switching[1] = vec![Decimal::ZERO; 2];
        }
    });
    assert!(
        fault.starts_with("types[0].arrivals.switching: switching"),
        "{fault}"
    );
    let fault = fault_after(|t| {
        t.arrivals = Some(ArrivalProcess::Renewal {
            interarrival: Size::Pareto {
                shape: decimal("1"),
                low: decimal("2"),
                high: decimal("1"),
            },
            batch: 1,
        });
    });
    assert!(
        fault.starts_with("types[0].arrivals.interarrival.high"),
        "{fault}"
    );
}

#[test]
fn sizes_without_stages_go_through_a_record_and_back() {
    let sizes = [
        "size: {law: deterministic, mean: 2}",
        "size: {law: lognormal, mean: 2, scv: .5}",
        "size: {law: weibull, mean: 2, scv: 3}",
        "size: {law: pareto, shape: 1.5, low: 1, high: 1e3}",
        "size: {law: empirical, values: [1, 2, 10]}",
        "size: {law: empirical, values: [1, 2], probabilities: [.25, .75]}",
    ];
    let workload = parse(&with_sizes(&sizes));
    let json: Vec<String> = workload
        .types()
        .iter()
        .map(|t| format!("size: {}", serde_json::to_string(t.size()).unwrap()))
        .collect();
    let again: Vec<&str> = json.iter().map(String::as_str).collect();
    assert_eq!(parse(&with_sizes(&again)), workload);
    assert_eq!(
        json[4],
        r#"size: {"law":"empirical","values":[1.0,2.0,10.0]}"#
    );
    assert_eq!(workload.record().check().unwrap().envelope(), &workload);
    let digests: Vec<String> = sizes
        .iter()
        .map(|s| parse(&with_sizes(&[s])).digest())
        .collect();
    for (n, digest) in digests.iter().enumerate() {
        assert!(!digests[..n].contains(digest), "{}", sizes[n]);
    }
}

/// As many values as are allowed are read, and kept.
#[test]
fn ten_thousand_measured_sizes_are_read() {
    let values: Vec<String> = (1..=10_000).map(|n| format!("{n}e-3")).collect();
    let size = format!("size: {{law: empirical, values: [{}]}}", values.join(", "));
    let workload = parse(&with_sizes(&[&size]));
    assert!((workload.types()[0].mean_size() - 5.0005).abs() < 1e-12);
    assert_eq!(workload.record().check().unwrap().envelope(), &workload);
}
