#![allow(clippy::unwrap_used)]
use super::host::{Host, Pool, Task};
use super::*;
use crate::artifact::Quantity;
use crate::policy::{Dispatch, WorkAhead};
use crate::workload::CampaignDocument;
use synth_core::document::WorkloadDocument as _;
use synth_simulation::{Estimate, Streams};

fn read(text: &str) -> Campaign {
    CampaignDocument::parse(text, "here").unwrap().workload
}

fn dispatch(first: f64) -> Dispatch {
    Dispatch {
        first_percentile: first,
        tight_percentile: 90.0,
        quantile: Some(0.5),
        queued: WorkAhead::All,
        first_each: Some(1),
        reserve: true,
        patience: 20.0,
    }
}

fn rules() -> [Rule; 5] {
    let mut literal = dispatch(50.0);
    literal.queued = WorkAhead::Tight;
    literal.first_each = None;
    literal.reserve = false;
    [
        Rule::Dispatch(dispatch(0.0)),
        Rule::Dispatch(dispatch(75.0)),
        Rule::Dispatch(literal),
        Rule::Fixed(50.0),
        Rule::Tail(50.0),
    ]
}

fn run(campaign: &Campaign, rule: Rule, replications: u32) -> Run {
    let settings = Settings {
        replications,
        ..Settings::default()
    };
    simulate(campaign, rule, &settings, |_| ()).unwrap()
}

#[test]
fn results_do_not_depend_on_the_number_of_cores() {
    let text = "kind: volunteer\nhorizon: 50\nhosts: [{name: a, count: 3, cores: 2, speed: 1, buffer: 4}]\napplications: [{name: x, versions: [{name: v, processor: cpu}]}]\nbatches: [{name: b, application: x, size: 1, quality: throughput, bound: 25}]\n";
    let campaign = read(text);
    let events = run(&campaign, Rule::Fixed(25.0), 3).events();
    let settings = Settings {
        replications: 9,
        events,
        ..Settings::default()
    };
    for threads in [1, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let simulated = || simulate(&campaign, Rule::Fixed(25.0), &settings, |_| ());
        let found = pool.build().unwrap().install(simulated).unwrap();
        assert_eq!(found.campaigns.len(), 3);
    }
}

fn value(run: &Run, quantity: Quantity) -> Estimate {
    run.estimate(quantity).unwrap()
}

#[test]
fn always_busy_hosts_reach_full_throughput() {
    let text = "kind: volunteer\ntime_unit: h\nhorizon: 900\nhosts: [{name: a, count: 5, cores: 2, speed: 2, buffer: 10}]
applications: [{name: x, versions: [{name: v, processor: cpu}]}]
batches: [{name: s, application: x, size: 3, quality: throughput, bound: 500}]\n";
    let campaign = read(text);
    for rule in rules() {
        let run = run(&campaign, rule, 2);
        for own in &run.campaigns {
            let done = f64::from(own.batches[0].done);
            let most = 900.0 * 20.0 / 3.0;
            let is_full = done <= most && done >= most - 10.0 * (0.9 + 1.5) * 2.0 / 3.0 - 10.0;
            assert!(is_full, "{rule:?}: {done}");
        }
    }
}

#[test]
fn lost_jobs_occupy_the_processor() {
    for vanish in [0, 1] {
        let campaign = read(&format!(
            "kind: volunteer\ntime_unit: h\nhorizon: 100\nhosts: [{{name: a, count: 1, cores: 1, speed: 1, buffer: 1, vanish: {vanish}}}]
applications: [{{name: x, instances: 1, versions: [{{name: v, processor: cpu}}]}}]
batches: [{{name: b, application: x, size: 10, jobs: 20, quality: afap}}]\n"
        ));
        for own in run(&campaign, Rule::Fixed(500.0), 2).campaigns {
            assert_eq!(own.batches[0].sent, 11, "{vanish}");
        }
    }
}

#[test]
fn hosts_ask_when_half_of_the_buffer_is_queued() {
    let text = "kind: volunteer\ntime_unit: h\nhorizon: 100\nhosts: [{name: a, count: 1, cores: 1, speed: 1, buffer: 8, contact: .001}]
applications: [{name: x, versions: [{name: v, processor: cpu}]}]
batches:
  - {name: a, application: x, size: 10, jobs: 1, quality: afap}
  - {name: b, application: x, size: 1, jobs: 1, quality: afap, submitted: .5}\n";
    let campaign = read(text);
    for own in run(&campaign, Rule::Fixed(50.0), 2).campaigns {
        let waited = own.batches[1].waited;
        assert!((5.5..5.51).contains(&waited), "{waited}");
        let makespan = own.batches[1].makespan.unwrap();
        assert!((10.5..10.51).contains(&makespan), "{makespan}");
    }
}

