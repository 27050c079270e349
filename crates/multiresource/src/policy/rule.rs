//! What is known of a rule beside its decisions: all that a policy file, tuning and reports need of it.

use serde::Serialize;
use serde_json::Value;

use super::{Family, Knows, Policy, Unsuitable};
use crate::schedule::Packing;
use crate::workload::{Fleet, KnownSize, Workload};
use synth_core::artifact::Findings;

/// A rule with all its numbers, as a policy file has them. Most rules need no more than the first two methods.
pub trait PolicyConfig {
    /// Returns the online rule for these servers, against which it has been checked.
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy>;

    /// Says what the policy does, for a reader who has never seen it.
    fn words(&self, workload: &Workload) -> String;

    /// Checks that its numbers are in range and fit the servers. Whether jobs have the limits that it asks for is
    /// checked of all rules alike.
    fn check(&self, _fleet: &Fleet, _findings: &mut Findings) {}

    /// Returns whether it may stop running jobs.
    fn preempts(&self) -> bool {
        false
    }

    /// Returns whether it decides over the servers of a fleet.
    fn pools(&self) -> bool {
        false
    }

    /// Returns γ, where the room of jobs that are stopped is held for a setup \[1/time\].
    fn setup_rate(&self) -> Option<f64> {
        None
    }

    /// Returns whether it asks for a limit on the size of each job as it comes.
    fn needs_limits(&self) -> bool {
        false
    }

    /// Returns what people call it, where that is not its name in files.
    fn alias(&self) -> Option<&'static str> {
        None
    }

    /// Returns whether a policy from synth for this workload is known to be stable there.
    fn is_proved_stable(&self, _workload: &Workload) -> bool {
        false
    }

    /// Returns the work of an event beyond that of First-Fit, in events of First-Fit with few types, some 70 ns each: by
    /// what was measured once, and the same on each machine.
    fn added_work(&self, _workload: &Workload) -> f64 {
        0.0
    }

    /// Returns what its knobs are set to, as a sentence: for the record of a choice.
    fn knobs_in_words(&self, _workload: &Workload) -> Option<String> {
        None
    }

    /// Returns the knobs that tuning turns along a grid, with their grids, the first to be tuned first. A grid is where tuning
    /// looks, not all that a knob may be: that is what [`PolicyConfig::check`] accepts. From a value between two of its points tuning
    /// goes to the next of them.
    fn grids(&mut self, _context: &TuningContext<'_>) -> Vec<(&mut f64, &'static [f64])> {
        Vec::new()
    }

    /// Returns how many other knobs tuning turns.
    fn other_axes(&self, _context: &TuningContext<'_>) -> usize {
        0
    }

    /// Turns one of these other knobs a step up or down; `None` at its end.
    fn step(&mut self, _axis: usize, _up: bool, _context: &TuningContext<'_>) -> Option<()> {
        None
    }
}

/// Returns the settings of a rule as a policy file has them, with its parameter: for one server, or over the servers of
/// a fleet.
pub(super) type Settings = fn(&Fleet, Option<f64>) -> Result<Family, Unsuitable>;

/// Makes a rule for one server, with its parameter.
type Build = fn(&Workload, Option<f64>) -> Result<Box<dyn Policy>, Unsuitable>;

/// A rule with a name, which needs no policy file.
#[derive(Clone, Copy, Debug)]
pub struct NamedRule {
    /// Its name.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// What it does, in one line.
    pub about: &'static str,
    /// Whether it stops running jobs.
    pub preempts: bool,
    /// What it knows of jobs, where its parameter is not set.
    pub knows: Knows,
    /// The number that may follow its name and a colon.
    pub parameter: Option<Parameter>,
    /// Whether there is one of this name over the servers of a fleet.
    pub pools: bool,
    /// Returns what its policy file has.
    pub settings: Settings,
    /// Makes it for one server, where it may know more of jobs than policy files say.
    pub build: Option<Build>,
}

impl NamedRule {
    /// A rule for one server without preemption or a parameter, which knows the types' means at most: what most entries
    /// begin with.
    pub const PLAIN: NamedRule = NamedRule {
        name: "",
        aliases: &[],
        about: "",
        preempts: false,
        knows: Knows::Means,
        parameter: None,
        pools: false,
        settings: |_, _| Err(Unsuitable(String::new())),
        build: None,
    };

