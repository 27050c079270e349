//! What a person should know of a policy that was made, or why there is none.

use std::fmt::Write as _;

use super::{gap, objective, of_pool, of_servers, of_stream, servers, speedup, unit};
use crate::malleable::artifact::{Quantity, cost};
use crate::malleable::synthesis::{MadeOnline, Open, Planned, with_one_more_server};
use crate::malleable::workload::{Objective, Pool, Stream};
use crate::report::{Table, change, estimate, number, percent, wrap};

/// Jobs of a plan that are told.
const TOLD: usize = 24;

/// Columns of the table of stages that are told.
const STAGES: usize = 12;

/// A plan: what it costs, and what each job has.
pub fn made(pool: &Pool, planned: &Planned, width: usize) -> String {
    let found = cost(pool, pool.objective().quantity(), &planned.ends);
    let mean = cost(pool, Quantity::MeanResponse, &planned.ends);
    let makespan = cost(pool, Quantity::Makespan, &planned.ends);
    let time = pool.time_unit();
    let mut text = format!(
        "{}: {} {}{}, {}\n",
        of_pool(pool),
        objective(pool),
        number(found),
        unit(pool),
        gap(planned.gap(pool))
    );
    let _ = writeln!(
        text,
        "mean response {} {time}, makespan {} {time}",
        number(mean),
        number(makespan)
    );
    if let Some(why) = planned.open.map(|open| open_words(pool, planned, open)) {
        let _ = writeln!(text, "{}", wrap(&why, width));
    }
    if let Some(larger) = with_one_more_server(pool, planned) {
        let _ = writeln!(
            text,
            "with one more server: {} {}{} ({})",
            objective(pool),
            number(larger),
            unit(pool),
            change(larger / found)
        );
    }
    let _ = writeln!(text, "\n{}", jobs(pool, planned, width));
    text
}

/// Why no formula has the best plan, and what is known of this one.
fn open_words(pool: &Pool, planned: &Planned, open: Open) -> String {
    let why = match open {
        Open::FavoursLarge => {
            "the weights favour large jobs, so that the prices of the recursion are only a bound and no policy"
        }
        Open::SpeedupsDiffer => "speedups differ, so that no formula has the best plan",
    };
    match planned.is_best(pool) {
        true => format!(
            "{why}; all orders in which these few jobs can end were compared, and none costs less"
        ),
        false => format!(
            "{why}; this plan is the best that a search found, and no policy costs less than {}{}",
            number(planned.least),
            unit(pool)
        ),
    }
}

/// What each job has, and when it ends.
fn jobs(pool: &Pool, planned: &Planned, width: usize) -> String {
    let weighted = pool.objective() == Objective::WeightedFlowTime;
    let differ = pool.curves().len() > 1;
    let all: Vec<usize> = (0..pool.jobs().len()).collect();
    let stages = &planned.plan.stages;
    let mut header = vec!["job".to_string()];
    header.extend(differ.then(|| "speedup".into()));
    header.push("size".into());
    header.extend(weighted.then(|| "weight".into()));
    header.push(format!("ends [{}]", pool.time_unit()));
    let tabled = stages.len().min(STAGES);
    match tabled {
        0 => header.push("servers at first".into()),
        _ => header.extend((0..tabled).map(|n| format!("{} left", stages.len() - n))),
    }
    let first = planned.plan.rule.servers(pool, &all, 0.0);
    let mut table = Table::new(header);
    if differ {
        table = table.words(1);
    }
    let mut order = all;
    order.sort_by(|&i, &j| planned.ends[i].total_cmp(&planned.ends[j]));
    for &i in order.iter().take(TOLD) {
        let job = &pool.jobs()[i];
        let mut row = vec![job.name.clone()];
        row.extend(differ.then(|| speedup(&pool.curves()[job.curve].speedup)));
        row.push(number(job.size));
        row.extend(weighted.then(|| number(job.weight)));
        row.push(number(planned.ends[i]));
        match tabled {
            0 => row.push(of_servers(first[i])),
            _ => row.extend(stages[..tabled].iter().map(|stage| match stage[i] {
                0.0 => String::new(),
                k => of_servers(k),
            })),
        }
        table.row(row);
    }
    let mut text = table.within(width);
    if order.len() > TOLD {
        let _ = write!(text, "\n… and {} more jobs", order.len() - TOLD);
    }
    text
}

/// A rule for jobs that arrive: what it attains, and how far that is from what no policy can beat.
pub fn online(stream: &Stream, made: &MadeOnline, width: usize) -> String {
    let MadeOnline { tuned, relaxed, .. } = made;
    let time = stream.time_unit();
    let mut text = format!(
        "{}: load λE[S]/N = {}\n",
        of_stream(stream),
        number(stream.load())
    );
    let run = &tuned.run;
    let told = match run.mean_response {
        Some(mean) => format!(
            "mean response {} {time}, at most {} above what any policy can have ({} {time}, a bound; simulated, a heuristic: no optimum is known)",
            estimate(Some(mean)),
            percent(mean.mean / relaxed.least - 1.0),
            number(relaxed.least)
        ),
        None => "the run did not settle: nothing is claimed but a bound; allow more with --budget"
            .into(),
    };
    let _ = writeln!(text, "{}", wrap(&told, width));
    let online = tuned.online;
    let _ = writeln!(
        text,
        "heSRPT with urgency {} and background {}",
        online.urgency, online.background
    );
    if !tuned.tried.is_empty() {
        let mut table = Table::new(["urgency", "background", "E[T], times"]);
        for tried in &tuned.tried {
            table.row([
                tried.online.urgency.to_string(),
                tried.online.background.to_string(),
                estimate(tried.times),
            ]);
        }
        let _ = writeln!(text, "\n{}", table.within(width));
        let _ = writeln!(
            text,
            "urgency 0 is EQUI, 1 with background 0 the optimum of jobs that are all there; {} events",
            tuned.events
        );
    }
    text
}

/// Why no policy keeps up.
pub fn overload(stream: &Stream, times: f64, width: usize) -> String {
    let told = format!(
        "No policy can keep up: {} work comes in a unit of time, and {} can do {} at most, however many jobs there are: {} times too much.",
        number(stream.arrival_rate() * stream.size().mean()),
        servers(stream.servers()),
        number(stream.most_work()),
        number(times)
    );
    wrap(&told, width)
}
