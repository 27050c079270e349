//! The fleet as an artifact carries it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Draft;
use super::fleet::Fleet;
use super::fleet_check::{DraftShape, FleetDraft};
use super::record::{Record, RecordType, fault, recorded};
use super::{RecordResource, Workload};
use crate::document::{Fault, place};
use crate::number::Decimal;

/// A fleet as it stands in an artifact: the checked values and the digest. Plain data, to be
/// trusted only after [`FleetRecord::check`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FleetRecord {
    /// Where the figures come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The one unit of time of all rates and sizes.
    pub time_unit: String,
    /// Names of the R ≥ 1 resources that some server has.
    pub resources: Vec<String>,
    /// The H ≥ 1 shapes of servers.
    pub shapes: Vec<RecordShape>,
    /// The K ≥ 1 job types that arrive; routing counts them in this order.
    pub types: Vec<RecordType>,
    /// Names of the types that are not served because their arrival rate is 0.
    pub unserved: Vec<String>,
    /// `sha256:` and 64 hexadecimal digits over time unit, resources, shapes and types.
    pub digest: String,
}

/// One shape of servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordShape {
    /// Its name, unique among the shapes.
    pub name: String,
    /// How many servers have it, 1 to 100 000.
    pub count: u32,
    /// Capacity of one of them for each of the R resources, ≥ 0, not all 0.
    pub capacity: Vec<Decimal>,
}

impl Fleet {
    /// The fleet as an artifact carries it.
    #[must_use]
    pub fn record(&self) -> FleetRecord {
        FleetRecord::of(self)
    }
}

impl FleetRecord {
    fn of(fleet: &Fleet) -> Self {
        let envelope = fleet.envelope().record();
        let shapes = fleet.shapes().iter().map(|shape| RecordShape {
            name: shape.name().to_owned(),
            count: shape.count(),
            capacity: shape.capacity().to_vec(),
        });
        let resources = fleet.envelope().resources().iter();
        Self {
            source: envelope.source,
            time_unit: envelope.time_unit,
            resources: resources.map(|r| r.name().to_owned()).collect(),
            shapes: shapes.collect(),
            types: envelope.types,
            unserved: envelope.unserved,
            digest: fleet.digest(),
        }
    }

    /// Derives the fleet anew from capacities, demands, rates and sizes, with the checks that a
    /// document goes through, and compares units and digest with those found.
    ///
    /// # Errors
    /// Every fault, each at its place within the record.
    pub fn check(&self) -> Result<Fleet, Vec<Fault>> {
        let found = self.envelope();
        let mut faults = self.faults_of_shapes();
        faults.extend(found.faults_of_shape());
        if !faults.is_empty() {
            return Err(faults);
        }
        let names: Vec<&str> = self.resources.iter().map(String::as_str).collect();
        let located = |fault: Fault| recorded(fault, &names);
        let checked = self.draft(&found).check(Vec::new());
        let (fleet, _) =
            checked.map_err(|faults| faults.into_iter().map(located).collect::<Vec<_>>())?;
        let fleet = Fleet {
            envelope: Workload {
                unserved: self.unserved.clone(),
                ..fleet.envelope
            },
            ..fleet
        };
        let faults = self.differences(found, &fleet);
        match faults.is_empty() {
            true => Ok(fleet),
            false => Err(faults),
        }
    }

    /// Types and resources as the record of one server has them, without its capacity.
    fn envelope(&self) -> Record {
        let resource = |name: &String| RecordResource {
            name: name.clone(),
            capacity: Decimal::ZERO,
            units: 0,
        };
        Record {
            source: self.source.clone(),
            time_unit: self.time_unit.clone(),
            resources: self.resources.iter().map(resource).collect(),
            types: self.types.clone(),
            unserved: self.unserved.clone(),
            digest: String::new(),
        }
    }

    /// What a document cannot say but a record can: a resource that no server has, or one twice.
    fn faults_of_shapes(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let count = self.resources.len();
        for (h, shape) in self.shapes.iter().enumerate() {
            if shape.capacity.len() != count {
                faults.push(fault(
                    place!("shapes", h, "capacity"),
                    format!(
                        "{} entries, expected one for each of the {count} resources",
                        shape.capacity.len()
                    ),
                ));
            }
        }
        for (j, name) in self.resources.iter().enumerate() {
            let twice = self.resources[..j].contains(name);
            let has =
                |shape: &RecordShape| shape.capacity.get(j).is_some_and(|c| *c != Decimal::ZERO);
            if twice || !self.shapes.iter().any(has) {
                faults.push(fault(
                    place!("resources", j),
                    format!("`{name}`, expected a resource of its own that some server has"),
                ));
            }
        }
        faults
    }

    fn draft(&self, found: &Record) -> FleetDraft {
        let shape = |shape: &RecordShape| DraftShape {
            name: shape.name.clone(),
            count: Some(shape.count),
            capacity: self
                .resources
                .iter()
                .zip(&shape.capacity)
                .map(|(name, capacity)| (name.clone(), Some(*capacity)))
                .collect(),
        };
        FleetDraft {
            jobs: Draft {
                capacity: Vec::new(),
                ..found.draft()
            },
            shapes: self.shapes.iter().map(shape).collect(),
        }
    }

    /// Units, rates and digest that are not those of `fleet`.
    fn differences(&self, mut found: Record, fleet: &Fleet) -> Vec<Fault> {
        let derived = fleet.envelope().record();
        found.resources.clone_from(&derived.resources);
        found.digest.clone_from(&derived.digest);
        let mut faults = found.differences(&derived);
        let digest = fleet.digest();
        if self.digest != digest {
            let message = format!("digest {}, expected {digest}", self.digest);
            faults.push(fault(place!("digest"), message));
        }
        faults
    }
}
