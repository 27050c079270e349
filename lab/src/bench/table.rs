//! The summary table of the results.

use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Serialize;

use super::measure::{Alone, CHOICE, Line, Ran, ahead, rivals};
use super::systems::{NAME, Tier};
use synth::kind::table;
use synth::multiresource::simulator::Contender;
use synth::report::{self, Report, counted, percent};
use synth::simulation::median;
use synth::simulation::sweep::Knows;

/// The distances from the optimum at which bounds are counted as near.
const NEAR: [f64; 2] = [0.15, 0.25];

/// The ratio to the selected policy up to which a family alone counts as equally good.
const ALIKE: f64 = 1.05;

const LONG: usize = 20;

#[derive(Serialize, JsonSchema)]
struct Row {
    policy: String,
    knows: Knows,
    /// The number of systems on which it ran.
    systems: usize,
    /// The number of systems on which it converged.
    settled: usize,
    /// Its mean relative to the best other policy without more information: median and maximum.
    ratio: Option<[f64; 2]>,
    /// The number of systems on which it is worse by 2 %, or did not converge but another did.
    lost: usize,
    /// The number of systems on which the selected policy lost to it.
    ahead: usize,
    /// The relative distance from the optimum, or else from the bound: median and maximum.
    gap: Option<[f64; 2]>,
}

/// A family among which the policy was selected.
#[derive(Serialize, JsonSchema)]
struct Family {
    family: String,
    /// The number of systems on which it was considered.
    systems: usize,
    /// The number of systems on which it converged.
    settled: usize,
    /// The number of systems on which its mean is at most 1.05 times that of the selected policy.
    alike: usize,
    /// The mean relative to the selected policy: median and maximum.
    ratio: Option<[f64; 2]>,
}

/// A system on which the selected or an additional policy is significantly worse than a rule.
#[derive(Serialize, JsonSchema)]
struct Miss {
    system: String,
    about: String,
    policy: String,
    rule: String,
    better: String,
    /// The lower end of the difference; absent if it did not converge.
    surely: Option<f64>,
    ratio: Option<f64>,
    failure: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Section {
    tier: Tier,
    systems: usize,
    /// The number of systems in the exact tier with known optimum.
    closed: usize,
    /// The bound divided by the optimum: median and minimum.
    tightness: Option<[f64; 2]>,
    /// The number of these on which the bound is within 15 % and within 25 % of the optimum.
    near: [usize; 2],
    policies: Vec<Row>,
    families: Vec<Family>,
    missed: Vec<Miss>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Results<'a> {
    bench: &'static str,
    tiers: Vec<Section>,
    lines: &'a [Line],
}

impl<'a> Results<'a> {
    pub(super) fn new(lines: &'a [Line]) -> Self {
        let tiers = [Tier::Exact, Tier::Bounded, Tier::Logs].map(|tier| section(tier, lines));
        Results {
            bench: NAME,
            tiers: tiers.into_iter().filter(|own| own.systems > 0).collect(),
            lines,
        }
    }

    pub(super) fn report(&self) -> Report {
        let tiers = self.tiers.iter();
        let sections = tiers.flat_map(|own| [own.of_policies(), own.of_families()]);
        Report {
            sections: sections.collect(),
            summary: vec![KEY.into()],
            ..Report::default()
        }
    }
}

fn spread(values: Vec<f64>) -> Option<[f64; 2]> {
    let greatest = values.iter().copied().max_by(f64::total_cmp)?;
    Some([median(values)?, greatest])
}

fn section(tier: Tier, lines: &[Line]) -> Section {
    let lines: Vec<&Line> = lines.iter().filter(|line| line.tier == tier).collect();
    let runs = lines.iter().flat_map(|line| &line.runs);
    let policies = runs.map(|ran| ran.policy.as_str()).unique();
    let families = lines.iter().flat_map(|line| &line.families);
    let families = families.map(|own| own.family.as_str()).unique().sorted();
    let optima = lines.iter().filter_map(|l| Some((l, l.optimum?[0])));
    let tight: Vec<f64> = optima.map(|(line, least)| line.bound / least).collect();
    let tightness = spread(tight.iter().map(|t| -t).collect());
    let of_entrants = lines.iter().flat_map(|line| {
        let runs = line.runs.iter();
        let own = runs.filter(|ran| line.terms.entered(&ran.policy));
        own.filter_map(|ran| miss(line, ran))
    });
    Section {
        tier,
        systems: lines.len(),
        closed: tight.len(),
        tightness: tightness.map(|pair| pair.map(|t| -t)),
        near: NEAR.map(|far| tight.iter().filter(|t| **t >= 1.0 - far).count()),
        missed: of_entrants.collect(),
        policies: policies.map(|own| row(own, &lines)).collect(),
        families: families.map(|own| family(own, &lines)).collect(),
    }
}

fn miss(line: &Line, ran: &Ran) -> Option<Miss> {
    let (better, surely) = line.lost(ran)?;
    let (ran, _) = line.considered(ran);
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
        let considered = runs.iter().map(|(line, ran)| (*line, line.considered(ran)));
        considered.filter_map(|(line, (ran, runs))| Some((line, ran, runs, ran.response?.mean)))
    };
    let ratio = |(_, ran, runs, mean): (&Line, &Ran, &[Ran], f64)| {
        let best = rivals(runs, ran).map(|own| own.1);
        best.min_by(f64::total_cmp).map(|best| mean / best)
    };
    let gap = |(line, .., mean): (&Line, &Ran, &[Ran], f64)| {
        let least = line.optimum.map_or(line.bound, |own| own[0]);
        (least > 0.0).then(|| mean / least - 1.0)
    };
    let count =
        |is: &dyn Fn(&Line, &Ran) -> bool| runs.iter().filter(|(l, ran)| is(l, ran)).count();
    let knows = runs.iter().map(|own| own.1.knows);
    Row {
        policy: policy.into(),
        knows: knows.max_by_key(|own| *own as u8).unwrap_or_default(),
        systems: runs.len(),
        settled: settled().count(),
        ratio: spread(settled().filter_map(ratio).collect()),
        lost: count(&|line, ran| line.lost(ran).is_some()),
        ahead: count(&|line, ran| is_ahead(line, ran)),
        gap: spread(settled().filter_map(gap).collect()),
    }
}

