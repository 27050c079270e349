use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Serialize;

use super::measure::{CHOICE, FamilyResult, Line, PolicyRun, ahead, rivals};
use super::systems::{NAME, Tier};
use synth::artifact::written;
use synth::kind::table;
use synth::multiresource::simulator::Contender;
use synth::report::{self, Report, counted, percent};
use synth::simulation::median;
use synth::simulation::sweep::Information;

/// A bound is near the optimum if the relative difference is less than one of these values.
const NEAR: [f64; 2] = [0.15, 0.25];

/// A family is as good as the selected policy if the ratio of the means is at most this value.
const ALIKE: f64 = 1.05;

const LONG: usize = 20;

#[derive(Serialize, JsonSchema)]
struct Row {
    policy: String,
    knows: Information,
    systems: usize,
    settled: usize,
    /// The median and the maximum of the mean relative to the best policy without more information.
    ratio: Option<[f64; 2]>,
    /// The number of systems for which it is worse by 2 %, or only another policy has converged.
    lost: usize,
    /// The number of systems for which the selected policy has lost to this policy.
    ahead: usize,
    /// The median and the maximum of the distance from the optimum, or from the bound.
    gap: Option<[f64; 2]>,
}

#[derive(Serialize, JsonSchema)]
struct Family {
    family: String,
    systems: usize,
    settled: usize,
    /// The number of systems for which the mean is at most 1.05 times that of the selected policy.
    alike: usize,
    /// The median and the maximum of the mean relative to the selected policy.
    ratio: Option<[f64; 2]>,
}

/// A system for which the selected or an additional policy is significantly worse than a rule.
#[derive(Serialize, JsonSchema)]
struct Loss {
    system: String,
    about: String,
    policy: String,
    rule: String,
    better: String,
    /// The lower end of the difference, or `None` if the policy has not converged.
    surely: Option<f64>,
    ratio: Option<f64>,
    failure: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Section {
    tier: Tier,
    systems: usize,
    /// The number of systems in the tier `exact` for which the optimum is known.
    closed: usize,
    /// The median and the minimum of the bound divided by the optimum.
    tightness: Option<[f64; 2]>,
    /// The number of these systems where the bound is within 15 % or within 25 % of the optimum.
    near: [usize; 2],
    policies: Vec<Row>,
    families: Vec<Family>,
    missed: Vec<Loss>,
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
    let losses = lines.iter().flat_map(|line| {
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
        missed: losses.collect(),
        policies: policies.map(|own| row(own, &lines)).collect(),
        families: families.map(|own| family(own, &lines)).collect(),
    }
}

fn miss(line: &Line, ran: &PolicyRun) -> Option<Loss> {
    let (better, surely) = line.lost(ran)?;
    let (ran, _) = line.considered(ran);
    let means = ran.response.zip(better.response);
    Some(Loss {
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
    let runs: Vec<(&Line, &PolicyRun)> = runs.collect();
    let settled = || {
        let considered = runs.iter().map(|(line, ran)| (*line, line.considered(ran)));
        considered.filter_map(|(line, (ran, runs))| Some((line, ran, runs, ran.response?.mean)))
    };
    let ratio = |(_, ran, runs, mean): (&Line, &PolicyRun, &[PolicyRun], f64)| {
        let best = rivals(runs, ran).map(|own| own.1);
        best.min_by(f64::total_cmp).map(|best| mean / best)
    };
    let gap = |(line, .., mean): (&Line, &PolicyRun, &[PolicyRun], f64)| {
        let least = line.optimum.map_or(line.bound, |own| own[0]);
        (least > 0.0).then(|| mean / least - 1.0)
    };
    let count =
        |is: &dyn Fn(&Line, &PolicyRun) -> bool| runs.iter().filter(|(l, ran)| is(l, ran)).count();
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

fn is_ahead(line: &Line, ran: &PolicyRun) -> bool {
    let choice = line.runs.iter().find(|own| own.policy == CHOICE);
    choice.is_some_and(|own| {
        let (own, runs) = line.considered(own);
        let mut ahead = ahead(runs, own).into_iter();
        ahead.any(|(other, _)| other.policy == ran.policy)
    })
}

fn family(name: &str, lines: &[&Line]) -> Family {
    let alone = lines.iter().flat_map(|line| &line.families);
    let alone: Vec<&FamilyResult> = alone.filter(|own| own.family == name).collect();
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
    let alias = alias.filter(|_| policy.len() > LONG);
    alias.copied().unwrap_or(policy)
}

impl Section {
    fn of_policies(&self) -> report::Section {
        let above = match self.tier {
            Tier::Exact => "above the optimum: median [%]",
            _ => "above the bound: median [%]",
        };
        let systems = counted(self.systems as f64, "system");
        let ratio = |row: &Row, n: usize| row.ratio.map(|own| own[n] - 1.0);
        let title = format!("{NAME}, {}: {systems}", written(&self.tier));
        let mut section = table!(title, &self.policies, row => {
            "policy" => called(&row.policy),
            "knows" => (row.knows == Information::Sizes).then_some("sizes"),
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
                "The optimum is known for {} of the systems. The median of the bound is {} of the optimum, and the minimum is {}. The bound is within 15 % of the optimum for {near} systems, and within 25 % for {far}.",
                self.closed,
                percent(median),
                percent(least)
            ));
        }
        section.notes.extend(self.missed.iter().map(Loss::words));
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

impl Loss {
    fn words(&self) -> String {
        let (policy, better) = (&self.policy, &self.better);
        let by = if let Some((ratio, least)) = self.ratio.zip(self.surely) {
            let [ratio, least] = [ratio, least].map(|own| format!("{:+.1} %", 100.0 * (own - 1.0)));
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

const KEY: &str = "The column \"on\" is the number of systems that the policy was used for. The value \"above the best\" is E[T] relative to the best other policy without more information. A policy has \"lost\" if it is significantly worse than one of these by more than 2 %, or if it did not converge and one of these did. It is \"ahead\" on a system if the selected policy has lost to it. The value \"above the selected policy\" is E[T] of the best policy of a family relative to the selected policy, in the runs of the selection.";
