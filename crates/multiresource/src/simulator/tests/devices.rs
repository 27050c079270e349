use super::*;
use crate::workload::Fleet;

fn fleet(servers: &str, jobs: &str) -> Fleet {
    let text = format!("kind: multiresource\ntime_unit: h\n{servers}\njobs:\n{jobs}");
    Fleet::parse(&text, "devices").unwrap().workload
}

/// The load is 0.9. The queues are M/M/2 or M/M/4, because two jobs fit on a device if they need
/// 0.4 of it, but not if they need 0.6.
#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn equal_fractions_are_queues_with_as_many_servers_as_fit() {
    let two = "server: {capacity: {cpu: 64, gpu: {devices: 2}}}";
    let four = "servers: [{count: 4, capacity: {gpu: {devices: 1}}}]";
    let cases = [
        (two, "demand: {gpu: .6}", 2),
        (two, "demand: {cpu: 1, gpu: .4}", 4),
        (four, "nodes: 2, demand: {gpu: .6}", 2),
        (four, "demand: {gpu: 1}", 4),
    ];
    for (servers, job, places) in cases {
        let rate = 0.6 * f64::from(places);
        let jobs = format!("  - {{name: nb, {job}, arrival_rate: {rate}, mean_size: 1.5}}\n");
        let fleet = fleet(servers, &jobs);
        let offered = 1.5 * rate;
        let exact = 1.5 + 1.5 * erlang_c(places, offered) / (f64::from(places) - offered);
        for name in ["fcfs", "first-fit", "best-fit", "easy", "easy+fcfs"] {
            let contender = Contender::named(name, &fleet).unwrap();
            let run = contender.simulate_on(&fleet, &events(2_000_000), quiet);
            let run = run.unwrap();
            agrees(run.mean_response, exact, 0.06, &format!("{name} {job}"));
        }
    }
}

#[test]
fn mixes_are_served_by_every_rule_of_fleets() {
    let fleet = fleet(
        "servers: [{count: 3, capacity: {cpu: 9, gpu: {devices: 2}}}, {name: b, count: 2, capacity: {cpu: 9, gpu: {devices: 4}}}]",
        "  - {name: a, priority: 1, demand: {cpu: 1, gpu: .6}, arrival_rate: 1.5, mean_size: 1}
  - {name: b, demand: {gpu: .4}, arrival_rate: 1.5, mean_size: 1}
  - {name: c, demand: {cpu: 2, gpu: .5}, arrival_rate: 1, mean_size: 1}
  - {name: d, demand: {gpu: 2}, arrival_rate: .5, mean_size: 1}
  - {name: e, nodes: 2, demand: {gpu: 1}, arrival_rate: .3, mean_size: 2}\n",
    );
    let pooled = Contender::rules().iter().filter(|rule| rule.is_for_fleet);
    let names = pooled.map(|rule| rule.name);
    let names = names.chain(["easy+sjf", "first-fit+wfp3"]);
    for name in names {
        let contender = Contender::named(name, &fleet).unwrap();
        let run = contender.simulate_on(&fleet, &events(300_000), quiet);
        let run = run.unwrap_or_else(|why| panic!("{name}: {why}"));
        let served = run.types.iter().all(|own| own.mean_response.is_some());
        assert!(served && run.health == Health::Settled, "{name}: {run:?}");
    }
}

#[test]
fn rules_for_amounts_reject_devices() {
    let jobs = "  - {name: nb, demand: {gpu: .6}, arrival_rate: 1.2, mean_size: 1.5}\n";
    let fleet = fleet("server: {capacity: {gpu: {devices: 2}}}", jobs);
    for rule in Contender::rules().iter().filter(|rule| !rule.is_for_fleet) {
        let why = Contender::named(rule.name, &fleet).unwrap_err();
        assert!(why.contains("that places jobs on devices"), "{why}");
        let why = Contender::from(rule).build_policy(&fleet).err().unwrap();
        assert!(why.to_string().contains("devices"), "{why}");
    }
    let why = Contender::named("fcfs", &fleet).unwrap();
    let why = why.settings(&fleet).unwrap_err().to_string();
    assert!(why.contains("policy files do not support"), "{why}");
    let planned = Contender::named("conservative+fcfs", &fleet).unwrap();
    let run = planned.simulate_on(&fleet, &events(100_000), quiet);
    assert_eq!(run.unwrap().own.counters.preemptions, 0);
}