    /// Makes it for one server, or over the servers of a fleet.
    ///
    /// # Errors
    /// Why it cannot serve the workload.
    pub fn rule(
        &self,
        fleet: &Fleet,
        parameter: Option<f64>,
    ) -> Result<Box<dyn Policy>, Unsuitable> {
        match self.build {
            Some(build) if fleet.is_one_server() => build(fleet.envelope(), parameter),
            _ => Ok((self.settings)(fleet, parameter)?.build(fleet)),
        }
    }
}

/// A rule's parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// What it means.
    pub what: &'static str,
    /// The least that it can be.
    pub least: f64,
    /// Its value where none is set; none where that depends on the workload.
    pub default: Option<f64>,
    /// Whether it is a whole number.
    pub whole: bool,
}

impl Parameter {
    /// The most that a parameter can be.
    pub const MOST: f64 = 1e6;
}

/// Makes the settings of rules with nothing to set.
macro_rules! no_settings {
    ($($(#[$doc:meta])* $Policy:ident;)+) => {
        $(
            $(#[$doc])*
            #[derive(
                Clone,
                Copy,
                Debug,
                Default,
                PartialEq,
                Eq,
                serde::Serialize,
                serde::Deserialize,
                schemars::JsonSchema,
            )]
            #[serde(deny_unknown_fields)]
            pub struct $Policy {}
        )+
    };
}
pub(super) use no_settings;

/// Returns the numbers and words of a policy with their names, and what is switched on; what there is for each type,
/// schedule or server is left out.
pub(super) fn settings_in_words(policy: &impl Serialize) -> Option<String> {
    let mut words = Vec::new();
    list_words(&serde_json::to_value(policy).ok()?, &mut words);
    Some(words.join(", "))
}

fn list_words(policy: &Value, words: &mut Vec<String>) {
    for (name, field) in policy.as_object().into_iter().flatten() {
        let name = name.replace('_', " ");
        match field {
            Value::Object(_) => list_words(field, words),
            Value::Bool(true) => words.push(name),
            Value::String(word) => words.push(format!("{name} {word}")),
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or(f64::NAN);
                words.push(format!("{name} {number}"));
            }
            _ => {}
        }
    }
}

/// The grid of κ (`let_in`), of rules for which that is only who starts during a drain. TDC has a longer one of its own.
pub(super) const LET_IN: &[f64] = &[0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.3, 2.0, 4.0];

/// Returns whether the jobs of some type take longer than those of another, by their means.
pub fn has_lengths(workload: &Workload) -> bool {
    let first = workload.types()[0].mean_size();
    workload.types().iter().any(|t| t.mean_size() != first)
}

/// What the rules have to know of a workload to turn their knobs. Ranges of knobs are not here: see [`PolicyConfig::grids`].
pub struct TuningContext<'a> {
    /// The workload.
    pub workload: &'a Workload,
    /// The most jobs of each type that fit (K).
    pub most: Vec<u32>,
    /// Supremum of the stable switching rates \[1/time\].
    pub largest_rate: f64,
    /// Types of which several fit, those with most work first.
    pub several: Vec<usize>,
    /// By shape of a fleet, for rules over all of its servers: how many there are.
    pub servers: Vec<u32>,
}

impl<'a> TuningContext<'a> {
    /// Returns it for this workload, and switching rates below the largest.
    pub fn new(workload: &'a Workload, largest_rate: f64) -> Self {
        let packing = Packing::new(workload);
        let most: Vec<u32> = (0..packing.types()).map(|i| packing.alone(i)).collect();
        let shares = workload.load_shares();
        let mut several: Vec<usize> = (0..most.len()).filter(|i| most[*i] > 1).collect();
        several.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
        TuningContext {
            workload,
            most,
            largest_rate,
            several,
            servers: Vec::new(),
        }
    }
}

/// Refuses a workload of which it is known that the sizes of jobs are not known, or, where `sizes` is not set, of
/// which no limits are.
pub(crate) fn require_known(workload: &Workload, sizes: bool) -> Result<(), Unsuitable> {
    let known = match workload.known() {
        Some(KnownSize::Type) => "nothing but their types is known (`known: type`)",
        Some(KnownSize::Limit(_) | KnownSize::TypeLimit) if sizes => {
            "limits are known (`known: {limit: …}` or `known: type-limit`)"
        }
        None if !sizes => {
            "nothing of them is known; say what is, for instance `known: {limit: {law: uniform, low: 1, high: 3}}`"
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
