#![allow(clippy::unwrap_used)]
use super::*;
use synth_core::document::WorkloadDocument as _;

const TEXT: &str = include_str!("tests/campaign.yaml");

fn read(text: &str) -> Result<Campaign, String> {
    let parsed = CampaignDocument::parse(text, "here");
    let campaign = parsed.map(|own| own.workload);
    campaign.map_err(|error| error.to_string())
}

#[test]
fn reads_a_campaign() {
    let campaign = read(TEXT).unwrap();
    assert_eq!(campaign.host_count(), 12);
    let names: Vec<&str> = campaign.batches.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["stream", "fast-1", "fast-2", "fast-3", "soon"]);
    assert_eq!(campaign.batches[2].submitted, 60.0);
    assert_eq!(campaign.batches[4].quality, Quality::Short);
    assert_eq!(campaign.batches[4].limit, 30.0);
    assert_eq!((campaign.quorum(1), campaign.most_instances(1)), (2, 11));
    // This is 10·4·2·(6/24)·0.9 + 2·8·2, times the efficiency of the faster version, and two GPUs.
    let own = campaign.capacity(&[0]);
    assert!((own.usual - (18.0 + 32.0) * 1.5).abs() < 1e-9);
    assert!((own.most - (80.0 + 32.0) * 1.5).abs() < 1e-9);
    assert_eq!(campaign.capacity(&[1]).usual, 100.0);
    assert_eq!(campaign.shortage(), None);
    let record = campaign.record.clone();
    assert_eq!(record.recorded(&record.digest()).unwrap(), campaign);
}

#[test]
fn detects_impossible_workloads() {
    let short = |from: &str, to: &str| {
        assert!(TEXT.contains(from), "{from}");
        read(&TEXT.replace(from, to)).unwrap().shortage()
    };
    let late = short("deadline: 30", "deadline: .5");
    let expected = Some(Shortage::TooMuch {
        batch: Some("soon".into()),
        work: 70.0,
        most: 50.0,
        time: 0.5,
    });
    assert_eq!(late, expected);
    let text = "size: 40, quality: short, jobs: 1";
    let long = short("size: 5, quality: short, jobs: 7", text);
    assert_eq!(long, None);
    let text = "size: 40, quality: short, jobs: 1, deadline: .79";
    let long = short("size: 5, quality: short, jobs: 7, deadline: 30", text);
    assert!(matches!(long, Some(Shortage::TooLong { .. })), "{long:?}");
    let bound = short("bound: 100", "bound: .6");
    assert!(matches!(bound, Some(Shortage::TooLong { .. })), "{bound:?}");
    let text = "{name: g, processor: cpu, released: 10}";
    let none = short("{name: g, processor: gpu}", text);
    assert_eq!(none, None);
    let text = "gpus: 1, speed: {law: uniform, low: 1, high: 3}, gpu_speed: 50, buffer: 6";
    let gone = short(text, "speed: 1, buffer: 6");
    assert!(matches!(gone, Some(Shortage::Never { .. })), "{gone:?}");
    let text = "gpu_speed: 50, buffer: 6, vanish: 1";
    let wrong = short("gpu_speed: 50, buffer: 6", text);
    assert!(matches!(wrong, Some(Shortage::Never { .. })), "{wrong:?}");
    let busy = short("bound: 100", "bound: 100, arrival_rate: 60");
    let is_too_much = matches!(busy, Some(Shortage::TooMuch { batch: None, .. }));
    assert!(is_too_much, "{busy:?}");
    let late = short("processor: gpu}", "processor: gpu, released: 1000}");
    assert!(matches!(late, Some(Shortage::Never { .. })), "{late:?}");
    let few = short("quorum: 2", "quorum: 3");
    assert!(matches!(few, Some(Shortage::Never { .. })), "{few:?}");
}

#[test]
fn impossibility_accounts_for_delays_and_availability() {
    let cycle = "availability: {on: 1, off: 3}";
    let random = "availability: {on: {law: exponential, mean: 1}, off: 30}";
    let fast = "{name: b, count: 2, cores: 1, speed: 2, buffer: 1}";
    let one = |hosts: &str, quorum: u32, batch: &str| {
        let text = format!(
            "kind: volunteer\ntime_unit: h\nhorizon: 600\nhosts: [{hosts}]\napplications: [{{name: x, quorum: {quorum}, versions: [{{name: v, processor: cpu}}, {{name: w, processor: cpu, released: 300}}]}}]\nbatches: [{{name: b, application: x, size: 2, {batch}}}]\n"
        );
        read(&text).unwrap().shortage()
    };
    let group =
        |rest: &str| format!("{{name: a, count: 50, cores: 2, speed: 1, buffer: .1{rest}}}");
    let short = "quality: short, jobs: 3, submitted: 50, deadline: 9";
    let long = "quality: long, jobs: 3, submitted: 50, deadline: 9";
    for (hosts, quorum, batch, least) in [
        (group(", delay: 10"), 1, short, Some(12.0)),
        (group(", delay: 7.5"), 1, long, Some(9.5)),
        (group(", delay: 7"), 1, short, None),
        (
            group(", delay: {law: uniform, low: 8, high: 9}"),
            1,
            short,
            Some(10.0),
        ),
        (
            group(", delay: {law: exponential, mean: 20}"),
            1,
            short,
            None,
        ),
        (group(&format!(", delay: 5, {cycle}")), 1, short, Some(10.0)),
        (group(&format!(", delay: 4, {cycle}")), 1, short, None),
        (group(&format!(", {random}")), 1, short, None),
        (format!("{}, {fast}", group(", delay: 10")), 2, short, None),
        (
            format!("{}, {fast}", group(", delay: 10")),
            3,
            short,
            Some(12.0),
        ),
        (
            group(", delay: 10"),
            1,
            "quality: throughput, bound: 9",
            Some(12.0),
        ),
        (
            group(", delay: 10"),
            1,
            "quality: afap, jobs: 3, submitted: 589",
            Some(12.0),
        ),
    ] {
        let found = match one(&hosts, quorum, batch) {
            Some(Shortage::TooLong { parts, .. }) => Some(parts.iter().sum::<f64>()),
            None => None,
            other => panic!("{hosts}: {other:?}"),
        };
        assert_eq!(found, least, "{hosts}, {quorum}, {batch}");
    }
    for (hosts, jobs, most) in [
        (group(", delay: 6"), 101, 200.0),
        (group(&format!(", delay: 3, {cycle}")), 101, 200.0),
        (
            format!(
                "{}, {}",
                group(", delay: 8"),
                fast.replace("buffer", "delay: 8, buffer")
            ),
            3,
            4.0,
        ),
    ] {
        let batch = format!("quality: short, jobs: {jobs}, submitted: 50, deadline: 9");
        match one(&hosts, 1, &batch) {
            Some(Shortage::TooMuch {
                work, most: found, ..
            }) => {
                assert_eq!((work, found), (2.0 * f64::from(jobs), most));
            }
            other => panic!("{hosts}: {other:?}"),
        }
    }
}
