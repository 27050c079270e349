//! Exact numbers, documents and policy files, which do not depend on the kind of workload.
//!
//! - A [`Decimal`](number::Decimal) is a number exactly as it was written. The function
//!   [`in_units`](number::in_units) converts a capacity and the demands to integers, so that the
//!   result does not depend on rounding when jobs are packed.
//! - A [`WorkloadDocument`](document::WorkloadDocument) is read from YAML. If the document is not
//!   valid, the error contains the position of each fault.
//! - An [`Artifact`](artifact::Artifact) is a policy file, which contains the workload, the policy,
//!   the claims about it, and the evidence for them: the [`Content`](artifact::Content) of a kind
//!   of workload. Only a [`Checked`](artifact::Checked) artifact, whose claims were derived again
//!   by a checker, can be used to run a policy.
//!
//! ```
//! use synth_core::number::{Decimal, in_units};
//!
//! let capacity = Decimal::parse("0.3")?;
//! let demand = Decimal::parse("0.1")?;
//! // Doubles are not sufficient: it seems that only two jobs fit.
//! assert_eq!((capacity.value() / demand.value()).floor(), 2.0);
//! let units = in_units(capacity, &[demand]).ok_or("the numbers are too large")?;
//! assert_eq!(units.whole / units.parts[0], 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod artifact;
pub mod document;
pub mod number;
