//! The YAML document of a fleet as written: as that of one server, but for its servers.

use serde::Deserialize;
use serde_yaml::{Location, Spanned};

use super::check::Draft;
use super::document::{Job, Pairs, location_in_jobs, range, read};
use super::fault::{Fault, Place};
use super::fleet_check::{DraftShape, FleetDraft, wrong_count};
use super::sheet::{Located, Sheet};
use super::{Fleet, Parsed, WorkloadError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(rename = "kind")]
    _kind: Spanned<String>,
    source: Option<String>,
    time_unit: Spanned<String>,
    servers: Spanned<Vec<Server>>,
    jobs: Spanned<Vec<Job>>,
}

/// A shape; without a name it is `shape-1` and so on, and without a count a single server.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    name: Option<Spanned<String>>,
    count: Option<Spanned<String>>,
    capacity: Spanned<Pairs>,
}

/// Reads a document that has `servers`, and checks it.
pub(super) fn parse(sheet: &Sheet<'_>) -> Result<Parsed<Fleet>, WorkloadError> {
    let document: Document = read(sheet)?;
    let mut located = Vec::new();
    let draft = document.draft(sheet, &mut located);
    let place = |fault: Fault| {
        let location = document.location(&fault.place);
        let range = location.and_then(|location| range(sheet, location));
        (fault, range)
    };
    located.extend(draft.faults().into_iter().map(place));
    if !located.is_empty() {
        return Err(sheet.refuse(located));
    }
    let checked = draft
        .build()
        .map_err(|faults| sheet.refuse(faults.into_iter().map(place).collect()))?;
    let warning = |fault| {
        let (fault, range) = place(fault);
        sheet.warn(&fault, range)
    };
    Ok(Parsed {
        workload: checked.fleet,
        warnings: checked.warnings.into_iter().map(warning).collect(),
    })
}

impl Document {
    fn draft(&self, sheet: &Sheet<'_>, faults: &mut Vec<Located>) -> FleetDraft {
        let shapes = self.servers.value.iter().enumerate();
        let shapes = shapes.map(|(h, server)| server.draft(h, sheet, faults));
        let shapes = shapes.collect();
        let jobs = self.jobs.value.iter().enumerate();
        let jobs = jobs.map(|(i, job)| job.draft(i, sheet, faults)).collect();
        FleetDraft {
            jobs: Draft {
                source: self.source.clone(),
                time_unit: self.time_unit.value.clone(),
                capacity: Vec::new(),
                jobs,
            },
            shapes,
        }
    }

    fn location(&self, place: &Place) -> Option<Location> {
        let servers = &self.servers.value;
        match place {
            Place::TimeUnit => Some(self.time_unit.referenced),
            Place::Servers => Some(self.servers.referenced),
            Place::Shape(h) => Some(servers.get(*h)?.location()),
            Place::ShapeCount(h) => Some(servers.get(*h)?.count.as_ref()?.referenced),
            Place::ShapeCapacity(h, resource) => {
                Some(servers.get(*h)?.capacity.value.get(resource)?.referenced)
            }
            // Too fine a grain: whoever has it.
            Place::Capacity(resource) => {
                let named = |server: &Server| Some(server.capacity.value.get(resource)?.referenced);
                servers.iter().find_map(named)
            }
            Place::Jobs => Some(self.jobs.referenced),
            _ => location_in_jobs(&self.jobs.value, place, |resource| {
                let has = |server: &Server| server.capacity.value.get(resource).is_some();
                servers.iter().any(has)
            }),
        }
    }
}

impl Server {
    fn draft(&self, h: usize, sheet: &Sheet<'_>, faults: &mut Vec<Located>) -> DraftShape {
        let name = match &self.name {
            Some(name) => name.value.clone(),
            None => format!("shape-{}", h + 1),
        };
        let place = |resource| Place::ShapeCapacity(h, resource);
        DraftShape {
            count: self.count(h, &name, sheet, faults),
            capacity: self.capacity.value.numbers(place, sheet, faults),
            name,
        }
    }

    /// `None` once it has been reported.
    fn count(
        &self,
        h: usize,
        name: &str,
        sheet: &Sheet<'_>,
        faults: &mut Vec<Located>,
    ) -> Option<u32> {
        let Some(count) = &self.count else {
            return Some(1);
        };
        let parsed = count.value.parse().ok();
        if parsed.is_none() {
            let fault = wrong_count(h, name, &count.value);
            faults.push((fault, range(sheet, count.referenced)));
        }
        parsed
    }

    fn location(&self) -> Location {
        let name = self.name.as_ref().map(|name| name.referenced);
        name.unwrap_or(self.capacity.referenced)
    }
}
