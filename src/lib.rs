//! `synth` creates a scheduling policy for the workload of a cluster. It proves the claims about
//! the policy, and uses a simulation to check them.
//!
//! A server has R resources, and `P_j` is the capacity of resource j. There are K types of jobs.
//! The arrival rate of type i is `λ_i`, each of its jobs needs `D_ij` of resource j, and the mean
//! of its run time is `1/μ_i`, so the offered load is `b_i = λ_i/μ_i`. A *schedule*
//! `u ∈ S = {u ∈ Z₊^K : u·D ≤ P}` is the number of jobs of each type that run together. `synth`
//! computes which schedules should be used, for which fractions π of the time, and what the
//! response times will be.
//!
//! ```text
//! ρ = min r : b/r ∈ Conv(S)                                 a policy is stable iff ρ < 1
//!   = 1 / max t : Σ_s π_s u_si ≥ t b_i, Σ_s π_s ≤ 1, π ≥ 0  program (7) of the MSR paper
//! ```
//!
//! - A [`Workload`](multiresource::workload::Workload) is read from YAML, or fitted to a log
//!   ([`multiresource::fit`]).
//! - The function [`synthesize`](multiresource::synthesis::synthesize) returns a policy file
//!   ([`artifact`]). It uses a Markovian Service Rate (MSR) policy, which cycles through at most K
//!   schedules according to a Markov chain that does not depend on the queue.
//! - The policy can be checked, simulated ([`multiresource::simulator`]), used in a replay of a log
//!   ([`multiresource::replay`]), or run on a cluster ([`multiresource::bridge`]).
//!
//! ```
//! use synth::multiresource::artifact::Preemption;
//! use synth::multiresource::synthesis::{SynthesisOptions, SynthesisOutcome, synthesize};
//! use synth::multiresource::workload::Workload;
//!
//! let document = "
//!     {kind: multiresource, time_unit: s, server: {capacity: {cpu: 20, memory: 15}}, jobs: [
//!     {name: lean, demand: {cpu: 3, memory: 7}, arrival_rate: 0.45, mean_size: 1},
//!     {name: wide, demand: {cpu: 10, memory: 1}, arrival_rate: 0.9, mean_size: 1}]}";
//! let workload = Workload::parse(document, "example")?.workload;
//! let options = SynthesisOptions::new(Preemption::None);
//! let SynthesisOutcome::Policy(made) = synthesize(&workload, &options)? else {
//!     return Err("no policy can sustain this load".into());
//! };
//! // ρ = 0.225 + 0.3375: two lean jobs run together with a wide job, or two wide jobs.
//! assert!(made.artifact.evidence.proven && (made.artifact.evidence.load - 0.5625).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The other kinds of workload are [`compatibility`], [`malleable`] and [`volunteer`]. The notation
//! and the papers are listed in `synth-multiresource` and `synth-make`.

pub mod cli;
pub mod kinds;
pub mod multiresource;

pub use synth_compatibility as compatibility;
pub use synth_core::{artifact, document, number};
pub use synth_malleable as malleable;
pub use synth_queues::{ctmc, distribution};
pub use synth_simulation as simulation;
pub use synth_slurm::commands as slurm;
pub use synth_traces::trace;
pub use synth_typed as typed;
pub use synth_verb::{self as kind, report};
pub use synth_volunteer as volunteer;
