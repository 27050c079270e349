use std::borrow::Borrow;
use std::collections::BTreeMap;

use highs::{Col, RowProblem, Sense};
use itertools::Itertools;
use num_rational::BigRational;
use num_traits::ToPrimitive;

use super::BoundError;
use synth_multiresource::artifact::Objective;
use synth_multiresource::bound::{BoundCertificate, Layout, TypeRates, exact_costs, pooled};
use synth_multiresource::workload::Fleet;

/// The margin of each condition. It exceeds the solver's tolerance, so that a solution is a proof.
const MARGIN: f64 = 1e-6;

/// With preemption, conditions are added as needed in several rounds, up to `MANY` times as many as
/// rows. If the unit of time is the mean size, no unknown is further than `FAR` from 0.
const MANY: usize = 5;
const ROUNDS: usize = 100;
const FAR: f64 = 1e6;

/// If the solver fails, the program is divided by this factor.
const SMALLER: usize = 4;

/// Returns the bound and its proof, from a linear program of at most `rows` rows.
pub(super) fn by_cells(
    fleet: &Fleet,
    objective: Objective,
    preempts: bool,
    mut rows: usize,
) -> Result<(f64, BoundCertificate), BoundError> {
    let (costs, rates) = exact_costs(fleet, objective)?;
    let schedules = pooled(fleet, BoundCertificate::MAX_SCHEDULES);
    let schedules = schedules.ok_or(BoundError::Large(rows))?;
    let mut layout = refined(fleet, &schedules, preempts, rows)?;
    loop {
        let found = solve(&layout, &costs, &rates, rows);
        let proved = found.and_then(|values| {
            let certificate = BoundCertificate::rounded(preempts, layout.exact().to_vec(), &values);
            Ok((certificate.check(fleet, objective)?, certificate))
        });
        rows /= SMALLER;
        match refined(fleet, &schedules, preempts, rows) {
            Ok(smaller) if proved.is_err() => layout = smaller,
            _ => return proved,
        }
    }
}

/// Returns the layout with as many cells as the rows allow. The largest jobs are refined first.
fn refined(
    fleet: &Fleet,
    schedules: &[Vec<u32>],
    preempts: bool,
    most: usize,
) -> Result<Layout, BoundError> {
    let k = fleet.types().len();
    let layout = |exact: Vec<u32>| Layout::new(schedules.to_vec(), exact, preempts);
    let fits = |layout: &Layout| {
        let (most, is_small) = match preempts {
            true => (MANY * most, layout.unknowns() <= most / 10),
            false => (most, true),
        };
        let mut rows = 0;
        layout.each_row(|_| {
            rows += 1;
            rows <= most
        });
        is_small && rows <= most
    };
    let mut best = layout(vec![0; k]);
    if !fits(&best) {
        return Err(BoundError::Large(most));
    }
    let shares = fleet.envelope().dominant_shares();
    let order = (0..k).sorted_by(|a, b| shares[*b].total_cmp(&shares[*a]));
    let order = order.collect_vec();
    loop {
        let mut has_grown = false;
        for &i in &order {
            let mut exact = best.exact().to_vec();
            exact[i] += 1;
            let larger = layout(exact);
            if fits(&larger) {
                (best, has_grown) = (larger, true);
            }
        }
        if !has_grown {
            return Ok(best);
        }
    }
}

/// Returns approximate unknowns of the best function. Inside, the unit of time is the mean size.
fn solve(
    layout: &Layout,
    costs: &[BigRational],
    rates: &TypeRates<BigRational>,
    rows: usize,
) -> Result<Vec<f64>, BoundError> {
    let number = |fraction: &BigRational| fraction.to_f64().unwrap_or(f64::NAN);
    let numbers = |all: &[BigRational]| -> Vec<f64> { all.iter().map(number).collect() };
    let (arrivals, service) = (numbers(&rates.arrivals), numbers(&rates.service));
    let work: f64 = arrivals.iter().zip(&service).map(|(l, m)| l / m).sum();
    let unit = work / arrivals.iter().sum::<f64>();
    let scaled = |rates: Vec<f64>| rates.into_iter().map(|rate| rate * unit).collect();
    let rates = TypeRates {
        arrivals: scaled(arrivals),
        service: scaled(service),
    };
    let costs: Vec<f64> = costs.iter().map(|cost| number(cost) / unit).collect();
    let margin = MARGIN * costs.iter().copied().fold(f64::INFINITY, f64::min);
    let conditions = conditions(layout, &rates, &costs, margin);
    let values = match conditions.len() > rows {
        false => of_conditions(&conditions, layout.unknowns(), f64::INFINITY)?.1,
        true => generated(&conditions, layout.unknowns(), rows, margin)?,
    };
    Ok(values.into_iter().map(|v| v * unit * unit).collect())
}

