use itertools::Itertools as _;

use super::plot::{Chart, Curve, Point, Scale};
use super::{Report, Section, counted, decimals, number, percent, readable_unit, span, within};
use crate::{cells, table};
use synth_core::artifact::{Claim, Quantity};
use synth_simulation::{Ending, Health, Judgement, Run, Stretch, Verdict};

/// Returns the report on a run with its other measurements (`overall`) and the verdicts on claims.
/// For a claim that `is_percentile`, the fraction below the percentile was measured.
pub fn run_report<M, C, Q: Quantity>(
    unit: &str,
    run: &Run<M, C>,
    overall: Section,
    verdicts: &[Judgement<Q>],
    is_percentile: fn(&Claim<Q>) -> bool,
) -> Report {
    let mut report = Report::from(heading(unit, run));
    report.sections.push(classes(unit, run));
    if run.health == Health::Settled {
        report.sections.push(overall.note(MEANS));
    }
    if !verdicts.is_empty() {
        report.sections.push(verdict_table(verdicts, is_percentile));
    }
    report
}

const MEANS: &str = "All means have 95 % confidence intervals, which are computed from the batch means of independent replications.";

pub(super) fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Precision => "precision reached",
        Ending::Events => "event budget exhausted",
        Ending::Time => "out of time",
        Ending::RunsAway => "stopped because the queue grows without bound",
        Ending::Interrupted => "INTERRUPTED",
    }
}

fn heading<M, C>(unit: &str, run: &Run<M, C>) -> String {
    let [time, warm_up] = [run.simulated_time, run.warm_up].map(|time| span((time, 0.0), unit));
    let scale = format!(
        "{}: {} events, {time} simulated in {} replications, seed {}",
        ending(run.ending),
        run.events,
        run.replications.len(),
        run.seed
    );
    let why = run.unsettled.as_ref().map(|why| format!(" ({why})"));
    match run.health {
        Health::Settled => format!("{scale}; a warm-up of {warm_up} was discarded."),
        Health::Unsettled => format!(
            "NOT CONVERGED: the run is too short for means{}; increase --events or --time. {scale}.",
            why.unwrap_or_default()
        ),
        Health::Unstable => format!(
            "UNSTABLE: the number of jobs in the system grows steadily, so there is no mean. {scale}."
        ),
    }
}

/// Returns the response times, the slowdowns and the numbers of jobs, for each type and in total.
pub fn classes<M, C>(unit: &str, run: &Run<M, C>) -> Section {
    let is_settled = run.health == Health::Settled;
    let place = |own: Option<[f64; 3]>, n: usize| own.map(|own| own[n]);
    let mut section = table!("", &run.types, own => {
        "type" => &own.name,
        format!("mean wait [{unit}]") => own.mean_waiting,
        format!("P95 wait [{unit}]") => place(own.waiting_percentiles, 1),
        format!("E[T] [{unit}]") => own.mean_response,
        format!("P95 [{unit}]") => place(own.percentiles, 1),
        format!("P99 [{unit}]") => place(own.percentiles, 2),
        "E[T]/E[S] [1]" => own.slowdown.map(|own| own.mean),
        "E[N] [1]" => own.mean_number,
        "left [#]" => Some(own.left).filter(|_| !is_settled),
        "" => own.grows.then_some("grows"),
    });
    let [p95, p99] = [1, 2].map(|n| place(run.percentiles, n));
    let (wait, mean) = (place(run.waiting_percentiles, 1), run.mean_response);
    let others = cells![mean, p95, p99, "", run.mean_number, "", ""];
    let total = cells!["all", run.mean_waiting, wait; others];
    section.rows.push(total);
    section
}

