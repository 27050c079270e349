//! These tests run each policy family on a simulated cluster in which jobs are cancelled, adopted
//! or put back and others use a part of the capacity.

use std::collections::BTreeMap;
use std::io::BufReader;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use synth::multiresource::artifact::Checked;
use synth::multiresource::forecast::OnlineForecasts;
use synth::multiresource::live::Scheduler;
use synth::multiresource::live::protocol::{self, Line, Started};
use synth::multiresource::policy::Event;

use crate::common::words;
use crate::conformance::{Decision, Step, recorded_vectors};

fn policies() -> Vec<(String, Checked)> {
    let all = recorded_vectors().into_iter();
    let checked = |(name, vector): (String, crate::conformance::Vector)| {
        let checked = Checked::parse(&vector.artifact.to_string(), &name).unwrap();
        (name, checked)
    };
    all.map(checked).collect()
}

fn policy(name: &str) -> Checked {
    let file = format!("/{name}.json");
    let mut all = policies().into_iter();
    all.find(|(name, _)| name.ends_with(&file)).unwrap().1
}

fn scheduler(policy: &Checked) -> Scheduler {
    Scheduler::new(policy, 7)
}

struct SimulatedCluster<'a> {
    policy: &'a Checked,
    scheduler: Scheduler,
    random: Random,
    now: f64,
    arrivals: u64,
    /// The type and the servers of each running job, by id.
    running: BTreeMap<String, (usize, Vec<usize>)>,
    waiting: BTreeMap<u64, (String, usize)>,
    /// The amounts that are used by others, for each server and resource.
    others: Vec<Vec<f64>>,
    served: u64,
    lines: Vec<String>,
    starts: u64,
    /// The probability that a clock is given by its number and not by the time.
    by_number: f64,
}

impl<'a> SimulatedCluster<'a> {
    fn new(policy: &'a Checked, seed: u64) -> Self {
        let scheduler = scheduler(policy);
        let places = scheduler.places();
        let others = vec![vec![0.0; places.resources().len()]; places.servers()];
        SimulatedCluster {
            policy,
            scheduler,
            random: Random::seed_from_u64(seed),
            now: 0.0,
            arrivals: 0,
            running: BTreeMap::new(),
            waiting: BTreeMap::new(),
            others,
            served: 0,
            lines: Vec::new(),
            starts: 0,
            by_number: 0.5,
        }
    }

    fn is_fleet(&self) -> bool {
        self.scheduler.places().servers() > 1
    }

    fn tell(&mut self, line: Line) {
        let decided = self.scheduler.tell(&line);
        let decided = decided.unwrap_or_else(|why| panic!("{line:?}: {why}"));
        self.lines.push(serde_json::to_string(&line).unwrap());
        for id in &decided.stop {
            let (kind, _) = self.running.remove(&**id).expect("the job must be running");
            self.waiting.insert(number(id), (id.to_string(), kind));
        }
        for (id, servers) in &decided.start {
            let (_, kind) = self.waiting.remove(&number(id)).expect("it must wait");
            let on = if self.is_fleet() {
                servers.clone()
            } else {
                vec![0]
            };
            assert_eq!(servers.is_empty(), !self.is_fleet());
            assert_eq!(on.len(), self.scheduler.places().nodes(kind));
            self.running.insert(id.to_string(), (kind, on.clone()));
            self.starts += 1;
            on.iter()
                .for_each(|n| self.assert_capacity_not_exceeded(*n, kind));
        }
    }

    fn assert_capacity_not_exceeded(&self, n: usize, kind: usize) {
        let places = self.scheduler.places();
        for (j, takes) in places.demand(kind).iter().enumerate() {
            let here = self.running.values().filter(|(_, on)| on.contains(&n));
            let used: f64 = here.map(|(kind, _)| places.demand(*kind)[j]).sum();
            let all = used + self.others[n][j];
            let capacity = places.capacity(n)[j];
            let fits = *takes == 0.0 || all <= capacity * (1.0 + 1e-9);
            assert!(fits, "{all} of {capacity}");
        }
    }

