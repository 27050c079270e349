//! The reports of this kind of workload.

use itertools::chain;
use serde_json::{Value, json};

use super::artifact::{Artifact, Checked, Policy, Quantity, cost};
use super::policy::Rule;
use super::simulator::{Course, Judgement, Run};
use super::synthesis::{MadeOnline, Open, Planned, with_one_more_server};
use super::workload::{Objective, Pool, Speedup, Stream, Workload};
use synth_core::artifact::{Quantity as _, Unmet};
use synth_simulation::Verdict;
use synth_verb::report::{
    Report, Section, counted, estimate, number, percent, policy_report, run_report,
};
use synth_verb::table;

/// Jobs in a table.
const JOBS: usize = 24;

/// Columns of the table of stages.
const STAGES: usize = 12;

/// Returns what a workload is, in a few words: `20 jobs on 64 servers`.
pub(crate) fn about(workload: &Workload) -> String {
    match workload {
        Workload::Pool(pool) => of_pool(pool),
        Workload::Stream(stream) => of_stream(stream),
    }
}

fn of_pool(pool: &Pool) -> String {
    let jobs = counted(pool.jobs().len() as f64, "job");
    format!("{jobs} on {}", counted(pool.servers(), "server"))
}

/// Returns what a stream is, in a few words.
pub(crate) fn of_stream(stream: &Stream) -> String {
    let servers = counted(stream.servers(), "server");
    format!("jobs that arrive at {servers}")
}

/// Returns a speedup as it is written.
fn speedup(speedup: &Speedup) -> String {
    match speedup {
        Speedup::Power(p) => format!("k^{p}"),
        Speedup::Amdahl(f) => format!("Amdahl's law, f = {f}"),
        Speedup::Logarithm(scale) => format!("ln(1 + {scale}k)/ln(1 + {scale})"),
        Speedup::Table(corners) => format!("a table of {} points", corners.len() - 1),
    }
}

/// Returns a cost with its unit.
fn cost_in_unit(pool: &Pool, cost: f64) -> String {
    match pool.objective() {
        Objective::Slowdown => number(cost),
        _ => format!("{} {}", number(cost), pool.time_unit()),
    }
}

/// Returns the objective with its value and unit.
fn objective(pool: &Pool, cost: f64) -> String {
    let label = pool.objective().quantity().row().label;
    format!("{label} {}", cost_in_unit(pool, cost))
}

/// Returns how far it is above the least, in words.
fn gap(gap: f64) -> String {
    match gap {
        none if none < 1e-9 => "no policy has less (proved)".into(),
        some if some < 1e-3 => format!("at most {} % above the optimum", number(100.0 * some)),
        some => format!("at most {:.1} % above the optimum", 100.0 * some),
    }
}

/// Describes a plan: what it costs, and what each job has.
pub(crate) fn plan(pool: &Pool, planned: &Planned) -> Report {
    let ends = &planned.evidence.ends;
    let found = cost(pool, pool.objective().quantity(), ends);
    let [mean, makespan] = [Quantity::MeanResponse, Quantity::Makespan]
        .map(|quantity| number(cost(pool, quantity, ends)));
    let (about, time) = (of_pool(pool), pool.time_unit());
    let (least, gap) = (objective(pool, found), gap(planned.gap(pool)));
    let mut report = Report::from(format!(
        "{about}: {least}, {gap}; mean response {mean} {time}, makespan {makespan} {time}."
    ));
    let open = planned.open.map(|open| why_open(pool, planned, open));
    report.summary.extend(open);
    if let Some(larger) = with_one_more_server(pool, planned) {
        let (objective, ratio) = (objective(pool, larger), number(larger / found));
        let more = format!("With one more server: {objective}, {ratio} times as much.");
        report.summary.push(more);
    }
    report.sections.push(jobs_of_plan(pool, planned));
    report
}

