//! The page: one HTML file without scripts that loads nothing.

use askama::Template;

use super::figures::{self, Section};
use super::{Besides, table, words};
use crate::report::plot::{self, Look, Picture, short};
use crate::report::{estimate, number, percent};
use crate::simulation::sweep::{AtLoad, Comparison, Outcome};
use crate::simulation::{Ending, Health, Run};

/// A comparison as a page for people: the answer in words, a table, pictures, and how it was made.
///
/// # Errors
/// When a picture cannot be drawn.
pub fn comparison_page<M, C>(
    besides: &Besides<'_, M, C>,
    comparison: &Comparison<M, C>,
) -> Result<String, Box<dyn std::error::Error>> {
    let curves = comparison.header.policies.len() + usize::from(!comparison.exact.is_empty());
    let (light, dark) = plot::rules(curves);
    let page = Page {
        title: title(comparison),
        headline: firm(&words::headline(comparison)),
        warnings: words::warnings(comparison),
        answers: answers(comparison),
        keys: keys(comparison)?,
        unit: &comparison.header.workload.time_unit,
        loads: &comparison.header.loads,
        rows: rows(comparison),
        columns: besides.shares.iter().map(|s| s.words).collect(),
        details: details(besides, comparison),
        sections: figures::sections(besides, comparison)?,
        method: method(besides, comparison),
        command: comparison.header.command(),
        tool: &comparison.header.tool,
        light,
        dark,
    };
    // The template's blocks leave spaces at the ends of lines, and empty lines.
    let text = page.render()?;
    let lines = text.lines().map(str::trim_end).filter(|l| !l.is_empty());
    Ok(lines.map(|line| format!("{line}\n")).collect())
}

#[derive(Template)]
#[template(path = "comparison.html")]
struct Page<'a> {
    title: String,
    headline: String,
    warnings: Vec<String>,
    answers: Vec<Answer>,
    keys: Vec<(String, Picture)>,
    unit: &'a str,
    loads: &'a [f64],
    rows: Vec<(String, Vec<Shown>)>,
    columns: Vec<&'static str>,
    details: Vec<Detail>,
    sections: Vec<Section>,
    method: Vec<(&'static str, String)>,
    command: String,
    tool: &'a str,
    light: String,
    dark: String,
}

/// What is known at a load.
struct Answer {
    load: f64,
    chain: String,
    sentences: String,
}

/// A cell of the table.
struct Shown {
    text: String,
    /// Its class: `best`, `none` or nothing.
    class: &'static str,
}

/// All numbers at a load.
struct Detail {
    load: f64,
    rows: Vec<(String, Vec<String>)>,
}

/// With no-break spaces between numbers and their intervals.
fn firm(text: &str) -> String {
    text.replace(" ± ", "\u{a0}±\u{a0}")
        .replace("ρ = ", "ρ\u{a0}=\u{a0}")
}

fn title<M, C>(comparison: &Comparison<M, C>) -> String {
    let labels: Vec<&str> = comparison.names().map(|n| comparison.label(n)).collect();
    let workload = &comparison.header.workload;
    let source = workload.source.as_ref().unwrap_or(&workload.file);
    format!("{} on “{source}”", words::list(&labels))
}

fn answers<M, C>(comparison: &Comparison<M, C>) -> Vec<Answer> {
    let answer = |at: &AtLoad| Answer {
        load: at.load,
        chain: words::chain(comparison, at).unwrap_or_default(),
        sentences: firm(&words::sentences(comparison, at)),
    };
    comparison.rankings.iter().map(answer).collect()
}

fn keys<M, C>(
    comparison: &Comparison<M, C>,
) -> Result<Vec<(String, Picture)>, Box<dyn std::error::Error>> {
    let labels = comparison.names().map(|name| comparison.titled(name));
    let exact = comparison.exact.first().map(|exact| exact.name.clone());
    let key = |(n, label)| Ok((label, plot::key(Look::new(n))?));
    labels.chain(exact).enumerate().map(key).collect()
}

fn rows<M, C>(comparison: &Comparison<M, C>) -> Vec<(String, Vec<Shown>)> {
    let row = |name: &str| {
        let rankings = comparison.rankings.iter();
        let cells = rankings.map(|at| Shown {
            text: table::cell(comparison, name, at.load),
            class: match comparison.settled(name, at.load) {
                None => "none",
                Some(_) if words::leaders(at).contains(&name) => "best",
                Some(_) => "",
            },
        });
        (comparison.titled(name), cells.collect())
    };
    let mut rows: Vec<_> = comparison.names().map(row).collect();
    if let Some(mut cells) = table::exact(comparison) {
        let label = cells.remove(0);
        let shown = |text| Shown {
            text,
            class: "none",
        };
        rows.push((label, cells.into_iter().map(shown).collect()));
    }
    rows
}

