use std::mem::discriminant;

use super::Contender;
use super::contender::NameError;
use crate::simulation::sweep::Knows;

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
    make: fn(f64) -> Contender,
}

/// A rule's parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// What it means.
    pub what: &'static str,
    /// The least that it can be.
    pub least: f64,
    /// The most that it can be.
    pub most: f64,
    /// What it is where nothing is said; NaN where that depends on the workload.
    pub default: f64,
    /// Whether it is a whole number.
    pub whole: bool,
}

impl Parameter {
    /// A number that it can be.
    pub fn example(&self) -> f64 {
        match self.default.is_nan() {
            true => self.least,
            false => self.default,
        }
    }
}

impl Rule {
    const fn new(name: &'static str, make: fn(f64) -> Contender, about: &'static str) -> Self {
        Rule {
            name,
            aliases: &[],
            about,
            preempts: false,
            knows: Knows::Means,
            parameter: None,
            make,
        }
    }

    const fn preempting(self) -> Self {
        Rule {
            preempts: true,
            ..self
        }
    }

    const fn knowing_sizes(self) -> Self {
        Rule {
            knows: Knows::Sizes,
            ..self
        }
    }

    const fn alias(self, aliases: &'static [&'static str]) -> Self {
        Rule { aliases, ..self }
    }

    const fn parameter(self, what: &'static str, least: f64, default: f64) -> Self {
        let parameter = Some(Parameter {
            what,
            least,
            most: 1e6,
            default,
            whole: false,
        });
        Rule { parameter, ..self }
    }

    const fn threshold(self) -> Self {
        let parameter = Some(Parameter {
            what: "the threshold ℓ, below the number k of light jobs that fit; k − 1 if not given",
            least: 0.0,
            most: 1e6,
            default: f64::NAN,
            whole: true,
        });
        Rule { parameter, ..self }
    }

    /// The rule of this name, or with this other name.
    pub fn named(name: &str) -> Option<&'static Rule> {
        let is_called = |rule: &&Rule| rule.name == name || rule.aliases.contains(&name);
        RULES.iter().find(is_called)
    }

    /// Whether the contender is this rule, whatever its parameter.
    pub(super) fn makes(&self, contender: &Contender) -> bool {
        discriminant(&(self.make)(f64::NAN)) == discriminant(contender)
    }

    /// The rule with this parameter, or as it is where nothing is said.
    ///
    /// # Errors
    /// Where the parameter is not what it can be.
    pub fn with(&self, parameter: Option<&str>) -> Result<Contender, NameError> {
        let rule = self.name;
        match (self.parameter, parameter) {
            (None, None) => Ok((self.make)(f64::NAN)),
            (Some(Parameter { default, .. }), None) => Ok((self.make)(default)),
            (None, Some(found)) => Err(NameError::NoParameter {
                rule,
                found: found.to_owned(),
            }),
            (Some(parameter), Some(found)) => {
                let value: Option<f64> = found.parse().ok();
                let value = value.filter(|x| (parameter.least..=parameter.most).contains(x));
                let value = value.filter(|x| !parameter.whole || x.fract() == 0.0);
                value.map(self.make).ok_or_else(|| NameError::Parameter {
                    rule,
                    parameter,
                    found: found.to_owned(),
                })
            }
        }
    }
}

/// All of them, but those from an artifact.
pub(super) const RULES: &[Rule] = &[
    Rule::new(
        "first-fit",
        |_| Contender::FirstFit,
        "scans the queue in order of arrival and starts each job that fits",
    ),
    Rule::new(
        "fcfs",
        |_| Contender::Fcfs,
        "first come, first served: stops at the first job that does not fit",
    ),
    Rule::new(
        "best-fit",
        |_| Contender::BestFit,
        "the fitting job with the largest dominant share; of equals the oldest",
    ),
    Rule::new(
        "most-servers-first",
        |_| Contender::MostServersFirst,
        "the fitting job that needs most; with several resources, by dominant share",
    )
    .alias(&["msf"]),
    Rule::new(
        "least-servers-first",
        |_| Contender::LeastServersFirst,
        "the fitting job that needs least; with several resources, by dominant share",
    )
    .alias(&["lsf"]),
    Rule::new(
        "easy-backfill",
        |f| Contender::EasyBackfill(given(f)),
        "first-fit behind the head of the queue, which is not delayed by its estimate",
    )
    .knowing_sizes()
    .alias(&["easy"])
    .parameter(INFLATION, 1.0, f64::NAN),
    Rule::new(
        "easy-by-mean",
        |_| Contender::EasyByMean,
        "the same, with the mean size of its type for each job's",
    ),
    Rule::new(
        "conservative-backfill",
        |f| Contender::ConservativeBackfill(given(f)),
        "every job has a reservation that no later one may delay",
    )
    .knowing_sizes()
    .alias(&["conservative"])
    .parameter(INFLATION, 1.0, f64::NAN),
    Rule::new(
        "randomized-timers",
        Contender::RandomizedTimers,
        "clocks of the types, faster with longer queues, race for free room; dummies hold it \
         (after the abstract of Psychas and Ghaderi 2018; details are ours)",
    )
    .parameter("the clocks' rate r", 0.001, 1.0),
    Rule::new(
        "max-weight",
        |_| Contender::MaxWeight,
        "the schedule of most weight, each job weighing as many jobs as there are of its type",
    )
    .preempting(),
    Rule::new(
        "server-filling",
        |_| Contender::ServerFilling,
        "of the oldest jobs that fill all servers, those that need most; one resource",
    )
    .preempting(),
    Rule::new(
        "msfq",
        |l| Contender::Msfq(threshold(l)),
        "quickswap: heavy jobs, then light ones until few are left, while heavy ones wait; one-or-all",
    )
    .threshold(),
    Rule::new(
        "static-quickswap",
        |_| Contender::StaticQuickswap,
        "the types in turn, each until too few are left to use its room; the next when all are done",
    ),
    Rule::new(
        "adaptive-quickswap",
        |_| Contender::AdaptiveQuickswap,
        "most servers first, until a type waits in vain: then no job enters before the largest one",
    ),
];

/// The threshold, or none for the largest.
fn threshold(l: f64) -> Option<u32> {
    (!l.is_nan()).then_some(l as u32)
}

const INFLATION: &str =
    "the inflation of sizes; if not given, what the workload knows counts, or else sizes";

/// A parameter that is given.
fn given(value: f64) -> Option<f64> {
    (!value.is_nan()).then_some(value)
}
