use super::AdaptiveMsrConfig;
use super::worth::Slots;
use crate::policy::System;
use crate::policy::backfill::BackfillRule;
use crate::policy::drain::prices;
use crate::workload::Workload;

/// The cost of a drain for a schedule, and the jobs that can start during the drain.
///
/// The lead of a schedule is the type of which it lacks most jobs, weighted by price. Let `D` be
/// the expected time until one more job of the lead fits while all running jobs without a slot
/// leave, and `F = max_i Q_i E[S_i] / u_i` the time until the schedule runs out of jobs. Its weight
/// is multiplied by `F / (F + c D)`, because nothing is earned during a drain. Other jobs can pass
/// the waiting jobs of the schedule ([`BackfillRule`]), next to the capacity for all of its jobs
/// and for the longest of the other running jobs that can stay.
#[derive(Clone, Debug)]
pub(super) struct Draining {
    price: f64,
    prices: Vec<f64>,
    pub backfill: BackfillRule,
    staying: Vec<u32>,
}

impl Draining {
    pub(super) fn new(policy: &AdaptiveMsrConfig, workload: &Workload) -> Self {
        Draining {
            price: policy.switching.drain,
            prices: prices(&policy.prices, workload),
            backfill: BackfillRule::new(policy.switching.let_in, policy.limits, workload),
            staying: vec![0; workload.types().len()],
        }
    }

    /// Returns the factor for the weight of a schedule, or 0 if none of its jobs are missing.
    pub(super) fn part(&mut self, schedule: &[Slots], system: &System) -> f64 {
        self.keep_own(schedule, system);
        let Some(lead) = self.lead(schedule, system) else {
            return 0.0;
        };
        let drains = &mut self.backfill.drains;
        let drain = drains.wait(lead, &self.staying, 0.0, system);
        if drain <= 0.0 {
            return 1.0;
        }
        let lasts = schedule.iter().map(|slots| {
            let backlog = system.present(slots.job_type) as f64;
            backlog * drains.means[slots.job_type] / f64::from(slots.count)
        });
        let lasts = lasts.fold(0.0, f64::max);
        lasts / (lasts + self.price * drain)
    }

    pub(super) fn let_in(&mut self, schedule: &[Slots], system: &mut System) {
        if self.backfill.let_in <= 0.0 {
            return;
        }
        while system.oldest_fitting_type().is_some() {
            self.keep_own(schedule, system);
            self.backfill.keep_nothing();
            for slots in schedule {
                let jobs = system.present(slots.job_type).min(slots.count.into());
                self.backfill.keep(slots.job_type, jobs);
            }
            for n in 0..self.staying.len() {
                let k = self.backfill.drains.longest[n];
                let others = system.running(k) - self.staying[k];
                self.backfill.keep(k, others.into());
            }
            let Some(lead) = self.lead(schedule, system) else {
                return;
            };
            if !self.backfill.start_one_past(lead, &self.staying, system) {
                return;
            }
        }
    }

    fn lead(&self, schedule: &[Slots], system: &System) -> Option<usize> {
        let mut most = (0.0, None);
        for slots in schedule {
            let i = slots.job_type;
            let lacks = slots.count.saturating_sub(system.running(i));
            let lacks = self.prices[i] * f64::from(lacks.min(system.waiting(i)));
            if lacks > most.0 {
                most = (lacks, Some(i));
            }
        }
        most.1
    }

    fn keep_own(&mut self, schedule: &[Slots], system: &System) {
        self.staying.fill(0);
        for slots in schedule {
            self.staying[slots.job_type] = slots.count.min(system.running(slots.job_type));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Switching;
    use crate::policy::tests::one_server;

    /// If `n` light jobs with mean 2 are running and five heavy jobs with mean 3 are waiting, then
    /// `D = 2 H_n`.
    #[test]
    fn drain_discount_matches_closed_form() {
        let workload = one_server(10, &[(1, 1.0, 2.0), (10, 0.1, 3.0)]);
        let policy = AdaptiveMsrConfig {
            limits: false,
            schedules: vec![vec![10, 0], vec![0, 1]],
            prices: vec![0.1, 1.0],
            switching: Switching {
                waste: 0.0,
                margin: 0.0,
                floor: 0.0,
                patience: 0.0,
                drain: 4.0,
                let_in: 0.0,
            },
        };
        let mut draining = Draining::new(&policy, &workload);
        let slots = |job_type, count, price| Slots {
            job_type,
            count,
            price,
        };
        let [light, heavy] = [[slots(0, 10, 0.1)], [slots(1, 1, 1.0)]];
        let mut system = System::new(&workload, 0, false);
        for _ in 0..5 {
            system.arrive(1, 0.0);
        }
        assert_eq!(
            draining.part(&heavy, &system),
            1.0,
            "the heavy job can start at once"
        );
        for n in 1..=10_u32 {
            system.arrive(0, 0.0);
            system.start(0);
            let drain: f64 = (1..=n).map(|k| 2.0 / f64::from(k)).sum();
            let exact = 15.0 / (15.0 + 4.0 * drain);
            let found = draining.part(&heavy, &system);
            assert!((found / exact - 1.0).abs() < 0.05, "{n}: {found}, {exact}");
            assert_eq!(
                draining.part(&light, &system),
                0.0,
                "the light schedule lacks no job"
            );
        }
    }
}
