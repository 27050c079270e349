//! ServerFilling. A file as every rule has it: its name, its settings with what is known of them ([`PolicyConfig`]), its decisions
//! ([`Policy`]); the one to begin a new rule from.

use super::rule::{NamedRule, PolicyConfig, no_settings};
use super::served::Served;
use super::{Event, Job, Policy, System, Unsuitable};
use crate::workload::{Fleet, JobType, Workload};
use synth_core::artifact::Findings;

pub(super) const NAMED: NamedRule = NamedRule {
    name: "server-filling",
    about: "of the oldest jobs that fill all servers, those that need most; one resource",
    preempts: true,
    settings: |fleet, _| {
        one_resource(fleet.envelope())?;
        Ok(ServerFillingConfig {}.into())
    },
    ..NamedRule::PLAIN
};

no_settings! {
    /// ServerFilling.
    ServerFillingConfig;
}

impl PolicyConfig for ServerFillingConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        let rule = ServerFilling::new(fleet.envelope());
        Box::new(rule.expect("the policy was checked: there is one resource"))
    }

    fn words(&self, _: &Workload) -> String {
        "ServerFilling, with preemption: of the oldest jobs that need all servers together, those that need most run, each that fits.".into()
    }

    fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        let count = fleet.envelope().resources().len();
        if count != 1 {
            let message = format!("a rule for one resource, and the workload has {count}");
            findings.add("", message);
        }
    }

    fn preempts(&self) -> bool {
        true
    }

    fn is_proved_stable(&self, workload: &Workload) -> bool {
        fills(workload)
    }

    /// A job leaves from the middle of those that run: where these are 30 000 a decision takes 35 times as long as one
    /// of First-Fit.
    fn added_work(&self, workload: &Workload) -> f64 {
        let running: f64 = workload.types().iter().map(|t| t.offered_load()).sum();
        running / 900.0
    }
}

/// ServerFilling: of the shortest prefix of the jobs in the system, in order of arrival, that needs
/// all k servers together, the jobs in descending need, each that fits; of equals the oldest.
/// Preempts.
///
/// Source: Grosof, Harchol-Balter, Scheller-Wolf, "WCFS: a new framework for analyzing multiserver
/// systems", Queueing Systems 102, 2022. Where k and all needs are powers of two (times one
/// unit), it fills all servers whenever there is work for them, and is throughput-optimal. It runs
/// with other needs too, and may then leave servers idle while jobs wait; there, a job of the
/// prefix that does not fit is passed over for smaller ones.
///
/// A job in the prefix stays there until it leaves the system, since those before it only get fewer.
/// An arrival behind it costs O(1); otherwise a decision is O(K), O(log k) for each job started or stopped, and O(k) for one
/// that has ended.
#[derive(Clone, Debug)]
pub struct ServerFilling {
    servers: u64,
    /// By type: its class.
    of_type: Vec<usize>,
    /// In descending order of need.
    classes: Vec<Class>,
    /// By type: its jobs in the prefix. They enter in order, and every running job is among them; so the next one
    /// to enter is the oldest among the first of each type outside.
    inside: Vec<u32>,
    /// Servers that the prefix needs.
    needed: u64,
}

/// The jobs of the prefix that need as many servers.
#[derive(Clone, Debug)]
struct Class {
    need: u64,
    served: Served,
    /// How many of them shall run.
    target: usize,
}

impl ServerFilling {
    /// The rule for this workload.
    ///
    /// # Errors
    /// With more than one resource.
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
            served: Served::default(),
            target: 0,
        };
        Ok(ServerFilling {
            servers,
            of_type: needs.iter().map(class).collect(),
            classes: distinct.iter().map(empty).collect(),
            inside: vec![0; needs.len()],
            needed: 0,
        })
    }

    /// A job of type i, which was served, has left the system.
    fn leave(&mut self, i: usize, number: u64) {
        let class = &mut self.classes[self.of_type[i]];
        class.served.leave(number);
        self.needed -= class.need;
        self.inside[i] -= 1;
    }

    fn go_on(&mut self, system: &mut System) {
        // Jobs come in until they need all servers.
        while self.needed < self.servers
            && let Some((i, job)) = self.next(system)
        {
            let class = &mut self.classes[self.of_type[i]];
            class.served.jobs.push_back((i, job));
            self.needed += class.need;
            self.inside[i] += 1;
        }
        // Descending need, while there is room: what shall not run stops, then starts what shall.
        let mut free = system.left(0);
        for class in &mut self.classes {
            class.target = (free / class.need).min(class.served.jobs.len() as u64) as usize;
            free -= class.target as u64 * class.need;
            class.served.stop(class.target, system);
        }
        for class in &mut self.classes {
            class.served.start(class.target, system);
        }
    }

    /// The oldest job outside of the prefix, and its type. No queue is scanned: O(K).
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
            Event::Completion(i) => self.leave(i, system.ended()),
            _ if self.needed >= self.servers => return,
            _ => {}
        }
        self.go_on(system);
    }

    /// From the beginning: nothing runs.
    fn take_over(&mut self, system: &mut System) {
        system.stop_all();
        for class in &mut self.classes {
            class.target = 0;
            class.served.clear();
        }
        self.inside.fill(0);
        self.needed = 0;
        self.go_on(system);
    }
}

/// Servers k and the needs n (K) of a workload with one resource.
fn one_resource(workload: &Workload) -> Result<(u64, Vec<u64>), Unsuitable> {
    match workload.resources() {
        [resource] => {
            let needs = workload.types().iter().map(|t| t.units()[0]);
            Ok((resource.units(), needs.collect()))
        }
        several => Err(Unsuitable(format!(
            "it is defined for one resource, and the workload has {}",
            several.len()
        ))),
    }
}

/// Whether ServerFilling fills all servers wherever there is work for them, and is known to be stable: of any
/// two needs, and of k, the smaller divides the larger (the paper has powers of two, and its proof asks for no more);
/// Poisson arrivals and exponential sizes.
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
