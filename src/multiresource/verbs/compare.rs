//! Policies over loads, on the same arrivals and sizes.

use std::time::Duration;

use super::{Entered, VerbError, enter, own_load, refuse};
use crate::multiresource::artifact::Preemption;
use crate::multiresource::optimum::{self, Ended, Step};
use crate::multiresource::program;
use crate::multiresource::simulator::{Measures, Offered, Run, Settings};
use crate::multiresource::workload::{Described, Workload};
use crate::simulation::Progress;
use crate::simulation::sweep::{
    self, Cells, Comparing, Header, Knows, OptimumAt, Stage, Subject, Swept,
};

/// Policies over loads.
pub type Comparison = sweep::Comparison<Measures, Offered>;

/// What came of a comparison.
pub type Compared = Swept<Measures, Offered>;

/// What is under way.
#[derive(Clone, Copy, Debug)]
pub enum Underway<'a> {
    /// A cell.
    Cell(Stage<'a>),
    /// The optimum at a load; no step at the beginning.
    Optimum(f64, Option<Step>),
}

/// Time for the optimum at one load.
const OPTIMUM: Duration = Duration::from_secs(120);

/// Compares policies at each load; with `optimum`, of one server, also with what no policy without preemption can
/// beat.
///
/// # Errors
/// When a policy does not exist or is refused, none can run on the workload, a load cannot be
/// reached, the journal not be read or written.
pub fn compare(
    workload: &Described,
    asked: &Comparing<'_>,
    optimum: bool,
    mut progress: impl FnMut(Underway<'_>),
) -> Result<Compared, VerbError> {
    let settings = asked.settings;
    let entered = entered(workload, asked)?;
    let own = own_load(settings.time, |limits| match workload {
        Described::Server(workload) => {
            let found = program::solve(workload, limits)?.certificate;
            Ok((found.load, found.bound))
        }
        Described::Fleet(fleet) => {
            let found = program::solve_fleet(fleet, limits)?.certificate;
            Ok((found.load, found.bound))
        }
    })?;
    let cells = LoadCells {
        workload,
        own,
        entered: &entered,
        settings,
    };
    let envelope = workload.envelope();
    let subject = Subject {
        file: asked.file.into(),
        source: envelope.source().map(Into::into),
        digest: workload.record().digest,
        time_unit: envelope.time_unit().into(),
        load: own,
    };
    let entrants = entered.iter().map(|e| e.entrant.clone()).collect();
    let header = Header::new(subject, asked, entrants);
    let hears = |stage: Stage<'_>| progress(Underway::Cell(stage));
    let mut swept = sweep::sweep(header, &cells, asked, hears)?;
    if let (Described::Server(workload), true) = (workload, optimum && asked.share.is_none()) {
        add_optima(&mut swept.comparison, workload, settings, progress)?;
    }
    Ok(swept)
}

/// Adds to a comparison on this workload what no policy without preemption can beat.
///
/// # Errors
/// When a load cannot be reached.
pub fn add_optima(
    comparison: &mut Comparison,
    workload: &Workload,
    settings: &Settings,
    mut progress: impl FnMut(Underway<'_>),
) -> Result<(), VerbError> {
    let header = &comparison.header;
    let optima = header.loads.iter().map(|&load| {
        let scaled = workload.scaled(load / header.workload.load)?;
        progress(Underway::Optimum(load, None));
        let hears = |step| progress(Underway::Optimum(load, Some(step)));
        let found = optimum_at(load, &scaled, settings, hears);
        Ok(beside(comparison, found))
    });
    comparison.optima = optima.collect::<Result<_, VerbError>>()?;
    Ok(())
}

/// What no policy without preemption can beat at a load.
fn optimum_at(
    load: f64,
    scaled: &Workload,
    settings: &Settings,
    progress: impl FnMut(Step),
) -> OptimumAt {
    let limits = optimum::Limits {
        time: OPTIMUM,
        ..optimum::Limits::default()
    };
    let sought = optimum::Sought::mean(Preemption::None);
    let found = optimum::optimum(scaled, sought, &limits, &settings.interrupt, progress);
    let (lower_bound, why) = match found {
        Ok(found) => {
            let cut = "cut short, the bound from below is weaker than it would be";
            let bound = Some(found.lower).filter(|lower| *lower > 0.0);
            let why = (found.ended == Ended::Cut).then(|| cut.to_string());
            (bound, why)
        }
        Err(why) => (None, Some(why.to_string())),
    };
    OptimumAt {
        load,
        lower_bound,
        why,
        above: Vec::new(),
    }
}

/// With how far policies are above it, of those that do not preempt, and know no more of a job than the program does.
fn beside(comparison: &Comparison, found: OptimumAt) -> OptimumAt {
    let entrants = comparison.header.policies.iter();
    let bounded = entrants.filter(|entrant| entrant.knows == Knows::Means);
    let above = bounded.filter_map(|entrant| {
        let name = entrant.name.as_str();
        let run = comparison.settled(name, found.load)?;
        let least = found
            .lower_bound
            .filter(|_| run.own.counters.preemptions == 0)?;
        Some((name.to_owned(), run.mean_response?.mean / least - 1.0))
    });
    OptimumAt {
        above: above.collect(),
        ..found
    }
}

/// Cells at loads of a workload.
struct LoadCells<'a> {
    workload: &'a Described,
    /// The workload's own load ρ.
    own: f64,
    entered: &'a [Entered],
    settings: &'a Settings,
}

impl Cells for LoadCells<'_> {
    type Scene = Described;
    type Measures = Measures;
    type OfClass = Offered;
    type Error = VerbError;

    fn scene(&self, load: f64) -> Result<Described, VerbError> {
        Ok(self.workload.scaled(load / self.own)?)
    }

    fn run(
        &self,
        scene: &Described,
        policy: usize,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Run, String> {
        let rule = self.entered[policy].rule.as_ref();
        let rule = rule.map_err(String::clone)?;
        let run = rule.simulate(scene, self.settings, progress);
        run.map_err(|why| why.to_string())
    }
}

fn entered(workload: &Described, asked: &Comparing<'_>) -> Result<Vec<Entered>, VerbError> {
    let policies = asked.policies.iter();
    let entered = policies.map(|name| enter(name, workload, asked.changes));
    let entered = entered.collect::<Result<Vec<Entered>, VerbError>>()?;
    let misfits = entered.iter().filter_map(|e| e.rule.as_ref().err());
    let misfits: Vec<&str> = misfits.map(String::as_str).collect();
    if misfits.len() == entered.len() {
        return refuse(format!(
            "no policy can run on this workload: {}",
            misfits.join("; ")
        ));
    }
    Ok(entered)
}
