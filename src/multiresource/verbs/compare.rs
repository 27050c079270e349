//! Policies over loads, on the same arrivals and sizes.

use super::enter::{Entered, enter};
use super::{VerbError, own_load, refuse};
use crate::multiresource::simulator::{Measures, Offered, Run, Settings};
use crate::multiresource::workload::Fleet;
use crate::simulation::Progress;
use crate::simulation::sweep::{self, Cells, Comparing, Stage, Subject};

/// What came of a comparison.
pub type Comparison = sweep::Comparison<Measures, Offered>;

/// Compares policies at each load.
///
/// # Errors
/// When a policy does not exist or is refused, none can run on the workload, a load cannot be
/// reached, the journal not be read or written.
pub fn compare(
    workload: &Fleet,
    request: &Comparing<'_>,
    progress: impl FnMut(Stage<'_>),
) -> Result<Comparison, VerbError> {
    let settings = request.settings;
    let policies = request.policies.iter();
    let entered = policies.map(|name| enter(name, workload, request.changes));
    let entered = entered.collect::<Result<Vec<Entered>, VerbError>>()?;
    let misfits = entered.iter().filter_map(|e| e.rule.as_ref().err());
    let misfits: Vec<&str> = misfits.map(String::as_str).collect();
    if misfits.len() == entered.len() {
        return refuse(format!(
            "no policy can run on this workload: {}",
            misfits.join("; ")
        ));
    }
    let own = own_load(settings.time, workload)?;
    let cells = LoadCells {
        workload,
        own,
        entered: &entered,
        settings,
    };
    let envelope = workload.envelope();
    let subject = Subject {
        file: request.file.into(),
        source: envelope.source().map(Into::into),
        digest: workload.record().digest,
        time_unit: envelope.time_unit().into(),
        load: own,
    };
    let entrants = entered.iter().map(|e| e.entrant.clone()).collect();
    let header = request.header(subject, entrants);
    sweep::sweep(header, &cells, request, progress)
}

/// Cells at loads of a workload.
struct LoadCells<'a> {
    workload: &'a Fleet,
    /// The workload's own load ρ.
    own: f64,
    entered: &'a [Entered],
    settings: &'a Settings,
}

impl Cells for LoadCells<'_> {
    type Scene = Fleet;
    type Measures = Measures;
    type OfClass = Offered;
    type Error = VerbError;

    fn scene(&self, load: f64) -> Result<Fleet, VerbError> {
        Ok(self.workload.scaled(load / self.own)?)
    }

    fn run(
        &self,
        scene: &Fleet,
        policy: usize,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Run, String> {
        let rule = self.entered[policy].rule.as_ref();
        let rule = rule.map_err(String::clone)?;
        let run = rule.simulate_on(scene, self.settings, progress);
        run.map_err(|why| why.to_string())
    }
}
