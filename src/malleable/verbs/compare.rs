//! Rules over loads where jobs arrive, on the same arrivals and sizes.

use super::simulate::not_online;
use super::{Entered, VerbError, enter, refuse};
use crate::malleable::analysis::relaxation;
use crate::malleable::simulator::{Measures, Run, simulate};
use crate::malleable::workload::{ALL_JOBS, Stream, Workload};
use crate::simulation::sweep::{self, Cells, Comparing, Exact, Header, Stage, Subject, Swept};
use crate::simulation::{Progress, Settings};

/// Rules over loads where jobs arrive.
pub type Comparison = sweep::Comparison<Measures, ()>;

/// What came of a comparison.
pub type Compared = Swept<Measures, ()>;

/// Compares rules at each load, beside what no policy has less mean response time than.
///
/// # Errors
/// When a policy does not exist or is refused, a load cannot be reached, or the journal not be read or written.
pub fn compare(
    stream: &Stream,
    asked: &Comparing<'_>,
    progress: impl FnMut(Stage<'_>),
) -> Result<Compared, VerbError> {
    let settings = asked.settings;
    let entered = asked.policies.iter().map(|name| enter(name, asked.changes));
    let entered = entered.collect::<Result<Vec<Entered>, VerbError>>()?;
    let cells = StreamCells {
        stream,
        entered: &entered,
        settings,
    };
    let subject = Subject {
        file: asked.file.into(),
        source: stream.record().source.clone(),
        digest: Workload::Stream(stream.clone()).digest(),
        time_unit: stream.time_unit().into(),
        load: stream.load(),
    };
    let entrants = entered.iter().map(|entered| entered.entrant.clone());
    let header = Header::new(subject, asked, entrants.collect());
    let mut swept = sweep::sweep(header, &cells, asked, progress)?;
    if asked.share.is_none() {
        add_bounds(&mut swept.comparison, stream)?;
    }
    Ok(swept)
}

/// Adds to a comparison on this stream what no policy has less mean response time than.
///
/// # Errors
/// When a load cannot be reached.
pub fn add_bounds(comparison: &mut Comparison, stream: &Stream) -> Result<(), VerbError> {
    let bound = |load: &f64| {
        let least = relaxation(&at(stream, *load)?).least;
        Ok(Exact {
            name: "any policy, at least".into(),
            load: *load,
            mean_response: least,
            types: vec![(ALL_JOBS.into(), least)],
        })
    };
    let bounds = comparison.header.loads.iter().map(bound);
    comparison.exact = bounds.collect::<Result<_, VerbError>>()?;
    Ok(())
}

/// The stream at the load ρ.
fn at(stream: &Stream, load: f64) -> Result<Stream, VerbError> {
    match stream.scaled(load / stream.load()) {
        Some(scaled) => Ok(scaled),
        None => refuse(format!(
            "the load {load} takes the arrival rate out of the range of numbers"
        )),
    }
}

struct StreamCells<'a> {
    stream: &'a Stream,
    entered: &'a [Entered],
    settings: &'a Settings,
}

impl Cells for StreamCells<'_> {
    type Scene = Stream;
    type Measures = Measures;
    type OfClass = ();
    type Error = VerbError;

    fn scene(&self, load: f64) -> Result<Stream, VerbError> {
        at(self.stream, load)
    }

    fn run(
        &self,
        scene: &Stream,
        policy: usize,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Run, String> {
        let Entered { entrant, policy } = &self.entered[policy];
        match policy.online() {
            Some(sharing) => simulate(scene, sharing, self.settings, progress),
            None => Err(not_online(&entrant.name, policy)),
        }
    }
}
