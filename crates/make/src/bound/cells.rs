use std::borrow::Borrow;
use std::collections::BTreeMap;

use highs::{Col, RowProblem, Sense};
use itertools::Itertools;
use num_rational::BigRational;
use num_traits::ToPrimitive;

use super::{BoundError, CertificateError};
use synth_multiresource::artifact::Objective;
use synth_multiresource::bound::{BoundCertificate, Layout, TypeRates, exact_costs, pooled};
use synth_multiresource::workload::Fleet;

/// The margin of all conditions except (drift) at a corner, relative to the least cost. It exceeds
/// the solver's tolerance, so that a solution is a proof.
const MARGIN: f64 = 1e-6;

/// With preemption, the number of candidate conditions for each row of the limit.
const MANY: usize = 5;
const MAX_ROUNDS: usize = 100;
/// In these rounds, the program could be unbounded, so each coefficient of V is limited to ± `FAR`.
const FAR: f64 = 1e6;

/// If the solver or the check of its solution fails, the limit of rows is divided by this.
const SMALLER: usize = 4;

/// Returns the bound by a function V (see [`synth_multiresource::bound`]), and its proof.
pub(super) fn by_cells(
    fleet: &Fleet,
    objective: Objective,
    preempts: bool,
    mut rows: usize,
) -> Result<(f64, BoundCertificate), BoundError> {
    let (costs, rates) = exact_costs(fleet, objective)?;
    let most = BoundCertificate::MAX_SCHEDULES;
    let schedules = pooled(fleet, most).ok_or(CertificateError::Schedules(most))?;
    let mut layout = refined(fleet, &schedules, preempts, rows)?;
    loop {
        let found = solve(&layout, &costs, &rates, rows);
        let proved = found.and_then(|values| {
            let certificate = BoundCertificate::rounded(preempts, layout.exact().to_vec(), &values);
            Ok((certificate.check(fleet, objective)?, certificate))
        });
        if proved.is_ok() {
            return proved;
        }
        rows /= SMALLER;
        match refined(fleet, &schedules, preempts, rows) {
            Ok(smaller) => layout = smaller,
            Err(_) => return proved,
        }
    }
}

/// Returns the layout with the most cells. In each round, each type gets one more exact count.
fn refined(
    fleet: &Fleet,
    schedules: &[Vec<u32>],
    preempts: bool,
    max_rows: usize,
) -> Result<Layout, BoundError> {
    let k = fleet.types().len();
    let layout = |exact_counts: Vec<u32>| Layout::new(schedules.to_vec(), exact_counts, preempts);
    let fits = |layout: &Layout| {
        let (limit, is_small) = match preempts {
            true => (MANY * max_rows, layout.unknowns() <= max_rows / 10),
            false => (max_rows, true),
        };
        let mut count = 0;
        layout.each_row(|_| {
            count += 1;
            count <= limit
        });
        is_small && count <= limit
    };
    let mut best = layout(vec![0; k]);
    if !fits(&best) {
        return Err(BoundError::Large(max_rows));
    }
    let shares = fleet.envelope().dominant_shares();
    let order = (0..k).sorted_by(|a, b| shares[*b].total_cmp(&shares[*a]));
    let order = order.collect_vec();
    loop {
        let mut has_grown = false;
        for &i in &order {
            let mut exact_counts = best.exact().to_vec();
            exact_counts[i] += 1;
            let larger = layout(exact_counts);
            if fits(&larger) {
                (best, has_grown) = (larger, true);
            }
        }
        if !has_grown {
            return Ok(best);
        }
    }
}

/// Returns approximate coefficients of V with the largest bound. It uses the mean size as unit.
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
    fn violation(&self, bound: f64, values: &[f64]) -> f64 {
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
    for _ in 0..MAX_ROUNDS {
        let some: Vec<&Condition> = active.iter().map(|at| &conditions[*at]).collect();
        let (bound, values) = of_conditions(&some, unknowns, FAR)?;
        let violations = conditions.iter().map(|own| own.violation(bound, &values));
        let violations = violations.enumerate().filter(|(_, by)| *by > margin / 2.0);
        let violations: Vec<_> = violations.sorted_by(|a, b| b.1.total_cmp(&a.1)).collect();
        if violations.is_empty() {
            return Ok(values);
        }
        active.extend(violations.iter().take(rows / 8).map(|(at, _)| *at));
        active.sort_unstable();
        active.dedup();
    }
    Err(BoundError::Solver(format!(
        "no convergence in {MAX_ROUNDS} rounds"
    )))
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
    let refused = |status| BoundError::Solver(format!("HiGHS status: {status:?}"));
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
        return Err(BoundError::Solver(format!("HiGHS status: {status:?}")));
    }
    Ok((solution[bound], values))
}
