//! Each type of multiresource jobs has a fixed demand for several resources. The jobs run on one
//! server or on a fleet.
//!
//! The modules are used in this order: [`workload`] → [`schedule`] → [`program`] → [`modulation`] →
//! [`analysis`] → [`synthesis`] → [`artifact`] → [`policy`] → [`live`] → [`simulator`] → [`replay`]
//! → [`report`] → [`verbs`]. In addition, [`optimum`] and [`bound`] compute lower bounds, [`fit`]
//! creates a workload from a log, and [`bridge`] runs the jobs of a Slurm cluster.

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
