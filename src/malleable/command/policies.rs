//! Policies by name: a rule, or a policy file.

use crate::artifact::Changes;
use crate::kind::{VerbResult, no_rule, read_policy, split_name};
use crate::malleable::artifact::{self, Checked};
use crate::malleable::policy::{Online, Sharing};
use crate::malleable::simulator::{Course, Dividing, execute};
use crate::malleable::synthesis::{Tunable, tuned};
use crate::malleable::workload::{Pool, Workload};
use crate::simulation::sweep::{Comparing, Entrant, Knows};

/// Rules by name: each with what may stand behind a colon, and what it does.
pub(super) const RULES: [(&str, &str, &str); 7] = [
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

/// A policy that was named.
pub(super) struct Policy {
    pub entrant: Entrant,
    rule: Rule,
}

/// What a policy does.
enum Rule {
    Sharing(Sharing),
    /// With the knob that is best for the pool.
    Tuned(Tunable),
    File(Box<Checked>),
}

impl Policy {
    pub fn file(&self) -> Option<&Checked> {
        match &self.rule {
            Rule::File(file) => Some(file),
            _ => None,
        }
    }

    /// The workload of a file.
    pub fn workload(&self) -> Option<&Workload> {
        self.file().map(Checked::workload)
    }

    /// Returns whether it is a file that was made for this workload.
    pub fn is_for(&self, workload: &Workload) -> bool {
        let own = self.workload().map(Workload::digest);
        own == Some(workload.digest())
    }

    /// Returns the rule on a stream.
    ///
    /// # Errors
    /// Why it cannot run where jobs arrive.
    pub fn online(&self) -> Result<Sharing, String> {
        let name = &self.entrant.name;
        match &self.rule {
            Rule::Sharing(sharing) => Ok(*sharing),
            Rule::Tuned(_) => Err(format!(
                "{name} is tuned on jobs that are all there, and here jobs arrive: name its knob, as in knee:.1 or hesrpt:.5"
            )),
            Rule::File(file) => match file.artifact().policy {
                artifact::Policy::Online(online) => Ok(Sharing::HeSrpt(online)),
                artifact::Policy::Plan(_) => Err(format!(
                    "{name} is a plan for jobs that are all there, and here jobs arrive: make a policy for this workload, or take the rule hesrpt"
                )),
            },
        }
    }

    /// Runs it on a pool, which is its own or another.
    ///
    /// # Errors
    /// When it is a plan for other jobs.
    pub fn run(&self, pool: &Pool, is_own: bool) -> Result<Course, String> {
        let plan = self.file().map(|file| &file.artifact().policy);
        let dividing = match (&self.rule, plan) {
            (Rule::Tuned(rule), _) => Dividing::Sharing(tuned(pool, *rule)),
            (_, Some(artifact::Policy::Plan(plan))) if is_own => Dividing::Plan(&plan.rule),
            (_, Some(artifact::Policy::Plan(_))) => {
                return Err(format!(
                    "{} is a plan for other jobs, servers or speedups: make one for this workload, or take the rule hesrpt",
                    self.entrant.name
                ));
            }
            _ => Dividing::Sharing(self.online()?),
        };
        Ok(execute(pool, dividing, false))
    }
}

/// Finds all policies of a comparison.
pub(super) fn resolve_policies(request: &Comparing<'_>) -> VerbResult<Vec<Policy>> {
    let policies = request.policies.iter();
    policies
        .map(|name| resolve_policy(name, request.changes))
        .collect()
}

/// Finds a rule by its name, or reads a policy file; `changes` is what becomes of one that was changed after it was written.
///
/// # Errors
/// When there is no such rule and no such file, and when the file is refused.
pub(super) fn resolve_policy(name: &str, changes: Changes) -> VerbResult<Policy> {
    let (rule, digest) = match rule(name) {
        Ok(rule) => (rule, None),
        Err(why) => {
            let (file, digest) = read_policy(name, why, changes)?;
            (Rule::File(Box::new(file)), Some(digest))
        }
    };
    let entrant = Entrant {
        name: name.into(),
        digest,
        preempts: true,
        knows: Knows::Sizes,
    };
    Ok(Policy { entrant, rule })
}

fn rule(name: &str) -> Result<Rule, String> {
    let number = |text: &str| text.parse().unwrap_or(f64::NAN);
    Ok(Rule::Sharing(match split_name(name) {
        ("hesrpt", None) => Sharing::HeSrpt(Online::PLAIN),
        ("hesrpt", Some("tuned")) => return Ok(Rule::Tuned(Tunable::Power)),
        ("hesrpt", Some(p)) if number(p) > 0.0 && number(p) < 1.0 => Sharing::Power(number(p)),
        ("hesrpt", Some(p)) => {
            return Err(format!(
                "`{p}` is not an exponent between 0 and 1, as in hesrpt:.5, and not `tuned`"
            ));
        }
        ("helrpt", None) => Sharing::HeLrpt,
        ("srpt", None) => Sharing::Srpt,
        ("equi", None) => Sharing::Equi,
        ("hell", None) => Sharing::Hell,
        ("knee", None) => return Ok(Rule::Tuned(Tunable::Knee)),
        ("knee", Some(a)) if number(a) > 0.0 && number(a).is_finite() => Sharing::Knee(number(a)),
        ("knee", Some(a)) => {
            return Err(format!(
                "`{a}` is not what one more server has to save, a number > 0, as in knee:.1"
            ));
        }
        ("online", knobs) => {
            let text = knobs.unwrap_or_default();
            let (urgency, background) = text.split_once(':').unwrap_or_default();
            let (urgency, background) = (number(urgency), number(background));
            if !(0.0..=100.0).contains(&urgency) || !(0.0..=1e9).contains(&background) {
                return Err(format!(
                    "`{text}` is not an urgency from 0 to 100 and a background from 0 to 1e9, as in online:1.2:4"
                ));
            }
            Sharing::HeSrpt(Online {
                urgency,
                background,
            })
        }
        _ => return Err(no_rule(name, &RULES)),
    }))
}