    fn line(&self) -> Line {
        Line {
            t: self.now,
            ..Line::default()
        }
    }

    fn arrive(&mut self, kind: usize) {
        let id = format!("j{}", self.arrivals);
        self.waiting.insert(self.arrivals, (id.clone(), kind));
        self.arrivals += 1;
        self.tell_arrival(id, kind);
    }

    fn tell_arrival(&mut self, id: String, kind: usize) {
        let name = self.scheduler.places().type_name(kind).to_owned();
        let mut line = self.arrival_line();
        (line.arrive, line.job) = (Some(name), Some(id));
        self.tell(line);
    }

    fn arrival_line(&mut self) -> Line {
        let length = f64::from(self.random.random_range(1..40));
        let needed = self.scheduler.needs_limits();
        // If the rule estimates sizes, some jobs do not have a limit or a user.
        let learns = self.scheduler.learned().is_some();
        let has_limit = needed || learns && !self.arrivals.is_multiple_of(5);
        let user =
            (learns && !self.arrivals.is_multiple_of(7)).then(|| format!("u{}", self.arrivals % 3));
        Line {
            limit: has_limit.then_some(length),
            user,
            ..self.line()
        }
    }

    fn any_running(&mut self) -> Option<String> {
        any_key(&self.running, &mut self.random)
    }

    fn any_waiting(&mut self) -> Option<u64> {
        any_key(&self.waiting, &mut self.random)
    }

    fn leave(&mut self, id: String) {
        self.running.remove(&id);
        self.served += 1;
        let line = Line {
            leave: Some(id),
            ..self.line()
        };
        self.tell(line);
    }

    fn occupy(&mut self, n: usize, amounts: Vec<f64>) {
        let places = self.scheduler.places();
        let names = places.resources().map(str::to_owned);
        let named = names.zip(amounts.iter().copied());
        let line = Line {
            occupy: Some(named.collect()),
            server: self.is_fleet().then(|| places.server_name(n).to_owned()),
            ..self.line()
        };
        self.others[n] = amounts;
        self.tell(line);
    }

    fn step(&mut self) {
        self.now += f64::from(self.random.random_range(0..4)) * 0.25;
        let types = self.scheduler.places().types().len();
        let crowded = self.waiting.len() > 60;
        match self.random.random_range(0..100) {
            0..42 if !crowded => {
                let kind = self.random.random_range(0..types);
                self.arrive(kind);
            }
            0..78 => {
                if let Some(id) = self.any_running() {
                    self.leave(id);
                }
            }
            78..85 => {
                if let Some(number) = self.any_waiting() {
                    let (id, _) = self.waiting.remove(&number).unwrap();
                    let line = Line {
                        withdraw: Some(id),
                        ..self.line()
                    };
                    self.tell(line);
                }
            }
            85..88 => {
                if let Some(id) = self.any_running() {
                    let (kind, _) = self.running.remove(&id).unwrap();
                    self.waiting.insert(number(&id), (id.clone(), kind));
                    let line = Line {
                        put_back: Some(id),
                        ..self.line()
                    };
                    self.tell(line);
                }
            }
            88..93 => {
                let n = self.random.random_range(0..self.others.len());
                let part = |random: &mut Random| match random.random_range(0..4) {
                    0..2 => 0.0,
                    2 => random.random_range(0.0..1.3),
                    _ => 1.0,
                };
                let capacity = self.scheduler.places().capacity(n).to_vec();
                let amounts = capacity.iter().map(|p| p * part(&mut self.random));
                let amounts = amounts.collect();
                self.occupy(n, amounts);
            }
            _ => self.wait_for_clock(),
        }
        if self.lines.len().is_multiple_of(16) {
            self.scheduler.check_invariants().unwrap();
        }
    }

