//! What is typed to make a policy.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use super::promise::promise;
use crate::kind::{Caller, Files, NamesFiles, VerbResult, json};
use crate::multiresource::artifact::{Backfill, EmptySlots, Objective, Preemption, Route};
use crate::multiresource::program::Limits;
use crate::multiresource::synthesis::{ChoiceOptions, Families, Log, Options};
use crate::multiresource::verbs::Request;
use crate::multiresource::workload::Workload;
use crate::typed::{count, positive, seconds, time};

/// What the proof that the mix is best, and that with the analysis, may have of the time for all; the rest is for
/// the choice by simulation, where there is one, and for the checker.
const PROOF: f64 = 0.3;
const ANALYSIS: f64 = 0.6;

/// What is typed beside the workload to make a policy.
#[derive(Args, Clone)]
pub struct SynthesisArgs {
    /// What may happen to a running job when the schedule changes
    #[arg(long, value_enum, default_value_t = Preemption::None)]
    pub(super) preemption: Preemption,

    /// Family of policies [default: the best of all, chosen by simulation]
    #[arg(long, value_enum)]
    pub(super) family: Option<Family>,

    /// γ, the rate of setups [1/time unit]; needed with `--preemption setup`
    #[arg(long, value_name = "γ", value_parser = positive, allow_negative_numbers = true)]
    pub(super) setup_rate: Option<f64>,

    /// α, switches per time unit of the preemptive loop; tuned if not given
    #[arg(long, value_name = "α", value_parser = positive, allow_negative_numbers = true)]
    pub(super) switching_rate: Option<f64>,

    /// The way between schedules: sequential-eager, concurrent-eager, concurrent-late or
    /// sequential-late; tuned if not given
    #[arg(long)]
    pub(super) route: Option<Route>,

    /// What happens with room that the schedule leaves, under msr [default: first-fit]
    #[arg(long, value_enum)]
    pub(super) backfill: Option<Backfill>,

    /// What happens with draining slots that hold no job, under msr [default: release]
    #[arg(long, value_enum)]
    pub(super) empty_slots: Option<EmptySlots>,

    /// What is minimized
    #[arg(long, value_enum, default_value = "mean")]
    pub(super) objective: Objective,

    /// What is promised of a job type, as in 'g8: wait 95 % < 6 h', or `response` for the whole stay; may
    /// be given several times. Of the policies that keep all, the best is chosen; where none does, nothing
    /// is written
    #[arg(long, value_name = "PROMISE")]
    pub(super) slo: Vec<String>,

    /// Work that may be done to tune and to choose, in events of First-Fit with few types; others take as much as they
    /// cost. 1e8 take some seven seconds of processor
    #[arg(long, value_name = "EVENTS", default_value = "4e8", value_parser = count)]
    budget: u64,

    /// Seed of the simulations: the same seed gives the same policy
    #[arg(long, default_value = "1")]
    seed: u64,

    /// How much work may go into exact analysis: 1 is about ten seconds; the time is
    /// proportional
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    effort: f64,

    /// Print the MSR paper's bounds and approximation beside the exact means; of one-or-all systems
    /// also the exact means of MSFQ, by its threshold
    #[arg(long)]
    pub(super) explain: bool,

    /// Also write what was tried, tuned and compared, as JSON (`-`: to standard output, with --output only)
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,

    /// Seconds, or such as 10min or 1h, that all of it may take; what is not proven, analysed or tried by then is not,
    /// the answer says so, and it depends on the machine [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<f64>,
}

impl NamesFiles for SynthesisArgs {
    fn files(&self) -> Files<'_> {
        (Vec::new(), self.log.iter().map(PathBuf::as_path).collect())
    }
}

impl SynthesisArgs {
    /// The log, where it is asked for, with its file.
    pub(super) fn documents(&self, log: &Log) -> VerbResult<Vec<(PathBuf, String)>> {
        let files = self.log.iter().cloned();
        files.map(|file| Ok((file, json(log)?))).collect()
    }

    /// A part of the time that is given, if any is.
    fn within(&self, part: f64) -> Option<Duration> {
        self.time.map(|limit| seconds(part * limit))
    }

