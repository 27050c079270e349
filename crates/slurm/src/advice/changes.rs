//! What a site can change.

use itertools::Itertools as _;
use serde::Serialize;

use super::lines::Lines;
use super::twin::Setting;
use crate::configuration::{Site, Weights};
use crate::order::A_DECADE;
use synth_cluster::policy::Priority;
use synth_trace::replay::Log;

/// A change of slurm.conf, or of the nodes.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// What is changed, in a few words.
    pub what: String,
    /// The command to run in addition to the lines of slurm.conf.
    pub besides: Option<String>,
    #[serde(skip)]
    pub(super) kind: Kind,
}

/// How it changes a setting.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// The order of jobs.
    Order(Ordered),
    Parameter(Parameter),
    /// So many more nodes like this one.
    Nodes(usize, u32),
}

/// The order of jobs by limit and share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ordered {
    priority: Priority,
    /// What a week of waiting weighs besides; 0: what it does now.
    age: f64,
    /// Other weights are so large at most; as they are where none is said.
    others: Option<f64>,
}

/// A number of `SchedulerParameters`.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    name: &'static str,
    value: f64,
    set: fn(&mut Site, f64),
}

/// The option that switches backfilling on.
const BACKFILL: &str = "SchedulerType";
/// The option that lists the scripts that are asked about new jobs.
const PLUGINS: &str = "JobSubmitPlugins";
/// A week \[s\], after which age is full.
const WEEK: f64 = 7.0 * 86_400.0;
/// By this part there may be more nodes of a kind.
const MORE: f64 = 0.1;
/// Orders that can be had: their names for `synth export slurm-priority`, in words.
const ORDERS: [(&str, &str, Priority); 2] = [
    ("saf", "least limit × CPUs first", Priority::SMALLEST_AREA),
    ("sjf", "shortest limit first", Priority::SHORTEST),
];
/// What a week of waiting weighs beside them, in factors of ten of the limit: so that nobody waits without end.
const AGES: [f64; 2] = [0.0, 4.0];

/// Returns the changes that a site may make, those that cost nothing but lines first.
pub(super) fn candidates(site: &Site, log: &Log) -> Vec<Change> {
    let partitions = site
        .partitions
        .iter()
        .map(|own| own.name.as_str())
        .join(",");
    // What other factors weigh: as they do now, or no more than ten times the limit.
    let weights = [Some(None), others_weigh(site).then_some(Some(A_DECADE))];
    let choices = ORDERS
        .into_iter()
        .cartesian_product(AGES)
        .cartesian_product(weights.into_iter().flatten());
    let mut all = Vec::new();
    for ((named, age), others) in choices {
        let (name, words, priority) = named;
        let ordered = Ordered {
            priority,
            age: age * A_DECADE,
            others,
        };
        all.push(order(site, &partitions, (name, words), ordered));
    }
    all.extend(parameters(site, log));
    all
}

/// Returns what could be bought: some more nodes of each kind.
pub(super) fn purchases(site: &Site) -> Vec<Change> {
    let mut kinds: Vec<(usize, usize)> = Vec::new();
    for (n, node) in site.nodes.iter().enumerate() {
        let partitions = |n: usize| {
            let of = |own: &&crate::configuration::Partition| own.nodes.contains(&n);
            site.partitions
                .iter()
                .filter(of)
                .map(|own| &own.name)
                .collect::<Vec<_>>()
        };
        let alike =
            |first: usize| site.nodes[first].has == node.has && partitions(first) == partitions(n);
        match kinds.iter_mut().find(|(first, _)| alike(*first)) {
            Some((_, count)) => *count += 1,
            None => kinds.push((n, 1)),
        }
    }
    let more = |(first, count): (usize, usize)| {
        let more = (MORE * count as f64).ceil() as u32;
        let node = &site.nodes[first];
        Change {
            what: format!(
                "{more} more {} like {} (now {count})",
                if more == 1 { "node" } else { "nodes" },
                node.name
            ),
            besides: None,
            kind: Kind::Nodes(first, more),
        }
    };
    kinds.into_iter().map(more).collect()
}

fn others_weigh(site: &Site) -> bool {
    site.priority.is_multifactor && site.priority.weights.largest() > A_DECADE
}

fn order(site: &Site, partitions: &str, (name, words): (&str, &str), ordered: Ordered) -> Change {
    let mut what = words.to_owned();
    let own = ordered.weights(&site.priority.weights);
    if ordered.age > 0.0 {
        what += &format!(", waiting counts {:.0} points a week", own.age);
    }
    if ordered.others.is_some() {
        what += ", before other factors";
    }
    let mut remark =
        "  # its README.md has the steps; the weights are those of these lines".to_owned();
    if ordered.age > 0.0 {
        remark += "; age needs slurmdbd";
    }
    if Lines(site.options.clone()).has_plugin(PLUGINS, "lua") {
        remark += "; keep your own job_submit.lua, and load the new one in it";
    }
    Change {
        what,
        besides: Some(format!(
            "synth export slurm-priority {name} --partition {partitions}{remark}"
        )),
        kind: Kind::Order(ordered),
    }
}

