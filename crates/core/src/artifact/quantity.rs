use std::fmt::Debug;
use std::hash::Hash;

use crate::document::Stored;

/// A method that derives [claims](super::Claim), with its [assumptions](super::HoldsFor).
pub trait Method: Stored + Copy + Eq {
    /// Returns the accuracy of a number that was derived by this method if its assumptions are met.
    fn accuracy(self) -> Accuracy;
}

/// The accuracy of a claimed number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accuracy {
    /// The number is exact, except for rounding errors.
    Exact,
    /// The number is a simulated mean with a confidence interval.
    Simulated,
    /// The number is an upper or a lower bound.
    Bound,
    /// The error of the number is not known.
    Approximation,
}

/// The enum of all quantities of a kind of workload; implement it with `quantities!`.
pub trait Quantity: Stored + Copy + Eq + Hash + 'static {
    /// The methods that are used to derive claims.
    type Method: Method;
    /// The conditions that are specific to the kind of workload.
    type Conditions: Stored + Default + Eq;
    /// The way in which a quantity is measured in a simulation.
    type Measure: Copy + Debug + 'static;

    /// All quantities.
    const ALL: &'static [Self];

    /// Returns the properties of the quantity.
    fn row(self) -> &'static QuantityRow<Self::Measure>;

    /// Returns the unit of the value for a workload whose unit of time is `time`.
    fn unit(self, time: &str) -> String {
        self.row().unit.text(time)
    }
}

/// The properties of a quantity.
#[derive(Clone, Copy, Debug)]
pub struct QuantityRow<M> {
    /// The name that is used in documents.
    pub name: &'static str,
    /// The name that is used in reports.
    pub label: &'static str,
    /// The unit of the value.
    pub unit: Unit,
    /// The subjects that the quantity is defined for. A claim can also name one server shape.
    pub subjects: &'static [SubjectKind],
    /// The way in which the quantity is measured in a simulation.
    pub measure: M,
}

/// A kind of [`Subject`](super::Subject) that a quantity can be defined for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectKind {
    /// The whole policy.
    All,
    /// A job type.
    Type,
    /// A job.
    Job,
    /// A batch.
    Batch,
}

/// A unit, relative to the unit of time of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number without a unit.
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
    /// Returns the text that is used for the unit in documents.
    pub fn text(self, time: &str) -> String {
        match self {
            Unit::One => "1".into(),
            Unit::Jobs => "jobs".into(),
            Unit::Time => time.into(),
            Unit::Rate => format!("1/{time}"),
            Unit::WorkRate => format!("work/{time}"),
        }
    }
}

/// The relation between a claimed number and the true value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The true value is equal to the claimed number.
    Equal,
    /// The true value is at least the claimed number.
    AtLeast,
    /// The true value is at most the claimed number.
    AtMost,
}

/// Defines a [`Quantity`](crate::artifact::Quantity). The header names `Method`, `Conditions` and
/// `Measure`. A row is the variant and the fields of [`QuantityRow`](crate::artifact::QuantityRow).
#[macro_export]
macro_rules! quantities {
    (
        $(#[$meta:meta])*
        pub enum $Quantity:ident: $Method:ty, $Conditions:ty, $Measure:ty;
        $(
            $(#[$row:meta])*
            $Variant:ident: $name:literal, $label:literal, $unit:ident, [$($subject:ident),+], $measure:expr;
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
                use $crate::artifact::{QuantityRow, SubjectKind, Unit};
                match self {
                    $(
                        $Quantity::$Variant => const {
                            &QuantityRow {
                                name: $name,
                                label: $label,
                                unit: Unit::$unit,
                                subjects: &[$(SubjectKind::$subject),+],
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
