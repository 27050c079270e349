use super::Malleable;
use super::artifact::{self, Checked, Plan};
use super::policy::{Online, Sharing};
use super::simulator::{Dividing, Execution, execute};
use super::synthesis::{Tunable, tuned};
use super::workload::{Pool, Workload};
use synth_simulation::sweep::Information;
use synth_verb::{NamedPolicy, Rules, no_rule, split_name};

/// A rule, a rule whose parameter is tuned for the pool, or a plan that is only valid for its pool.
pub enum Rule {
    Sharing(Sharing),
    Tuned(Tunable),
    Plan(Plan),
}

impl Rule {
    /// Returns the rule for a stream, or an error if it can only be used for a pool.
    pub(crate) fn online(&self, name: &str) -> Result<Sharing, String> {
        match self {
            Rule::Sharing(sharing) => Ok(*sharing),
            Rule::Tuned(_) => Err(format!(
                "{name} is tuned for jobs that are all present at the start, but here the jobs arrive over time: set its parameter, for example knee:.1 or hesrpt:.5"
            )),
            Rule::Plan(_) => Err(format!(
                "{name} is a plan for jobs that are all present at the start, but here the jobs arrive over time: use `synth` to create a policy for this workload, or use the rule hesrpt"
            )),
        }
    }

    /// Executes this rule on a pool. Returns an error if it is a plan for a different pool.
    pub fn execute(&self, name: &str, pool: &Pool, is_own: bool) -> Result<Execution, String> {
        let dividing = match self {
            Rule::Sharing(sharing) => Dividing::Sharing(*sharing),
            Rule::Tuned(rule) => Dividing::Sharing(tuned(pool, *rule)),
            Rule::Plan(plan) if is_own => Dividing::Plan(&plan.rule),
            Rule::Plan(_) => {
                return Err(format!(
                    "{name} is a plan for a different set of jobs, servers or speedups: use `synth` to create a plan for this workload, or use the rule hesrpt"
                ));
            }
        };
        Ok(execute(pool, dividing, false))
    }
}

impl Rules for Malleable {
    type Content = Self;
    type Rule = Rule;

    const RULES: &'static str = include_str!("rules.txt").trim_ascii_end();

    fn rule(name: &str, _: Option<&Workload>) -> Result<Rule, String> {
        let number = |text: &str| text.parse().unwrap_or(f64::NAN);
        let (rule, parameter) = split_name(name);
        let text = parameter.unwrap_or_default();
        let refused = |expected: &str| Err(format!("`{text}` is not {expected}"));
        Ok(Rule::Sharing(match (rule, parameter) {
            ("hesrpt", None) => Sharing::HeSrpt(Online::PLAIN),
            ("hesrpt", Some("tuned")) => return Ok(Rule::Tuned(Tunable::Power)),
            ("hesrpt", Some(p)) if number(p) > 0.0 && number(p) < 1.0 => Sharing::Power(number(p)),
            ("hesrpt", Some(_)) => {
                return refused(
                    "an exponent between 0 and 1, as in hesrpt:.5, or the word `tuned`",
                );
            }
            ("helrpt", None) => Sharing::HeLrpt,
            ("srpt", None) => Sharing::Srpt,
            ("equi", None) => Sharing::Equi,
            ("hell", None) => Sharing::Hell,
            ("knee", None) => return Ok(Rule::Tuned(Tunable::Knee)),
            ("knee", Some(a)) if number(a) > 0.0 && number(a).is_finite() => {
                Sharing::Knee(number(a))
            }
            ("knee", Some(_)) => {
                return refused(
                    "a number > 0 (the time that one more server must save), as in knee:.1",
                );
            }
            ("online", _) => {
                let (urgency, background) = text.split_once(':').unwrap_or_default();
                let (urgency, background) = (number(urgency), number(background));
                if !(0.0..=100.0).contains(&urgency) || !(0.0..=1e9).contains(&background) {
                    return refused(
                        "an urgency from 0 to 100 and a background from 0 to 1e9, as in online:1.2:4",
                    );
                }
                Sharing::HeSrpt(Online {
                    urgency,
                    background,
                })
            }
            _ => return Err(no_rule(name, Self::RULES)),
        }))
    }

    fn rule_of(file: &Checked, _: &str) -> Rule {
        match &file.artifact().policy {
            artifact::Policy::Online(online) => Rule::Sharing(Sharing::HeSrpt(*online)),
            artifact::Policy::Plan(plan) => Rule::Plan(plan.clone()),
        }
    }

    fn traits(_: &Rule, _: &Workload) -> (bool, Information) {
        (true, Information::Sizes)
    }

    fn fits(policy: &NamedPolicy<Self>, _: &Workload) -> Result<(), String> {
        policy.rule.online(&policy.name).map(drop)
    }
}