impl Ordered {
    /// Returns the weights that go with it.
    fn weights(&self, own: &Weights) -> Weights {
        let others = match self.others {
            Some(most) => own.at_most(most),
            None => own.clone(),
        };
        Weights {
            age: if self.age > 0.0 { self.age } else { others.age },
            ..others
        }
    }
}

fn parameters(site: &Site, log: &Log) -> Vec<Change> {
    let own = &site.scheduler;
    let per_second = log.tick.per_second() as f64;
    let longest = log
        .jobs
        .iter()
        .map(|job| job.limit / per_second)
        .fold(0.0, f64::max);
    let mut all = Vec::new();
    let mut add = |name: &'static str, value: f64, set: fn(&mut Site, f64), now: f64| {
        all.push(Change {
            what: format!("{name}={value:.0} (now {now:.0})"),
            besides: Some("sdiag  # look at its cycle times afterwards: the replay does not know what a pass costs slurmctld".into()),
            kind: Kind::Parameter(Parameter { name, value, set }),
        });
    };
    if !own.backfills {
        all.push(Change {
            what: "backfilling (now none)".into(),
            besides: None,
            kind: Kind::Parameter(Parameter {
                name: BACKFILL,
                value: 1.0,
                set: |site, _| site.scheduler.backfills = true,
            }),
        });
        return all;
    }
    if own.bf_interval > 10.0 {
        let set = |site: &mut Site, value: f64| site.scheduler.bf_interval = value;
        add("bf_interval", 10.0, set, own.bf_interval);
    }
    if longest > own.bf_window {
        let minutes = (longest / 60.0).ceil();
        let set = |site: &mut Site, value: f64| site.scheduler.bf_window = 60.0 * value;
        add("bf_window", minutes, set, own.bf_window / 60.0);
    }
    if own.bf_max_job_test < 2000 {
        let set = |site: &mut Site, value: f64| site.scheduler.bf_max_job_test = value as u32;
        add("bf_max_job_test", 2000.0, set, own.bf_max_job_test.into());
    }
    if own.bf_max_job_user == 0 {
        let set = |site: &mut Site, value: f64| site.scheduler.bf_max_job_user = value as u32;
        add("bf_max_job_user", 10.0, set, 0.0);
    }
    all
}

impl Change {
    /// Whether another change is of the same thing, so that one excludes the other.
    pub(super) fn excludes(&self, other: &Change) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Order(_), Kind::Order(_)) => true,
            (Kind::Parameter(own), Kind::Parameter(other)) => own.name == other.name,
            _ => false,
        }
    }

    /// Writes the change into the lines of slurm.conf of such a site.
    pub(super) fn write(&self, site: &Site, lines: &mut Lines) {
        match &self.kind {
            Kind::Nodes(..) => {}
            Kind::Parameter(own) if own.name == BACKFILL => {
                lines.set(BACKFILL, "sched/backfill");
                lines.set_parameter("bf_interval", site.scheduler.bf_interval);
            }
            Kind::Parameter(own) => lines.set_parameter(own.name, own.value),
            Kind::Order(ordered) => {
                let own = &site.priority;
                if !own.is_multifactor {
                    lines.set("PriorityType", "priority/multifactor");
                }
                let weights = ordered.weights(&own.weights).named().into_iter();
                for ((name, weight), (_, now)) in weights.zip(own.weights.named()) {
                    if weight != now {
                        lines.set(&format!("PriorityWeight{name}"), format!("{weight:.0}"));
                    }
                }
                if ordered.age > 0.0 && own.max_age != WEEK {
                    lines.set("PriorityMaxAge", "7-0");
                }
                lines.add_plugin(PLUGINS, "lua");
            }
        }
    }

    /// Changes a setting.
    pub(super) fn apply(&self, setting: &mut Setting) {
        match &self.kind {
            Kind::Parameter(own) => (own.set)(&mut setting.site, own.value),
            Kind::Nodes(like, count) => more_nodes(&mut setting.site, *like, *count),
            Kind::Order(ordered) => {
                let own = &mut setting.site.priority;
                own.is_multifactor = true;
                own.weights = ordered.weights(&own.weights);
                if ordered.age > 0.0 {
                    own.max_age = WEEK;
                }
                setting.order = Some(ordered.priority);
            }
        }
    }
}

/// So many more nodes like one of them, in the same partitions.
fn more_nodes(site: &mut Site, like: usize, count: u32) {
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
