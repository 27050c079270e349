//! The table of a bench, from its lines.

use std::fmt::Write as _;

use serde::Serialize;

use super::measure::{CHOICE, Line, Ran};
use super::systems::{NAME, Tier};
use crate::report::{Table, counted, percent, wrap};
use crate::simulation::Health;

/// Who is surely worse by more than this is named.
const MATTERS: f64 = 0.02;

/// How near to the optimum a bound should be.
const NEAR: [f64; 2] = [0.15, 0.25];

/// A policy over the systems of a tier.
#[derive(Serialize)]
struct Row {
    policy: String,
    /// Systems on which it was entered.
    systems: usize,
    /// Those where its means may be believed.
    settled: usize,
    /// Its mean over that of the best other policy that knows no more: median and greatest.
    ratio: Option<[f64; 2]>,
    /// Systems where it is surely worse by 2 %, or has not settled and another has.
    lost: usize,
    /// How far it is above the optimum, or else above the bound, as a fraction: median and greatest.
    gap: Option<[f64; 2]>,
}

/// A system where the choice, or a further entrant, is surely worse than a rule.
#[derive(Serialize)]
struct Miss {
    system: String,
    about: String,
    policy: String,
    rule: String,
    better: String,
    /// By how much at least; none where it has not settled.
    surely: Option<f64>,
    ratio: Option<f64>,
    /// Why it did not run.
    failure: Option<String>,
}

#[derive(Serialize)]
struct Section {
    tier: Tier,
    systems: usize,
    /// Systems of the exact tier whose optimum is known.
    closed: usize,
    /// The bound over the optimum: median and least.
    tightness: Option<[f64; 2]>,
    /// On how many of these the bound is within 15 % of the optimum, and within 25 %.
    near: [usize; 2],
    policies: Vec<Row>,
    missed: Vec<Miss>,
}

/// The results of a bench.
#[derive(Serialize)]
pub struct Results<'a> {
    bench: &'static str,
    tiers: Vec<Section>,
    lines: &'a [Line],
}

impl<'a> Results<'a> {
    /// Returns what lines say; `further` are the entrants that were named.
    pub fn new(lines: &'a [Line], further: &[String]) -> Self {
        let tiers = [Tier::Exact, Tier::Bounded].map(|tier| section(tier, lines, further));
        Results {
            bench: NAME,
            tiers: tiers.into_iter().filter(|own| own.systems > 0).collect(),
            lines,
        }
    }

    /// Returns the tables, at most so wide, and the misses.
    pub fn text(&self, width: usize) -> String {
        let tiers: String = self.tiers.iter().map(|own| own.text(width)).collect();
        tiers + &wrap(KEY, width) + "\n"
    }
}

/// Returns the median and the greatest of some values.
fn spread(mut values: Vec<f64>) -> Option<[f64; 2]> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let median = 0.5 * (values.get((n.max(1) - 1) / 2)? + values[n / 2]);
    Some([median, values[n - 1]])
}

/// Returns those that have settled without knowing more than this policy, and are others.
fn rivals<'a>(line: &'a Line, own: &'a Ran) -> impl Iterator<Item = (&'a Ran, f64)> {
    let others = line.runs.iter().filter(|ran| ran.policy != own.policy);
    let alike = others.filter(|ran| (ran.knows as u8) <= own.knows as u8);
    alike.filter_map(|ran| Some((ran, ran.response?.mean)))
}

/// Returns the rule that a policy is surely slower than by most, if that matters, with the least ratio; or the best one, where
/// the policy itself has not settled.
fn lost<'a>(line: &'a Line, own: &'a Ran) -> Option<(&'a Ran, Option<f64>)> {
    if own.response.is_none() {
        let best = rivals(line, own).min_by(|a, b| a.1.total_cmp(&b.1));
        return best.map(|(best, _)| (best, None));
    }
    let ahead = rivals(line, own).filter_map(|(ran, _)| Some((ran, own.surely_behind(ran)?)));
    let most = ahead.max_by(|a, b| a.1.total_cmp(&b.1));
    most.filter(|(_, least)| *least > 1.0 + MATTERS)
        .map(|(ran, least)| (ran, Some(least)))
}

fn section(tier: Tier, lines: &[Line], further: &[String]) -> Section {
    let lines: Vec<&Line> = lines.iter().filter(|line| line.tier == tier).collect();
    let mut policies: Vec<&str> = Vec::new();
    for ran in lines.iter().flat_map(|line| &line.runs) {
        if !policies.contains(&ran.policy.as_str()) {
            policies.push(&ran.policy);
        }
    }
    let optima = lines.iter().filter_map(|l| Some((l, l.optimum?[0])));
    let tight: Vec<f64> = optima.map(|(line, least)| line.bound / least).collect();
    // The least is the greatest from below.
    let tightness = spread(tight.iter().map(|t| -t).collect());
    let entered = |policy: &str| policy == CHOICE || further.iter().any(|own| own == policy);
    let of_entrants = lines.iter().flat_map(|line| {
        let own = line.runs.iter().filter(|ran| entered(&ran.policy));
        own.filter_map(|ran| miss(line, ran))
    });
    Section {
        tier,
        systems: lines.len(),
        closed: tight.len(),
        tightness: tightness.map(|pair| pair.map(|t| -t)),
        near: NEAR.map(|far| tight.iter().filter(|t| **t >= 1.0 - far).count()),
        missed: of_entrants.collect(),
        policies: policies.iter().map(|own| row(own, &lines)).collect(),
    }
}

