use itertools::chain;
use serde_json::{Value, json};

use super::artifact::{Artifact, Checked, Policy, Quantity, cost};
use super::policy::Rule;
use super::simulator::{Execution, Judgement};
use super::synthesis::{OnlineSynthesis, Open, Planned, with_one_more_server};
use super::workload::{Objective, Pool, Speedup, Stream, Workload};
use synth_core::artifact::{Quantity as _, ViolatedAssumptions};
use synth_simulation::Verdict;
use synth_verb::report::{Report, Section, counted, estimate, number, percent, policy_report};
use synth_verb::table;

const JOBS: usize = 24;

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

pub(crate) fn of_stream(stream: &Stream) -> String {
    let servers = counted(stream.servers(), "server");
    format!("jobs that arrive over time at {servers}")
}

fn speedup(speedup: &Speedup) -> String {
    match speedup {
        Speedup::Power(p) => format!("k^{p}"),
        Speedup::Amdahl(f) => format!("Amdahl's law, f = {f}"),
        Speedup::Logarithm(scale) => format!("ln(1 + {scale}k)/ln(1 + {scale})"),
        Speedup::Table(corners) => format!("a table of {} points", corners.len() - 1),
    }
}

fn cost_in_unit(pool: &Pool, cost: f64) -> String {
    match pool.objective() {
        Objective::Slowdown => number(cost),
        _ => format!("{} {}", number(cost), pool.record.time_unit),
    }
}

fn objective(pool: &Pool, cost: f64) -> String {
    let label = pool.objective().quantity().row().label;
    format!("{label} {}", cost_in_unit(pool, cost))
}

fn gap(gap: f64) -> String {
    match gap {
        none if none < 1e-9 => "which is optimal (proved)".into(),
        some if some < 1e-3 => format!("at most {} % above the optimum", number(100.0 * some)),
        some => format!("at most {:.1} % above the optimum", 100.0 * some),
    }
}