/// `Σ terms − [is_of_bound] bound ≥ least`.
struct Condition {
    terms: Vec<(usize, f64)>,
    is_of_bound: bool,
    least: f64,
}

impl Condition {
    fn missing(&self, bound: f64, values: &[f64]) -> f64 {
        let sum: f64 = self.terms.iter().map(|(at, by)| values[*at] * by).sum();
        self.least - sum + if self.is_of_bound { bound } else { 0.0 }
    }
}

fn conditions(
    layout: &Layout,
    rates: &TypeRates<f64>,
    costs: &[f64],
    margin: f64,
) -> Vec<Condition> {
    let mut all = Vec::new();
    layout.each_row(|row| {
        let mut form = BTreeMap::new();
        layout.form(&row, rates, &mut |unknown, by: f64| {
            *form.entry(unknown).or_insert(0.0) += by
        });
        all.push(Condition {
            terms: form.into_iter().filter(|(_, by)| *by != 0.0).collect(),
            is_of_bound: row.started.is_none() && row.growing_type.is_none(),
            least: match (row.started, row.growing_type) {
                (None, None) => {
                    let jobs = row.jobs.iter().zip(costs);
                    -jobs.map(|(q, c)| *q as f64 * c).sum::<f64>()
                }
                (None, Some(j)) => margin - costs[j],
                (Some(_), _) => margin,
            },
        });
        true
    });
    all
}

/// Solves the program with some conditions, and adds those that are violated most until none is.
fn generated(
    conditions: &[Condition],
    unknowns: usize,
    rows: usize,
    margin: f64,
) -> Result<Vec<f64>, BoundError> {
    let step = conditions.len().div_ceil(rows / 4);
    let mut active: Vec<usize> = (0..conditions.len()).step_by(step).collect();
    for _ in 0..ROUNDS {
        let some: Vec<&Condition> = active.iter().map(|at| &conditions[*at]).collect();
        let (bound, values) = of_conditions(&some, unknowns, FAR)?;
        let missing = conditions.iter().map(|own| own.missing(bound, &values));
        let missing = missing.enumerate().filter(|(_, by)| *by > margin / 2.0);
        let missing = missing.sorted_by(|a, b| b.1.total_cmp(&a.1)).collect_vec();
        if missing.is_empty() {
            return Ok(values);
        }
        active.extend(missing.iter().take(rows / 8).map(|(at, _)| *at));
        active.sort_unstable();
        active.dedup();
    }
    Err(BoundError::Large(rows))
}

/// Maximizes the bound; returns it and the approximate unknowns, each at most `far` from 0.
fn of_conditions(
    conditions: &[impl Borrow<Condition>],
    unknowns: usize,
    far: f64,
) -> Result<(f64, Vec<f64>), BoundError> {
    let mut program = RowProblem::new();
    let bound = program.add_column(1.0, ..=far);
    let mut columns = vec![None; unknowns];
    for own in conditions.iter().map(Borrow::borrow) {
        let terms = own.terms.iter().map(|(unknown, by)| {
            let column =
                columns[*unknown].get_or_insert_with(|| program.add_column(0.0, -far..=far));
            (*column, *by)
        });
        let mut terms: Vec<_> = terms.collect();
        terms.extend(own.is_of_bound.then_some((bound, -1.0)));
        program.add_row(own.least.., terms);
    }
    let refused = |status| BoundError::Solver(format!("{status:?}"));
    let mut model = program.try_optimise(Sense::Maximise).map_err(refused)?;
    model.make_quiet();
    model.set_option("threads", 1);
    model.set_option("solver", "ipm");
    // An interior point is as good a proof as a vertex, and it can be found faster.
    model.set_option("run_crossover", "off");
    let solved = model.try_solve().map_err(refused)?;
    // The status does not matter, since the values are verified independently.
    let (status, solution) = (solved.status(), solved.get_solution());
    let value = |column: Option<Col>| column.map_or(0.0, |column| solution[column]);
    let values: Vec<f64> = columns.into_iter().map(value).collect();
    if values.iter().any(|v| !v.is_finite()) {
        return Err(BoundError::Solver(format!("{status:?}")));
    }
    Ok((solution[bound], values))
}
