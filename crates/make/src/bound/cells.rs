//! The best function of a layout, by a linear program.

use std::collections::BTreeMap;

use highs::{RowProblem, Sense};
use num_rational::BigRational;
use num_traits::ToPrimitive;

use super::BoundError;
use synth_cluster::artifact::Objective;
use synth_cluster::bound::{Certificate, Costs, Layout, Rates, Row, pooled};
use synth_cluster::workload::Fleet;

/// What has to hold by more than the solver's tolerance, so that what it returns proves a bound.
const MARGIN: f64 = 1e-6;

/// How much smaller the next program is, where the solver has no answer.
const SMALLER: usize = 4;

/// Returns the bound and its proof by a program of at most so many rows.
///
/// # Errors
/// When the laws are others, there are more schedules than rows, or HiGHS finds no answer that proves anything.
pub fn by_cells(
    fleet: &Fleet,
    objective: Objective,
    preempts: bool,
    mut rows: usize,
) -> Result<(f64, Certificate), BoundError> {
    let (costs, rates) = Costs::new(fleet, objective)?;
    let schedules = pooled(fleet, rows.min(Certificate::MOST_SCHEDULES));
    let schedules = schedules.ok_or(BoundError::Large(rows))?;
    let mut layout = refined(fleet, &schedules, preempts, rows)?;
    loop {
        let found = solve(&layout, &costs, &rates);
        let proved = found.and_then(|values| {
            let certificate = Certificate::rounded(preempts, layout.exact().to_vec(), &values);
            Ok((certificate.check(fleet, objective)?, certificate))
        });
        rows /= SMALLER;
        match refined(fleet, &schedules, preempts, rows) {
            Ok(smaller) if proved.is_err() => layout = smaller,
            _ => return proved,
        }
    }
}

/// Returns the layout with as many cells as the rows allow, of large jobs first.
fn refined(
    fleet: &Fleet,
    schedules: &[Vec<u32>],
    preempts: bool,
    most: usize,
) -> Result<Layout, BoundError> {
    let k = fleet.types().len();
    let layout = |exact: Vec<u32>| Layout::new(schedules.to_vec(), exact, preempts);
    let fits = |layout: &Layout| {
        let mut rows = 0;
        layout.each_row(|_| {
            rows += 1;
            rows <= most
        });
        rows <= most
    };
    let mut best = layout(vec![0; k]);
    if !fits(&best) {
        return Err(BoundError::Large(most));
    }
    let shares = fleet.envelope().dominant_shares();
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
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

/// Returns the unknowns of the best function, about. Time is in mean sizes, so that all numbers are near 1.
fn solve(
    layout: &Layout,
    costs: &Costs,
    rates: &Rates<BigRational>,
) -> Result<Vec<f64>, BoundError> {
    let number = |fraction: &BigRational| fraction.to_f64().unwrap_or(f64::NAN);
    let numbers = |all: &[BigRational]| -> Vec<f64> { all.iter().map(number).collect() };
    let (arrivals, service) = (numbers(&rates.arrivals), numbers(&rates.service));
    let work: f64 = arrivals.iter().zip(&service).map(|(l, m)| l / m).sum();
    let unit = work / arrivals.iter().sum::<f64>();
    let scaled = |rates: Vec<f64>| rates.into_iter().map(|rate| rate * unit).collect();
    let rates = Rates {
        arrivals: scaled(arrivals),
        service: scaled(service),
    };
    let costs = costs
        .weights
        .iter()
        .map(|w| number(&(w / &costs.divisor)) / unit);
    let costs: Vec<f64> = costs.collect();
    let margin = MARGIN * costs.iter().copied().fold(f64::INFINITY, f64::min);
    let mut program = RowProblem::new();
    let bound = program.add_column(1.0, f64::NEG_INFINITY..);
    let mut columns = vec![None; layout.unknowns()];
    layout.each_row(|row| {
        let mut form = BTreeMap::new();
        layout.form(&row, &rates, &mut |unknown, by: f64| {
            *form.entry(unknown).or_insert(0.0) += by
        });
        let terms = form.into_iter().filter(|(_, by)| *by != 0.0);
        let terms = terms.map(|(unknown, by)| {
            let column = columns[unknown]
                .get_or_insert_with(|| program.add_column(0.0, f64::NEG_INFINITY..));
            (*column, by)
        });
        let terms: Vec<_> = terms.collect();
        match row {
            Row::Drift(state) => {
                let jobs = state.jobs.iter().zip(&costs);
                let cost: f64 = jobs.map(|(q, c)| *q as f64 * c).sum();
                program.add_row(-cost.., terms.into_iter().chain([(bound, -1.0)]));
            }
            Row::DriftGrows(_, j) => program.add_row(margin - costs[j].., terms),
            Row::Start(..) | Row::StartGrows(..) => program.add_row(margin.., terms),
        }
        true
    });
    let mut model = program
        .try_optimise(Sense::Maximise)
        .map_err(|status| BoundError::Solver(format!("{status:?}")))?;
    model.make_quiet();
    model.set_option("threads", 1);
    model.set_option("solver", "ipm");
    // A corner of the polyhedron proves no more than a point near it, and takes longer.
    model.set_option("run_crossover", "off");
    let solved = model
        .try_solve()
        .map_err(|status| BoundError::Solver(format!("{status:?}")))?;
    // Whatever it ends as: what it has found is believed in nothing.
    let (status, solution) = (solved.status(), solved.get_solution());
    let values = columns
        .into_iter()
        .map(|column| column.map_or(0.0, |column| solution[column] * unit * unit));
    let values: Vec<f64> = values.collect();
    if values.iter().any(|v| !v.is_finite()) {
        return Err(BoundError::Solver(format!("{status:?}")));
    }
    Ok(values)
}
