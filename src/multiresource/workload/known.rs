//! What is known of a job's size when it comes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Fault, place, within};
use crate::law::{Part, Size};
use crate::number::Decimal;

/// What is known of a job's size when it comes, beside the law of its type's sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Known {
    /// Nothing.
    Type,
    /// The size itself.
    Size,
    /// A limit that the job never exceeds: its size times a factor of this law, drawn for each job. No
    /// factor is below 1.
    Limit(Size),
    /// The `limit` of its type, which every type has to have.
    TypeLimit,
}

impl Known {
    /// Returns what is wrong with it.
    pub(super) fn faults(&self) -> Vec<Fault> {
        let Known::Limit(factor) = self else {
            return Vec::new();
        };
        let place = place!("known", "limit");
        let faults = factor.faults(Part::Other("factor"), "limits over sizes", "times the size");
        let mut faults = within(faults, &place);
        let one = Decimal::new(1.0).expect("1 is a number");
        if faults.is_empty() && factor.least() < one {
            faults.push(Fault::new(
                place,
                format!(
                    "limits would be below sizes: the factor of `law: {}` may be as small as {}, expected 1 at least",
                    factor.law(),
                    factor.least()
                ),
                "a limit is never exceeded; write for instance `{law: uniform, low: 1, high: 3}`, or `{law: empirical, values: [1.1, 2, 10]}`",
            ));
        }
        faults
    }

    /// One word, and the law's.
    pub(super) fn canonical(&self) -> String {
        match self {
            Known::Type => "type".into(),
            Known::Size => "size".into(),
            Known::TypeLimit => "type-limit".into(),
            Known::Limit(factor) => format!("limit {}", factor.canonical()),
        }
    }
}
