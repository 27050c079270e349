//! What runs found.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{of_pool, of_stream};
use crate::malleable::artifact::{Quantity, cost};
use crate::malleable::simulator::{Course, Judgement, Measures, Run};
use crate::malleable::workload::{ALL_JOBS, Pool, Stream};
use crate::report::{Besides, RunWords, Table, estimate, headed, number, run_report};
use crate::simulation::Verdict;

/// What a simulation of a stream found, with the verdicts on the claims, if any were judged.
pub fn simulation(stream: &Stream, run: &Run, verdicts: &[Judgement], width: usize) -> String {
    let overall = format!(
        "without servers {}\nmeans with 95 % confidence intervals (batch means of independent replications); E[T]/E[S] is beside a job alone on all servers",
        estimate(run.mean_waiting)
    );
    let words = RunWords {
        unit: stream.time_unit(),
        names: &[ALL_JOBS],
        overall: &overall,
        conditions: "what no policy can beat is not examined by a run",
        is_percentile: |_| false,
    };
    run_report(&words, run, verdicts, width)
}

/// Jobs that are told.
const TOLD: usize = 24;

/// What happened to a pool, with the verdicts.
pub fn course(pool: &Pool, course: &Course, verdicts: &[Judgement], width: usize) -> String {
    let time = pool.time_unit();
    let mut text = format!("{}, exactly\n\n", of_pool(pool));
    let mut table = Table::new(["job".to_string(), "size".into(), format!("ends [{time}]")]);
    let mut order: Vec<usize> = (0..course.ends.len()).collect();
    order.sort_by(|&i, &j| course.ends[i].total_cmp(&course.ends[j]));
    for &i in order.iter().take(TOLD) {
        let job = &pool.jobs()[i];
        table.row([job.name.clone(), number(job.size), number(course.ends[i])]);
    }
    text += &table.within(width);
    if order.len() > TOLD {
        let _ = write!(text, "\n… and {} more jobs", order.len() - TOLD);
    }
    let never = course.ends.iter().filter(|end| end.is_infinite()).count();
    if never > 0 {
        let _ = write!(text, "\n{never} jobs never end");
    }
    let _ = writeln!(text, "\n\n{}", costs(pool, course, verdicts, width));
    text
}

fn costs(pool: &Pool, course: &Course, verdicts: &[Judgement], width: usize) -> String {
    let mut table = Table::new(["quantity", "claimed", "happened", "verdict"]).words(3);
    let examined = verdicts
        .iter()
        .filter(|own| own.verdict != Verdict::NotExamined);
    for judgement in examined {
        let claim = &judgement.claim;
        let verdict = match judgement.verdict {
            Verdict::Confirmed => "confirmed",
            _ => "REFUTED",
        };
        let happened = judgement.measured.map_or(f64::NAN, |found| found.mean);
        table.row([
            headed(claim.quantity, pool.time_unit()),
            digits(claim.value),
            digits(happened),
            verdict.into(),
        ]);
    }
    if verdicts.is_empty() {
        let mut told = vec![pool.objective().quantity()];
        told.extend([Quantity::MeanResponse, Quantity::Makespan]);
        told.dedup();
        for quantity in told {
            table.row([
                headed(quantity, pool.time_unit()),
                String::new(),
                digits(cost(pool, quantity, &course.ends)),
            ]);
        }
    }
    table.within(width)
}

/// A number with ten digits: what happens is exact.
fn digits(value: f64) -> String {
    match value.is_finite() && (1e-4..1e9).contains(&value.abs()) {
        true => {
            let decimals = (9 - value.abs().log10().floor() as i64).clamp(0, 12) as usize;
            format!("{value:.decimals$}")
        }
        false => number(value),
    }
}

/// What is told of a comparison on a stream besides response times: nothing.
pub fn besides(stream: &Stream) -> Besides<'_, Measures, ()> {
    Besides {
        about: of_stream(stream),
        parts: Vec::new(),
        section: ("", ""),
        shares: &[],
        counts: &[],
        frequencies: &[],
    }
}

/// What happened to a pool, for programs; a job that never ends has no end.
#[must_use]
pub fn of_course(pool: &Pool, course: &Course) -> Value {
    let of = |quantity| cost(pool, quantity, &course.ends);
    let jobs = pool.jobs().iter().zip(&course.ends);
    let jobs = jobs.map(|(job, end)| json!({ "name": job.name, "end": end }));
    json!({
        "cost": of(pool.objective().quantity()),
        "mean_response": of(Quantity::MeanResponse),
        "makespan": of(Quantity::Makespan),
        "jobs": jobs.collect::<Vec<_>>(),
    })
}
