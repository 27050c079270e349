//! Reads the log of a real cluster, and replays its jobs with a different policy.
//!
//! - A [`Trace`](trace::Trace) is a log that is being read. Its format is detected, and each line
//!   that is not used as written is counted in an [`Account`](trace::Account).
//! - A [`Log`](replay::Log) contains all of the jobs of a trace and the servers of the cluster.
//! - The function [`replay`](replay::replay) submits the jobs of a log again with a different rule.
//!   The results for each job are returned by [`visits`](replay::visits).
//!
//! In the example, a cluster with four processors runs three jobs. The third job was started at
//! time 20, but a processor was already free at time 10, so First-Fit starts it then.
//!
//! ```
//! use synth_multiresource::simulator::Contender;
//! use synth_traces::replay::{Clock, DecisionState, DemandKinds, Log, Speed};
//! use synth_traces::replay::{replay, replay_workload, visits};
//! use synth_traces::trace::{ReadOptions, Servers, Source};
//!
//! let text = "time,start,end,cpu\n0,0,10,4\n1,10,20,3\n2,20,25,1\n";
//! let source = Source::Text("jobs.csv".into(), text.into());
//! let servers = Some(Servers::shapes("cpu=4")?);
//! let options = ReadOptions { servers, ..ReadOptions::default() };
//! let (log, _) = Log::of_source(&source, &options, &mut |_| ())?;
//! let clock = Clock::whole(Speed::ONE);
//! let demands = DemandKinds::exact(&log);
//! let (fleet, types) = replay_workload(&log, &log.jobs, &demands, clock, 0.0, false)?;
//! let state = DecisionState::new(&log.jobs, types, fleet, clock);
//! let replayed = replay(&Contender::parse("first-fit")?, &state, &mut |_| true)?;
//! let starts: Vec<f64> = visits(&state, &replayed, 1.0).map(|visit| visit.start).collect();
//! assert_eq!(starts, [0.0, 10.0, 10.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The modules [`trace`] and [`replay`] explain how times and demands are represented. The
//! supported formats are described in `docs/reference/traces.md`.

pub mod replay;
pub mod trace;
