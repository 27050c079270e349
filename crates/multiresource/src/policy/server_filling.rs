//! ServerFilling, which is also a template for new rules with its name, settings and decisions.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rule::{NamedRule, PolicyConfig};
use super::{Event, Job, Policy, System, Unsuitable};
use crate::workload::{Fleet, JobType, Workload};
use synth_core::artifact::Findings;

pub(super) const NAMED: NamedRule = NamedRule {
    name: "server-filling",
    description: "serves the jobs with the largest need first, among the oldest jobs that fill all servers; only for one resource",
    preempts: true,
    settings: |fleet, _| {
        one_resource(fleet.envelope())?;
        Ok(ServerFillingConfig {}.into())
    },
    ..NamedRule::PLAIN
};

/// The settings of ServerFilling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerFillingConfig {}

impl PolicyConfig for ServerFillingConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        let rule = ServerFilling::new(fleet.envelope());
        Box::new(rule.expect("the policy was checked: there is one resource"))
    }

    fn describe(&self, _: &Workload) -> String {
        "ServerFilling, with preemption: the policy selects the oldest jobs until their total need is at least the number of servers. These jobs are served in descending order of their need, and a job that does not fit is skipped.".into()
    }

    fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        let count = fleet.envelope().resources().len();
        if count != 1 {
            let message =
                format!("the rule needs exactly one resource, but the workload has {count}");
            findings.add("", message);
        }
    }

    fn preempts(&self) -> bool {
        true
    }

    fn is_proved_stable(&self, workload: &Workload) -> bool {
        fills(workload)
    }

    /// Removing one of 30 000 running jobs from a list takes 35 times as long as First-Fit.
    fn extra_work_per_event(&self, workload: &Workload) -> f64 {
        let running: f64 = workload.types().iter().map(|t| t.offered_load()).sum();
        running / 900.0
    }
}

/// ServerFilling, with preemption. Of the shortest prefix of the jobs, in order of arrival, with a
/// total need of at least `k`, it serves the jobs in descending order of need, and skips those that
/// do not fit. Ties are broken by age. The source is Grosof, Harchol-Balter, Scheller-Wolf, "WCFS:
/// a new framework for analyzing multiserver systems", Queueing Systems 102, 2022. If `k` and all
/// needs are powers of two (times one unit), all servers are used if there is enough work, and the
/// rule is throughput-optimal. With other needs, some of the servers may be idle while jobs are
/// waiting. A job stays in the prefix until it leaves, because the number of jobs before it never
/// increases. An arrival behind the prefix takes `O(1)`. Other decisions take `O(K)`, `O(log k)`
/// for each job that is started or stopped, and `O(k)` for a job that has completed.
#[derive(Clone, Debug)]
pub struct ServerFilling {
    servers: u64,
    of_type: Vec<usize>,
    classes: Vec<Class>,
    /// The number of jobs of each type in the prefix, which contains all running jobs.
    inside: Vec<u32>,
    needed: u64,
}

/// The jobs in the prefix that have the same need, in the order of arrival.
#[derive(Clone, Debug, Default)]
struct Class {
    need: u64,
    jobs: VecDeque<(usize, Job)>,
    /// The number of jobs, from the front, that are running, and that should be.
    running: usize,
    target: usize,
}

impl Class {
    fn stop(&mut self, system: &mut System) {
        while self.running > self.target {
            self.running -= 1;
            let (i, job) = self.jobs[self.running];
            system.stop_job(i, job);
        }
    }

    fn start(&mut self, system: &mut System) {
        while self.running < self.target
            && let Some(&(i, job)) = self.jobs.get(self.running)
            && system.fits(i)
        {
            system.start_job(i, job);
            self.running += 1;
        }
    }
}

impl ServerFilling {
    /// Creates the rule.
    ///
    /// # Errors
    /// Returns an error if there is more than one resource.
    pub fn new(workload: &Workload) -> Result<Self, Unsuitable> {
        let (servers, needs) = one_resource(workload)?;
        let mut distinct = needs.clone();
        distinct.sort_unstable_by(|a, b| b.cmp(a));
        distinct.dedup();
        let class = |need: &u64| {
            let place = distinct.iter().position(|n| n == need);
            place.expect("each need is among the distinct ones")
        };
        let empty = |need: &u64| Class {
            need: *need,
            ..Class::default()
        };
        Ok(ServerFilling {
            servers,
            of_type: needs.iter().map(class).collect(),
            classes: distinct.iter().map(empty).collect(),
            inside: vec![0; needs.len()],
            needed: 0,
        })
    }

    fn go_on(&mut self, system: &mut System) {
        while self.needed < self.servers
            && let Some((i, job)) = self.next(system)
        {
            let class = &mut self.classes[self.of_type[i]];
            class.jobs.push_back((i, job));
            self.needed += class.need;
            self.inside[i] += 1;
        }
        let mut free = system.left(0);
        for class in &mut self.classes {
            class.target = (free / class.need).min(class.jobs.len() as u64) as usize;
            free -= class.target as u64 * class.need;
            class.stop(system);
        }
        for class in &mut self.classes {
            class.start(system);
        }
    }

    fn next(&self, system: &System) -> Option<(usize, Job)> {
        let place = |i: usize| (self.inside[i] - system.running(i)) as usize;
        let heads =
            (0..self.inside.len()).filter_map(|i| Some((system.nth_number(i, place(i))?, i)));
        let (_, i) = heads.min()?;
        Some((i, system.nth_waiting(i, place(i))?))
    }
}

impl Policy for ServerFilling {
    fn preempts(&self) -> bool {
        true
    }

    fn react(&mut self, event: Event, system: &mut System) {
        match event {
            Event::Completion(i) => {
                let class = &mut self.classes[self.of_type[i]];
                let mut running = class.jobs.iter().take(class.running);
                if let Some(place) = running.position(|(_, job)| job.number == system.ended()) {
                    class.jobs.remove(place);
                    class.running -= 1;
                }
                self.needed -= class.need;
                self.inside[i] -= 1;
            }
            _ if self.needed >= self.servers => return,
            _ => {}
        }
        self.go_on(system);
    }

    fn take_over(&mut self, system: &mut System) {
        system.stop_all();
        for class in &mut self.classes {
            class.jobs.clear();
            (class.running, class.target) = (0, 0);
        }
        self.inside.fill(0);
        self.needed = 0;
        self.go_on(system);
    }
}

fn one_resource(workload: &Workload) -> Result<(u64, Vec<u64>), Unsuitable> {
    match workload.resources() {
        [resource] => {
            let needs = workload.types().iter().map(|t| t.units()[0]);
            Ok((resource.units(), needs.collect()))
        }
        several => Err(Unsuitable(format!(
            "it is defined for one resource, but the workload has {}",
            several.len()
        ))),
    }
}

/// Returns `true` if stability is proved: for Poisson arrivals, exponential sizes, and needs and
/// `k` that divide each other, as powers of two do in the paper's proof.
fn fills(workload: &Workload) -> bool {
    let Ok((servers, mut needs)) = one_resource(workload) else {
        return false;
    };
    needs.push(servers);
    needs.sort_unstable();
    let divide = needs.windows(2).all(|pair| pair[1] % pair[0] == 0);
    let memoryless = workload.types().iter().all(JobType::is_memoryless);
    divide && memoryless && workload.is_poisson()
}