/// Returns the claims that were checked. The claims about the whole policy are listed first.
pub fn verdict_table<Q: Quantity>(
    verdicts: &[Judgement<Q>],
    is_percentile: fn(&Claim<Q>) -> bool,
) -> Section {
    let subject = |own: &Judgement<Q>| own.claim.job_type.clone().or(own.claim.batch.clone());
    let is_examined = |own: &&Judgement<Q>| own.verdict != Verdict::NotExamined;
    let examined = verdicts.iter().filter(is_examined);
    let examined = examined.sorted_by_key(|own| subject(own).is_some());
    let mut section = table!("Claims", examined, own => {
        "claim" => name(&own.claim),
        "of" => subject(own).unwrap_or("all".into()),
        "claimed" => claimed(own, is_percentile(&own.claim)),
        "measured" => own.measured.map(|found| match is_percentile(&own.claim) {
            true => within(100.0 * found.mean, 100.0 * found.half_width) + " % within",
            false => within(found.mean, found.half_width),
        }),
        "verdict" => verdict(own),
    });
    let open = verdicts.iter();
    let open = open.filter(|own| own.verdict == Verdict::NotEnoughEvidence);
    let open = open.count();
    if open > 0 {
        section.notes.push(format!("Not enough evidence ({open} of {}): use a smaller value for --precision, and a larger one for --events. This does not help if the interval of the claim itself is large.", verdicts.len()));
    }
    let reasons = verdicts.iter().filter_map(|own| own.unexamined).counts();
    for (why, count) in reasons.into_iter().sorted() {
        let note = format!("Not examined ({count} of {}): {why}.", verdicts.len());
        section.notes.push(note);
    }
    section
}

fn claimed<Q: Quantity>(judgement: &Judgement<Q>, is_percentile: bool) -> String {
    let value = judgement.claim.value;
    let measured = judgement.measured.filter(|_| !is_percentile);
    match measured.and_then(|own| decimals(own.half_width)) {
        Some(digits) => format!("{value:.digits$}"),
        None => number(value),
    }
}

fn name<Q: Quantity>(claim: &Claim<Q>) -> String {
    let mut name = claim.quantity.row().label.to_owned();
    if let Some(jobs) = claim.at {
        name += &format!(" {jobs}");
    } else if let Some(time) = claim.longer_than {
        name += &format!(" {}", number(time));
    }
    if let Some(server) = &claim.server {
        name += &format!(" of {server}");
    }
    if claim.unit != "1" {
        name += &format!(" [{}]", claim.unit);
    }
    name
}

fn verdict<Q: Quantity>(judgement: &Judgement<Q>) -> String {
    let verdict = match judgement.verdict {
        Verdict::Confirmed => "confirmed",
        Verdict::Refuted => "REFUTED",
        Verdict::NotEnoughEvidence => "not enough evidence",
        Verdict::Approximate => "approximate",
        Verdict::NotExamined => "not examined",
    };
    match judgement.off {
        Some(off) => format!("{verdict}, off by {:+.1} %", 100.0 * off),
        None => verdict.to_owned(),
    }
}

/// Draws the schedules that were recorded for the policies. `text` describes the time interval.
pub fn schedules(own: &[(String, &Stretch)], unit: &str, text: &str) -> Section {
    let figure = |(name, own): &(String, &Stretch)| {
        let (across, factor) = readable_unit(own.to - own.from, unit);
        let inside = |time: f64| factor * (time.clamp(own.from, own.to) - own.from);
        let curve = |(n, class): (usize, &String)| {
            let jobs = own.stints.iter().filter(|job| job.class as usize == n);
            let changes = jobs.flat_map(|job| [(job.start, job.part), (job.end, -job.part)]);
            let changes = changes.sorted_by(|a, b| a.0.total_cmp(&b.0));
            let (mut held, mut points) = (0.0, Vec::new());
            for (time, part) in changes {
                points.push(Point::exact(inside(time), 100.0 * held));
                held += part;
                points.push(Point::exact(inside(time), 100.0 * held));
            }
            Curve::line(n, class, points)
        };
        let curves = own.classes.iter().enumerate().map(curve);
        let title = format!("{} held [%], {name}", own.resource.0);
        let (across, scales) = (format!("time [{across}]"), [Scale::Linear; 2]);
        let mut figure = Chart::around(&title, [&across, ""], scales, curves.collect()).figure()?;
        figure.note += &format!(
            "At most {} waited at the same time, and {} of the capacity was not used while jobs were waiting.",
            counted(own.most_waiting(), "job"),
            percent(own.idle_while_waiting())
        );
        Some(figure)
    };
    let note =
        format!("{text} Each line shows the share that is used by the running jobs of a type.");
    Section::of_figures("What ran when?", note, own.iter().map(figure))
}