    fn wait_for_clock(&mut self) {
        if let Some(wake) = self.scheduler.next_wake_time() {
            self.now = self.now.max(wake);
            let ring = self.scheduler.next_clock();
            let ring = ring.filter(|_| self.random.random_bool(self.by_number));
            self.tell(Line {
                ring,
                ..self.line()
            });
        }
    }

    /// Runs the cluster without arrivals until all of the waiting jobs are served.
    fn finish(&mut self) {
        for n in 0..self.others.len() {
            let nothing = vec![0.0; self.others[n].len()];
            self.occupy(n, nothing);
        }
        for _ in 0..3000 {
            let running: Vec<String> = self.running.keys().cloned().collect();
            for id in running.into_iter().filter(|id| !id.is_empty()) {
                if self.running.contains_key(&id) {
                    self.leave(id);
                }
            }
            if self.waiting.is_empty() && self.running.is_empty() {
                return;
            }
            self.wait_for_clock();
        }
        panic!("{:?} wait for ever", self.waiting);
    }

    /// The running jobs are adopted by the new scheduler, and the waiting jobs arrive again.
    fn restart(&mut self) {
        self.scheduler = scheduler(self.policy);
        self.lines.clear();
        let running: Vec<_> = self.running.clone().into_iter().collect();
        let waiting = self.waiting.clone();
        for (id, (kind, on)) in running {
            let places = self.scheduler.places();
            let named = on.iter().map(|n| places.server_name(*n).to_owned());
            let servers = if self.is_fleet() {
                named.collect()
            } else {
                Vec::new()
            };
            let name = places.type_name(kind).to_owned();
            let mut line = self.arrival_line();
            line.adopt = Some(name);
            line.job = Some(id);
            line.ran = Some(1.0);
            line.servers = servers;
            self.tell(line);
        }
        for n in 0..self.others.len() {
            self.occupy(n, self.others[n].clone());
        }
        for (id, kind) in waiting.into_values() {
            self.tell_arrival(id, kind);
        }
    }
}

fn any_key<K: Clone, V>(map: &BTreeMap<K, V>, random: &mut Random) -> Option<K> {
    let n = map.len();
    (n > 0).then(|| map.keys().nth(random.random_range(0..n)).unwrap().clone())
}

fn number(id: &str) -> u64 {
    id[1..].parse().unwrap()
}

fn driven(policy: &Checked, lines: &[String]) -> String {
    let input = lines.join("\n");
    let mut output = Vec::new();
    let done = protocol::drive(
        &mut scheduler(policy),
        BufReader::new(input.as_bytes()),
        &mut output,
        &mut OnlineForecasts::new(1),
    );
    assert_eq!(done.unwrap().1, 0, "rejected lines");
    String::from_utf8(output).unwrap()
}

/// The capacity must never be exceeded in a total of 10⁶ events, even if the scheduler is replaced.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn each_family_runs_a_changing_cluster() {
    let policies = policies();
    let each = 1_000_000 / policies.len();
    for (name, policy) in &policies {
        let mut world = SimulatedCluster::new(policy, 3);
        (0..each / 2).for_each(|_| world.step());
        let lines = world.lines.clone();
        let bytes = driven(policy, &lines);
        assert!(bytes == driven(policy, &lines), "{name}: other bytes");
        let starts = bytes.lines().map(|line| {
            let answer: serde_json::Value = serde_json::from_str(line).unwrap();
            let all: Vec<Started> = serde_json::from_value(answer["start"].clone()).unwrap();
            all.len() as u64
        });
        assert_eq!(starts.sum::<u64>(), world.starts, "{name}");
        let are_many = world.starts > each as u64 / 100;
        assert!(are_many, "{name}: {} starts", world.starts);
        world.restart();
        (0..each / 2).for_each(|_| world.step());
        world.finish();
        assert!(world.served > each as u64 / 100, "{name}");
    }
}