/// The expected rates are 20·0.4·0.9·0.8/3 jobs per hour with one result, and 20·0.4·0.9/6 with 2.
#[test]
fn throughput_equals_capacity() {
    for (quorum, vanish, factor) in [(1, 0.2, 1.0), (2, 0.0, 0.5)] {
        let campaign = read(&format!(
            "kind: volunteer\ntime_unit: h\nhorizon: 3000\nhosts: [{{name: a, count: 60, cores: 2, speed: 2, buffer: 10, error: .1, vanish: {vanish},
    availability: {{on: {{law: exponential, mean: 4}}, off: {{law: exponential, mean: 6}}}}}}]
applications: [{{name: x, quorum: {quorum}, instances: 40, versions: [{{name: v, processor: cpu}}]}}]
batches: [{{name: s, application: x, size: 3, quality: throughput, bound: 2000}}]\n"
        ));
        let capacity = campaign.capacity(&[0]).usual;
        assert!((capacity - 240.0 * 0.4 * 0.9 * (1.0 - vanish)).abs() < 1e-9);
        let run = run(&campaign, Rule::Fixed(2000.0), 6);
        let found = value(&run, Quantity::Throughput);
        let expected = capacity / 3.0 * factor;
        // The work that is still in the queue at the end is not done (10 of 3000 h per host).
        let lost = 1.0 - 40.0 / 3000.0;
        assert!(found.mean <= expected * 1.01, "{found:?} {expected}");
        assert!(found.mean >= expected * lost * 0.99, "{found:?} {expected}");
    }
}

#[test]
fn makespan_on_one_host_is_the_sum_of_its_jobs() {
    let text = "kind: volunteer\ntime_unit: h\nhorizon: 500\nhosts: [{name: a, count: 1, cores: 1, speed: 2, buffer: 100, contact: .001}]
applications: [{name: x, versions: [{name: v, processor: cpu}]}]
batches: [{name: b, application: x, size: 3, jobs: 40, quality: afap, submitted: 10}]\n";
    let campaign = read(text);
    for rule in [Rule::Fixed(200.0), Rule::Dispatch(dispatch(0.0))] {
        for own in run(&campaign, rule, 2).campaigns {
            let makespan = own.batches[0].makespan.unwrap();
            assert!((makespan - 60.0).abs() < 0.1, "{rule:?}: {makespan}");
            assert_eq!(own.batches[0].least, 60.0);
            assert_eq!(own.batches[0].sent, 40);
        }
    }
}

#[test]
fn campaigns_satisfy_invariants() {
    let campaign = read(SMALL);
    for rule in rules() {
        let found = run(&campaign, rule, 3);
        for own in &found.campaigns {
            for (batch, own) in campaign.batches.iter().zip(&own.batches) {
                let Some(jobs) = batch.jobs else { continue };
                assert!(own.done <= jobs && own.given_up <= own.done);
                assert_eq!(own.makespan.is_some(), own.done == jobs);
                let quorum = u64::from(campaign.quorum(batch.application));
                assert!(own.sent >= u64::from(own.done - own.given_up) * quorum);
                let is_above = own.makespan.is_none_or(|makespan| makespan >= own.least);
                assert!(is_above, "{rule:?}: {own:?}");
                assert!(own.within <= u64::from(own.done) || batch.is_stream());
            }
        }
        let again = run(&campaign, rule, 3);
        let told = format!("{:?}", again.campaigns);
        assert_eq!(told, format!("{:?}", found.campaigns));
    }
}

#[test]
fn no_batch_starves() {
    let campaign = read(SMALL);
    for first in [0.0, 90.0, 100.0] {
        let mut rule = dispatch(first);
        rule.tight_percentile = 100.0;
        for own in run(&campaign, Rule::Dispatch(rule), 4).campaigns {
            for own in &own.batches[1..] {
                assert!(own.waited <= 2.0 * rule.patience + 10.0, "{first}: {own:?}");
                assert!(own.makespan.is_some(), "{first}: {own:?}");
            }
        }
    }
}

