//! Which jobs are of a type, as a file says it.

use super::pattern::fits;
use crate::slurm::Row;

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
    /// Patterns of its texts.
    pub texts: Vec<(Text, String)>,
    /// Its time limit \[s\] is above this…
    pub above: Option<f64>,
    /// …and not above this.
    pub up_to: Option<f64>,
}

/// A text of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Text {
    Partition,
    Qos,
    Account,
    User,
    Name,
    Comment,
}

impl Rule {
    pub fn is_of(&self, row: &Row) -> bool {
        self.conditions.is_empty()
            || self
                .conditions
                .iter()
                .any(|condition| condition.is_met(row))
    }
}

impl Condition {
    fn is_met(&self, row: &Row) -> bool {
        let limit = row
            .time_limit
            .map_or(f64::INFINITY, |seconds| seconds as f64);
        let has = |(text, pattern): &(Text, String)| fits(pattern, text.of(row));
        self.above.is_none_or(|above| limit > above)
            && self.up_to.is_none_or(|up_to| limit <= up_to)
            && self.texts.iter().all(has)
    }
}

impl Text {
    fn of(self, row: &Row) -> &str {
        match self {
            Text::Partition => &row.partition,
            Text::Qos => &row.qos,
            Text::Account => &row.account,
            Text::User => &row.user,
            Text::Name => &row.name,
            Text::Comment => &row.comment,
        }
    }
}
