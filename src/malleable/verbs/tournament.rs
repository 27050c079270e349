//! Policies on jobs that are all there: what each costs, beside what no policy costs less than.

use std::sync::atomic::Ordering;

use super::simulate::run_pool;
use super::{Entered, VerbError, enter, refuse};
use crate::malleable::artifact::{Quantity, cost};
use crate::malleable::simulator::Course;
use crate::malleable::synthesis::{Open, Options, plan};
use crate::malleable::workload::{Objective, Pool, Workload};
use crate::simulation::sweep::Comparing;

/// Policies down, speedups across.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// The file, as it was named.
    pub file: String,
    /// Where its figures come from.
    pub source: Option<String>,
    /// What identifies the workload.
    pub digest: String,
    /// The unit of time.
    pub time_unit: String,
    /// What is to be small.
    pub objective: Objective,
    /// Names of the policies.
    pub policies: Vec<String>,
    /// The workload's own speedup, or powers.
    pub columns: Vec<Column>,
    /// Whether it was told to end before all was there.
    pub interrupted: bool,
}

/// One speedup.
#[derive(Clone, Debug)]
pub struct Column {
    /// The exponent p of `s(k) = k^p`; none where the speedup is the workload's own.
    pub exponent: Option<f64>,
    /// The pool.
    pub pool: Pool,
    /// No policy costs less.
    pub least: f64,
    /// Why that may be less than the optimum.
    pub open: Option<Open>,
    /// What came of each policy, or why it could not be run.
    pub entries: Vec<Result<Entry, String>>,
}

/// What came of a policy.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What is to be small.
    pub cost: f64,
    /// Σ T_i/M.
    pub mean_response: f64,
    /// max T_i.
    pub makespan: f64,
    /// What happened.
    pub course: Course,
}

/// Runs all policies.
///
/// # Errors
/// When a policy does not exist or is refused, or exponents and workload do not go together.
pub fn tournament(
    pool: &Pool,
    asked: &Comparing<'_>,
    exponents: &[f64],
    mut hears: impl FnMut(&str),
) -> Result<Tournament, VerbError> {
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
    let entered = asked.policies.iter().map(|name| enter(name, asked.changes));
    let entered = entered.collect::<Result<Vec<Entered>, VerbError>>()?;
    let options = Options {
        events: 0,
        seed: asked.settings.seed,
        knobs: None,
        typed: Vec::new(),
        interrupt: asked.settings.interrupt.clone(),
    };
    let interrupted = || asked.settings.interrupt.load(Ordering::Relaxed);
    let own = Workload::Pool(pool.clone()).digest();
    let mut columns = Vec::new();
    let pools = match exponents {
        [] => vec![(None, pool.clone())],
        some => {
            let powers = some.iter().map(|p| (Some(*p), pool.with_power(*p)));
            powers.collect()
        }
    };
    for (exponent, pool) in pools {
        if interrupted() {
            break;
        }
        let (_, planned) = plan(&pool, &options);
        let digest = Workload::Pool(pool.clone()).digest();
        let mut entries = Vec::new();
        for Entered { entrant, policy } in &entered {
            let at = exponent.map_or(String::new(), |p| format!(" at p = {p}"));
            hears(&format!("{}{at}", entrant.name));
            let same = policy
                .workload()
                .is_some_and(|file| file.digest() == digest);
            let course = run_pool(&entrant.name, policy, &pool, same);
            entries.push(
                course
                    .map(|course| entry(&pool, course))
                    .map_err(|e| e.to_string()),
            );
        }
        columns.push(Column {
            exponent,
            least: planned.least,
            open: planned.open.filter(|_| !planned.is_best(&pool)),
            entries,
            pool,
        });
    }
    Ok(Tournament {
        file: asked.file.into(),
        source: pool.record().source.clone(),
        digest: own,
        time_unit: pool.time_unit().into(),
        objective: pool.objective(),
        policies: asked.policies.to_vec(),
        columns,
        interrupted: interrupted(),
    })
}

fn entry(pool: &Pool, course: Course) -> Entry {
    let of = |quantity| cost(pool, quantity, &course.ends);
    Entry {
        cost: of(pool.objective().quantity()),
        mean_response: of(Quantity::MeanResponse),
        makespan: of(Quantity::Makespan),
        course,
    }
}
