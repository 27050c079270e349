//! Policies by name: a rule, or a policy file.

use super::VerbError;
use crate::artifact::Changes;
use crate::kind::{no_rule, read_policy, split_name};
use crate::volunteer::artifact::Checked;
use crate::volunteer::policy::Dispatch;
use crate::volunteer::simulator::Rule;
use crate::volunteer::synthesis::{default_rule, fixed_bound, literal};
use crate::volunteer::workload::Campaign;

/// A rule that has a name: with what stands behind a colon, and what it does.
pub const RULES: [(&str, &str, &str); 4] = [
    (
        "percentile",
        "[:F:T:Q]",
        "what synth tunes: hosts above the percentile F get jobs of a batch without an estimate, those above T deadlines before it, and Q is the quantile that it takes (75:95:.3 if not given)",
    ),
    (
        "literal",
        "[:F:T:Q]",
        "the proposal of 2012 to the letter: busy time of tight jobs only, no limit of jobs without an estimate, no time for a second try (50:90:.8)",
    ),
    (
        "boinc-2025",
        "[:D]",
        "any host, with the deadline D; what is left of a batch that is 85 % done goes to fast hosts alone, and once more where it takes long",
    ),
    (
        "fixed",
        "[:D]",
        "any host, with the deadline D: the bound of a stream if it is not given",
    ),
];

/// A policy that was entered.
#[derive(Clone, Debug)]
pub enum Entered {
    /// The rule that synth tunes, with these parameters or its defaults.
    Percentile(Option<[f64; 3]>),
    /// The proposal to the letter.
    Literal(Option<[f64; 3]>),
    /// BOINC's, with this deadline.
    Tail(Option<f64>),
    /// One deadline for all.
    Fixed(Option<f64>),
    /// A policy file.
    File(Box<Checked>),
}

impl Entered {
    /// The rule on a campaign.
    #[must_use]
    pub fn rule(&self, campaign: &Campaign) -> Rule {
        let with = |rule: Dispatch, parameters: &Option<[f64; 3]>| match parameters {
            None => rule,
            Some([first_percentile, tight_percentile, quantile]) => Dispatch {
                first_percentile: *first_percentile,
                tight_percentile: *tight_percentile,
                quantile: Some(*quantile),
                ..rule
            },
        };
        let bound = |given: &Option<f64>| given.unwrap_or_else(|| fixed_bound(campaign));
        match self {
            Entered::Percentile(own) => Rule::Dispatch(with(default_rule(campaign), own)),
            Entered::Literal(own) => Rule::Dispatch(with(literal(campaign), own)),
            Entered::Tail(own) => Rule::Tail(bound(own)),
            Entered::Fixed(own) => Rule::Fixed(bound(own)),
            Entered::File(file) => Rule::Dispatch(file.artifact().policy.dispatch),
        }
    }

    /// The policy file.
    #[must_use]
    pub fn file(&self) -> Option<&Checked> {
        match self {
            Entered::File(file) => Some(file),
            _ => None,
        }
    }
}

/// A rule by name, or a policy file; `changes` is what becomes of one that was changed after it was written.
///
/// # Errors
/// When there is no such rule and no such file, and when the file is refused.
pub fn enter(name: &str, changes: Changes) -> Result<Entered, VerbError> {
    let why = match named(name) {
        Ok(entered) => return Ok(entered),
        Err(why) => why,
    };
    let (checked, _) = read_policy(name, why, changes)?;
    Ok(Entered::File(Box::new(checked)))
}

fn named(name: &str) -> Result<Entered, String> {
    let (rule, parameter) = split_name(name);
    match rule {
        "percentile" => Ok(Entered::Percentile(parameter.map(three).transpose()?)),
        "literal" => Ok(Entered::Literal(parameter.map(three).transpose()?)),
        "boinc-2025" => Ok(Entered::Tail(parameter.map(deadline).transpose()?)),
        "fixed" => Ok(Entered::Fixed(parameter.map(deadline).transpose()?)),
        _ => Err(no_rule(name, &RULES)),
    }
}

fn three(text: &str) -> Result<[f64; 3], String> {
    let numbers: Option<Vec<f64>> = text.split(':').map(|own| own.parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[first, tight, q])
            if [first, tight].iter().all(|p| (0.0..=100.0).contains(p)) && q > 0.0 && q < 1.0 =>
        {
            Ok([first, tight, q])
        }
        _ => Err(format!(
            "`{text}` is not two percentiles from 0 to 100 and a fraction between 0 and 1, as in percentile:75:95:.3"
        )),
    }
}

fn deadline(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(time) if time > 0.0 && time <= 1e60 => Ok(time),
        _ => Err(format!("`{text}` is not a time > 0, as in fixed:168")),
    }
}