fn is_ahead(line: &Line, ran: &Ran) -> bool {
    let choice = line.runs.iter().find(|own| own.policy == CHOICE);
    choice.is_some_and(|own| {
        let (own, runs) = line.considered(own);
        let mut ahead = ahead(runs, own).into_iter();
        ahead.any(|(other, _)| other.policy == ran.policy)
    })
}

fn family(name: &str, lines: &[&Line]) -> Family {
    let alone = lines.iter().flat_map(|line| &line.families);
    let alone: Vec<&Alone> = alone.filter(|own| own.family == name).collect();
    let ratios: Vec<f64> = alone.iter().filter_map(|own| own.ratio).collect();
    Family {
        family: name.into(),
        systems: alone.len(),
        settled: ratios.len(),
        alike: ratios.iter().filter(|ratio| **ratio <= ALIKE).count(),
        ratio: spread(ratios),
    }
}

fn called(policy: &str) -> &str {
    let rule = Contender::rules().iter().find(|rule| rule.name == policy);
    let alias = rule.and_then(|rule| rule.aliases.first());
    alias.map_or(
        policy,
        |alias| if policy.len() > LONG { alias } else { policy },
    )
}

fn change(by: f64) -> String {
    format!("{:+.1} %", 100.0 * by)
}

impl Section {
    fn of_policies(&self) -> report::Section {
        let above = match self.tier {
            Tier::Exact => "above the optimum: median [%]",
            _ => "above the bound: median [%]",
        };
        let systems = counted(self.systems as f64, "system");
        let ratio = |row: &Row, n: usize| row.ratio.map(|own| own[n] - 1.0);
        let title = format!("{NAME}, {}: {systems}", self.tier);
        let mut section = table!(title, &self.policies, row => {
            "policy" => called(&row.policy),
            "knows" => (row.knows == Knows::Sizes).then_some("sizes"),
            "on [#]" => row.systems,
            "converged [#]" => row.settled,
            "above the best: median [%]" => ratio(row, 0),
            "maximum [%]" => ratio(row, 1),
            "lost [#]" => row.lost,
            "ahead [#]" => row.ahead,
            above => row.gap.map(|own| own[0]),
            "maximum [%]" => row.gap.map(|own| own[1]),
        });
        if let Some([median, least]) = self.tightness {
            let [near, far] = self.near;
            section.notes.push(format!(
                "The optimum is known for {}; the median of the proved bound is {} of it, the minimum {}; it is within 15 % on {near} and within 25 % on {far}.",
                self.closed,
                percent(median),
                percent(least)
            ));
        }
        section.notes.extend(self.missed.iter().map(Miss::words));
        section
    }

    fn of_families(&self) -> report::Section {
        table!("", &self.families, own => {
            "family alone" => &own.family,
            "on [#]" => own.systems,
            "converged [#]" => own.settled,
            "within 5 % [#]" => own.alike,
            "above the selected policy: median [%]" => own.ratio.map(|own| own[0] - 1.0),
            "maximum [%]" => own.ratio.map(|own| own[1] - 1.0),
        })
    }
}

impl Miss {
    fn words(&self) -> String {
        let (policy, better) = (&self.policy, &self.better);
        let by = if let (Some(ratio), Some(least)) = (self.ratio, self.surely) {
            let [ratio, least] = [ratio, least].map(|own| change(own - 1.0));
            format!("{ratio} (at least {least}) above {better}")
        } else {
            let why = self.failure.as_deref().unwrap_or("not converged");
            format!("{why}, but {better} converged")
        };
        let rule = match &self.rule {
            rule if rule == policy => String::new(),
            rule => format!(" ({rule})"),
        };
        format!("{} ({}): {policy}{rule} {by}", self.system, self.about)
    }
}

const KEY: &str = "On: systems on which the policy ran. Above the best: E[T] relative to the best other policy without more information. Lost: systems on which it is significantly more than 2 % worse than one of these, or did not converge but one did. Ahead: systems on which the selected policy lost to it. Above the selected policy: E[T] of the best policy of one family relative to the selected one, in the runs of the selection.";
