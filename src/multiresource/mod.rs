//! Multiresource jobs: types with fixed demands for several resources, on one server or a fleet.
//!
//! The modules in order of the pipeline: [`workload`] → [`schedule`] → [`program`] → [`modulation`]
//! → [`analysis`] → [`synthesis`] → [`artifact`] → [`policy`] → [`live`] → [`simulator`] →
//! [`replay`] → [`report`] → [`verbs`]. [`optimum`] and [`bound`] compute lower bounds, [`fit`]
//! fits workloads to logs, and [`bridge`] runs the jobs of a real Slurm cluster.

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
