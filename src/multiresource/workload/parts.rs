//! A workload put together from values that were computed, such as a fit to a trace.

use super::check::{Draft, DraftJob};
use super::fleet_check::{DraftShape, FleetDraft};
use super::{Described, Known};
use crate::document::DocumentError;
use crate::law::{ArrivalProcess, CommonModulation, Size};
use crate::number::Decimal;

/// What a document says, not yet checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// Where the figures come from.
    pub source: Option<String>,
    /// The one unit of time of all rates and sizes.
    pub time_unit: String,
    /// What is known of a job's size when it comes.
    pub known: Option<Known>,
    /// A modulation of the arrivals of all types.
    pub modulation: Option<CommonModulation>,
    /// The time between the decision to start a job and its first instruction.
    pub start_latency: Option<Size>,
    /// Names of the R resources.
    pub resources: Vec<String>,
    /// The shapes of servers: how many there are, and the capacity of one (R); 0 where it has none of a resource.
    pub shapes: Vec<(u32, Vec<Decimal>)>,
    /// The types of jobs.
    pub types: Vec<Part>,
}

/// A type of jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Its demands (R).
    pub demand: Vec<Decimal>,
    /// How its jobs arrive.
    pub arrivals: ArrivalProcess,
    /// The law of their sizes.
    pub size: Size,
    /// A time that they promise not to run longer than.
    pub limit: Option<Decimal>,
}

impl Parts {
    /// The workload of one server, or of a fleet without the shapes on which no type fits.
    ///
    /// # Errors
    /// With every fault that a document with these values has.
    pub fn check(&self) -> Result<Described, DocumentError> {
        let described = match &self.shapes[..] {
            [(1, capacity)] => {
                let checked = self.draft(self.amounts(capacity)).check(Vec::new());
                checked.map(|(workload, _)| Described::Server(workload))
            }
            shapes => {
                let used = shapes.iter().filter(|(_, capacity)| self.is_used(capacity));
                let shapes = used.map(|(count, capacity)| DraftShape {
                    name: String::new(),
                    count: Some(*count),
                    capacity: self.amounts(capacity),
                });
                let mut fleet = FleetDraft {
                    shapes: shapes.collect(),
                    jobs: self.draft(Vec::new()),
                };
                fleet.order();
                for (h, shape) in fleet.shapes.iter_mut().enumerate() {
                    shape.name = format!("shape-{}", h + 1);
                }
                let checked = fleet.check(Vec::new());
                checked.map(|(fleet, _)| Described::Fleet(fleet))
            }
        };
        described.map_err(DocumentError::without_text)
    }

    fn draft(&self, capacity: Vec<(String, Option<Decimal>)>) -> Draft {
        let jobs = self.types.iter().map(|part| DraftJob {
            name: part.name.clone(),
            nodes: Some(1),
            demand: self.amounts(&part.demand),
            arrivals: Some(part.arrivals.clone()),
            size: Some(part.size.clone()),
            limit: part.limit,
        });
        Draft {
            source: self.source.clone(),
            time_unit: self.time_unit.clone(),
            known: self.known.clone(),
            modulation: self.modulation.clone(),
            start_latency: self.start_latency.clone(),
            capacity,
            jobs: jobs.collect(),
        }
    }

    /// Whether some type fits on a server of this capacity.
    fn is_used(&self, capacity: &[Decimal]) -> bool {
        let fits = |part: &Part| part.demand.iter().zip(capacity).all(|(d, c)| d <= c);
        self.types.iter().any(fits)
    }

    /// What there is of each resource, by name.
    fn amounts(&self, amounts: &[Decimal]) -> Vec<(String, Option<Decimal>)> {
        let pairs = self.resources.iter().zip(amounts);
        let there = pairs.filter(|(_, amount)| **amount > Decimal::ZERO);
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
        let mut parts = Parts {
            source: None,
            modulation: None,
            start_latency: None,
            time_unit: "s".into(),
            known: Some(Known::Size),
            resources: vec!["cpu".into(), "gpu".into()],
            shapes: vec![(1, decimals([8.0, 2.0]))],
            types: vec![Part {
                name: "a".into(),
                demand: decimals([2.0, 0.0]),
                arrivals: ArrivalProcess::Poisson { rate: Decimal::ONE },
                size: Size::Exponential { mean: Decimal::ONE },
                limit: None,
            }],
        };
        let Described::Server(server) = parts.check().unwrap() else {
            panic!("one server");
        };
        assert_eq!(server.most_alone(0), 4);
        parts.shapes = vec![(3, decimals([4.0, 1.0])), (2, decimals([1.0, 1.0]))];
        let Described::Fleet(fleet) = parts.check().unwrap() else {
            panic!("a fleet");
        };
        assert_eq!(fleet.servers(), 3, "the small ones serve no type");
        parts.shapes = vec![(3, decimals([4.0, 1.0])), (2, decimals([2.0, 1.0]))];
        let told = parts.check().unwrap();
        parts.shapes.reverse();
        assert_eq!(parts.check().unwrap(), told);
    }
}
