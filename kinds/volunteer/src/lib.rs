//! Volunteer computing, where hosts can be slow or off, return wrong results, or disappear.
//!
//! The hosts ask for work, and each job that is sent has a deadline, after which it is sent to
//! another host. The dispatch rule uses the percentile of a host among all hosts, and the expected
//! completion time C(B) of a batch.
//!
//! - A [`Campaign`](workload::Campaign) is a checked workload, which consists of hosts and batches.
//! - A [`Dispatch`](policy::Dispatch) has the parameters of the rule, and
//!   [`decide`](policy::decide()) returns the jobs for a host. It is deterministic, so that other
//!   servers can be tested against it.
//! - [`synthesize`](synthesis::synthesize) tunes the parameters by simulation and measures the
//!   claims of the policy file in campaigns that are held out.
//!
//! In the example, there are ten hosts with four cores, which are on for half of the time.
//!
//! ```
//! use synth_volunteer::workload::{CampaignDocument, Shortage};
//! use synth_core::document::WorkloadDocument as _;
//!
//! let document = "
//! {kind: volunteer, time_unit: h, horizon: 100,
//!  hosts: [{name: labs, count: 10, cores: 4, speed: 1, buffer: 24, availability: {
//!      on: {law: exponential, mean: 5}, off: {law: exponential, mean: 5}}}],
//!  applications: [{name: docking, versions: [{name: v1, processor: cpu}]}],
//!  batches: [{name: screen, application: docking, jobs: 3000, size: 2, quality: afap}]}";
//! let campaign = CampaignDocument::parse(document, "example")?.workload;
//! let capacity = campaign.capacity(&[0]);
//! assert_eq!((capacity.most, capacity.usual), (40.0, 20.0));
//! // The batch has 6000 hours of work, but the hosts can do at most 4000.
//! assert!(matches!(campaign.shortage(), Some(Shortage::TooMuch { .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: "Server job scheduling", a proposal of the BOINC project, 2012 ("the proposal"), which
//! was never implemented. The module [`policy`] decides the details that it leaves open, and
//! corrects its errors: an `else` is missing, a deadline is only computed from the jobs with tight
//! deadlines, there is no time for a retry, and a fast host can take a whole batch.

pub mod artifact;
pub mod policy;
#[cfg(feature = "verbs")]
mod report;
pub mod simulator;
pub mod synthesis;
#[cfg(feature = "verbs")]
mod verbs;
pub mod workload;

pub use artifact::Volunteer;
