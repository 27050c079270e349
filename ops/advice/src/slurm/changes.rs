use itertools::{Itertools as _, iproduct};
use schemars::JsonSchema;
use serde::Serialize;

use super::lines::{Lines, PLUGINS};
use super::twin::Configuration;
use synth_multiresource::policy::Priority;
use synth_slurm::configuration::{SchedulerSettings, SlurmSite, Tres, factor};
use synth_slurm::order::POINTS_PER_DECADE;
use synth_traces::replay::Log;

/// A change to the `slurm.conf` or to the nodes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SiteChange {
    /// A short description of the change.
    pub what: String,
    /// The command that must be run in addition to the new lines in the `slurm.conf`.
    pub besides: Option<String>,
    /// The reason for the command, and how to use its results.
    pub note: Option<String>,
    #[serde(skip)]
    pub(super) kind: Kind,
}

type SetParameter = fn(&mut SchedulerSettings, f64);

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// The order, the weight of a week of waiting (0 does not change it), and the maximum of all
    /// other weights if it is changed.
    Order(Priority, f64, Option<f64>),
    Backfilling,
    Parameter(&'static str, f64, SetParameter),
    /// The index of a node and the number of copies to add.
    Nodes(usize, u32),
}

const WEEK: f64 = 7.0 * 86_400.0;
const MORE: f64 = 0.1;
/// The orders in common use that can be set in Slurm, and the weights of a week of waiting, in
/// factors of ten of the limit. With a weight, no job waits forever.
const ORDERS: [(&str, &str, Priority, &[f64]); 3] = [
    (
        "saf",
        "smallest limit × CPUs first",
        Priority::SMALLEST_AREA,
        &[0.0, 4.0],
    ),
    (
        "sjf",
        "shortest limit first",
        Priority::SHORTEST,
        &[0.0, 4.0],
    ),
    ("widest", "most CPUs first", Priority::WIDEST, &[0.0]),
];

pub(super) fn candidates(site: &SlurmSite, log: &Log) -> Vec<SiteChange> {
    let mut all = orders(site);
    all.extend(parameters(site, log));
    all
}

fn orders(site: &SlurmSite) -> Vec<SiteChange> {
    let partitions = site.partitions.iter().map(|own| &own.name).join(",");
    // The other weights are not changed, or are at most that of a factor of ten in the limit.
    let is_heavy =
        site.priority.is_multifactor && largest(&site.priority.weights) > POINTS_PER_DECADE;
    let weights = [None, Some(POINTS_PER_DECADE)];
    let weights = &weights[..1 + usize::from(is_heavy)];
    let choices = ORDERS.iter().flat_map(|(name, words, priority, ages)| {
        let choices = iproduct!(ages.iter(), weights);
        choices.map(|(age, others)| {
            let own = (*name, *words, *priority);
            order(site, &partitions, own, age * POINTS_PER_DECADE, *others)
        })
    });
    choices.collect()
}

pub(super) fn purchases(site: &SlurmSite) -> Vec<SiteChange> {
    let mut kinds: Vec<(&Tres, Vec<usize>)> = Vec::new();
    kinds.extend(site.nodes.iter().map(|node| (&node.capacity, Vec::new())));
    for (p, own) in site.partitions.iter().enumerate() {
        own.nodes.iter().for_each(|n| kinds[*n].1.push(p));
    }
    let counts = kinds.iter().counts();
    let more = |first: usize| {
        let count = counts[&kinds[first]];
        let more = (MORE * count as f64).ceil() as u32;
        let nodes = if more == 1 { "node" } else { "nodes" };
        let name = &site.nodes[first].name;
        SiteChange {
            what: format!("{more} more {nodes} like {name} (now {count})"),
            besides: None,
            note: None,
            kind: Kind::Nodes(first, more),
        }
    };
    let firsts = (0..kinds.len()).unique_by(|n| &kinds[*n]);
    firsts.map(more).collect()
}

fn order(
    site: &SlurmSite,
    partitions: &str,
    (name, words, priority): (&str, &str, Priority),
    age: f64,
    others: Option<f64>,
) -> SiteChange {
    let mut what = words.to_owned();
    let mut note = STEPS.to_owned();
    if age > 0.0 {
        what += &format!(", with PriorityWeightAge={age:.0} (at most 7 d)");
        note += " The weight of the age is only used by Slurm if there is a slurmdbd.";
    }
    if let Some(most) = others {
        let part = 100.0 * most / largest(&site.priority.weights);
        what += &format!(", other weights reduced to {part:.0} %");
    }
    if Lines::has_script(&site.options) {
        note += " Do not replace your own job_submit.lua, but load the new one from it.";
    }
    let command = format!("synth export slurm-priority {name} --partition {partitions}");
    SiteChange {
        what,
        besides: Some(command),
        note: Some(note),
        kind: Kind::Order(priority, age, others),
    }
}

pub(super) fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(0.0, f64::max)
}

