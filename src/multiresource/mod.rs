//! Multiresource jobs: types with fixed demands for several resources, on one server or a fleet.
//!
//! The stages, in order: [`workload`] → [`schedule`] → [`program`] → [`modulation`] →
//! [`analysis`] → [`synthesis`] → [`artifact`] → [`policy`] → [`live`] → [`simulator`] → [`replay`] → [`report`] → [`verbs`];
//! and beside them [`optimum`] and [`bound`], what no policy can beat, [`fit`], which fits a workload to a trace, and
//! [`bridge`], which runs the jobs of a real Slurm. `artifact`, `policy` and `simulator` never see how a
//! policy was synthesized: their crate does not depend on the one that synthesizes.

mod command;
pub mod report;
pub mod verbs;

pub use command::MultiresourceKind;

pub use synth_advice::{forecast, judge};
pub use synth_fit as fit;
pub use synth_make::{analysis, bound, modulation, optimum, program, synthesis};
pub use synth_multiresource::{Multiresource, artifact, policy, schedule, simulator, workload};
pub use synth_operator as live;
pub use synth_slurm_bridge as bridge;
pub use synth_traces::replay;