const SMALL: &str = include_str!("tests/small.yaml");

#[test]
fn clients_stop_jobs_only_for_deadlines() {
    let task = |left: f64, deadline: f64| Task {
        instance: 0,
        left,
        deadline,
        tight: false,
        first: false,
        order: 0,
        runs: false,
    };
    let pool = |deadline: f64| {
        let mut pool = Pool::new(2, 1.0);
        pool.push(task(4.0, 100.0));
        pool.push(task(4.0, 90.0));
        pool.choose(0.0, 1.0);
        pool.push(task(2.0, deadline));
        pool
    };
    assert_eq!(pool(6.0).choose(0.0, 1.0), 0);
    assert_eq!(pool(5.9).choose(0.0, 1.0), 1);
    assert_eq!(pool(11.9).choose(0.0, 0.5), 1);
    assert_eq!(pool(12.1).choose(0.0, 0.5), 0);
    let stream = Streams::new(1, 0).arrivals;
    let mut host = Host {
        group: 0,
        pools: [pool(3.0), Pool::default()],
        availability: 1.0,
        buffer: 10.0,
        contact: 1.0,
        on: true,
        next_switch: f64::INFINITY,
        next_request: 50.0,
        last_request: 49.0,
        since: 0.0,
        turns: stream.clone(),
        results: stream,
    };
    assert_eq!(host.choose(0.0), 1);
    assert_eq!(host.next(), 2.0);
    host.advance(2.0);
    let done = host.take().unwrap();
    assert_eq!(done.deadline, 3.0);
    assert_eq!(host.choose(2.0), 0);
    assert_eq!(host.next(), 4.0);
    host.advance(4.0);
    assert_eq!(host.take().unwrap().deadline, 90.0);
    assert_eq!(host.next(), 6.0);
}

#[test]
fn short_buffers_leave_no_processor_idle() {
    let text = "kind: volunteer\ntime_unit: h\nhorizon: 600\nhosts: [{name: a, count: 2, cores: 4, speed: 1, buffer: 1}]
applications: [{name: x, versions: [{name: v, processor: cpu}]}]
batches: [{name: s, application: x, size: 6, quality: throughput, bound: 50}]\n";
    let campaign = read(text);
    for own in run(&campaign, Rule::Fixed(50.0), 2).campaigns {
        let done = f64::from(own.batches[0].done);
        assert!((800.0 * 6.0 / 6.6 - 8.0..=800.0).contains(&done), "{done}");
    }
}

#[test]
fn batches_with_jobs_given_up_are_not_complete() {
    let text = "kind: volunteer\ntime_unit: h\nhorizon: 200\nhosts: [{name: a, count: 9, cores: 2, speed: 1, buffer: 4, error: .9}]
applications: [{name: x, instances: 2, versions: [{name: v, processor: cpu}]}]
batches: [{name: b, application: x, size: 1, jobs: 30, quality: afap}]\n";
    let campaign = read(text);
    let found = run(&campaign, Rule::Fixed(20.0), 3);
    assert!(found.estimate(Quantity::MedianMakespan).is_none());
    let given_up = value(&found, Quantity::GivenUp);
    // This is 0.9² for 90 jobs, within ± 3.3 √(0.81·0.19/90) for a probability of 0.999.
    assert!((given_up.mean - 0.81).abs() < 0.14, "{given_up:?}");
    let least = found.at_least();
    assert_eq!(value(&least, Quantity::MedianMakespan).mean, 200.0);
}

#[test]
fn sends_no_useless_instances() {
    for deadline in ["9", "18"] {
        let campaign = read(&format!(
            "kind: volunteer\ntime_unit: h\nhorizon: 200\nhosts: [{{name: pc, count: 50, cores: 2, speed: 1, buffer: .1, contact: .1, delay: 6}}]
applications: [{{name: x, versions: [{{name: v, processor: cpu}}]}}]
batches: [{{name: b, application: x, size: 2, quality: short, jobs: 100, submitted: 50, deadline: {deadline}}}]\n"
        ));
        let run = run(&campaign, Rule::Dispatch(dispatch(75.0)), 2);
        assert_eq!(value(&run, Quantity::Instances).mean, 1.0);
        assert_eq!(value(&run, Quantity::ShortJobs).mean, 1.0);
    }
}