/// Returns the lines and the decisions after the scheduler is replaced.
pub(crate) fn replaced_scheduler_decisions(policy: &Checked) -> Vec<(Line, Decision)> {
    let mut world = SimulatedCluster::new(policy, 11);
    world.by_number = 1.0;
    let mut steps = 0;
    while steps < 200 || world.running.is_empty() {
        world.step();
        steps += 1;
    }
    world.restart();
    // Rules that wait for a clock must start at least one job.
    let (mut steps, starts) = (0, world.starts);
    while steps < 150 || world.starts == starts {
        world.step();
        steps += 1;
    }
    let mut scheduler = scheduler(policy);
    let answer = |line: &String| {
        let line: Line = serde_json::from_str(line).unwrap();
        let decision = decide(&mut scheduler, &line);
        (line, decision)
    };
    world.lines.iter().map(answer).collect()
}

fn decide(scheduler: &mut Scheduler, line: &Line) -> Decision {
    let decided = scheduler.tell(line).unwrap();
    Decision {
        start: protocol::starts(&decided, scheduler.places()),
        stop: decided.stop.iter().map(|id| id.to_string()).collect(),
    }
}

#[test]
fn the_cluster_vectors_are_reproduced() {
    let mut put_back = 0;
    for (name, vector) in recorded_vectors() {
        let policy = Checked::parse(&vector.artifact.to_string(), &name).unwrap();
        let mut scheduler = scheduler(&policy);
        let mut has = [0; 4];
        for (n, (line, decision)) in vector.cluster.iter().enumerate() {
            assert_eq!(&decide(&mut scheduler, line), decision, "{name}, line {n}");
            has[0] += usize::from(line.adopt.is_some());
            has[1] += usize::from(line.withdraw.is_some());
            has[2] += usize::from(line.occupy.is_some());
            has[3] += decision.start.len();
            // If there are only a few running jobs, it is possible that none of them was put back.
            put_back += usize::from(line.put_back.is_some());
        }
        assert!(has.iter().all(|count| *count > 0), "{name}: {has:?}");
        scheduler.check_invariants().unwrap();
    }
    assert!(put_back > 40, "{put_back}");
}

#[test]
fn the_vectors_can_be_sent_as_protocol_lines() {
    for (name, vector) in recorded_vectors() {
        let policy = Checked::parse(&vector.artifact.to_string(), &name).unwrap();
        let mut scheduler = scheduler(&policy);
        let (mut arrivals, mut t) = (0, 0.0);
        for (n, step) in vector.steps.iter().enumerate() {
            t += 1.0;
            let kind = |i: usize| Some(scheduler.places().type_name(i).to_owned());
            let line = match step.event {
                Event::Arrival(i) => Line {
                    arrive: kind(i),
                    job: Some(arrivals.to_string()),
                    limit: step.limit,
                    // Any name can be used here if it is the same for all jobs of the user.
                    user: step.user.map(|user| user.to_string()),
                    ..Line::default()
                },
                Event::Completion(_) => Line {
                    leave: step.job.map(|job| job.to_string()),
                    ..Line::default()
                },
                Event::Clock(clock) => Line {
                    ring: Some(clock),
                    ..Line::default()
                },
            };
            arrivals += u64::from(matches!(step.event, Event::Arrival(_)));
            let decided = scheduler.tell(&Line { t, ..line }).unwrap();
            let ids =
                |all: Vec<&str>| -> Vec<u64> { all.iter().map(|id| id.parse().unwrap()).collect() };
            let starts = ids(decided.start.iter().map(|(id, _)| &**id).collect());
            let stops = ids(decided.stop.iter().map(|id| &**id).collect());
            assert_eq!([starts, stops], net_changes(step), "{name}, step {n}");
            let servers = decided.start.iter().flat_map(|(_, on)| on.clone());
            let servers: Vec<usize> = servers.collect();
            assert_eq!(servers, step.servers, "{name}, step {n}");
        }
    }
}

