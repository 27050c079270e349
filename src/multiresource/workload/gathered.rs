//! A workload that was counted, not written: what came to servers, type by type.

use super::check::{Draft, DraftJob};
use super::fleet_check::{DraftShape, FleetDraft};
use super::{Described, Known};
use crate::document::DocumentError;
use crate::law::{ArrivalProcess, Size};
use crate::number::Decimal;

/// What was counted.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// The unit of time of rates and sizes.
    pub time_unit: String,
    /// What is known of a job's size when it comes.
    pub known: Option<Known>,
    /// Names of the R ≥ 1 resources.
    pub resources: Vec<String>,
    /// How many servers have which capacity (R each), ≥ 1 shape.
    pub shapes: Vec<(u32, Vec<Decimal>)>,
    /// The K ≥ 1 types.
    pub types: Vec<Counted>,
}

/// Jobs of one type.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Its name.
    pub name: String,
    /// What one of them holds of each of the R resources.
    pub demand: Vec<Decimal>,
    /// How many came per unit of time, > 0.
    pub rate: Decimal,
    /// Their mean size \[time\], > 0.
    pub mean: Decimal,
}

impl Gathered {
    /// The workload of one server, or of a fleet without the shapes on which no type fits: Poisson arrivals of
    /// exponential sizes, with these rates and means.
    ///
    /// # Errors
    /// Every fault found.
    pub fn described(&self) -> Result<Described, DocumentError> {
        let jobs = |capacity| Draft {
            source: None,
            time_unit: self.time_unit.clone(),
            known: self.known.clone(),
            modulation: None,
            capacity,
            jobs: self.types.iter().map(|job| self.draft(job)).collect(),
        };
        let described = match &self.shapes[..] {
            [(1, capacity)] => {
                let checked = jobs(self.named(capacity)).check(Vec::new());
                checked.map(|(workload, _)| Described::Server(workload))
            }
            shapes => {
                let used = shapes.iter().filter(|(_, capacity)| self.is_used(capacity));
                let shapes = used.enumerate().map(|(h, (count, capacity))| DraftShape {
                    name: format!("shape-{}", h + 1),
                    count: Some(*count),
                    capacity: self.named(capacity),
                });
                let shapes = shapes.collect();
                let jobs = jobs(Vec::new());
                let checked = FleetDraft { jobs, shapes }.check(Vec::new());
                checked.map(|(fleet, _)| Described::Fleet(fleet))
            }
        };
        described.map_err(DocumentError::without_text)
    }

    fn draft(&self, job: &Counted) -> DraftJob {
        DraftJob {
            name: job.name.clone(),
            nodes: Some(1),
            demand: self.named(&job.demand),
            arrivals: Some(ArrivalProcess::Poisson { rate: job.rate }),
            size: Some(Size::Exponential { mean: job.mean }),
            limit: None,
        }
    }

    /// Whether some type fits on a server of this capacity.
    fn is_used(&self, capacity: &[Decimal]) -> bool {
        let fits = |job: &Counted| job.demand.iter().zip(capacity).all(|(d, c)| d <= c);
        self.types.iter().any(fits)
    }

    /// What there is of each resource, by name.
    fn named(&self, amounts: &[Decimal]) -> Vec<(String, Option<Decimal>)> {
        let named = self.resources.iter().zip(amounts);
        let there = named.filter(|(_, amount)| **amount > Decimal::ZERO);
        there
            .map(|(name, amount)| (name.clone(), Some(*amount)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn decimals<const N: usize>(values: [f64; N]) -> Vec<Decimal> {
        values.map(|v| Decimal::new(v).unwrap()).to_vec()
    }

    #[test]
    fn what_was_counted_is_a_workload_of_one_server_or_of_a_fleet() {
        let mut gathered = Gathered {
            time_unit: "s".into(),
            known: Some(Known::Size),
            resources: vec!["cpu".into(), "gpu".into()],
            shapes: vec![(1, decimals([8.0, 2.0]))],
            types: vec![Counted {
                name: "a".into(),
                demand: decimals([2.0, 0.0]),
                rate: Decimal::ONE,
                mean: Decimal::ONE,
            }],
        };
        let Described::Server(server) = gathered.described().unwrap() else {
            panic!("one server");
        };
        assert_eq!(server.most_alone(0), 4);
        gathered.shapes = vec![(3, decimals([4.0, 1.0])), (2, decimals([1.0, 1.0]))];
        let Described::Fleet(fleet) = gathered.described().unwrap() else {
            panic!("a fleet");
        };
        assert_eq!(fleet.servers(), 3, "the small ones serve no type");
    }
}
