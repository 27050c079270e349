use super::Contender;
use crate::artifact::{
    Family, Order, Placement, PooledEasyPolicy, PooledPolicy, StaticQuickswapPolicy,
};
use crate::policy::{
    AdaptiveQuickswap, Backfilling, Estimates, FIRST_FIT, MaxWeight, Msfq, Policy,
    RandomizedTimers, ServerFilling, StaticQuickswap, Unsuitable,
};
use crate::workload::{Known, Workload};
use synth_simulation::sweep::Knows;

/// A rule that can be asked for by name.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// What else it goes by.
    pub aliases: &'static [&'static str],
    /// What it does, in one line.
    pub about: &'static str,
    /// Whether it stops running jobs.
    pub preempts: bool,
    /// What it knows of jobs, where its parameter is not given.
    pub knows: Knows,
    /// The number that may follow its name and a colon.
    pub parameter: Option<Parameter>,
    /// Makes the same over the servers of a fleet, where that can be asked for by this name.
    pub pooled: Option<fn() -> Family>,
    /// Makes it for one server.
    pub(super) make: Make,
}

type Make = fn(&Workload, Option<f64>) -> Result<Box<dyn Policy>, Unsuitable>;

/// A rule's parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// What it means.
    pub what: &'static str,
    /// The least that it can be.
    pub least: f64,
    /// What it is where nothing is said; nothing where that depends on the workload.
    pub default: Option<f64>,
    /// Whether it is a whole number.
    pub whole: bool,
}

impl Parameter {
    /// The most that a parameter can be.
    pub const MOST: f64 = 1e6;
}

impl Rule {
    /// Returns the rule of this name, or with this other name.
    pub fn named(name: &str) -> Option<&'static Rule> {
        let is_called = |rule: &&Rule| rule.name == name || rule.aliases.contains(&name);
        RULES.iter().find(is_called)
    }

    /// Returns the rule with this parameter, or as it is where nothing is said.
    ///
    /// # Errors
    /// Where the parameter is not what it can be.
    pub fn with(&'static self, parameter: Option<&str>) -> Result<Contender, String> {
        let name = self.name;
        match (self.parameter, parameter) {
            (own, None) => Ok(Contender::Rule(self, own.and_then(|own| own.default))),
            (None, Some(found)) => Err(format!(
                "the rule {name} has no parameter, and was given `{found}`; write just {name}"
            )),
            (Some(own), Some(found)) => {
                let can_be = |x: &f64| (own.least..=Parameter::MOST).contains(x);
                let value = found.parse().ok().filter(can_be);
                let value = value.filter(|x| !own.whole || x.fract() == 0.0);
                value.map(|x| Contender::Rule(self, Some(x))).ok_or_else(|| {
                    format!(
                        "the parameter of {name} is {}, from {} to {}, and not `{found}`; write for instance {name}:{}",
                        own.what, own.least, Parameter::MOST, own.default.unwrap_or(own.least)
                    )
                })
            }
        }
    }
}

/// A rule for one server without preemption or a parameter, which knows the types' means at most.
const PLAIN: Rule = Rule {
    name: "",
    aliases: &[],
    about: "",
    preempts: false,
    knows: Knows::Means,
    parameter: None,
    pooled: None,
    make: |_, _| Ok(Box::new(FIRST_FIT)),
};

