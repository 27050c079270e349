use std::fmt::Debug;
use std::hash::Hash;

use crate::document::Stored;

/// How claims are derived: one enum a kind of workload. It says how, and not under which
/// assumptions, which is for [`HoldsFor`](super::HoldsFor) to say.
pub trait Method: Stored + Copy + Eq {
    /// What a number so derived is worth where all that it holds for is met.
    fn standing(self) -> Standing;
}

/// What a number is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Exact, up to rounding.
    Exact,
    /// A mean from simulation, with an interval.
    Simulated,
    /// Not more, or not less, than the quantity.
    Bound,
    /// Near the quantity, with no bound on the error.
    Approximation,
}

/// What is claimed of policies: one enum a kind of workload, generated from one table, `quantities!`.
pub trait Quantity: Stored + Copy + Eq + Hash + 'static {
    /// How claims are derived.
    type Method: Method;
    /// Conditions of the kind's own under which claims hold.
    type Conditions: Stored + Default + Eq;
    /// How a run measures it.
    type Measure: Copy + Debug + 'static;

    /// All quantities.
    const ALL: &'static [Self];

    /// What the table says of it.
    fn row(self) -> &'static QuantityRow<Self::Measure>;

    /// Returns the unit of its value, for a workload with this unit of time.
    fn unit(self, time: &str) -> String {
        self.row().unit.of(time)
    }
}

/// What is known of a quantity.
#[derive(Clone, Copy, Debug)]
pub struct QuantityRow<M> {
    /// Its name, as documents have it.
    pub name: &'static str,
    /// Its name for people.
    pub label: &'static str,
    /// The unit of its value.
    pub unit: Unit,
    /// What it may be claimed of; besides, any of these on one server.
    pub of: &'static [Of],
    /// How a run measures it.
    pub measure: M,
}

/// What a quantity may be claimed of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// The whole policy.
    All,
    /// A type of job.
    Type,
    /// One job.
    Job,
    /// A batch of jobs.
    Batch,
}

/// A unit, up to the workload's unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A pure number.
    One,
    /// Jobs.
    Jobs,
    /// Time.
    Time,
    /// 1/time.
    Rate,
    /// Work/time.
    WorkRate,
}

impl Unit {
    /// As documents have it, for a workload with this unit of time.
    pub fn of(self, time: &str) -> String {
        match self {
            Unit::One => "1".into(),
            Unit::Jobs => "jobs".into(),
            Unit::Time => time.into(),
            Unit::Rate => format!("1/{time}"),
            Unit::WorkRate => format!("work/{time}"),
        }
    }
}

/// On which side of the truth a claimed number lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It is the truth.
    Equal,
    /// It is not above.
    AtLeast,
    /// It is not below.
    AtMost,
}

/// Makes the enum of a kind's quantities from their table, one row a quantity: name in documents,
/// label for people, unit, what it may be claimed of, and how a run measures it.
#[macro_export]
macro_rules! quantities {
    (
        $(#[$meta:meta])*
        pub enum $Quantity:ident: $Method:ty, $Conditions:ty, $Measure:ty;
        $(
            $(#[$row:meta])*
            $Variant:ident: $name:literal, $label:literal, $unit:ident, [$($of:ident),+], $measure:expr;
        )+
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $Quantity {
            $(
                $(#[$row])*
                #[serde(rename = $name)]
                $Variant,
            )+
        }

        impl $crate::artifact::Quantity for $Quantity {
            type Method = $Method;
            type Conditions = $Conditions;
            type Measure = $Measure;

            const ALL: &'static [Self] = &[$($Quantity::$Variant),+];

            fn row(self) -> &'static $crate::artifact::QuantityRow<$Measure> {
                use $crate::artifact::{Of, QuantityRow, Unit};
                match self {
                    $(
                        $Quantity::$Variant => const {
                            &QuantityRow {
                                name: $name,
                                label: $label,
                                unit: Unit::$unit,
                                of: &[$(Of::$of),+],
                                measure: $measure,
                            }
                        }
                    )+
                }
            }
        }
    };
}
pub use quantities;
