#![allow(clippy::unwrap_used)]
use super::*;
use crate::artifact::Checked;
use crate::simulator::judge;
use crate::workload::CampaignDocument;
use synth_core::artifact::Subject;
use synth_core::document::WorkloadDocument as _;
use synth_simulation::Verdict;

const TEXT: &str = include_str!("tests/campaign.yaml");

fn synthesized(text: &str) -> (Campaign, Synthesis) {
    synthesized_within(text, 2_000_000)
}

fn synthesized_within(text: &str, events: u64) -> (Campaign, Synthesis) {
    let campaign = CampaignDocument::parse(text, "here").unwrap().workload;
    let options = Options {
        events,
        campaigns: Some(6),
        seed: 1,
        interrupt: std::sync::Arc::default(),
    };
    match synthesize(&campaign, &options, &mut |_| ()) {
        Ok(synthesized) => (campaign, synthesized),
        Err(none) => panic!("{none:?}"),
    }
}

#[test]
fn tuned_policies_are_valid_and_faster_than_competitors() {
    let (campaign, synthesized) = synthesized(TEXT);
    Checked::check(synthesized.artifact.clone()).unwrap();
    let chosen = trial::choose(&synthesized.trials).unwrap();
    assert!(trial::front(&synthesized.trials)[chosen] && synthesized.trials.len() > 20);
    for own in &synthesized.competitors[..2] {
        let is_above = own
            .makespan
            .is_none_or(|times| times.mean - times.half_width > 1.0);
        assert!(is_above, "{own:?}");
    }
    let settings = Settings {
        seed: 99,
        replications: 12,
        ..Settings::default()
    };
    let run = simulate(
        &campaign,
        Rule::Dispatch(synthesized.artifact.policy.dispatch),
        &settings,
        |_| (),
    )
    .unwrap();
    let verdicts = judge(&synthesized.artifact, &campaign, &run);
    let is_unrefuted = verdicts.iter().all(|own| own.verdict != Verdict::Refuted);
    assert!(is_unrefuted, "{verdicts:#?}");
    let mut wrong = synthesized.artifact;
    let median = Quantity::MedianMakespan;
    let mut own = wrong.claims.iter_mut();
    let own = own.find(|claim| claim.quantity == median).unwrap();
    own.value /= 4.0;
    own.half_width = Some(own.half_width.unwrap() / 4.0);
    let verdicts = judge(&wrong, &campaign, &run);
    let own = verdicts.iter().find(|own| own.claim.quantity == median);
    let own = own.unwrap();
    assert_eq!(own.verdict, Verdict::Refuted);
}

#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn synthesized_policies_pass_the_checker() {
    let hosts = "hosts: [{name: a, count: 30, cores: 4, speed: 1, buffer: 6}]";
    let turns = "hosts: [{name: a, count: 300, cores: 1, speed: 1, buffer: 6, availability: {on: 20, off: {law: exponential, mean: 200}}}]";
    let one = "hosts: [{name: a, count: 1, cores: 1, speed: 1, buffer: 100, contact: .01}]";
    let batch = |own: &str| format!("batches: [{{name: b, application: x, {own}}}]");
    let rare = "size: {law: hyperexponential, mean: 1, scv: 100000}, quality: afap, jobs: 300";
    let varied =
        "size: {law: hyperexponential, mean: 10, scv: 60}, quality: throughput, bound: 250";
    for (horizon, hosts, batches) in [
        (300, hosts, batch(varied)),
        (20, turns, batch("size: .2, quality: throughput, bound: 10")),
        (3000, one, batch(rare)),
        (
            200,
            hosts,
            batch("size: 1, quality: afap, jobs: 240, submitted: 197.4"),
        ),
    ] {
        let (_, synthesized) = synthesized(&format!(
            "kind: volunteer\ntime_unit: h\nhorizon: {horizon}\n{hosts}\napplications: [{{name: x, versions: [{{name: v, processor: cpu}}]}}]\n{batches}\n"
        ));
        let checked = Checked::check(synthesized.artifact);
        assert!(checked.is_ok(), "{batches}: {:?}", checked.err());
    }
}

#[test]
fn fixed_parameters_are_kept() {
    let fixed = "policy: {first_percentile: 40, tight_percentile: 60, quantile: .6, patience: 33, refresh: 12}\n";
    let (_, synthesized) = synthesized(&format!("{TEXT}{fixed}"));
    let policy = &synthesized.artifact.policy;
    let rule = policy.dispatch;
    assert_eq!(rule.first_percentile, 40.0);
    assert_eq!(rule.tight_percentile, 60.0);
    assert_eq!(rule.quantile, Some(0.6));
    assert_eq!(rule.patience, 33.0);
    assert_eq!((policy.refresh, policy.tick), (12.0, 0.5));
    assert!(synthesized.trials.len() <= 3);
    let is_claimed = synthesized
        .artifact
        .find(Quantity::MedianMakespan, Subject::ALL)
        .is_some();
    assert!(is_claimed);
}

#[test]
fn no_competitor_is_significantly_better() {
    let text = include_str!("tests/beside.yaml");
    for (events, tried) in [(2_000_000, true), (60_000, false)] {
        let (campaign, synthesized) = synthesized_within(text, events);
        let artifact = &synthesized.artifact;
        let competitors = &synthesized.competitors;
        assert_eq!(competitors.len(), COMPETITORS.len());
        assert_eq!(competitors.iter().any(|own| own.rule == TUNED), !tried);
        assert!(tried || synthesized.cut && artifact.policy.dispatch == literal(&campaign));
        for own in competitors {
            for (found, equal) in [(own.makespan, 1.0), (own.excess, 0.0)] {
                let surely = found.is_some_and(|own| own.mean + own.half_width < equal);
                assert!(!surely, "{own:?}");
            }
        }
        Checked::check(synthesized.artifact).unwrap();
    }
}
