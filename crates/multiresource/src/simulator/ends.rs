use std::collections::BTreeSet;

use crate::policy::{Action, System};
use crate::workload::{JobType, SizeInformation, Workload};
use synth_core::number::Decimal;
use synth_queues::distribution::SizeDistribution;
use synth_simulation::{CompletionQueue, RandomStream, Sampler};

/// A calendar of the ends of the running jobs, which is not visible to the policy. With the
/// default, the size of each job must be given.
#[derive(Default)]
pub struct CompletionTimes {
    sizes: Vec<Sampler>,
    latency: Option<Sampler>,
    /// The mean start latency, which is added to the limits \[time\].
    mean_latency: f64,
    limits: Limits,
    calendar: CompletionQueue,
}

#[derive(Default)]
enum Limits {
    #[default]
    Unknown,
    /// The distribution of the ratio between the limit and the size.
    Factor(Sampler),
    /// By type \[time\].
    OfType(Vec<f64>),
}

impl CompletionTimes {
    pub(super) fn new(workload: &Workload) -> Self {
        let types = workload.types();
        CompletionTimes {
            sizes: types.iter().map(|t| Sampler::of(t.size())).collect(),
            latency: workload.start_latency().map(Sampler::of),
            mean_latency: workload.start_latency().map_or(0.0, SizeDistribution::mean),
            limits: match workload.size_information() {
                None | Some(SizeInformation::Type) => Limits::Unknown,
                Some(SizeInformation::Size) => Limits::Factor(Sampler::Deterministic(1.0)),
                Some(SizeInformation::Limit(factor)) => Limits::Factor(Sampler::of(factor)),
                Some(SizeInformation::TypeLimit) => {
                    let limit = |t: &JobType| t.limit().map_or(f64::INFINITY, Decimal::value);
                    Limits::OfType(types.iter().map(limit).collect())
                }
            },
            calendar: CompletionQueue::default(),
        }
    }

    /// Adds a job of type i; its size \[time\] is drawn if it is NaN. The start latency and the
    /// limit are drawn from the same stream, so that they do not depend on the policy.
    #[inline(always)]
    pub(super) fn arrive(
        &self,
        i: usize,
        now: f64,
        size: f64,
        sizes: &mut RandomStream,
        system: &mut System,
    ) {
        let size = match size.is_nan() {
            true => self.sizes[i].draw(sizes),
            false => size,
        };
        let latency = self.latency.as_ref().map_or(0.0, |law| law.draw(sizes));
        let job = system.arrive_sized(i, now, size + latency);
        // Limits apply to the run without the latency.
        let limit = match &self.limits {
            Limits::Unknown => return,
            Limits::Factor(factor) => size * factor.draw(sizes),
            Limits::OfType(limits) => limits[i].max(size),
        };
        system.set_limit(job, limit + self.mean_latency);
    }

    /// Returns the time of the next end, or infinity.
    pub(super) fn next(&mut self, system: &System) -> f64 {
        self.calendar.next(|end, slot| is_due(system, end, slot))
    }

    /// Removes the job that ends next, and returns its slot.
    pub(super) fn take(&mut self) -> Option<u32> {
        self.calendar.take()
    }

    /// Adds the jobs that the policy has started.
    pub(super) fn follow(&mut self, system: &System) {
        for action in system.actions() {
            if let Action::Start(_, job) = action
                && let Some(end) = system.ends_at(job.slot)
            {
                self.calendar.push(end, job.slot);
            }
        }
        let is_due = |end, slot| is_due(system, end, slot);
        self.calendar.tidy(system.all_running(), is_due);
    }

    /// Checks that the running jobs are exactly the ones with known ends.
    pub(super) fn audit(&self, system: &mut System) {
        let mut known = vec![0; system.types()];
        let ends = self.calendar.ends().filter(|(end, _)| !end.is_nan());
        let due = ends.filter(|(end, slot)| is_due(system, *end, *slot));
        // If a job was stopped and started again, there may be two entries for it.
        for slot in due.map(|(_, slot)| slot).collect::<BTreeSet<_>>() {
            known[system.type_of(slot)] += 1;
        }
        for (i, known) in known.into_iter().enumerate() {
            system.expect_running(i, known);
        }
    }
}

fn is_due(system: &System, end: f64, slot: u32) -> bool {
    system.ends_at(slot).map(f64::to_bits) == Some(end.to_bits())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn system() -> (System, CompletionTimes) {
        let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 4}}\njobs:\n  \
            - {name: a, demand: {cpu: 1}, arrival_rate: 1, mean_size: 1}\n";
        let workload = Workload::parse(text, "t").unwrap().workload;
        (
            System::new(&workload, 0, true),
            CompletionTimes::new(&workload),
        )
    }

    fn arrive(system: &mut System, size: f64, now: f64) {
        system.arrive_sized(0, now, size);
    }

    fn follow(system: &mut System, calendar: &mut CompletionTimes) -> f64 {
        calendar.follow(system);
        calendar.audit(system);
        system.clear_actions();
        assert_eq!(system.violation(), None);
        calendar.next(system)
    }

    #[test]
    fn a_job_keeps_its_remaining_size_while_it_is_stopped() {
        let (mut system, mut calendar) = system();
        arrive(&mut system, 4.0, 1.0);
        arrive(&mut system, 9.0, 1.0);
        assert_eq!(follow(&mut system, &mut calendar), f64::INFINITY);
        system.start(0);
        assert_eq!(follow(&mut system, &mut calendar), 5.0);
        // The job runs from 1 to 3, and from 10 on until its remaining size of 2 is served.
        system.advance(3.0);
        system.stop(0);
        assert_eq!(follow(&mut system, &mut calendar), f64::INFINITY);
        system.advance(10.0);
        system.start(0);
        system.start(0);
        assert_eq!(follow(&mut system, &mut calendar), 12.0);
        system.advance(11.0);
        system.stop(0);
        system.start(0);
        assert_eq!(follow(&mut system, &mut calendar), 12.0);
        assert_eq!(calendar.take(), Some(0));
        system.complete_job(0, 0, 12.0).unwrap();
        assert_eq!(follow(&mut system, &mut calendar), 19.0);
    }

    #[test]
    fn detects_a_running_job_without_an_end() {
        let (mut system, mut calendar) = system();
        system.arrive(0, 1.0);
        system.start(0);
        calendar.follow(&system);
        calendar.audit(&mut system);
        let violation = system.violation().unwrap().to_string();
        assert!(violation.contains("1 jobs of type 0 run"), "{violation}");
    }
}
