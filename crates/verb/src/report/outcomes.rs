use schemars::JsonSchema;
use serde::Serialize;

use super::{Cell, Column, Numbers, Report, Section, file_name};
use crate::cells;
use synth_core::artifact::Quantity;
use synth_simulation::Estimate;
use synth_simulation::sweep::Comparing;

/// The policies, and the numbers that were found for each of them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Outcomes {
    /// The workload file, as it was given.
    pub workload: String,
    /// The digest of the workload.
    pub digest: String,
    /// `true` if the comparison was interrupted.
    pub interrupted: bool,
    /// The quantities.
    pub columns: Vec<QuantityColumn>,
    /// The policies.
    pub policies: Vec<PolicyValues>,
    /// The policies that could not be run, with the reasons.
    pub failures: Vec<String>,
    /// The notes of the report.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// A quantity that was computed for the policies.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct QuantityColumn {
    /// The name that is used by other programs.
    pub quantity: &'static str,
    /// The value of the parameter, if the quantity is reported for more than one value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// The unit, or `1` if the quantity has no unit.
    pub unit: String,
    /// The name that is used in reports.
    #[serde(skip)]
    pub label: String,
}

impl QuantityColumn {
    /// Creates the column of a quantity, where times are in this unit.
    pub fn of<Q: Quantity>(quantity: Q, time: &str) -> Self {
        QuantityColumn {
            quantity: quantity.row().name,
            at: None,
            unit: quantity.unit(time),
            label: quantity.row().label.to_owned(),
        }
    }
}

/// A policy and its numbers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PolicyValues {
    /// The name of the policy.
    pub policy: String,
    /// The value of each quantity.
    pub values: Vec<Option<Estimate>>,
}

impl Outcomes {
    /// Creates the result of a comparison. It does not contain any numbers yet.
    pub fn new(comparing: &Comparing<'_>, digest: String) -> Self {
        let policies = comparing.policies.iter().map(|policy| PolicyValues {
            policy: policy.clone(),
            values: Vec::new(),
        });
        Outcomes {
            workload: comparing.file.into(),
            digest,
            interrupted: false,
            columns: Vec::new(),
            policies: policies.collect(),
            failures: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Returns the report. `command` is the command that reproduces it.
    pub fn report(&self, command: String) -> Report {
        let mut section = Section::new("", ["policy"]);
        for own in &self.columns {
            section.columns.push(Column::of(&own.label, &own.unit));
        }
        section.notes.clone_from(&self.notes);
        let mut numbers = Numbers::new(&["policy", "at"]);
        for own in &self.policies {
            let values = own.values.iter().map(|found| Cell::from(*found));
            section.rows.push(cells![&own.policy; values]);
            for (column, value) in self.columns.iter().zip(&own.values) {
                let at = column.at.map_or(String::new(), |at| at.to_string());
                let of = Column::of(column.quantity, &column.unit);
                numbers.add(&[&own.policy, &at], of, *value);
            }
        }
        let mut warnings = self.failures.clone();
        if self.interrupted {
            warnings.push("INTERRUPTED: the comparison is incomplete.".into());
        }
        Report {
            title: format!("Policies on “{}”", file_name(&self.workload)),
            warnings,
            sections: vec![section],
            method: vec![("Digest of the workload", self.digest.clone())],
            command,
            numbers,
            ..Report::default()
        }
    }
}
