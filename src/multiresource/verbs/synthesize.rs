//! From a workload to a policy that passed the checker.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use super::progress;
use super::promise::promise;
use crate::kind::{Answer, Caller, Files, NamesFiles, VerbResult, json, unchecked};
use crate::multiresource::artifact::{
    Backfill, EmptySlots, Multiresource, Objective, Preemption, Route, check_within,
};
use crate::multiresource::optimum::{self, Ended};
use crate::multiresource::program::{Limits, Solution};
use crate::multiresource::report::{self, Synthesized};
use crate::multiresource::schedule::Schedule;
use crate::multiresource::synthesis::{
    self, ChoiceError, ChoiceOptions, Families, Log, MsfqOutlook, Options, Outcome, Pooling, Stage,
};
use crate::multiresource::workload::{Fleet, Workload};
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
    preemption: Preemption,

    /// Family of policies [default: the best of all, chosen by simulation]
    #[arg(long, value_enum)]
    family: Option<Family>,

    /// γ, the rate of setups [1/time unit]; needed with `--preemption setup`
    #[arg(long, value_name = "γ", value_parser = positive, allow_negative_numbers = true)]
    setup_rate: Option<f64>,

    /// α, switches per time unit of the preemptive loop; tuned if not given
    #[arg(long, value_name = "α", value_parser = positive, allow_negative_numbers = true)]
    switching_rate: Option<f64>,

    /// The way between schedules: sequential-eager, concurrent-eager, concurrent-late or
    /// sequential-late; tuned if not given
    #[arg(long)]
    route: Option<Route>,

    /// What happens with room that the schedule leaves, under msr [default: first-fit]
    #[arg(long, value_enum)]
    backfill: Option<Backfill>,

    /// What happens with draining slots that hold no job, under msr [default: release]
    #[arg(long, value_enum)]
    empty_slots: Option<EmptySlots>,

    /// What is minimized
    #[arg(long, value_enum, default_value = "mean")]
    objective: Objective,

    /// What is promised of a job type, as in 'g8: wait 95 % < 6 h', or `response` for the whole stay; may
    /// be given several times. Of the policies that keep all, the best is chosen; where none does, nothing
    /// is written
    #[arg(long, value_name = "PROMISE")]
    slo: Vec<String>,

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
    explain: bool,

    /// Also write what was tried, tuned and compared, as JSON (`-`: to standard output, with --output only)
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

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
    /// Returns a part of the time that is given, if any is.
    fn within(&self, part: f64) -> Option<Duration> {
        self.time.map(|limit| seconds(part * limit))
    }

    /// Returns the options of an MSR policy, from which every choice begins.
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

    /// Returns the families among which the policy is chosen, by the options; none where it is derived by analysis.
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
            Family::Msr | Family::Partition | Family::MsfqStrict => None,
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
            "--objective p99 goes with families that are chosen by simulation: msr, msfq-strict and partition are made by analysis".into()
        } else if by_analysis && !self.slo.is_empty() {
            "--slo goes with families that are chosen by simulation: msr, msfq-strict and partition are made by analysis".into()
        } else {
            return Ok(families);
        })
    }

    /// Returns the options of the synthesis.
    fn request(&self, workload: &Workload, caller: &Caller<'_>) -> VerbResult<Request> {
        let (now, families) = (Instant::now(), self.families()?);
        let promises = self.slo.iter().map(|text| promise(text, workload));
        Ok(Request {
            options: Options {
                end: self.within(ANALYSIS).map(|time| now + time),
                ..self.options()
            },
            by_analysis: families.is_none(),
            is_msfq: self.family == Some(Family::MsfqStrict),
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
    /// MSFQ to the letter of the Quickswap paper, where one of two types needs the whole server: exact means, and the
    /// threshold that is best by them, proved stable
    MsfqStrict,
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

/// How a policy is made.
struct Request {
    options: Options,
    /// Whether it is made by analysis alone: Markovian Service Rate on one server, over a fleet slots for each type. Else
    /// it is chosen by simulation.
    by_analysis: bool,
    /// Whether that is of MSFQ.
    is_msfq: bool,
    choice: ChoiceOptions,
}

/// Makes a policy, and has it checked: of one server or over all servers of a fleet, whose jobs wait in one place.
///
/// # Errors
/// When what is asked for does not go together, when the solver fails, and when the checker finds
/// fault with the policy.
pub fn synthesize(
    fleet: &Fleet,
    args: &SynthesisArgs,
    caller: &mut Caller<'_>,
) -> VerbResult<Answer<Multiresource>> {
    let mut args = args.clone();
    let mut stops_nothing = "";
    if fleet.is_one_server() {
        if matches!(args.family, Some(Family::Partition | Family::Pooled)) {
            return Err(OVER_A_FLEET.into());
        }
    } else {
        goes_with_a_fleet(&args)?;
        // Rules over all servers stop nothing.
        if args.preemption != Preemption::None {
            stops_nothing = STOPS_NOTHING;
        }
        (args.preemption, args.setup_rate) = (Preemption::None, None);
    }
    let (workload, width) = (fleet.envelope(), caller.width);
    let request = args.request(workload, caller)?;
    let mut listener = progress(caller);
    listener("solving the program");
    let outcome = match fleet.one_server() {
        Some(workload) => of_server(workload, &request, &mut listener),
        None => over_fleet(fleet, &request, &mut listener),
    };
    let (found, log) = match outcome {
        Ok(Outcome::Policy(found)) => *found,
        Ok(Outcome::Overloaded(overload)) => {
            let upgrades = synthesis::upgrades(fleet, &request.options, &[]);
            return Ok(Answer::Refused {
                why: report::refusal(fleet, &overload, &upgrades, width),
                decided: overload.decided,
            });
        }
        Err(error) => match error.downcast_ref() {
            Some(ChoiceError::Broken(why)) => {
                let (why, decided) = (why.clone(), true);
                return Ok(Answer::Refused { why, decided });
            }
            _ => return Err(error),
        },
    };
    // As far as the checker gets in the time that is left.
    let left = synthesis::left(request.choice.end).as_secs_f64();
    let work = LEAST_CHECK.max(1e9 * left);
    check_within(found.artifact(), work).map_err(|findings| unchecked(&findings))?;
    let mut summary = report::synthesis(fleet, &found, &log, width) + stops_nothing;
    if args.explain || request.is_msfq {
        if let Synthesized::Analysed(analysed) = &found {
            let bounds = synthesis::paper_bounds(workload, &analysed.policy)?;
            let analysed = (&analysed.artifact, &log);
            summary += "\n";
            summary += &report::explain(workload, analysed, &bounds, width);
        }
        // The exact means of MSFQ, where it is for this workload: they wait for no simulation.
        if let Some(outlook) = MsfqOutlook::new(workload, request.options.objective) {
            summary += &report::thresholds(workload, &outlook, width);
        }
    }
    let files = args.log.iter().cloned();
    let documents = files.map(|file| Ok((file, json(&log)?)));
    Ok(Answer::Policy {
        documents: documents.collect::<VerbResult<_>>()?,
        artifact: Box::new(found.artifact().clone()),
        summary,
    })
}

const OVER_A_FLEET: &str =
    "this family is a rule over a fleet, and here is one server: take another --family";

/// Printed where preemption is allowed.
const STOPS_NOTHING: &str = "\nNo job is stopped: rules over a fleet do not preempt.\n";

/// Refuses options that are about one server.
fn goes_with_a_fleet(args: &SynthesisArgs) -> Result<(), String> {
    use Family::{Auto, Partition, Pooled};
    let typed = [
        ("--backfill", args.backfill.is_some()),
        ("--empty-slots", args.empty_slots.is_some()),
        ("--route", args.route.is_some()),
        ("--switching-rate", args.switching_rate.is_some()),
        ("--explain", args.explain),
        (
            "this --family",
            !matches!(args.family, None | Some(Auto | Pooled | Partition)),
        ),
    ];
    match typed.iter().find(|(_, typed)| *typed) {
        Some((name, _)) => Err(format!(
            "{name} goes with one server, and the workload is a fleet: leave it out, or take --family auto, pooled or partition"
        )),
        None => Ok(()),
    }
}

/// Work that goes into what the checker solves anew even where no time is left, roughly in nanoseconds.
const LEAST_CHECK: f64 = 5e8;

/// Tells a stage of a choice.
fn telling(listener: &mut dyn FnMut(&str)) -> impl FnMut(Stage) {
    |stage| {
        let spent = 100.0 * stage.spent;
        listener(&format!("{} ({spent:.0} % of the budget)", stage.what));
    }
}

/// Makes the policy of one server: its MSR policy, or what is chosen by simulation.
fn of_server(
    workload: &Workload,
    request: &Request,
    listener: &mut dyn FnMut(&str),
) -> VerbResult<Outcome<(Synthesized, Log)>> {
    let options = &request.options;
    if request.is_msfq {
        return strict_msfq(workload, options);
    }
    let msr = match synthesis::synthesize(workload, options)? {
        Outcome::Policy(msr) => msr,
        Outcome::Overloaded(overload) => return Ok(Outcome::Overloaded(overload)),
    };
    // Before the choice, which takes all the time that there is.
    let known = [msr.policy.schedules.clone()];
    let mut log = Log {
        upgrades: synthesis::upgrades(&workload.clone().into(), options, &known),
        ..Log::of(&msr)
    };
    if request.by_analysis {
        return Ok(Outcome::Policy(Box::new((Synthesized::Analysed(msr), log))));
    }
    listener("simulating candidates");
    let stages = telling(listener);
    let chosen = synthesis::choose(workload, options, &request.choice, msr, stages)?;
    log.choice = chosen.choice.clone();
    let optimum = in_passing(workload, request).map(|least| (least, options.preemption));
    let found = Synthesized::Chosen(Box::new(chosen), optimum);
    Ok(Outcome::Policy(Box::new((found, log))))
}

/// Makes strict MSFQ with the threshold that is best by its exact means.
fn strict_msfq(workload: &Workload, options: &Options) -> VerbResult<Outcome<(Synthesized, Log)>> {
    let (chosen, solution) = match synthesis::strict_msfq(workload, options, None)? {
        Outcome::Policy(policy) => *policy,
        Outcome::Overloaded(overload) => return Ok(Outcome::Overloaded(overload)),
    };
    let known = [solution.mixes[0].schedules.clone()];
    let log = Log {
        rounds: solution.rounds,
        columns: solution.columns,
        upgrades: synthesis::upgrades(&workload.clone().into(), options, &known),
        ..Log::default()
    };
    let found = Synthesized::Chosen(Box::new(chosen), None);
    Ok(Outcome::Policy(Box::new((found, log))))
}

/// Makes a rule over all servers of a fleet: slots for each type by analysis, else the best by simulation.
fn over_fleet(
    fleet: &Fleet,
    request: &Request,
    listener: &mut dyn FnMut(&str),
) -> VerbResult<Outcome<(Synthesized, Log)>> {
    let pooling = if request.by_analysis {
        Pooling::Partition
    } else {
        Pooling::Chosen(&request.choice)
    };
    let pooled = synthesis::pool(fleet, &request.options, pooling, telling(listener))?;
    let (chosen, solution) = match pooled {
        Outcome::Policy(policy) => *policy,
        Outcome::Overloaded(overload) => return Ok(Outcome::Overloaded(overload)),
    };
    let known = known_schedules(fleet, &solution);
    let log = Log {
        rounds: solution.rounds,
        columns: solution.columns,
        choice: chosen.choice.clone(),
        upgrades: synthesis::upgrades(fleet, &request.options, &known),
        ..Log::default()
    };
    let found = Synthesized::Chosen(Box::new(chosen), None);
    Ok(Outcome::Policy(Box::new((found, log))))
}

/// Returns the schedules of the mixes of each shape (H), over all types.
fn known_schedules(fleet: &Fleet, solution: &Solution) -> Vec<Vec<Schedule>> {
    let shapes = fleet.shapes().iter().zip(&solution.mixes);
    let of_shape = shapes.map(|(shape, mix)| {
        let wide = |own: &Schedule| {
            let mut all = vec![0; fleet.types().len()];
            let places = shape.types().iter().zip(own);
            places.for_each(|(&i, jobs)| all[i] = *jobs);
            all
        };
        mix.schedules.iter().map(wide).collect()
    });
    of_shape.collect()
}

/// Returns what no policy without preemption can beat, where that costs little beside a choice.
fn in_passing(workload: &Workload, request: &Request) -> Option<f64> {
    if workload.known().is_some() {
        return None;
    }
    let (sought, choice) = (request.options.problem(), &request.choice);
    let limits = optimum::Limits::in_passing().within(synthesis::left(choice.end));
    let found = optimum::optimum(workload, sought, &limits, &choice.interrupt, |_| ());
    let found = found.ok().filter(|found| found.ended == Ended::Close);
    found.map(|found| found.lower)
}
