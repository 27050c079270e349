//! Arrival rates that are not quite known: a box around those given, and what is worst in it.
//!
//! Policies are tuned and compared where all rates are at their most, since that is where they nearly
//! always do worst; of the best ones there the whole box is then looked at: corners where one type has more and
//! the others less, and points drawn at random.

use super::course::Course;
use super::finals::Entrant;
use super::{ChoiceError, Options, Outcome, Synthesis, synthesize};
use crate::multiresource::artifact::{Interval, MsrPolicy, Robust};
use crate::multiresource::policy::is_proved_stable;
use crate::multiresource::simulator::Estimate;
use crate::multiresource::workload::Workload;
use crate::simulation::Streams;

/// Types that have more while the others have less, in a corner each: those of most load.
const CORNERS: usize = 4;

/// Points that are drawn.
const DRAWN: usize = 4;

/// Policies that the whole box is looked at for, if they are so near to the best where all rates are at their
/// most.
const NEAR: (usize, f64) = (3, 1.1);

/// The box.
pub(super) struct Around {
    by: f64,
    /// Where all rates are at their most.
    pub up: Workload,
    /// Other points: factors of the rates, and the workload there.
    others: Vec<(Vec<f64>, Workload)>,
}

/// What is worst for a policy.
pub(super) struct Worst {
    /// Factors of the rates.
    at: Vec<f64>,
    /// By that the policies are compared.
    cost: f64,
    /// What is made least, there.
    value: Option<Estimate>,
}

impl Around {
    /// The rates by so much more or less, relatively.
    pub fn new(
        workload: &Workload,
        made: &Synthesis,
        by: f64,
        seed: u64,
    ) -> Result<Self, ChoiceError> {
        let load = made.solution.certificate.load;
        let up = workload.scaled(1.0 + by).ok();
        let Some(up) = up.filter(|_| load * (1.0 + by) < 1.0) else {
            return Err(ChoiceError::BeyondRates {
                by,
                load: load * (1.0 + by),
                most: (1.0 / load - 1.0).max(0.0),
            });
        };
        let types = workload.types().len();
        let shares = workload.load_shares();
        let mut heaviest: Vec<usize> = (0..types).collect();
        heaviest.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
        let corner = |i: &usize| -> Vec<f64> {
            let more = |k: usize| if k == *i { 1.0 + by } else { 1.0 - by };
            (0..types).map(more).collect()
        };
        let mut points: Vec<Vec<f64>> = heaviest.iter().take(CORNERS).map(corner).collect();
        let mut stream = Streams::new(seed, 0).arrivals;
        points.extend((0..DRAWN).map(|_| {
            let drawn = (0..types).map(|_| 1.0 + by * (2.0 * stream.uniform() - 1.0));
            drawn.collect()
        }));
        let others = points.into_iter().filter_map(|factors| {
            let there = workload.scaled_by_type(&factors).ok()?;
            Some((factors, there))
        });
        Ok(Around {
            by,
            others: others.collect(),
            up,
        })
    }

    /// The policy of the program if it is proved stable in the whole box, or else one for the most of it.
    pub fn guard(&self, made: &Synthesis, options: &Options) -> Option<MsrPolicy> {
        let own = made.policy.clone();
        if is_proved_stable(&own.clone().into(), &self.up) {
            return Some(own);
        }
        match synthesize(&self.up, options) {
            Ok(Outcome::Policy(more)) => Some(more.policy),
            _ => None,
        }
    }

    /// Of those that are near the first, the one with the least worst case, in `events`; and that.
    pub fn least_worst<'a>(
        &'a self,
        course: &mut Course<'a>,
        entrants: &[Entrant],
        first: usize,
        events: u64,
    ) -> Result<(usize, Worst), ChoiceError> {
        let most = NEAR.1 * entrants[first].cost(course);
        let mut near: Vec<usize> = (0..entrants.len()).collect();
        near.retain(|n| {
            let entrant = &entrants[*n];
            entrant.eligible && entrant.longest().is_some() && entrant.cost(course) <= most
        });
        near.sort_by(|a, b| {
            entrants[*a]
                .cost(course)
                .total_cmp(&entrants[*b].cost(course))
        });
        near.truncate(NEAR.0);
        let length = events / (near.len() * self.others.len().max(1)) as u64;
        let mut best: Option<(usize, Worst)> = None;
        for n in near {
            let worst = self.worst(course, &entrants[n], length)?;
            if best
                .as_ref()
                .is_none_or(|(_, least)| worst.cost < least.cost)
            {
                best = Some((n, worst));
            }
        }
        Ok(best.expect("the first is near itself"))
    }

    fn worst<'a>(
        &'a self,
        course: &mut Course<'a>,
        entrant: &Entrant,
        length: u64,
    ) -> Result<Worst, ChoiceError> {
        let run = entrant.longest().expect("what is first has run");
        let mut worst = Worst {
            at: vec![1.0 + self.by; self.up.types().len()],
            cost: course.cost(run),
            value: course.value(run),
        };
        for (factors, there) in &self.others {
            if course.interrupted() {
                break;
            }
            course.workload = there;
            let run = course.run(&entrant.contender, length, 0.0)?;
            let cost = course.rough_cost(&run);
            if cost > worst.cost {
                worst = Worst {
                    at: factors.clone(),
                    cost,
                    value: course.value(&run),
                };
            }
        }
        course.workload = &self.up;
        Ok(worst)
    }

    /// The record.
    pub fn record(&self, worst: Worst, price: Option<Estimate>) -> Robust {
        Robust {
            rates: self.by,
            points: 1 + self.others.len(),
            worst_at: worst.at,
            worst: worst.value.map(Interval::from),
            price: price.map(Interval::from),
        }
    }
}
