//! Policies by name: a rule, or a policy file.

use super::VerbError;
use crate::artifact::Changes;
use crate::kind::{no_rule, read_policy, split_name};
use crate::malleable::artifact::{Checked, Policy};
use crate::malleable::policy::{Online, Sharing};
use crate::malleable::synthesis::{Tunable, tuned};
use crate::malleable::workload::{Pool, Workload};
use crate::simulation::sweep::{Entrant, Knows};

/// A rule that has a name: with what stands behind a colon, and what it does.
pub const RULES: [(&str, &str, &str); 7] = [
    (
        "hesrpt",
        "[:P]",
        "servers where work is worth most, at the prices of the jobs that are there: the optimum of jobs that are all there and share a speedup; with P by the paper's formula for s(k) = k^P, whatever the speedups are (`tuned`: the best P where jobs are all there)",
    ),
    (
        "helrpt",
        "",
        "such that all jobs that are there end together: the least makespan",
    ),
    (
        "srpt",
        "",
        "all servers to the job with the least left, or as many as it can use",
    ),
    ("equi", "", "the same number of servers for each job"),
    (
        "hell",
        "",
        "servers to the job with the greatest ratio of efficiency s(k)/k to remaining time",
    ),
    (
        "knee",
        "[:A]",
        "each job, from the smallest on, up to where one more server takes less than A from its time; A is tuned where jobs are all there, if not given",
    ),
    (
        "online",
        ":U:B",
        "hesrpt with the knobs of jobs that arrive: urgency U and background B",
    ),
];

/// A policy that was entered.
#[derive(Clone, Debug)]
pub struct Entered {
    /// Its name and what identifies it.
    pub entrant: Entrant,
    /// What it does.
    pub policy: Named,
}

/// What a policy does.
#[derive(Clone, Debug)]
pub enum Named {
    /// A rule.
    Rule(Sharing),
    /// A rule with the knob that is best for the pool.
    Tuned(Tunable),
    /// A policy file.
    File(Box<Checked>),
}

impl Named {
    /// The rule on a stream; none of a plan.
    #[must_use]
    pub fn online(&self) -> Option<Sharing> {
        match self {
            Named::Rule(sharing) => Some(*sharing),
            Named::Tuned(_) => None,
            Named::File(file) => match file.artifact().policy {
                Policy::Online(online) => Some(Sharing::HeSrpt(online)),
                Policy::Plan(_) => None,
            },
        }
    }

    /// The rule on a pool; none of a plan.
    #[must_use]
    pub fn on_pool(&self, pool: &Pool) -> Option<Sharing> {
        match self {
            Named::Tuned(rule) => Some(tuned(pool, *rule)),
            other => other.online(),
        }
    }

    /// The workload of a file.
    #[must_use]
    pub fn workload(&self) -> Option<&Workload> {
        match self {
            Named::File(file) => Some(file.workload()),
            _ => None,
        }
    }
}

/// A rule by name, or a policy file; `changes` is what becomes of one that was changed after it was written.
///
/// # Errors
/// When there is no such rule and no such file, and when the file is refused.
pub fn enter(name: &str, changes: Changes) -> Result<Entered, VerbError> {
    let entered = |digest, policy| Entered {
        entrant: Entrant {
            name: name.into(),
            digest,
            preempts: true,
            knows: Knows::Sizes,
        },
        policy,
    };
    let why = match named(name) {
        Ok(policy) => return Ok(entered(None, policy)),
        Err(why) => why,
    };
    let (checked, digest) = read_policy(name, why, changes)?;
    Ok(entered(Some(digest), Named::File(Box::new(checked))))
}

fn named(name: &str) -> Result<Named, String> {
    let sharing = match split_name(name) {
        ("hesrpt", None) => Sharing::HeSrpt(Online::PLAIN),
        ("hesrpt", Some("tuned")) => return Ok(Named::Tuned(Tunable::Power)),
        ("hesrpt", Some(p)) => match p.parse::<f64>() {
            Ok(p) if p > 0.0 && p < 1.0 => Sharing::Power(p),
            _ => {
                return Err(format!(
                    "`{p}` is not an exponent between 0 and 1, as in hesrpt:.5, and not `tuned`"
                ));
            }
        },
        ("helrpt", None) => Sharing::HeLrpt,
        ("srpt", None) => Sharing::Srpt,
        ("equi", None) => Sharing::Equi,
        ("hell", None) => Sharing::Hell,
        ("knee", None) => return Ok(Named::Tuned(Tunable::Knee)),
        ("knee", Some(a)) => match a.parse::<f64>() {
            Ok(a) if a > 0.0 && a.is_finite() => Sharing::Knee(a),
            _ => {
                return Err(format!(
                    "`{a}` is not what one more server has to save, a number > 0, as in knee:.1"
                ));
            }
        },
        ("online", parameter) => Sharing::HeSrpt(knobs(parameter.unwrap_or_default())?),
        _ => return Err(no_rule(name, &RULES)),
    };
    Ok(Named::Rule(sharing))
}

fn knobs(text: &str) -> Result<Online, String> {
    let parts = text.split_once(':');
    let numbers = parts.map(|(u, b)| (u.parse::<f64>(), b.parse::<f64>()));
    match numbers {
        Some((Ok(urgency), Ok(background)))
            if (0.0..=100.0).contains(&urgency) && (0.0..=1e9).contains(&background) =>
        {
            Ok(Online {
                urgency,
                background,
            })
        }
        _ => Err(format!(
            "`{text}` is not an urgency from 0 to 100 and a background from 0 to 1e9, as in online:1.2:4"
        )),
    }
}
