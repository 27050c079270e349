//! What a person reads on the terminal; tables are `width` characters wide at most.

use std::fmt::Write as _;

use itertools::chain;
use serde_json::{Value, json};

use super::artifact::{Artifact, Checked, Policy, Quantity, cost};
use super::policy::{Online, Rule};
use super::simulator::{Course, Judgement, Run};
use super::synthesis::{MadeOnline, Open, Planned, with_one_more_server};
use super::workload::{ALL_JOBS, Objective, Pool, Speedup, Stream, Workload};
use synth_core::artifact::{Quantity as _, Subject};
use synth_simulation::Verdict;
use synth_verb::report::{
    RunWords, Table, change, counted, estimate, headed, number, percent, policy_report, run_report,
    within, wrap,
};

/// Jobs in a table.
const JOBS: usize = 24;

/// Columns of the table of stages.
const STAGES: usize = 12;

/// Returns what a workload is, in a few words: `20 jobs on 64 servers`.
pub fn about(workload: &Workload) -> String {
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
pub fn of_stream(stream: &Stream) -> String {
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
pub fn plan(pool: &Pool, planned: &Planned, width: usize) -> String {
    let ends = &planned.evidence.ends;
    let found = cost(pool, pool.objective().quantity(), ends);
    let [mean, makespan] = [Quantity::MeanResponse, Quantity::Makespan]
        .map(|quantity| number(cost(pool, quantity, ends)));
    let time = pool.time_unit();
    let (about, least) = (of_pool(pool), objective(pool, found));
    let gap = gap(planned.gap(pool));
    let mut text = format!(
        "{about}: {least}, {gap}\nmean response {mean} {time}, makespan {makespan} {time}\n"
    );
    if let Some(open) = planned.open {
        let _ = writeln!(text, "{}", wrap(&why_open(pool, planned, open), width));
    }
    if let Some(larger) = with_one_more_server(pool, planned) {
        let (objective, change) = (objective(pool, larger), change(larger / found));
        let _ = writeln!(text, "with one more server: {objective} ({change})");
    }
    format!("{text}\n{}\n", jobs_of_plan(pool, planned, width))
}

/// Says why no formula has the best plan, and what is known of this one.
fn why_open(pool: &Pool, planned: &Planned, open: Open) -> String {
    let why = match open {
        Open::FavoursLarge => {
            "the weights favour large jobs, so that the prices of the recursion are only a bound and no policy"
        }
        Open::SpeedupsDiffer => "speedups differ, so that no formula has the best plan",
    };
    if planned.is_best(pool) {
        return format!(
            "{why}; all orders in which these few jobs can end were compared, and none costs less"
        );
    }
    let least = cost_in_unit(pool, planned.least);
    format!(
        "{why}; this plan is the best that a search found, and no policy costs less than {least}"
    )
}

/// Returns a table of jobs from the first to end on; `words` is whether the second column holds words.
fn table_of_jobs(
    ends: &[f64],
    (header, words): (Vec<String>, bool),
    row: impl Fn(usize) -> Vec<String>,
    width: usize,
) -> String {
    let table = Table::new(header);
    let mut table = if words { table.words(1) } else { table };
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by(|&i, &j| ends[i].total_cmp(&ends[j]));
    order.iter().take(JOBS).for_each(|&i| table.row(row(i)));
    let mut text = table.within(width);
    if order.len() > JOBS {
        let _ = write!(text, "\n… and {} more jobs", order.len() - JOBS);
    }
    text
}

/// Tabulates what each job has, and when it ends.
fn jobs_of_plan(pool: &Pool, planned: &Planned, width: usize) -> String {
    let weighted = pool.objective() == Objective::WeightedFlowTime;
    let differ = pool.curves().len() > 1;
    let (stages, ends) = (&planned.plan.stages, &planned.evidence.ends);
    let shown = &stages[..stages.len().min(STAGES)];
    let cells = |[name, curve, size, weight, end]: [String; 5]| {
        let (curve, weight) = (differ.then_some(curve), weighted.then_some(weight));
        chain!([name], curve, [size], weight, [end])
    };
    let end = format!("ends [{}]", pool.time_unit());
    let names = ["job", "speedup", "size", "weight", &end].map(str::to_owned);
    let mut header: Vec<String> = cells(names).collect();
    header.extend((0..shown.len()).map(|n| format!("{} left", stages.len() - n)));
    if shown.is_empty() {
        header.push("servers at first".into());
    }
    let all: Vec<usize> = (0..pool.jobs().len()).collect();
    let first = planned.plan.rule.servers(pool, &all, 0.0);
    // A whole number without decimals; nothing where a job has no server.
    let servers = |k: f64| match k {
        0.0 => String::new(),
        k if k.fract() == 0.0 && k < 1e7 => format!("{k}"),
        k => number(k),
    };
    let row = |i: usize| {
        let job = &pool.jobs()[i];
        let curve = speedup(&pool.curve(i).speedup);
        let [size, weight, end] = [job.size, job.weight, ends[i]].map(number);
        let own = cells([job.name.clone(), curve, size, weight, end]);
        let first = shown.is_empty().then(|| servers(first[i]));
        let held = shown.iter().map(|stage| servers(stage[i]));
        own.chain(held).chain(first).collect()
    };
    table_of_jobs(ends, (header, differ), row, width)
}

/// Describes a rule for jobs that arrive: what it attains, and how far that is from what no policy can beat.
pub fn online(stream: &Stream, synthesized: &MadeOnline, width: usize) -> String {
    let (tuned, time, least) = (&synthesized.tuned, stream.time_unit(), synthesized.least);
    let response = match tuned.run.mean_response {
        Some(mean) => format!(
            "mean response {} {time}, at most {} above what any policy can have ({} {time}, a bound; simulated, a heuristic: no optimum is known)",
            estimate(Some(mean)),
            percent(mean.mean / least - 1.0),
            number(least)
        ),
        None => {
            "the run did not settle: nothing is claimed but a bound; allow more with --work".into()
        }
    };
    let (about, load) = (of_stream(stream), number(stream.load()));
    let response = wrap(&response, width);
    let [urgency, background] = knobs(tuned.online);
    let mut text = format!(
        "{about}: load λE[S]/N = {load}\n{response}\nheSRPT with urgency {urgency} and background {background}\n"
    );
    if !tuned.tried.is_empty() {
        let mut table = Table::new(["urgency", "background", "E[T], times"]);
        for tried in &tuned.tried {
            let times = estimate(tried.times);
            table.row(knobs(tried.online).into_iter().chain([times]));
        }
        let (table, events) = (table.within(width), tuned.events);
        let _ = writeln!(
            text,
            "\n{table}\nurgency 0 is EQUI, 1 with background 0 the optimum of jobs that are all there; {events} events"
        );
    }
    text
}

fn knobs(online: Online) -> [String; 2] {
    [online.urgency, online.background].map(|knob| knob.to_string())
}

/// Says why no policy keeps up.
pub fn overload(stream: &Stream, times: f64, width: usize) -> String {
    let work = stream.arrival_rate() * stream.size().mean();
    let [work, most, times] = [work, stream.most_work(), times].map(number);
    let servers = counted(stream.servers(), "server");
    let why = format!(
        "No policy can keep up: {work} work comes in a unit of time, and {servers} can do {most} at most, however many jobs there are: {times} times too much."
    );
    wrap(&why, width)
}

/// Describes what a policy is for, what it does, and what it promises.
pub fn show(checked: &Checked, width: usize) -> String {
    let (artifact, workload) = (checked.artifact(), checked.workload());
    let (curves, promises) = match workload {
        Workload::Pool(pool) => (pool.curves(), promises_of_plan(pool, artifact)),
        Workload::Stream(stream) => (
            std::slice::from_ref(stream.curve()),
            promises_of_stream(stream, artifact),
        ),
    };
    let speedup = match curves {
        [one] => speedup(&one.speedup),
        several => format!("{} different ones", several.len()),
    };
    let rule = wrap(&rule_words(artifact), width);
    let text = format!("Speedup: {speedup}\n\n{rule}\n\nIt promises\n{promises}");
    let source = workload.record().source.as_deref();
    policy_report(&about(workload), &artifact.tool, source, &text)
}

fn rule_words(artifact: &Artifact) -> String {
    match &artifact.policy {
        Policy::Plan(plan) => match plan.rule {
            Rule::Prices(_) => "The jobs that remain divide the servers such that the work done is worth most at the prices in the file; when a job ends they divide them anew.".into(),
            Rule::Phases(_) => "Each job has the servers that the file gives it in each phase; phases end at the times in the file.".into(),
        },
        Policy::Online(online) => format!(
            "Whenever a job comes or ends, servers are divided such that work is worth most: at prices that a plan for the jobs that are there would have, to the power of {} (its urgency), with {} jobs that are reckoned to stay behind (its background). Sizes are known when jobs come. It is a heuristic: no optimum is known.",
            online.urgency, online.background
        ),
    }
}

fn value(artifact: &Artifact, quantity: Quantity) -> Option<f64> {
    let claim = artifact.find(quantity, Subject::ALL);
    claim.map(|claim| claim.value)
}

fn promises_of_plan(pool: &Pool, artifact: &Artifact) -> String {
    let mut text = String::new();
    if let Some(cost) = value(artifact, pool.objective().quantity()) {
        let gap = value(artifact, Quantity::Gap).map_or(String::new(), |g| format!(", {}", gap(g)));
        let _ = writeln!(text, "  {}{gap}", objective(pool, cost));
    }
    for quantity in [Quantity::MeanResponse, Quantity::Makespan] {
        if let Some(found) = value(artifact, quantity) {
            let (label, unit) = (quantity.row().label, pool.time_unit());
            let _ = writeln!(text, "  {label} {} {unit}", number(found));
        }
    }
    text
}

fn promises_of_stream(stream: &Stream, artifact: &Artifact) -> String {
    let time = stream.time_unit();
    let Some(claim) = artifact.find(Quantity::MeanResponse, Subject::ALL) else {
        return String::new();
    };
    let mean = within(claim.value, claim.half_width.unwrap_or(0.0));
    let mut text = format!("  mean response time {mean} {time}, simulated\n");
    if let Some(least) = value(artifact, Quantity::LeastResponse) {
        let (bound, less) = (number(least), percent(1.0 - least / claim.value));
        let _ = writeln!(
            text,
            "  no policy has less than {bound} {time} (proved), which is {less} less at most"
        );
    }
    text
}

/// Reports what a simulation of a stream measured, with the verdicts on the claims, if any were judged.
pub fn simulation(stream: &Stream, run: &Run, verdicts: &[Judgement], width: usize) -> String {
    let waiting = estimate(run.mean_waiting);
    let overall = format!(
        "without servers {waiting}\nmeans with 95 % confidence intervals (batch means of independent replications); E[T]/E[S] is beside a job alone on all servers"
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

/// Reports what happened to a pool, with the verdicts.
pub fn course(pool: &Pool, course: &Course, verdicts: &[Judgement], width: usize) -> String {
    let end = format!("ends [{}]", pool.time_unit());
    let row = |i: usize| {
        let job = &pool.jobs()[i];
        vec![job.name.clone(), number(job.size), number(course.ends[i])]
    };
    let header = vec!["job".into(), "size".into(), end];
    let jobs = table_of_jobs(&course.ends, (header, false), row, width);
    let mut text = format!("{}, exactly\n\n{jobs}", of_pool(pool));
    let never = course.ends.iter().filter(|end| end.is_infinite()).count();
    if never > 0 {
        let _ = write!(text, "\n{never} jobs never end");
    }
    let mut table = Table::new(["quantity", "claimed", "happened", "verdict"]).words(3);
    let mut line = |quantity, claimed: String, verdict: &str| {
        let happened = digits(cost(pool, quantity, &course.ends));
        let name = headed(quantity, pool.time_unit());
        table.row([name, claimed, happened, verdict.into()]);
    };
    for Judgement { claim, verdict, .. } in verdicts {
        match verdict {
            Verdict::NotExamined => {}
            Verdict::Confirmed => line(claim.quantity, digits(claim.value), "confirmed"),
            _ => line(claim.quantity, digits(claim.value), "REFUTED"),
        }
    }
    if verdicts.is_empty() {
        for quantity in pool.objective().quantities() {
            line(quantity, String::new(), "");
        }
    }
    format!("{text}\n\n{}\n", table.within(width))
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
