//! Which jobs are of a type, as a file says it.

use synth_core::document::fits;
use synth_slurm::commands::Row;

/// A type and its jobs: those that meet one of the conditions, or all where there is none.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// The type.
    pub place: usize,
    pub conditions: Vec<Condition>,
}

/// What a job has to meet, all of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Condition {
    /// Texts of it, with their patterns.
    pub texts: Vec<(Text, String)>,
    /// Its time limit \[s\] is above this…
    pub above: Option<f64>,
    /// …and not above this.
    pub up_to: Option<f64>,
}

/// A text of a job.
pub(super) type Text = fn(&Row) -> &str;

impl Rule {
    pub fn is_of(&self, row: &Row) -> bool {
        self.conditions.is_empty() || self.conditions.iter().any(|c| c.is_met(row))
    }
}

impl Condition {
    fn is_met(&self, row: &Row) -> bool {
        let limit = row.time_limit.map_or(f64::INFINITY, |s| s as f64);
        let has = |(text, pattern): &(Text, String)| fits(pattern, text(row));
        self.above.is_none_or(|above| limit > above)
            && self.up_to.is_none_or(|up_to| limit <= up_to)
            && self.texts.iter().all(has)
    }
}