/// Returns the new weights. If the others are limited, they are multiplied by the same factor.
fn weights(own: [f64; 6], age: f64, others: Option<f64>) -> [f64; 6] {
    let mut weights = own;
    if let Some(most) = others {
        let part = (most / largest(&own)).min(1.0);
        weights = own.map(|weight| (weight * part).round());
    }
    if age > 0.0 {
        weights[factor::AGE] = age;
    }
    weights
}

fn parameters(site: &SlurmSite, log: &Log) -> Vec<SiteChange> {
    let own = &site.scheduler;
    if !own.backfills {
        return vec![SiteChange {
            what: "backfilling (now none)".into(),
            besides: None,
            note: None,
            kind: Kind::Backfilling,
        }];
    }
    let per_second = log.tick.per_second() as f64;
    let limits = log.jobs.iter().map(|job| job.limit / per_second);
    let longest = limits.fold(0.0, f64::max);
    let (interval, tested) = (own.bf_interval, f64::from(own.bf_max_job_test));
    let window = [(longest / 60.0).ceil(), own.bf_window / 60.0];
    let (shorter, deeper) = ([10.0, interval], [2000.0, tested]);
    let set_interval: SetParameter = |own, value| own.bf_interval = value;
    let set_window: SetParameter = |own, value| own.bf_window = 60.0 * value;
    let set_tested: SetParameter = |own, value| own.bf_max_job_test = value as u32;
    let set_of_user: SetParameter = |own, value| own.bf_max_job_user = value as u32;
    let is_unlimited = own.bf_max_job_user == 0;
    let offers = [
        (interval > 10.0, "bf_interval", shorter, set_interval),
        (longest > own.bf_window, "bf_window", window, set_window),
        (tested < 2000.0, "bf_max_job_test", deeper, set_tested),
        (is_unlimited, "bf_max_job_user", [10.0, 0.0], set_of_user),
    ];
    let needed = offers.into_iter().filter(|(is_needed, ..)| *is_needed);
    let change = |(_, name, [value, now], set): (_, _, [f64; 2], _)| SiteChange {
        what: format!("{name}={value:.0} (now {now:.0})"),
        besides: Some("sdiag".to_owned()),
        note: Some(AFTERWARDS.to_owned()),
        kind: Kind::Parameter(name, value, set),
    };
    needed.map(change).collect()
}

const AFTERWARDS: &str = "Check the cycle times after the change, because the time that is needed by slurmctld is not included in the replay.";
const STEPS: &str = "This writes a script, and a README.md with the steps to install it. For the weights, use the lines of slurm.conf below. With `-o FOLDER`, all of this is written to one folder, with the same weights and a patch of slurm.conf.";

impl SiteChange {
    pub(super) fn excludes(&self, other: &SiteChange) -> bool {
        matches!((self.kind, other.kind), (Kind::Order(..), Kind::Order(..)))
    }

    pub(super) fn write(&self, site: &SlurmSite, lines: &mut Lines) {
        match self.kind {
            Kind::Nodes(..) => {}
            Kind::Backfilling => {
                lines.set("SchedulerType", "sched/backfill");
                lines.set_parameter("bf_interval", site.scheduler.bf_interval);
            }
            Kind::Parameter(name, value, _) => lines.set_parameter(name, value),
            Kind::Order(_, age, others) => {
                let own = &site.priority;
                if !own.is_multifactor {
                    lines.set("PriorityType", "priority/multifactor");
                }
                let weights = weights(own.weights, age, others)
                    .into_iter()
                    .zip(own.weights);
                for (name, (weight, now)) in factor::NAMES.iter().zip(weights) {
                    if weight != now {
                        lines.set(&format!("PriorityWeight{name}"), format!("{weight:.0}"));
                    }
                }
                if age > 0.0 && own.max_age != WEEK {
                    lines.set("PriorityMaxAge", "7-0");
                }
                lines.add_plugin(PLUGINS, "lua");
            }
        }
    }

    pub(super) fn apply(&self, setting: &mut Configuration) {
        let own = &mut setting.site;
        match self.kind {
            Kind::Backfilling => own.scheduler.backfills = true,
            Kind::Parameter(_, value, set) => set(&mut own.scheduler, value),
            Kind::Nodes(like, count) => more_nodes(own, like, count),
            Kind::Order(priority, age, others) => {
                own.priority.is_multifactor = true;
                own.priority.weights = weights(own.priority.weights, age, others);
                if age > 0.0 {
                    own.priority.max_age = WEEK;
                }
                setting.order = Some(priority);
            }
        }
    }
}

fn more_nodes(site: &mut SlurmSite, like: usize, count: u32) {
    for k in 0..count {
        let n = site.nodes.len();
        let mut node = site.nodes[like].clone();
        node.name = format!("{}+{}", node.name, k + 1);
        site.nodes.push(node);
        for partition in &mut site.partitions {
            if partition.nodes.contains(&like) {
                partition.nodes.push(n);
            }
        }
    }
}
