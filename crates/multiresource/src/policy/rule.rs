//! Everything about a rule except for its decisions: its policy file, parameters and reports.

use serde::Serialize;
use serde_json::Value;

use super::{Family, Information, Policy, Unsuitable};
use crate::schedule::Packing;
use crate::workload::{Fleet, SizeInformation, Workload};
use synth_core::artifact::Findings;

/// The settings of a rule as in a policy file. Most rules implement only the first two methods.
pub trait PolicyConfig {
    /// Builds the online rule for these servers, which must be the ones it was checked against.
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy>;

    /// Describes the policy for a reader who has never seen it.
    fn describe(&self, workload: &Workload) -> String;

    /// Checks that the numbers are in range and fit the servers.
    fn check(&self, _fleet: &Fleet, _findings: &mut Findings) {}

    /// Returns whether the policy may stop running jobs.
    fn preempts(&self) -> bool {
        false
    }

    /// Returns whether the policy decides over all servers of a fleet.
    fn is_for_fleet(&self) -> bool {
        false
    }

    /// Returns the setup rate `γ` \[1/time\] if the capacity of a stopped job is held for a setup.
    fn setup_rate(&self) -> Option<f64> {
        None
    }

    /// Returns `true` if the policy requires that each job has a limit when it arrives.
    fn needs_limits(&self) -> bool {
        false
    }

    /// Returns the common name of the policy, if it differs from its name in files.
    fn alias(&self) -> Option<&'static str> {
        None
    }

    /// Returns whether this policy, as computed for this workload, is proved to be stable.
    fn is_proved_stable(&self, _workload: &Workload) -> bool {
        false
    }

    /// Returns the additional work per event, in First-Fit events with a few types (about 70 ns).
    /// The formulas were fitted to measurements with 3 to 25 types.
    fn extra_work_per_event(&self, _workload: &Workload) -> f64 {
        0.0
    }

    /// Returns the values of the tuning parameters as a text for the record of the selection.
    fn describe_parameters(&self, _workload: &Workload) -> Option<String> {
        None
    }

    /// Returns the tuning parameters that have a grid, in tuning order. From a value between two
    /// points, tuning moves to the next point. [`PolicyConfig::check`] defines the valid values.
    fn grids(&mut self, _context: &TuningContext<'_>) -> Vec<(&mut f64, &'static [f64])> {
        Vec::new()
    }

    /// Returns the number of tuning parameters without a grid.
    fn other_axes(&self, _context: &TuningContext<'_>) -> usize {
        0
    }

    /// Moves a parameter without a grid one step up or down. `None` at the end of its range.
    fn step(&mut self, _axis: usize, _up: bool, _context: &TuningContext<'_>) -> Option<()> {
        None
    }
}

type Build = fn(&Workload, Option<f64>) -> Result<Box<dyn Policy>, Unsuitable>;

/// A rule that can be selected by name, without a policy file.
#[derive(Clone, Copy, Debug)]
pub struct NamedRule {
    /// The primary name.
    pub name: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// A one-line description.
    pub description: &'static str,
    /// If `true`, the rule can stop jobs that are running.
    pub preempts: bool,
    /// The information that the rule uses about jobs if its parameter is not set.
    pub information: Information,
    /// The number that may follow the name and a colon.
    pub parameter: Option<Parameter>,
    /// Whether the rule exists for fleets.
    pub is_for_fleet: bool,
    /// Returns the contents of its policy file.
    pub settings: fn(&Fleet, Option<f64>) -> Result<Family, Unsuitable>,
    /// Builds the rule for one server, where it may use more information than a policy file allows.
    pub build: Option<Build>,
}

impl NamedRule {
    /// The default values: one server, no preemption, no parameter, and mean sizes.
    pub const PLAIN: NamedRule = NamedRule {
        name: "",
        aliases: &[],
        description: "",
        preempts: false,
        information: Information::Means,
        parameter: None,
        is_for_fleet: false,
        settings: |_, _| Err(Unsuitable(String::new())),
        build: None,
    };

    /// Builds the rule for one server or for a fleet.
    ///
    /// # Errors
    /// Returns an error if the rule cannot serve the workload.
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

/// The parameter of a named rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its meaning.
    pub meaning: &'static str,
    /// The minimum.
    pub least: f64,
    /// The default; `None` if it depends on the workload.
    pub default: Option<f64>,
    /// If `true`, the value must be an integer.
    pub whole: bool,
}

impl Parameter {
    /// The maximum of every parameter.
    pub const MOST: f64 = 1e6;
}

/// Formats each number and each word in the settings as "name value", and each flag that is set as
/// "name". Lists, such as the values of each type, are omitted.
pub(super) fn describe_settings(policy: &impl Serialize) -> Option<String> {
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
            Value::Number(_) => {
                let number = field.as_f64().unwrap_or(f64::NAN);
                words.push(format!("{name} {number}"));
            }
            _ => {}
        }
    }
}

pub(super) fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// The grid of `κ` (`let_in`) for all rules except TDC.
pub(super) const LET_IN: &[f64] = &[0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.3, 2.0, 4.0];

/// Returns whether the types differ in mean size.
pub fn mean_sizes_differ(workload: &Workload) -> bool {
    let first = workload.types()[0].mean_size();
    workload.types().iter().any(|t| t.mean_size() != first)
}

/// The properties of a workload that tuning needs.
pub struct TuningContext<'a> {
    /// The workload.
    pub workload: &'a Workload,
    /// The number of jobs of each type (K) that fit alone.
    pub most: Vec<u32>,
    /// The upper bound of the switching rates \[1/time\] for which the policy is stable.
    pub largest_rate: f64,
    /// The types of which several jobs fit, in descending order of their load share.
    pub types_with_several: Vec<usize>,
    /// The number of servers of each shape, for rules that decide over a fleet.
    pub servers: Vec<u32>,
}

impl<'a> TuningContext<'a> {
    /// Creates the context for a workload and the upper bound of its stable switching rates.
    pub fn new(workload: &'a Workload, largest_rate: f64) -> Self {
        let packing = Packing::new(workload);
        let most = (0..packing.types()).map(|i| packing.max_jobs_alone(i));
        let most: Vec<u32> = most.collect();
        let shares = workload.load_shares();
        let mut several: Vec<usize> = (0..most.len()).filter(|i| most[*i] > 1).collect();
        several.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
        TuningContext {
            workload,
            most,
            largest_rate,
            types_with_several: several,
            servers: Vec::new(),
        }
    }
}

pub(crate) fn require_known(workload: &Workload, sizes: bool) -> Result<(), Unsuitable> {
    let known = match workload.size_information() {
        Some(SizeInformation::Type) => "declares that only their types are known (`known: type`)",
        Some(SizeInformation::Limit(_) | SizeInformation::TypeLimit) if sizes => {
            "declares that only limits are known (`known: {limit: …}` or `known: type-limit`)"
        }
        None if !sizes => {
            "does not declare that they are known; for example, add `known: {limit: {law: uniform, low: 1, high: 3}}`"
        }
        _ => return Ok(()),
    };
    let needed = if sizes { "the" } else { "limits on the" };
    Err(Unsuitable(format!(
        "it needs {needed} sizes of jobs at arrival, but the workload {known}"
    )))
}