/// Explains why no formula has the best plan, and what is known about this one.
fn why_open(pool: &Pool, planned: &Planned, open: Open) -> String {
    let why = match open {
        Open::FavoursLarge => {
            "The weights favour large jobs, so that the prices of the recursion are only a bound and no policy"
        }
        Open::SpeedupsDiffer => "Speedups differ, so that no formula has the best plan",
    };
    if planned.is_best(pool) {
        return format!(
            "{why}; all orders in which these few jobs can end were compared, and none costs less."
        );
    }
    let least = cost_in_unit(pool, planned.least);
    format!(
        "{why}; this plan is the best that a search found, and no policy costs less than {least}."
    )
}

/// Returns the first jobs to end, and how many more there are.
fn first_to_end(ends: &[f64]) -> (impl Iterator<Item = usize>, Option<String>) {
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by(|&i, &j| ends[i].total_cmp(&ends[j]));
    let more = order.len().saturating_sub(JOBS);
    let more = (more > 0).then(|| format!("… and {more} more jobs"));
    (order.into_iter().take(JOBS), more)
}

/// Returns what each job has, and when it ends.
fn jobs_of_plan(pool: &Pool, planned: &Planned) -> Section {
    let weighted = pool.objective() == Objective::WeightedFlowTime;
    let differ = pool.curves().len() > 1;
    let (stages, ends) = (&planned.plan.stages, &planned.evidence.ends);
    let all: Vec<usize> = (0..pool.jobs().len()).collect();
    let first = planned.plan.rule.servers(pool, &all, 0.0);
    let (order, more) = first_to_end(ends);
    let order: Vec<usize> = order.collect();
    let title = "Servers of each job while this many jobs are left";
    let mut section = table!(title, &order, i => {
        "job" => &pool.jobs()[*i].name,
        "speedup" => differ.then(|| speedup(&pool.curve(*i).speedup)),
        "size [1]" => pool.jobs()[*i].size,
        "weight [1]" => Some(pool.jobs()[*i].weight).filter(|_| weighted),
        format!("ends [{}]", pool.time_unit()) => ends[*i],
        "at first [1]" => Some(first[*i]).filter(|_| stages.is_empty()),
    });
    for (n, stage) in stages.iter().take(STAGES).enumerate() {
        let left = format!("{} left [1]", stages.len() - n);
        section.columns.push(left.into());
        for (row, i) in section.rows.iter_mut().zip(&order) {
            let servers = Some(stage[*i]).filter(|own| *own > 0.0);
            row.push(servers.into());
        }
    }
    section.notes.extend(more);
    section
}

/// Describes a rule for jobs that arrive: what it attains, and how far that is from what no policy can beat.
pub(crate) fn online(stream: &Stream, synthesized: &MadeOnline) -> Report {
    let (tuned, time, least) = (&synthesized.tuned, stream.time_unit(), synthesized.least);
    let (about, load) = (of_stream(stream), number(stream.load()));
    let mut report = Report::from(format!(
        "{about}: load λE[S]/N = {load}. heSRPT with urgency {} and background {}.",
        tuned.online.urgency, tuned.online.background
    ));
    report.summary.push(match tuned.run.mean_response {
        Some(mean) => format!(
            "Mean response {} {time}, at most {} above what any policy can have ({} {time}, a bound; simulated, a heuristic: no optimum is known).",
            estimate(Some(mean)),
            percent(mean.mean / least - 1.0),
            number(least)
        ),
        None => "The run did not settle: nothing is claimed but a bound; allow more with --work."
            .into(),
    });
    let tried = table!("", &tuned.tried, tried => {
        "urgency [1]" => tried.online.urgency,
        "background [1]" => tried.online.background,
        "E[T], times [1]" => tried.times,
    });
    report.sections.push(tried.note(format!(
        "Urgency 0 is EQUI, 1 with background 0 the optimum of jobs that are all there; {} events.",
        tuned.events
    )));
    report
}

/// Explains why no policy keeps up.
pub(crate) fn overload(stream: &Stream, times: f64) -> String {
    let work = stream.arrival_rate() * stream.size().mean();
    let [work, most, times] = [work, stream.most_work(), times].map(number);
    let servers = counted(stream.servers(), "server");
    format!(
        "No policy can keep up: {work} work arrives in a unit of time, and {servers} can do {most} at most, however many jobs there are: {times} times too much."
    )
}

