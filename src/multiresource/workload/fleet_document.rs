//! The document of a fleet, as it is read and written: as that of one server, but for its servers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Draft;
use super::document::{Given, Job, KIND, given};
use super::fleet_check::{DraftShape, FleetDraft};
use super::{Fleet, Known};
use crate::document::{Document, Fault, Pairs, Place, Step, place, to_yaml};
use crate::law::{CommonModulation, Size};

/// A document that has `servers`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FleetDocument {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    time_unit: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<Known>,
    #[serde(default, deserialize_with = "given")]
    #[serde(skip_serializing_if = "Option::is_none")]
    modulation: Given<CommonModulation>,
    #[serde(default, deserialize_with = "given")]
    #[serde(skip_serializing_if = "Option::is_none")]
    start_latency: Given<Size>,
    servers: Vec<Servers>,
    jobs: Vec<Job>,
}

/// A shape; without a name it is `shape-1` and so on, and without a count a single server.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Servers {
    name: Option<String>,
    #[serde(default, deserialize_with = "given")]
    count: Given<u32>,
    capacity: Pairs,
}

impl Fleet {
    /// The fleet as a document that reads back as this fleet. Of types that do not arrive only the
    /// names are known: their demand and size are made up.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let envelope = self.envelope();
        let servers = self.shapes().iter().map(|shape| {
            let names = envelope.resources().iter().map(|r| r.name().to_owned());
            let capacity = names.zip(shape.capacity().iter().copied().map(Some));
            Servers {
                name: Some(shape.name().to_owned()),
                count: Some(Some(shape.count())),
                capacity: Pairs(capacity.collect()),
            }
        });
        to_yaml(&FleetDocument {
            kind: KIND.to_owned(),
            source: envelope.source().map(str::to_owned),
            time_unit: self.time_unit().to_owned(),
            known: envelope.known().cloned(),
            modulation: envelope.modulation().cloned().map(Some),
            start_latency: envelope.start_latency().cloned().map(Some),
            servers: servers.collect(),
            jobs: Job::all_of(envelope),
        })
    }
}

impl FleetDocument {
    /// What is to be checked; faults go to the others.
    pub(super) fn draft(self, faults: &mut Vec<Fault>) -> FleetDraft {
        let shapes = self.servers.into_iter().enumerate();
        let shapes = shapes.map(|(h, servers)| DraftShape {
            name: servers.name.unwrap_or_else(|| format!("shape-{}", h + 1)),
            count: servers.count.unwrap_or(Some(1)),
            capacity: servers.capacity.0,
        });
        FleetDraft {
            shapes: shapes.collect(),
            jobs: Draft {
                source: self.source,
                time_unit: self.time_unit,
                known: self.known,
                modulation: self.modulation.flatten(),
                start_latency: self.start_latency.flatten(),
                capacity: Vec::new(),
                jobs: Job::drafts(self.jobs, faults),
            },
        }
    }
}

/// The place that the document of a fleet has for a resource that is of too fine a grain: the
/// first shape that has it.
pub(super) fn respelt(document: &Document<'_>, place: &Place) -> Option<Place> {
    let [Step::Key(server), _, Step::Key(resource)] = place.steps() else {
        return None;
    };
    let shapes = document
        .root
        .get("servers")
        .filter(|_| server == "server")?;
    let has = |h: &usize| {
        let capacity = shapes.item(*h).and_then(|shape| shape.get("capacity"));
        capacity.is_some_and(|capacity| capacity.get(resource).is_some())
    };
    let h = (0..shapes.len()).find(has)?;
    Some(place!("servers", h, "capacity", resource))
}
