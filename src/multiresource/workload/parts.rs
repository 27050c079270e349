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
    /// The workload of one server, or of a fleet where there are several.
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
                let shapes = shapes
                    .iter()
                    .enumerate()
                    .map(|(h, (count, capacity))| DraftShape {
                        name: format!("shape-{}", h + 1),
                        count: Some(*count),
                        capacity: self.amounts(capacity),
                    });
                let shapes = shapes.collect();
                let jobs = self.draft(Vec::new());
                let checked = FleetDraft { jobs, shapes }.check(Vec::new());
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
            capacity,
            jobs: jobs.collect(),
        }
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