/// Describes what a policy is for, what it does, and what it promises.
pub(crate) fn show(checked: &Checked) -> Report {
    let (artifact, workload) = (checked.artifact(), checked.workload());
    let curves = match workload {
        Workload::Pool(pool) => pool.curves(),
        Workload::Stream(stream) => std::slice::from_ref(stream.curve()),
    };
    let speedup = match curves {
        [one] => speedup(&one.speedup),
        several => format!("{} different ones", several.len()),
    };
    let source = workload.record().source.as_deref();
    let does = [format!("Speedup: {speedup}"), rule_words(artifact)];
    let what = about(workload);
    policy_report(&what, artifact, source, does, |_| Unmet::default())
}

fn rule_words(artifact: &Artifact) -> String {
    match &artifact.policy {
        Policy::Plan(plan) => match plan.rule {
            Rule::Prices(_) => "The jobs that remain divide the servers such that the work done is worth most at the prices in the file; when a job ends they divide them again.".into(),
            Rule::Phases(_) => "Each job has the servers that the file gives it in each phase; phases end at the times in the file.".into(),
        },
        Policy::Online(online) => format!(
            "Whenever a job arrives or ends, servers are divided such that work is worth most: at prices that a plan for the jobs that are there would have, to the power of {} (its urgency), with {} jobs that are assumed to stay behind (its background). Sizes are known when jobs arrive. It is a heuristic: no optimum is known.",
            online.urgency, online.background
        ),
    }
}

/// Returns what a simulation of a stream measured, with the verdicts on the claims, if any were judged.
pub(crate) fn simulation(stream: &Stream, run: &Run, verdicts: &[Judgement]) -> Report {
    let (unit, overall) = (stream.time_unit(), Section::default());
    run_report(unit, run, overall, verdicts, |_| false)
}

/// Returns what happened to a pool, with the verdicts.
pub(crate) fn course(pool: &Pool, course: &Course, verdicts: &[Judgement]) -> Report {
    let (order, more) = first_to_end(&course.ends);
    let mut jobs = table!("", order, i => {
        "job" => &pool.jobs()[i].name,
        "size [1]" => pool.jobs()[i].size,
        format!("ends [{}]", pool.time_unit()) => course.ends[i],
    });
    jobs.notes.extend(more);
    let never = course.ends.iter().filter(|end| end.is_infinite()).count();
    if never > 0 {
        jobs.notes.push(format!("{never} jobs never end."));
    }
    let is_examined = |own: &&Judgement| own.verdict != Verdict::NotExamined;
    let judged = verdicts.iter().filter(is_examined);
    let judged = judged.map(|own| (own.claim.quantity, Some(own)));
    let all = pool.objective().quantities().into_iter();
    let all = all.filter(|_| verdicts.is_empty()).map(|own| (own, None));
    let outcomes = table!("", chain!(judged, all), (quantity, judgement) => {
        "quantity" => quantity.row().label,
        "claimed" => judgement.map(|own| digits(own.claim.value)),
        "happened" => digits(cost(pool, quantity, &course.ends)),
        "unit" => quantity.unit(pool.time_unit()),
        "verdict" => judgement.map(|own| match own.verdict {
            Verdict::Confirmed => "confirmed",
            _ => "REFUTED",
        }),
    });
    let mut report = Report::from(format!("{}, exactly", of_pool(pool)));
    report.sections.extend([jobs, outcomes]);
    report
}

/// Returns a number with ten digits: what happens is exact.
fn digits(value: f64) -> String {
    if !value.is_finite() || !(1e-4..1e9).contains(&value.abs()) {
        return number(value);
    }
    let decimals = (9 - value.abs().log10().floor() as i64).clamp(0, 12) as usize;
    format!("{value:.decimals$}")
}

/// Returns what happened to a pool, for programs; a job that never ends has no end.
pub(crate) fn of_course(pool: &Pool, course: &Course) -> Value {
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