    /// The options of an MSR policy.
    fn options(&self) -> Options {
        Options {
            setup_rate: self.setup_rate,
            switching_rate: self.switching_rate,
            route: self.route,
            backfill: self.backfill.unwrap_or(Backfill::FirstFit),
            empty_slots: self.empty_slots.unwrap_or(EmptySlots::Release),
            objective: self.objective,
            effort: self.effort,
            limits: Limits {
                time: self.within(PROOF).unwrap_or(Limits::default().time),
                ..Limits::default()
            },
            ..Options::new(self.preemption)
        }
    }

    /// The families among which the policy is chosen, by the options; none where it is made by analysis.
    fn families(&self) -> Result<Option<Families>, String> {
        let for_msr = [
            ("--route", self.route.is_some()),
            ("--switching-rate", self.switching_rate.is_some()),
            ("--explain", self.explain),
        ];
        let typed = for_msr.iter().find(|(_, typed)| *typed);
        let typed = typed.map(|(name, _)| *name);
        let family = match self.family {
            None if typed.is_some() => Family::Msr,
            family => family.unwrap_or(Family::Auto),
        };
        let families = match family {
            Family::Msr | Family::Partition => None,
            Family::Auto => Some(Families::All),
            Family::Pooled => Some(Families::Only(&["pooled", "pooled-easy"])),
            Family::Quickswap => Some(Families::Only(&["static-quickswap", "adaptive-quickswap"])),
            Family::AdaptiveMsr => Some(Families::Only(&["adaptive-msr"])),
            Family::Reserving => Some(Families::Only(&["reserving"])),
            Family::Tdc => Some(Families::Only(&["tdc"])),
            Family::MaxWeight => Some(Families::Only(&["max-weight", "max-weight-setup"])),
        };
        let drains = self.preemption == Preemption::None;
        let option = typed.filter(|name| family != Family::Msr && *name != "--explain");
        let preempts = matches!(family, Family::Msr | Family::MaxWeight | Family::Auto);
        let by_analysis = families.is_none();
        Err(if drains && family == Family::MaxWeight {
            "max-weight stops jobs: it goes with --preemption full, or setup".into()
        } else if !drains && !preempts {
            "of the families only msr and max-weight preempt: the others go with --preemption none"
                .into()
        } else if let Some(name) = option {
            format!("{name} goes with --family msr: leave it out, or that")
        } else if by_analysis && self.objective == Objective::P99 {
            "--objective p99 goes with families that are chosen by simulation: msr and partition are made by analysis".into()
        } else if by_analysis && !self.slo.is_empty() {
            "--slo goes with families that are chosen by simulation: msr and partition are made by analysis".into()
        } else {
            return Ok(families);
        })
    }

    /// All that is asked for; of a fleet the workload is its envelope.
    pub(super) fn request(&self, workload: &Workload, caller: &Caller<'_>) -> VerbResult<Request> {
        let now = Instant::now();
        let families = self.families()?;
        let promises = self.slo.iter().map(|text| promise(text, workload));
        Ok(Request {
            options: Options {
                end: self.within(ANALYSIS).map(|time| now + time),
                ..self.options()
            },
            by_analysis: families.is_none(),
            choice: ChoiceOptions {
                families: families.unwrap_or(Families::All),
                budget: self.budget,
                end: self.within(1.0).map(|time| now + time),
                seed: self.seed,
                promises: promises.collect::<Result<_, _>>()?,
                interrupt: caller.interrupt.clone(),
            },
        })
    }
}

/// The family, as typed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Family {
    /// A clock moves between the working schedules of the program: exact analysis, proved stable
    Msr,
    /// The types in turn, or the largest first until others starve; tuned by simulation
    Quickswap,
    /// Working schedules left and chosen by queue lengths; tuned by simulation
    AdaptiveMsr,
    /// First-Fit with a reservation that opens when it is worth the drain; tuned by simulation
    Reserving,
    /// What is worth most, with the price of the drain; tuned by simulation
    Tdc,
    /// The schedule of most weight, with --preemption full or setup; weights tuned by simulation
    MaxWeight,
    /// Slots for each type on the servers of a fleet: exact analysis, proved stable
    Partition,
    /// Over a fleet: First-Fit and its kin, EASY, and rules that keep room for short jobs; by simulation
    Pooled,
    /// The best of these, and of First-Fit, most and least servers first and EASY by mean sizes; with --preemption full, of
    /// msr, max-weight and ServerFilling; with setup, of all that do not preempt, msr and max-weight
    Auto,
}
