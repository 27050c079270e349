#![allow(clippy::unwrap_used)]

use super::*;
use crate::policy::{Family, MsrConfig, Preemption, Route};
use crate::workload::Workload;

mod backfilling;
mod devices;
mod drains;
mod filling;
mod greedy;
mod least_left;
mod literal;
mod max_weight;
mod others;
pub(crate) mod pooled;
mod quickswap;
mod setups;

/// Decisions are written as `+type:number` and `-type:number`.
struct Stage<P: ?Sized> {
    system: System,
    policy: Box<P>,
}

impl<P: Policy> Stage<P> {
    fn new(workload: &Workload, policy: P, preemptible: bool) -> Self {
        Stage::boxed(workload, Box::new(policy), preemptible)
    }
}

impl<P: Policy + ?Sized> Stage<P> {
    fn boxed(workload: &Workload, mut policy: Box<P>, preemptible: bool) -> Self {
        let mut system = System::new(workload, policy.clocks(), preemptible);
        policy.begin(&mut system);
        Stage { system, policy }
    }

    fn decisions(&mut self, event: Event) -> String {
        self.system.clear_actions();
        self.policy.react(event, &mut self.system);
        self.system.audit();
        assert_eq!(self.system.violation(), None);
        let shown = self.system.actions().iter().map(|action| match action {
            Action::Start(i, job) => format!("+{i}:{}", job.number),
            Action::Stop(i, job) => format!("-{i}:{}", job.number),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    fn arrive(&mut self, i: usize) -> String {
        let now = self.system.now() + 1.0;
        self.system.arrive(i, now);
        self.decisions(Event::Arrival(i))
    }

    fn end(&mut self, i: usize) -> String {
        let now = self.system.now() + 1.0;
        self.system.complete(i, 0, now).unwrap();
        self.decisions(Event::Completion(i))
    }

    fn arrive_sized(&mut self, i: usize, now: f64, size: f64) -> String {
        self.system.arrive_sized(i, now, size);
        self.decisions(Event::Arrival(i))
    }

    fn arrive_limited(&mut self, i: usize, now: f64, limit: f64) -> String {
        self.system.arrive_limited(i, now, limit);
        self.decisions(Event::Arrival(i))
    }

    fn finish(&mut self, i: usize, number: u64, now: f64) -> String {
        self.system.complete_job(i, number, now).unwrap();
        self.decisions(Event::Completion(i))
    }

    fn ring(&mut self, clock: usize) -> String {
        let runs = self.system.clocks()[clock] > 0.0;
        assert!(runs, "clock {clock} does not run");
        self.decisions(Event::Clock(clock))
    }
}

fn driven(workload: &Workload, policy: &(impl Clone + Into<Family>)) -> Stage<dyn Policy> {
    let rule = policy.clone().into().build(&workload.clone().into());
    let preempts = rule.preempts();
    Stage::boxed(workload, rule, preempts)
}

fn backfilling(workload: &Workload, choices: Backfilling) -> Stage<dyn Policy> {
    Stage::boxed(workload, choices.rule(workload, 1), false)
}

fn cores() -> Workload {
    servers(10, &[3, 7, 1])
}

pub(crate) fn servers(count: u32, needs: &[u32]) -> Workload {
    let jobs: Vec<_> = needs.iter().map(|need| (*need, 1.0, 1.0)).collect();
    one_server(count, &jobs)
}

/// Each job type has a demand, an arrival rate and a mean size.
pub(crate) fn one_server(capacity: u32, jobs: &[(u32, f64, f64)]) -> Workload {
    let mut text = format!(
        "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{cpu: {capacity}}}}}\njobs:\n"
    );
    for (i, (need, rate, mean)) in jobs.iter().enumerate() {
        text += &format!(
            "  - {{name: t{i}, demand: {{cpu: {need}}}, arrival_rate: {rate}, mean_size: {mean}}}\n"
        );
    }
    Workload::parse(&text, "servers").unwrap().workload
}

pub(crate) fn section7() -> Workload {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/section7.yaml");
    Workload::read(path.as_ref()).unwrap().workload
}

#[test]
fn fcfs_stops_at_the_first_blocked_job() {
    let mut stage = Stage::new(&cores(), FCFS, false);
    assert_eq!(stage.arrive(0), "+0:0");
    assert_eq!(stage.arrive(0), "+0:1");
    assert_eq!(stage.arrive(1), "");
    assert_eq!(stage.arrive(2), "");
    assert_eq!(stage.end(0), "+1:2");
    assert_eq!(stage.end(0), "+2:3");
}

#[test]
fn first_fit_skips_blocked_jobs_in_arrival_order() {
    let mut stage = Stage::new(&cores(), FIRST_FIT, false);
    assert_eq!(stage.arrive(0), "+0:0");
    assert_eq!(stage.arrive(0), "+0:1");
    assert_eq!(stage.arrive(1), "");
    assert_eq!(stage.arrive(0), "+0:3");
    assert_eq!(stage.arrive(2), "+2:4");
    assert_eq!(stage.arrive(2), "");
    assert_eq!(stage.arrive(0), "");
    assert_eq!(stage.end(0), "+2:5");
    assert_eq!(stage.end(0), "+0:6");
    let found = [0, 2, 2, 2].map(|i| stage.arrive(i));
    assert_eq!(found, ["", "+2:8", "+2:9", ""]);
    assert_eq!(stage.end(0), "+0:7");
}

pub(crate) fn own(document: &str) -> MsrConfig {
    let own = parse_custom_policy(document, "own", &section7().into()).unwrap();
    own.msr().unwrap().clone()
}

fn msr(words: &str) -> MsrConfig {
    let [preemption, route, backfill, empty_slots] = words.split(' ').collect::<Vec<_>>()[..]
    else {
        panic!("{words}")
    };
    let preemption: Preemption = serde_json::from_value(preemption.into()).unwrap();
    MsrConfig {
        rates: None,
        preemption,
        schedules: vec![vec![0, 0, 2], vec![1, 4, 0]],
        weights: vec![0.5, 0.5],
        order: vec![0, 1],
        switching_rate: 0.2,
        setup_rate: (preemption == Preemption::Setup).then_some(10.0),
        route: route.parse::<Route>().unwrap(),
        backfill: serde_json::from_value(backfill.into()).unwrap(),
        empty_slots: serde_json::from_value(empty_slots.into()).unwrap(),
    }
}

fn stage(words: &str) -> Stage<Msr> {
    let (policy, workload) = (msr(words), section7());
    let preempts = policy.preemption != Preemption::None;
    Stage::new(&workload, Msr::new(&policy, &workload), preempts)
}

/// Section 7, from (0,0,2) to (1,4,0). A completion allows jobs of types 0 and 1 to start.
#[test]
fn a_non_preemptive_route_drains_and_admits_eagerly() {
    let mut stage = stage("none sequential-eager none phantom");
    assert_eq!(stage.arrive(2), "+2:0");
    assert_eq!(stage.arrive(2), "+2:1");
    let found = [
        stage.arrive(0),
        stage.arrive(1),
        stage.arrive(1),
        stage.arrive(2),
    ];
    assert_eq!(found, ["", "", "", ""]);
    assert_eq!(stage.system.clocks()[0], 0.2, "α/(N π)");
    assert_eq!(stage.ring(0), "");
    assert_eq!(stage.system.clocks()[0], 0.0, "no timer on a route");
    assert_eq!(stage.end(2), "+0:2 +1:3");
    assert_eq!(stage.end(2), "+1:4", "no type-2 job starts");
    assert_eq!(stage.policy.schedule(), (&[1, 4, 0][..], true));
    assert_eq!(stage.system.clocks()[0], 0.2);
}

#[test]
fn phantom_slots_drain_by_their_clock() {
    let mut stage = stage("none sequential-eager none phantom");
    stage.arrive(2);
    stage.arrive(0);
    stage.ring(0);
    assert_eq!(stage.system.clocks(), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(stage.ring(3), "+0:1");
    assert_eq!(stage.system.clocks()[3], 0.0);
    assert_eq!(stage.arrive(2), "");
    assert_eq!(stage.end(2), "");
    assert_eq!(stage.policy.schedule().0, [1, 4, 0]);
}

#[test]
fn released_slots_end_at_once() {
    let mut stage = stage("none sequential-eager none release");
    stage.arrive(2);
    stage.arrive(0);
    assert_eq!(stage.ring(0), "+0:1");
    assert_eq!(stage.end(2), "");
    assert!(stage.policy.schedule().1, "the route is over");
    assert_eq!(stage.end(0), "");
    assert_eq!(stage.ring(0), "");
    assert_eq!(stage.policy.schedule(), (&[0, 0, 2][..], true));
}

#[test]
fn sequential_drains_refill_later_types() {
    let mut stage = stage("none sequential-late none phantom");
    stage.ring(0);
    for clock in [3, 3] {
        stage.ring(clock);
    }
    stage.arrive(0);
    for _ in 0..5 {
        stage.arrive(1);
    }
    stage.arrive(2);
    assert_eq!(stage.ring(0), "");
    assert_eq!(stage.end(1), "+1:5");
    assert_eq!(stage.end(0), "");
    assert_eq!([stage.end(1), stage.end(1), stage.end(1)], ["", "", ""]);
    assert_eq!(stage.end(1), "+2:6", "late admission is at the end");
}

#[test]
fn full_preemption_stops_the_youngest_and_resumes_them_in_order() {
    let mut stage = stage("full sequential-eager none release");
    stage.arrive(2);
    stage.arrive(2);
    stage.arrive(1);
    assert_eq!(stage.ring(0), "-2:1 -2:0 +1:2");
    assert_eq!(stage.ring(0), "-1:2 +2:0 +2:1");
}

#[test]
fn full_preemption_stops_backfilled_jobs() {
    let mut stage = stage("full sequential-eager first-fit release");
    let found = [stage.arrive(1), stage.arrive(0), stage.arrive(1)];
    assert_eq!(found, ["+1:0", "+0:1", "+1:2"]);
    assert_eq!(stage.arrive(2), "-1:2 +2:3");
    assert_eq!(stage.arrive(2), "-0:1 -1:0 +2:4");
}

#[test]
fn backfilled_jobs_continue_without_preemption() {
    let mut stage = stage("none sequential-eager first-fit release");
    assert_eq!(stage.arrive(1), "+1:0");
    assert_eq!(stage.arrive(2), "+2:1");
    assert_eq!(stage.arrive(2), "");
    assert_eq!(stage.end(1), "+2:2");
}

#[test]
fn setups_hold_capacity_until_their_clock_rings() {
    let mut stage = stage("setup concurrent-late none phantom");
    stage.arrive(2);
    stage.arrive(2);
    stage.arrive(1);
    assert_eq!(stage.ring(0), "-2:1 -2:0");
    assert_eq!(stage.system.free(0), 0, "20 cores held");
    assert_eq!(stage.system.clocks(), [0.0, 0.0, 0.0, 20.0]);
    assert_eq!(stage.ring(3), "");
    assert_eq!(stage.system.free(0), 10);
    assert_eq!(stage.ring(3), "+1:2");
    assert_eq!(stage.system.oldest(2).unwrap().number, 0);
}

#[test]
fn the_first_violation_is_kept() {
    let mut system = System::new(&cores(), 0, false);
    system.start(0);
    assert_eq!(system.violation(), Some(&Violation::NoJob(0)));
    let mut system = System::new(&cores(), 0, false);
    for _ in 0..4 {
        system.arrive(0, 1.0);
    }
    (0..4).for_each(|_| system.start(0));
    assert_eq!(system.violation(), Some(&Violation::Capacity(0)));
    let mut system = System::new(&cores(), 0, false);
    system.arrive(1, 1.0);
    system.start(1);
    system.stop(1);
    assert_eq!(system.violation(), Some(&Violation::Preemption(1)));
    system.advance(0.5);
    assert_eq!(system.violation(), Some(&Violation::Preemption(1)));
}