/// Returns the starts and the stops, except for the jobs that were started again.
fn net_changes(step: &Step) -> [Vec<u64>; 2] {
    let without = |from: &[u64], other: &[u64]| -> Vec<u64> {
        let left = from.iter().filter(|job| !other.contains(job));
        left.copied().collect()
    };
    [
        without(&step.starts, &step.stops),
        without(&step.stops, &step.starts),
    ]
}

#[test]
fn adopted_jobs_above_the_capacity_are_counted_as_others() {
    let policy = policy("first-fit");
    let mut scheduler = scheduler(&policy);
    let pairs = scheduler.places().capacity(0).iter();
    let pairs = pairs.zip(scheduler.places().demand(0));
    let most = pairs.map(|(capacity, demand)| capacity / demand);
    let most = most.fold(f64::MAX, f64::min) as usize;
    let kind = scheduler.places().type_name(0).to_owned();
    let adopt = |job: String| Line {
        t: 1.0,
        adopt: Some(kind.clone()),
        job: Some(job),
        ..Line::default()
    };
    let leave = |n: usize, t: f64| Line {
        t,
        leave: Some(format!("a{n}")),
        ..Line::default()
    };
    scheduler.tell(&Line::default()).unwrap();
    for n in 0..most + 2 {
        scheduler.tell(&adopt(format!("a{n}"))).unwrap();
    }
    let arrive = Line {
        t: 2.0,
        arrive: Some(kind.clone()),
        job: Some("w".into()),
        ..Line::default()
    };
    assert!(scheduler.tell(&arrive).unwrap().start.is_empty());
    // Two more jobs must end before there is enough free capacity.
    for n in 0..2 {
        let decided = scheduler.tell(&leave(n, 3.0)).unwrap();
        assert!(decided.start.is_empty(), "{n}");
    }
    let decided = scheduler.tell(&leave(most + 1, 4.0)).unwrap();
    assert_eq!(decided.start.len(), 1);
    scheduler.check_invariants().unwrap();
}

/// The job must be served as soon as it fits.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn jobs_that_cannot_run_do_not_block_others() {
    for name in words("static-quickswap adaptive-quickswap easy-by-mean server-filling") {
        let policy = policy(name);
        let mut scheduler = scheduler(&policy);
        let places = scheduler.places();
        let share = |i: usize| places.demand(i)[0];
        let types = places.types().len();
        let compare = |a: &usize, b: &usize| share(*a).total_cmp(&share(*b));
        let largest = (0..types).max_by(compare).unwrap();
        let smallest = (0..types).min_by(compare).unwrap();
        let others = places.capacity(0)[0] - share(smallest);
        assert!(others > places.capacity(0)[0] - share(largest));
        let resource = places.resources().next().unwrap().to_owned();
        let occupy = |t: f64, amount: f64| Line {
            t,
            occupy: Some([(resource.clone(), amount)].into()),
            ..Line::default()
        };
        let kinds = [largest, smallest].map(|i| places.type_name(i).to_owned());
        let arrive = |t: f64, job: &str, kind: &String| Line {
            t,
            arrive: Some(kind.clone()),
            job: Some(job.into()),
            limit: Some(1.0),
            ..Line::default()
        };
        let leave = Line {
            t: 3.0,
            leave: Some("small".into()),
            ..Line::default()
        };
        let mut starts = |line: &Line| scheduler.tell(line).unwrap().start;
        starts(&occupy(0.0, others));
        assert!(starts(&arrive(1.0, "large", &kinds[0])).is_empty());
        assert_eq!(starts(&arrive(2.0, "small", &kinds[1])).len(), 1, "{name}");
        starts(&leave);
        let freed = starts(&occupy(4.0, 0.0));
        assert_eq!(&*freed[0].0, "large", "{name}");
    }
}
