//! When jobs end whose sizes are drawn as they arrive.

use std::collections::BTreeSet;

use crate::law::Size;
use crate::multiresource::policy::{Action, System};
use crate::multiresource::workload::{self, JobType, Workload};
use crate::number::Decimal;
use crate::simulation::{Calendar, Sampler, Stream};

/// When the jobs that are served end. No policy sees it.
pub(in crate::multiresource) trait Ends {
    /// Whether that is not known: then completions are drawn from their rates.
    const UNKNOWN: bool;

    /// The size \[time\] of a job of type i that arrives; NaN where it is not known.
    fn size(&mut self, i: usize, sizes: &mut Stream) -> f64;

    /// How long a job that arrives will hold its room before it runs \[time\]. It is drawn from the same stream,
    /// whatever the policy.
    fn latency(&mut self, _sizes: &mut Stream) -> f64 {
        0.0
    }

    /// How long a job of type i and this size \[time\] that arrives is thought to hold its room at most, by what is
    /// known of its limit; `None` where no limits are known. It is drawn from the same stream, too.
    fn limit(&mut self, _i: usize, _size: f64, _sizes: &mut Stream) -> Option<f64> {
        None
    }

    /// The time of the next end; infinity when there is none.
    fn next(&mut self, system: &System) -> f64;

    /// The slot of the job that ends next; it is forgotten.
    fn take(&mut self) -> Option<u32>;

    /// Carries out what the policy has decided.
    fn follow(&mut self, system: &mut System);

    /// Checks that the jobs that run are those whose ends are known.
    fn audit(&self, _system: &mut System) {}
}

/// Sizes are exponential: what is left of a job has the law of a whole one, so a memoryless size
/// needs no calendar.
pub(in crate::multiresource) struct Memoryless;

impl Ends for Memoryless {
    const UNKNOWN: bool = true;

    fn size(&mut self, _: usize, _: &mut Stream) -> f64 {
        f64::NAN
    }

    fn next(&mut self, _: &System) -> f64 {
        f64::INFINITY
    }

    fn take(&mut self) -> Option<u32> {
        None
    }

    fn follow(&mut self, _: &mut System) {}
}

/// The ends of jobs with sizes of any law. A running job's end is known when it starts.
pub(in crate::multiresource) struct Known {
    laws: Vec<Sampler>,
    latency: Option<Sampler>,
    /// What plans by limits add for it \[time\].
    mean_latency: f64,
    limits: Limits,
    calendar: Calendar,
}

/// What is known of limits.
enum Limits {
    Unknown,
    /// The factor on the size that gives the limit.
    Factor(Sampler),
    /// That of each type \[time\].
    OfType(Vec<f64>),
}

impl Known {
    /// Jobs of this workload, whose sizes and limits are drawn as they come.
    pub fn new(workload: &Workload) -> Self {
        let types = workload.types();
        Known {
            laws: types.iter().map(|t| Sampler::of(t.size())).collect(),
            latency: workload.start_latency().map(Sampler::of),
            mean_latency: workload.start_latency().map_or(0.0, Size::mean),
            limits: match workload.known() {
                None | Some(workload::Known::Type) => Limits::Unknown,
                Some(workload::Known::Size) => Limits::Factor(Sampler::Deterministic(1.0)),
                Some(workload::Known::Limit(factor)) => Limits::Factor(Sampler::of(factor)),
                Some(workload::Known::TypeLimit) => {
                    let limit = |t: &JobType| t.limit().map_or(f64::INFINITY, Decimal::value);
                    Limits::OfType(types.iter().map(limit).collect())
                }
            },
            ..Known::given()
        }
    }

    /// Jobs that all come with their sizes.
    pub fn given() -> Self {
        Known {
            laws: Vec::new(),
            latency: None,
            mean_latency: 0.0,
            limits: Limits::Unknown,
            calendar: Calendar::default(),
        }
    }
}

/// Whether the job in this slot runs, and ends then.
fn is_due(system: &System, end: f64, slot: u32) -> bool {
    system.ends_at(slot).map(f64::to_bits) == Some(end.to_bits())
}

impl Ends for Known {
    const UNKNOWN: bool = false;

    fn size(&mut self, i: usize, sizes: &mut Stream) -> f64 {
        self.laws[i].draw(sizes)
    }

    #[inline(always)]
    fn latency(&mut self, sizes: &mut Stream) -> f64 {
        self.latency.as_ref().map_or(0.0, |law| law.draw(sizes))
    }

    /// Limits are of the run alone.
    #[inline(always)]
    fn limit(&mut self, i: usize, size: f64, sizes: &mut Stream) -> Option<f64> {
        let limit = match &self.limits {
            Limits::Unknown => return None,
            Limits::Factor(factor) => size * factor.draw(sizes),
            Limits::OfType(limits) => limits[i].max(size),
        };
        Some(limit + self.mean_latency)
    }

    fn next(&mut self, system: &System) -> f64 {
        self.calendar.next(|end, slot| is_due(system, end, slot))
    }

    fn take(&mut self) -> Option<u32> {
        self.calendar.take()
    }

    fn follow(&mut self, system: &mut System) {
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

    fn audit(&self, system: &mut System) {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Four slots, and jobs of sizes that are set below.
    fn system() -> (System, Known) {
        let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 4}}\njobs:\n  \
            - {name: a, demand: {cpu: 1}, arrival_rate: 1, mean_size: 1}\n";
        let workload = Workload::parse(text, "t").unwrap().workload;
        (System::new(&workload, 0, true), Known::new(&workload))
    }

    fn arrive(system: &mut System, size: f64, now: f64) {
        system.arrive_sized(0, now, size);
    }

    fn follow(system: &mut System, calendar: &mut Known) -> f64 {
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
        calendar.follow(&mut system);
        calendar.audit(&mut system);
        let violation = system.violation().unwrap().to_string();
        assert!(violation.contains("1 jobs of type 0 run"), "{violation}");
    }
}