fn details<M, C>(besides: &Besides<'_, M, C>, comparison: &Comparison<M, C>) -> Vec<Detail> {
    let row = |name: &str, load: f64| {
        let run = comparison.settled(name, load)?;
        Some((comparison.titled(name), numbers(besides, run)))
    };
    let detail = |&load: &f64| Detail {
        load,
        rows: comparison
            .names()
            .filter_map(|name| row(name, load))
            .collect(),
    };
    let details = comparison.header.loads.iter().map(detail);
    details.filter(|d| !d.rows.is_empty()).collect()
}

fn numbers<M, C>(besides: &Besides<'_, M, C>, run: &Run<M, C>) -> Vec<String> {
    let percentile = |n: usize| run.percentiles.map_or("–".into(), |p| number(p[n]));
    let shares = besides.shares.iter().map(|shares| {
        let shares = (shares.of)(run).iter().map(|v| percent(*v));
        shares.collect::<Vec<_>>().join(" · ")
    });
    let numbers = [
        estimate(run.mean_response),
        estimate(run.mean_waiting),
        estimate(run.weighted_response),
        percentile(0),
        percentile(1),
        percentile(2),
        run.fairness.map_or("–".into(), |f| format!("{f:.3}")),
    ];
    numbers.into_iter().chain(shares).collect()
}

/// How it was done.
fn method<M, C>(
    besides: &Besides<'_, M, C>,
    comparison: &Comparison<M, C>,
) -> Vec<(&'static str, String)> {
    let (h, s) = (&comparison.header, &comparison.header.settings);
    let mut method = vec![
        ("Workload", format!("{}: {}; its own load is ρ = {}, and all arrival rates are scaled alike to reach each load. A load of 1 is the most that any policy can serve.", h.workload.file, besides.about, short(h.workload.load))),
        ("Digest of the workload", h.workload.digest.clone()),
        ("Simulation", format!("{} independent replications from seed {}; at a load every policy faces the same arrivals and the same sizes. A run ends at a relative precision of {} %, at which it is looked after a million events and then each time twice as many, or after {} events{}.", s.replications, s.seed, short(100.0 * s.precision), s.events, s.time_seconds.map_or(String::new(), |t| format!(", or after {t} s (its numbers then depend on the machine)")))),
        ("Warm-up", warm_up(comparison, &h.workload.time_unit)),
        ("Intervals", "95 % confidence, by batch means of independent replications; of queues wider by the factor 1/(1 − d), d the relative half-width, since a run that saw few long queues also saw too small a spread. Ratios are estimated from pairs of replications on the same arrivals and sizes (Student's t); what is said of a load holds together at 95 % (Bonferroni over all pairs of policies there).".into()),
        ("Stability", "A policy is called unstable where the number of jobs in the system, or of jobs of one type, climbs from quarter to quarter of the run, and by more than chance explains; and unsettled where the run was too short to tell: of each type 32 jobs have to be done and to stay for at most a twentieth of a replication, the numbers in system may not change too slowly (their means over sixteenths of a replication are correlated by at most .6) and need a level (MSER-5, White 1997), and 10 mean residual sizes of the longest jobs must be left after the warm-up. Neither has means.".into()),
        ("Runs", endings(comparison)),
    ];
    let digests = h.policies.iter().filter_map(|p| {
        let digest = p.digest.as_ref()?;
        Some(format!("{}: {digest}", comparison.label(&p.name)))
    });
    let digests: Vec<String> = digests.collect();
    if !digests.is_empty() {
        method.push(("Digests of policy files", digests.join("; ")));
    }
    method
}

fn warm_up<M, C>(comparison: &Comparison<M, C>, unit: &str) -> String {
    let settled = runs(comparison).filter(|run| run.health == Health::Settled);
    let longest = settled.map(|run| run.warm_up).fold(0.0, f64::max);
    format!(
        "a tenth of each run, at least 3 mean residual sizes of the longest jobs, is cut off; the longest was {} {unit} a replication.",
        number(longest)
    )
}

fn endings<M, C>(comparison: &Comparison<M, C>) -> String {
    let kinds = [
        (Ending::Precision, "reached the precision"),
        (Ending::Events, "spent the budget of events"),
        (Ending::Time, "ran out of time"),
        (Ending::RunsAway, "ran away"),
        (Ending::Interrupted, "was interrupted"),
    ];
    let counted = kinds.map(|(ending, what)| {
        (
            runs(comparison).filter(|run| run.ending == ending).count(),
            what,
        )
    });
    let told = counted.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let events: u64 = runs(comparison).map(|run| run.events).sum();
    format!(
        "{}; {} million events in all.",
        told.join(", "),
        number(events as f64 / 1e6)
    )
}

fn runs<M, C>(comparison: &Comparison<M, C>) -> impl Iterator<Item = &Run<M, C>> {
    comparison
        .cells
        .iter()
        .filter_map(|cell| match &cell.outcome {
            Outcome::Run(run) => Some(run.as_ref()),
            Outcome::Failure(_) => None,
        })
}