fn miss(line: &Line, ran: &Ran) -> Option<Miss> {
    let (better, surely) = lost(line, ran)?;
    let means = ran.response.zip(better.response);
    Some(Miss {
        system: line.system.clone(),
        about: line.about.clone(),
        policy: ran.policy.clone(),
        rule: ran.rule.clone(),
        better: better.policy.clone(),
        surely,
        ratio: means.map(|(own, other)| own.mean / other.mean),
        failure: ran.failure.clone(),
    })
}

fn row(policy: &str, lines: &[&Line]) -> Row {
    let runs = lines.iter().flat_map(|line| {
        let own = line.runs.iter().filter(|ran| ran.policy == policy);
        own.map(move |ran| (*line, ran))
    });
    let runs: Vec<(&Line, &Ran)> = runs.collect();
    let settled = || {
        runs.iter()
            .filter_map(|(l, ran)| Some((*l, *ran, ran.response?.mean)))
    };
    let ratio = |(line, ran, mean): (&Line, &Ran, f64)| {
        let best = rivals(line, ran).map(|own| own.1);
        best.min_by(f64::total_cmp).map(|best| mean / best)
    };
    let gap = |(line, _, mean): (&Line, &Ran, f64)| {
        let least = line.optimum.map_or(line.bound, |own| own[0]);
        (least > 0.0).then(|| mean / least - 1.0)
    };
    let lost = |(line, ran): &&(&Line, &Ran)| lost(line, ran).is_some();
    Row {
        policy: policy.into(),
        systems: runs.len(),
        settled: runs
            .iter()
            .filter(|(_, ran)| ran.health == Some(Health::Settled))
            .count(),
        ratio: spread(settled().filter_map(ratio).collect()),
        lost: runs.iter().filter(lost).count(),
        gap: spread(settled().filter_map(gap).collect()),
    }
}

impl Section {
    fn text(&self, width: usize) -> String {
        let systems = counted(self.systems as f64, "system");
        let mut text = format!("{NAME}, {}: {systems}\n", self.tier);
        if let Some([median, least]) = self.tightness {
            let [near, far] = self.near;
            let said = format!(
                "the optimum is known of {}; the proven bound is at the median {}, at least {} of it, within 15 % on {near} and within 25 % on {far}",
                self.closed,
                percent(median),
                percent(least)
            );
            let _ = writeln!(text, "{}", wrap(&said, width));
        }
        let above = match self.tier {
            Tier::Exact => "optimum",
            Tier::Bounded => "bound",
        };
        let mut table = Table::new([
            "policy", "run on", "settled", "best", "at most", "lost on", above, "at most",
        ]);
        let change = |ratio: f64| format!("{:+.1} %", 100.0 * ratio);
        for row in &self.policies {
            let pair = |values: Option<[f64; 2]>, less: f64| match values {
                Some(values) => values.map(|value| change(value - less)),
                None => ["–", "–"].map(String::from),
            };
            let ([median, worst], [gap, widest]) = (pair(row.ratio, 1.0), pair(row.gap, 0.0));
            let [systems, settled, lost] =
                [row.systems, row.settled, row.lost].map(|n| n.to_string());
            let policy = row.policy.clone();
            table.row([policy, systems, settled, median, worst, lost, gap, widest]);
        }
        let _ = writeln!(text, "\n{}\n", table.within(width));
        for miss in &self.missed {
            let Miss { system, about, .. } = miss;
            let by = match (miss.ratio, miss.surely) {
                (Some(ratio), Some(least)) => format!(
                    "{}, surely {}, over {}",
                    change(ratio - 1.0),
                    change(least - 1.0),
                    miss.better
                ),
                _ => {
                    let why = miss.failure.as_deref().unwrap_or("not settled");
                    format!("{why}, and {} is settled", miss.better)
                }
            };
            let rule = match &miss.rule {
                rule if *rule == miss.policy => String::new(),
                rule => format!(" ({rule})"),
            };
            let said = format!("{system} ({about}): {}{rule} {by}", miss.policy);
            let _ = writeln!(text, "{}", wrap(&said, width));
        }
        text + "\n"
    }
}

/// What the columns are.
const KEY: &str = "best: E[T] over that of the best other policy that knows no more, at the median and at most; lost: surely more than \
2 % worse than one of these, or not settled where one is; optimum, bound: E[T] over that, likewise";
