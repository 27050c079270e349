//! When jobs end whose sizes are drawn as they arrive.

use std::collections::BTreeSet;

use crate::policy::{Action, System};
use crate::workload::{JobType, KnownSize, Workload};
use synth_core::number::Decimal;
use synth_queues::law::Size;
use synth_simulation::{Calendar, RandomStream, Sampler};

/// The ends of jobs with sizes of any law: a running job's end is known when it starts. No policy sees it. By default all
/// jobs come with their sizes.
#[derive(Default)]
pub struct Ends {
    laws: Vec<Sampler>,
    latency: Option<Sampler>,
    /// What plans by limits add for it \[time\].
    mean_latency: f64,
    limits: Limits,
    calendar: Calendar,
}

/// What is known of limits.
#[derive(Default)]
enum Limits {
    #[default]
    Unknown,
    /// The factor on the size that gives the limit.
    Factor(Sampler),
    /// That of each type \[time\].
    OfType(Vec<f64>),
}

impl Ends {
    /// Jobs of this workload, whose sizes and limits are drawn as they come.
    pub fn new(workload: &Workload) -> Self {
        let types = workload.types();
        Ends {
            laws: types.iter().map(|t| Sampler::of(t.size())).collect(),
            latency: workload.start_latency().map(Sampler::of),
            mean_latency: workload.start_latency().map_or(0.0, Size::mean),
            limits: match workload.known() {
                None | Some(KnownSize::Type) => Limits::Unknown,
                Some(KnownSize::Size) => Limits::Factor(Sampler::Deterministic(1.0)),
                Some(KnownSize::Limit(factor)) => Limits::Factor(Sampler::of(factor)),
                Some(KnownSize::TypeLimit) => {
                    let limit = |t: &JobType| t.limit().map_or(f64::INFINITY, Decimal::value);
                    Limits::OfType(types.iter().map(limit).collect())
                }
            },
            calendar: Calendar::default(),
        }
    }

    /// Lets a job of type i arrive. Its size \[time\] is drawn where it is NaN; how long it holds its room before it runs,
    /// and its limit, come from the same stream, whatever the policy.
    #[inline(always)]
    pub fn arrive(
        &self,
        i: usize,
        now: f64,
        size: f64,
        sizes: &mut RandomStream,
        system: &mut System,
    ) {
        let size = if size.is_nan() {
            self.laws[i].draw(sizes)
        } else {
            size
        };
        let latency = self.latency.as_ref().map_or(0.0, |law| law.draw(sizes));
        let job = system.arrive_sized(i, now, size + latency);
        // Limits are of the run alone.
        let limit = match &self.limits {
            Limits::Unknown => return,
            Limits::Factor(factor) => size * factor.draw(sizes),
            Limits::OfType(limits) => limits[i].max(size),
        };
        system.set_limit(job, limit + self.mean_latency);
    }

    /// Returns the time of the next end; infinity when there is none.
    pub fn next(&mut self, system: &System) -> f64 {
        self.calendar.next(|end, slot| is_due(system, end, slot))
    }

    /// Takes the slot of the job that ends next.
    pub fn take(&mut self) -> Option<u32> {
        self.calendar.take()
    }

    /// Notes the ends of the jobs that the policy has started.
    pub fn follow(&mut self, system: &System) {
        for action in system.actions() {
            if let Action::Start(_, job) = action
                && let Some(end) = system.ends_at(job.slot)
            {
                self.calendar.push(end, job.slot);
            }
        }
        let running = system.all_running();
        self.calendar
            .tidy(running, |end, slot| is_due(system, end, slot));
    }

    /// Checks that the jobs that run are those whose ends are known.
    pub fn audit(&self, system: &mut System) {
        let mut known = vec![0; system.types()];
        let due = self.calendar.ends();
        let due = due.filter(|(end, slot)| is_due(system, *end, *slot));
        // One that was stopped and started again at once may stand there twice.
        let slots: BTreeSet<u32> = due.filter(|(end, _)| !end.is_nan()).map(|e| e.1).collect();
        for slot in slots {
            known[system.type_of(slot)] += 1;
        }
        for (i, known) in known.into_iter().enumerate() {
            system.expect_running(i, known);
        }
    }
}

/// Whether the job in this slot runs, and ends then.
fn is_due(system: &System, end: f64, slot: u32) -> bool {
    system.ends_at(slot).map(f64::to_bits) == Some(end.to_bits())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Four slots, and jobs of sizes that are set below.
    fn system() -> (System, Ends) {
        let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 4}}\njobs:\n  \
            - {name: a, demand: {cpu: 1}, arrival_rate: 1, mean_size: 1}\n";
        let workload = Workload::parse(text, "t").unwrap().workload;
        (System::new(&workload, 0, true), Ends::new(&workload))
    }

    fn arrive(system: &mut System, size: f64, now: f64) {
        system.arrive_sized(0, now, size);
    }

    fn follow(system: &mut System, calendar: &mut Ends) -> f64 {
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
        // Served from 1 to 3, and from 10 on: 2 of 4 are left.
        system.advance(3.0);
        system.stop(0);
        assert_eq!(follow(&mut system, &mut calendar), f64::INFINITY);
        system.advance(10.0);
        system.start(0);
        system.start(0);
        assert_eq!(follow(&mut system, &mut calendar), 12.0);
        // Stopped and started again in one decision: nothing changes.
        system.advance(11.0);
        system.stop(0);
        system.start(0);
        assert_eq!(follow(&mut system, &mut calendar), 12.0);
        assert_eq!(calendar.take(), Some(0));
        system.complete_job(0, 0, 12.0).unwrap();
        assert_eq!(follow(&mut system, &mut calendar), 19.0);
    }

    #[test]
    fn a_job_served_without_an_end_is_noticed() {
        let (mut system, mut calendar) = system();
        system.arrive(0, 1.0);
        system.start(0);
        calendar.follow(&system);
        calendar.audit(&mut system);
        let violation = system.violation().unwrap().to_string();
        assert!(violation.contains("1 jobs of type 0 run"), "{violation}");
    }
}
