//! This crate creates a scheduling policy for the workload of a cluster, proves the claims that it
//! makes about this policy, and checks the policy using a simulation.
//!
//! # The problem
//!
//! A server has the capacity `P_j` of each of `R` resources. There are `K` types of jobs, and jobs
//! of type `i` arrive at the rate `λ_i` (by default, as a Poisson process). A job of
//! type `i` needs `D_ij` of resource `j` while it is running, and its run time `S_i` has the mean
//! `1/μ_i`. A *schedule* `u ∈ S = {u ∈ Z₊^K : u·D ≤ P}` is the number of jobs of each type that are
//! running at the same time. Which schedules should be used, for which fraction `π` of the time,
//! when should the server switch between them, and what are the response times?
//!
//! ```text
//! ρ = min r : b/r ∈ Conv(S)                                      the load; some policy is stable iff ρ < 1
//!   = 1 / max t : Σ_s π_s u_si ≥ t b_i, Σ_s π_s ≤ 1, π ≥ 0       program (7)
//! ```
//!
//! A Markovian Service Rate (MSR) policy uses at most `K` of these schedules. A Markov chain that
//! does not depend on the queue is used to switch between them, at the *switching rate* `α`. If
//! jobs can be preempted, a switch is immediate. If not, the server has to be drained, and if there
//! are setups, there is a setup time.
//!
//! A *fleet* has `n_h` servers of the shape `h` and a single program with
//! `Σ_h n_h Σ_s π_hs u_hsi ≥ t b_i` (see [`multiresource::program::Solution`]). All jobs are in the
//! same queue, and the same rule is used to start them on all servers.
//!
//! # Notation
//!
//! | symbol | shape | meaning | unit |
//! |---|---|---|---|
//! | `P`, `D` | R, K × R | capacity, demand | the resource's own; exact integers internally |
//! | `λ`, `μ` | K | arrival rate, service rate | 1/time |
//! | `b = λ/μ` | K | offered load: mean number in service | jobs |
//! | `u`, `W` | K, N × K | a schedule; the working schedules | jobs |
//! | `π` | N | fraction of working time of each schedule | – |
//! | `ρ`, `ρ_i = b_i/E[u_i]` | –, K | load of the workload, of a type under a policy | – |
//! | `y`, `w` | K, R | dual prices of types and resources in the certificate | – |
//! | `α`, `γ` | – | switching rate, setup rate | 1/time |
//! | `Q_i`, `T_i` | K | number in system, response time of type i | jobs, time |
//! | `θ`, `n` | n, – | distribution over the phases of the modulating chain, their number | – |
//! | `β_i` | K | maximum number of slots of type i | jobs |
//! | `Δ(s)` | n | lead of phase s over the mean number of completions | jobs |
//!
//! The time unit is the one that is used in the workload document.
//!
//! # Crates
//!
//! The crate `synth-core` contains numbers, documents and policy files ([`number`], [`document`],
//! [`artifact`]), and `synth-queues` contains [`ctmc`] and [`law`]. The model, the rules, the
//! checker and the simulator for [`multiresource`] jobs are in `synth-multiresource`. Their
//! policies are computed by `synth-make`, and `synth-fit` creates a workload from a log
//! ([`trace`]). A kind of workload is defined in `synth-verb` ([`kind`], [`report`]), and the other
//! kinds are [`compatibility`], [`malleable`] and [`volunteer`]. The crates `synth-operator`,
//! `synth-advice`, `synth-slurm` ([`slurm`]) and `synth-slurm-bridge` are used to run a real
//! cluster or to give advice. The crates that create a policy and the crates that run or check it
//! do not depend on each other. They only have the policy file in common.
//!
//! ```
//! use synth::multiresource::artifact::Preemption;
//! use synth::multiresource::synthesis::{SynthesisOptions, SynthesisOutcome, synthesize};
//! use synth::multiresource::workload::Workload;
//!
//! let document = "
//! kind: multiresource
//! time_unit: s
//! server: {capacity: {cpu: 20, memory: 15}}
//! jobs:
//!   - {name: lean, demand: {cpu: 3, memory: 7}, arrival_rate: 0.45, mean_size: 1}
//!   - {name: wide, demand: {cpu: 10, memory: 1}, arrival_rate: 0.9, mean_size: 1}
//! ";
//! let workload = Workload::parse(document, "example")?.workload;
//! let options = SynthesisOptions::new(Preemption::None);
//! let SynthesisOutcome::Policy(synthesis) = synthesize(&workload, &options)? else {
//!     return Err("overloaded".into());
//! };
//! assert!(synthesis.artifact.evidence.proven);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Bibliography
//!
//! - Z. Chen, I. Grosof, B. Berg: Improving Multiresource Job Scheduling with Markovian Service
//!   Rate Policies. Proc. ACM Meas. Anal. Comput. Syst. 9(2), 2025 ("the MSR paper"). Corrections:
//!   in program (7), a factor `μ_i` is missing in `ρ_i`. The quadratic program is replaced by a
//!   linear one over columns. In theorem 8, this crate uses the distribution of the phases after a
//!   completion. There is one factor `μ_i` too many in lemma 9.
//! - Z. Chen, I. Grosof, B. Berg: Improving Nonpreemptive Multiserver Job Scheduling with
//!   Quickswap, 2025 ("the Quickswap paper"). The means for one-or-all are approximations in this
//!   paper, but they are exact in this crate.
//! - B. Berg, R. Vesilo, M. Harchol-Balter: heSRPT: Parallel Scheduling to Minimize Mean Slowdown.
//!   Performance Evaluation 144, 2020 ("the heSRPT paper"). Correction: `s(N)` is missing in
//!   theorem 2.
//! - "Server job scheduling", a proposal of the BOINC project, 2012 (`volunteer`). Corrections: an
//!   `else` that is missing, deadlines that only depend on tight jobs, no time for a retry, and
//!   fast hosts that take a batch home.
//! - D. A. Bini, B. Meini: On the solution of a nonlinear matrix equation arising in queueing
//!   problems. SIAM J. Matrix Anal. Appl. 17(4), 1996.
//! - A. A. Farley: A note on bounding a class of linear programming problems. Oper. Res. 38(5),
//!   1990.
//! - W. K. Grassmann, M. I. Taksar, D. P. Heyman: Regenerative analysis and steady state
//!   distributions for Markov chains. Operations Research 33(5), 1985.
//! - M. Held, R. M. Karp: A dynamic programming approach to sequencing problems. J. SIAM 10(1),
//!   1962.
//! - H. Heffes, D. M. Lucantoni: A Markov modulated characterization of packetized voice and data
//!   traffic. IEEE Journal on Selected Areas in Communications 4(6), 1986.
//! - D. L. Jagerman: Some properties of the Erlang loss function. Bell System Technical Journal
//!   53(3), 1974.
//! - E. L. Kaplan, P. Meier: Nonparametric estimation from incomplete observations. J. American
//!   Statistical Association 53, 1958.
//! - G. Latouche, V. Ramaswami: A logarithmic reduction algorithm for quasi-birth-death processes.
//!   J. Appl. Probab. 30(3), 1993.
//! - Y. Saad, M. H. Schultz: GMRES. SIAM J. Sci. Stat. Comput. 7(3), 1986.
//! - M. D. Vose: A linear algorithm for generating random numbers with a given distribution. IEEE
//!   Trans. Softw. Eng. 17(9), 1991.
//! - K. P. White: An effective truncation heuristic for bias reduction in simulation output.
//!   Simulation 69(6), 1997.

pub mod cli;
pub mod kinds;
pub mod multiresource;

pub use synth_compatibility as compatibility;
pub use synth_core::{artifact, document, number};
pub use synth_malleable as malleable;
pub use synth_queues::{ctmc, law};
pub use synth_simulation as simulation;
pub use synth_slurm::commands as slurm;
pub use synth_traces::trace;
pub use synth_typed as typed;
pub use synth_verb::{self as kind, report};
pub use synth_volunteer as volunteer;
