//! Rules over loads where jobs arrive, on the same arrivals and sizes; and on jobs that are all there.

use std::sync::atomic::Ordering;

use super::simulate::{not_online, run_pool};
use super::{Entered, VerbError, enter, refuse};
use crate::artifact::Quantity as _;
use crate::malleable::analysis::relaxation;
use crate::malleable::artifact::cost;
use crate::malleable::simulator::{Measures, Run, simulate};
use crate::malleable::synthesis::{Open, best_plan};
use crate::malleable::workload::{ALL_JOBS, Objective, Pool, Stream, Workload};
use crate::report::{Column, Outcome, Outcomes, headed};
use crate::simulation::sweep::{self, Cells, Comparing, Exact, Header, Stage, Subject};
use crate::simulation::{Estimate, Progress, Settings};

/// What the bound of all policies is called.
const LEAST: &str = "any policy, at least";

/// Rules over loads where jobs arrive.
pub type Comparison = sweep::Comparison<Measures, ()>;

/// Compares rules at each load, beside what no policy has less mean response time than.
///
/// # Errors
/// When a policy does not exist or is refused, a load cannot be reached, or the journal not be read or written.
pub fn compare(
    stream: &Stream,
    asked: &Comparing<'_>,
    progress: impl FnMut(Stage<'_>),
) -> Result<Comparison, VerbError> {
    let entered = enter_all(asked)?;
    let cells = StreamCells {
        stream,
        entered: &entered,
        settings: asked.settings,
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
    let mut comparison = sweep::sweep(header, &cells, asked, progress)?;
    if asked.share.is_none() {
        add_bounds(&mut comparison, stream)?;
    }
    Ok(comparison)
}

fn enter_all(asked: &Comparing<'_>) -> Result<Vec<Entered>, VerbError> {
    let entered = asked.policies.iter().map(|name| enter(name, asked.changes));
    entered.collect()
}

/// Adds to a comparison on this stream what no policy has less mean response time than.
///
/// # Errors
/// When a load cannot be reached.
pub fn add_bounds(comparison: &mut Comparison, stream: &Stream) -> Result<(), VerbError> {
    let bound = |load: &f64| {
        let least = relaxation(&at(stream, *load)?).least;
        Ok(Exact {
            name: LEAST.into(),
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

/// Compares rules on jobs that are all there, beside what no policy costs less than: at the workload's own speedup, or at the
/// speedups k^p with these exponents.
///
/// # Errors
/// When a policy does not exist or is refused, or loads or shards are asked for.
pub fn compare_pool(
    pool: &Pool,
    asked: &Comparing<'_>,
    exponents: &[f64],
    mut listener: impl FnMut(&str),
) -> Result<Outcomes, VerbError> {
    if asked.share.is_some() {
        return refuse(
            "--shard goes with jobs that arrive; where all are there, a comparison takes seconds: leave it out",
        );
    }
    if !asked.loads.is_empty() {
        return refuse(
            "--loads goes with jobs that arrive, and here all are there at the start: leave it out, or compare at speedups k^p with --exponents",
        );
    }
    let entered = enter_all(asked)?;
    let quantity = pool.objective().quantity();
    let unit = quantity.unit(pool.time_unit());
    let exact = |value| Some(Estimate::exact(value));
    let options = match exponents {
        [] => String::new(),
        some => {
            let some: Vec<String> = some.iter().map(ToString::to_string).collect();
            format!(" --exponents {}", some.join(","))
        }
    };
    let digest = Workload::Pool(pool.clone()).digest();
    let head = headed(quantity, pool.time_unit());
    let mut outcomes = Outcomes::new(asked, digest, head, &options);
    outcomes.policies.push(Outcome {
        policy: LEAST.into(),
        values: Vec::new(),
    });
    let mut open = None;
    let powers = exponents.iter().map(|p| (Some(*p), pool.with_power(*p)));
    let own = exponents.is_empty().then(|| (None, pool.clone()));
    for (at, pool) in own.into_iter().chain(powers) {
        if asked.settings.interrupt.load(Ordering::Relaxed) {
            outcomes.interrupted = true;
            break;
        }
        let planned = best_plan(&pool);
        open = open.or(planned.open.filter(|_| !planned.is_best(&pool)));
        let digest = Workload::Pool(pool.clone()).digest();
        for (n, Entered { entrant, policy }) in entered.iter().enumerate() {
            let at = at.map_or(String::new(), |p| format!(" at p = {p}"));
            listener(&format!("{}{at}", entrant.name));
            let same = policy.workload().is_some_and(|own| own.digest() == digest);
            let values = match run_pool(&entrant.name, policy, &pool, same) {
                Ok(course) => {
                    let cost = cost(&pool, quantity, &course.ends);
                    [exact(cost), exact(cost / planned.least)]
                }
                Err(why) => {
                    outcomes
                        .failures
                        .push(format!("{}{at}: {why}", entrant.name));
                    [None; 2]
                }
            };
            outcomes.policies[n].values.extend(values);
        }
        let least = &mut outcomes.policies[entered.len()];
        least.values.extend([exact(planned.least), None]);
        let label = at.map_or("cost".into(), |p| format!("p = {p}"));
        outcomes.columns.push(Column {
            quantity: quantity.row().name,
            at,
            unit: unit.clone(),
            label,
        });
        outcomes.columns.push(Column {
            quantity: "times_the_least",
            at,
            unit: "1".into(),
            label: "times".into(),
        });
    }
    outcomes.notes = vec![costs(pool.objective(), open)];
    Ok(outcomes)
}

/// What the numbers are.
fn costs(objective: Objective, open: Option<Open>) -> String {
    let why = match open {
        None if objective == Objective::Makespan => "which a plan reaches",
        None => "which is the optimum",
        Some(Open::FavoursLarge) => "a bound below the optimum: the weights favour large jobs",
        Some(Open::SpeedupsDiffer) => "a bound below the optimum: speedups differ",
    };
    format!(
        "costs are exact, from one end of a job to the next; times: over what no policy costs less than, {why}"
    )
}