/// All of them, but those from an artifact.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "first-fit",
        about: "scans the queue in order of arrival and starts each job that fits",
        pooled: Some(|| plain(Order::Oldest, Placement::First)),
        make: |_, _| Ok(Box::new(FIRST_FIT)),
        ..PLAIN
    },
    Rule {
        name: "fcfs",
        about: "first come, first served: stops at the first job that does not fit",
        pooled: Some(|| plain(Order::Fcfs, Placement::Best)),
        make: |w, _| Ok(Backfilling::FCFS.rule(w, 1)),
        ..PLAIN
    },
    Rule {
        name: "best-fit",
        about: "the fitting job with the largest dominant share; of equals the oldest",
        pooled: Some(|| plain(Order::Oldest, Placement::Best)),
        make: |w, _| Ok(Backfilling::MOST_SERVERS_FIRST.rule(w, 1)),
        ..PLAIN
    },
    Rule {
        name: "most-servers-first",
        about: "the fitting job that needs most; with several resources, by dominant share",
        aliases: &["msf"],
        pooled: Some(|| plain(Order::Largest, Placement::Best)),
        make: |w, _| Ok(Backfilling::MOST_SERVERS_FIRST.rule(w, 1)),
        ..PLAIN
    },
    Rule {
        name: "least-servers-first",
        about: "the fitting job that needs least; with several resources, by dominant share",
        aliases: &["lsf"],
        pooled: Some(|| plain(Order::Smallest, Placement::Best)),
        make: |w, _| Ok(Backfilling::LEAST_SERVERS_FIRST.rule(w, 1)),
        ..PLAIN
    },
    Rule {
        name: "easy-backfill",
        about: "first-fit behind the head of the queue, which is not delayed by its estimate",
        knows: Knows::Sizes,
        aliases: &["easy"],
        parameter: Some(INFLATION),
        pooled: Some(|| PooledEasyPolicy { limits: true }.into()),
        make: |w, f| Ok(Backfilling::easy(estimates(w, f)?).rule(w, 1)),
        ..PLAIN
    },
    Rule {
        name: "easy-by-mean",
        about: "the same, with the mean size of its type for each job's",
        pooled: Some(|| PooledEasyPolicy { limits: false }.into()),
        make: |w, _| Ok(Backfilling::easy(Estimates::Means).rule(w, 1)),
        ..PLAIN
    },
    Rule {
        name: "conservative-backfill",
        about: "every job has a reservation that no later one may delay",
        knows: Knows::Sizes,
        aliases: &["conservative"],
        parameter: Some(INFLATION),
        make: |w, f| Ok(Backfilling::conservative(estimates(w, f)?).rule(w, 1)),
        ..PLAIN
    },
    Rule {
        name: "randomized-timers",
        about: "clocks of the types, faster with longer queues, race for free room; dummies hold it \
             (after the abstract of Psychas and Ghaderi 2018; details are ours)",
        parameter: Some(Parameter {
            what: "the clocks' rate r",
            least: 0.001,
            default: Some(1.0),
            whole: false,
        }),
        make: |w, rate| Ok(Box::new(RandomizedTimers::new(w, rate.unwrap_or(1.0)))),
        ..PLAIN
    },
    Rule {
        name: "max-weight",
        about: "the schedule of most weight, each job weighing as many jobs as there are of its type",
        preempts: true,
        make: |w, _| Ok(Box::new(MaxWeight::plain(w))),
        ..PLAIN
    },
    Rule {
        name: "server-filling",
        about: "of the oldest jobs that fill all servers, those that need most; one resource",
        preempts: true,
        make: |w, _| Ok(Box::new(ServerFilling::new(w)?)),
        ..PLAIN
    },
    Rule {
        name: "msfq",
        about: "quickswap: heavy jobs, then light ones until few are left, while heavy ones wait; one-or-all",
        parameter: Some(Parameter {
            what: "the threshold ℓ, below the number k of light jobs that fit; k − 1 if not given",
            least: 0.0,
            default: None,
            whole: true,
        }),
        make: |w, l| Ok(Box::new(Msfq::new(w, l.map(|l| l as u32), false)?)),
        ..PLAIN
    },
    Rule {
        name: "static-quickswap",
        about: "the types in turn, each until too few are left to use its room; the next when all are done",
        make: |w, _| {
            let policy = StaticQuickswapPolicy::published(w);
            Ok(Box::new(StaticQuickswap::new(&policy, w)))
        },
        ..PLAIN
    },
    Rule {
        name: "adaptive-quickswap",
        about: "most servers first, until a type waits in vain: then no job enters before the largest one",
        make: |w, _| Ok(Box::new(AdaptiveQuickswap::new(w))),
        ..PLAIN
    },
];

const INFLATION: Parameter = Parameter {
    what: "the inflation of sizes; if not given, what the workload knows counts, or else sizes",
    least: 1.0,
    default: None,
    whole: false,
};

fn plain(order: Order, placement: Placement) -> Family {
    PooledPolicy::plain(order, placement).into()
}

/// Inflated sizes, or what the workload says is known, and sizes where it says nothing.
fn estimates(workload: &Workload, inflation: Option<f64>) -> Result<Estimates, Unsuitable> {
    require_known(workload, inflation.is_some() || workload.known().is_none())?;
    if inflation.is_none() && workload.has_limits() {
        return Ok(Estimates::Limits);
    }
    Ok(Estimates::Inflated(inflation.unwrap_or(1.0)))
}

/// Refuses a workload of which it is known that the sizes of jobs are not known, or, where these are not asked for, of
/// which no limits are.
pub(super) fn require_known(workload: &Workload, sizes: bool) -> Result<(), Unsuitable> {
    let known = match workload.known() {
        Some(Known::Type) => "nothing but their types is known (`known: type`)",
        Some(Known::Limit(_) | Known::TypeLimit) if sizes => {
            "limits are known (`known: {limit: …}` or `known: type-limit`)"
        }
        None if !sizes => {
            "nothing of them; say what is known, for instance `known: {limit: {law: uniform, low: 1, high: 3}}`"
        }
        _ => return Ok(()),
    };
    let needed = if sizes {
        "the sizes"
    } else {
        "limits on the sizes"
    };
    Err(Unsuitable(format!(
        "it asks for {needed} of jobs when they come, and the workload says that {known}"
    )))
}
