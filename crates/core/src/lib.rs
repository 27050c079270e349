//! Exact numbers, documents and policy files, which are used by all other crates of `synth`.
//!
//! This crate does not depend on any other crate of the workspace, and it knows no kind of
//! workload.
//!
//! - A [`Decimal`](number::Decimal) is a number exactly as it was written. The function
//!   [`in_units`](number::in_units) converts a capacity and the demands to integers, so that the
//!   question whether jobs fit is never answered by rounding.
//! - A [`WorkloadDocument`](document::WorkloadDocument) is read from YAML. If the document has
//!   faults, all of them are reported with their positions; otherwise, the checked workload is
//!   returned.
//! - An [`Artifact`](artifact::Artifact) is a policy file, which contains the workload, the policy,
//!   the claims about it, and the evidence for them. It becomes a [`Checked`](artifact::Checked)
//!   artifact if a checker can derive the claims again, and only a checked artifact can be used to
//!   run a policy.
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
//!
//! # Where to read next
//!
//! The modules [`number`], [`document`] and [`artifact`] can be read in this order. The
//! documentation of [`artifact::Content`] explains what a kind of workload has to provide for its
//! policy files.

pub mod artifact;
pub mod document;
pub mod number;
