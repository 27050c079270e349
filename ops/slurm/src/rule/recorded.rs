use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{Facts, Running, SlurmPolicy, SlurmRule};
use itertools::Itertools as _;
use synth_multiresource::policy::{Job, Policy, System};
use synth_multiresource::workload::Fleet;

/// The jobs that run according to a log, with the usage of the accounts. A log does not contain
/// the servers, so they are chosen when a job starts. If it does not fit, all jobs are moved.
pub struct RecordedJobs {
    policy: SlurmPolicy,
    system: System,
    /// The dominant share of each type.
    shares: Vec<f64>,
    /// The type of each running job by its number. It waits in the system if it does not fit.
    running: BTreeMap<usize, (usize, Job)>,
}

impl RecordedJobs {
    /// Starts without running jobs.
    pub fn new(rule: &SlurmRule, fleet: &Fleet) -> Self {
        let policy = rule.on(fleet);
        RecordedJobs {
            system: System::for_policy(fleet, &policy),
            policy,
            shares: fleet.envelope().dominant_shares(),
            running: BTreeMap::new(),
        }
    }

    /// Returns the rule with the present usage, for [`Policy::foresee`].
    pub fn policy(&self) -> Box<dyn Policy> {
        Box::new(self.policy.clone())
    }

    /// Returns the servers of a running job, or `None` if it does not fit.
    pub fn servers(&self, number: usize) -> Option<Vec<usize>> {
        let (_, job) = self.running.get(&number)?;
        let fits = self.system.runs(*job);
        fits.then(|| self.system.servers_of(*job).to_vec())
    }

    /// Starts the job with this number and type. Returns `true` if all running jobs fit.
    pub fn start(&mut self, number: usize, i: usize, now: f64) -> bool {
        self.count_usage(now);
        let facts = self.policy.facts(number as u64);
        self.policy.running.push(Running {
            number: number as u64,
            i,
            facts,
            counted: self.policy.now(&self.system),
        });
        let job = self.system.arrive(i, now);
        self.running.insert(number, (i, job));
        self.fit(number) || self.move_all(now)
    }

    /// Ends the job with this number.
    pub fn end(&mut self, number: usize, now: f64) {
        self.count_usage(now);
        self.policy
            .running
            .retain(|own| own.number != number as u64);
        let Some((i, job)) = self.running.remove(&number) else {
            return;
        };
        if self.system.runs(job) {
            self.system.complete_slot(job.slot, now);
            let freed = self.system.freed();
            self.policy.nodes.end(freed, number as u64);
        } else {
            self.system.withdraw(i, job, now);
        }
    }

    fn count_usage(&mut self, now: f64) {
        self.system.advance(now);
        self.policy.count_usage(self.policy.now(&self.system));
    }

    /// Starts a job if it fits on the servers of its partition, or returns `false`.
    fn fit(&mut self, number: usize) -> bool {
        let (i, job) = self.running[&number];
        let (policy, system) = (&mut self.policy, &mut self.system);
        let partition = policy.facts(number as u64).partition as usize;
        let members = &policy.members[partition];
        let Some(servers) = policy.nodes.servers_free_now(i, members, system) else {
            return false;
        };
        system.start_job_on(i, job, &servers);
        system.clear_actions();
        policy
            .nodes
            .start(&servers, f64::INFINITY, i, number as u64);
        true
    }

    /// Chooses the servers of all jobs again, the largest first. Returns `true` if all fit.
    fn move_all(&mut self, now: f64) -> bool {
        for (i, job) in self.running.values() {
            self.system.put_back(*i, *job, now);
        }
        self.policy.nodes = self.policy.nodes.cleared();
        let share = |number: &usize| self.shares[self.running[number].0];
        let numbers = self.running.keys().copied();
        let numbers = numbers.sorted_by(|a, b| share(b).total_cmp(&share(a)));
        let placed = numbers.collect_vec().into_iter();
        placed.filter(|number| self.fit(*number)).count() == self.running.len()
    }
}

impl SlurmPolicy {
    /// Job `n` is now the job that had the number `before[n]`.
    pub(super) fn use_jobs(&mut self, before: &[usize]) {
        let facts = before.iter().map(|n| self.facts(*n as u64));
        self.jobs = facts.collect::<Arc<[Facts]>>();
        let running = self.running.drain(..).map(|own| (own.number, own));
        let mut running: HashMap<u64, Running> = running.collect();
        for (n, number) in before.iter().zip(0..) {
            if running.is_empty() {
                break;
            }
            let own = running.remove(&(*n as u64));
            self.running
                .extend(own.map(|own| Running { number, ..own }));
        }
    }
}