pub(crate) fn plan(pool: &Pool, planned: &Planned) -> Report {
    let ends = &planned.evidence.ends;
    let found = cost(pool, pool.objective().quantity(), ends);
    let [mean, makespan] = [Quantity::MeanResponse, Quantity::Makespan]
        .map(|quantity| number(cost(pool, quantity, ends)));
    let (about, time) = (of_pool(pool), &pool.record.time_unit);
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

fn why_open(pool: &Pool, planned: &Planned, open: Open) -> String {
    let why = match open {
        Open::FavoursLarge => {
            "The weights favour large jobs, so the prices of the recursion give only a bound and no policy"
        }
        Open::SpeedupsDiffer => "The speedups are different, so there is no known formula",
    };
    if planned.is_best(pool) {
        return format!(
            "{why}. All orders in which the jobs can end have been compared, and none of them has a lower cost."
        );
    }
    let least = cost_in_unit(pool, planned.least);
    format!(
        "{why}. This plan is the best one that was found by a search, and no policy has a cost below {least}."
    )
}

fn first_to_end(ends: &[f64]) -> (Vec<usize>, Option<String>) {
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by(|&i, &j| ends[i].total_cmp(&ends[j]));
    let more = order.len().saturating_sub(JOBS);
    order.truncate(JOBS);
    (order, (more > 0).then(|| format!("… and {more} more jobs")))
}

fn jobs_of_plan(pool: &Pool, planned: &Planned) -> Section {
    let weighted = pool.objective() == Objective::WeightedFlowTime;
    let differ = pool.curves().len() > 1;
    let (stages, ends) = (&planned.plan.stages, &planned.evidence.ends);
    let all: Vec<usize> = (0..pool.jobs().len()).collect();
    let first = planned.plan.rule.servers(pool, &all, 0.0);
    let (order, more) = first_to_end(ends);
    let title = "The number of servers of each job, for each number of remaining jobs";
    let mut section = table!(title, &order, i => {
        "job" => &pool.jobs()[*i].name,
        "speedup" => differ.then(|| speedup(&pool.curve(*i).speedup)),
        "size [1]" => pool.jobs()[*i].size,
        "weight [1]" => Some(pool.jobs()[*i].weight).filter(|_| weighted),
        format!("ends [{}]", pool.record.time_unit) => ends[*i],
        "at first [1]" => Some(first[*i]).filter(|_| stages.is_empty()),
    });
    for (n, stage) in stages.iter().take(12).enumerate() {
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

pub(crate) fn online(stream: &Stream, synthesized: &OnlineSynthesis) -> Report {
    let (tuned, least) = (&synthesized.tuned, synthesized.least);
    let time = &stream.record.time_unit;
    let (about, load) = (of_stream(stream), number(stream.load()));
    let mut report = Report::from(format!(
        "{about}: load λE[S]/N = {load}. heSRPT with urgency {} and background {}.",
        tuned.online.urgency, tuned.online.background
    ));
    report.summary.push(match tuned.run.mean_response {
        Some(mean) => format!(
            "Mean response {} {time} (simulated), {} above the lower bound for any policy ({} {time}). The rule is a heuristic, and the optimum is not known.",
            estimate(Some(mean)),
            percent(mean.mean / least - 1.0),
            number(least)
        ),
        None => "The run has not converged, so the lower bound is the only claim. Use a larger value for --work."
            .into(),
    });
    let tried = table!("", &tuned.tried, (online, times) => {
        "urgency [1]" => online.urgency,
        "background [1]" => online.background,
        "E[T], times [1]" => *times,
    });
    report.sections.push(tried.note(format!(
        "If the urgency is 0, this is EQUI. If the urgency is 1 and the background is 0, this is optimal if there are no more arrivals. The number of events is {}.",
        tuned.events
    )));
    report
}

pub(crate) fn overload(stream: &Stream, times: f64) -> String {
    let work = stream.arrival_rate() * stream.size().mean();
    let [work, most, times] = [work, stream.most_work(), times].map(number);
    let servers = counted(stream.servers(), "server");
    format!(
        "No policy can keep up: {work} work arrives per unit of time, but {servers} can do at most {most}, however many jobs are present. The load is {times} times the maximum."
    )
}

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
    let unmet = |_: &_| ViolatedAssumptions::default();
    policy_report(&about(workload), artifact, source, does, unmet)
}

fn rule_words(artifact: &Artifact) -> String {
    match &artifact.policy {
        Policy::Plan(plan) => match plan.rule {
            Rule::Prices(_) => "The servers are divided among the remaining jobs so that the work has the maximum worth at the prices in the file. The division is computed again each time a job ends.".into(),
            Rule::Phases(_) => "In each phase, each job has the number of servers that is given in the file. The file also contains the time at which each phase ends.".into(),
        },
        Policy::Online(online) => format!(
            "Each time a job arrives or ends, the servers are divided so that the work has the maximum worth. The prices are the same as for an optimal plan for the jobs that are present, raised to the power of {} (the urgency). The plan assumes that there are {} additional jobs in the background. The size of a job must be known when it arrives. The rule is a heuristic, and the optimum is not known.",
            online.urgency, online.background
        ),
    }
}

pub(crate) fn course(pool: &Pool, course: &Execution, verdicts: &[Judgement]) -> Report {
    let (order, more) = first_to_end(&course.ends);
    let mut jobs = table!("", order, i => {
        "job" => &pool.jobs()[i].name,
        "size [1]" => pool.jobs()[i].size,
        format!("ends [{}]", pool.record.time_unit) => course.ends[i],
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
        "unit" => quantity.unit(&pool.record.time_unit),
        "verdict" => judgement.map(|own| match own.verdict {
            Verdict::Confirmed => "confirmed",
            _ => "REFUTED",
        }),
    });
    let mut report = Report::from(format!("{}, exactly", of_pool(pool)));
    report.sections.extend([jobs, outcomes]);
    report
}

fn digits(value: f64) -> String {
    if !value.is_finite() || !(1e-4..1e9).contains(&value.abs()) {
        return number(value);
    }
    let decimals = (9 - value.abs().log10().floor() as i64).clamp(0, 12) as usize;
    format!("{value:.decimals$}")
}

pub(crate) fn of_course(pool: &Pool, course: &Execution) -> Value {
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
