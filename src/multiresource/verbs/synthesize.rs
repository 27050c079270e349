//! From a workload to a policy that passed the checker.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;

use super::family::{Family, FamilyName, Sought};
use super::fit;
use super::promise::promise;
use super::size::Sizes;
use super::solve::{SolveRequest, Solved, floor, solve};
use crate::kind::{
    Caller, Files, NamesFiles, Notice, SynthesisAnswer, VerbResult, files, json, refuse, unchecked,
};
use crate::multiresource::artifact::{
    Backfill, Family as Rule, Multiresource, Objective, Preemption, Route, check_within,
};
use crate::multiresource::program::SolveLimits;
use crate::multiresource::report::{self, Synthesized};
use crate::multiresource::synthesis::{
    self, BUDGET, ChoiceOptions, Families, MsfqOutlook, SynthesisLog, SynthesisOptions,
};
use crate::multiresource::workload::Fleet;
use crate::trace;
use crate::typed::{count, positive, seconds, time};
use synth_advice::verbs::judge::Criteria;

/// What the proof that the mix is best, and that with the analysis, may have of the time for all; the rest is for
/// the choice by simulation, where there is one, and for the checker.
const PROOF: f64 = 0.3;
const ANALYSIS: f64 = 0.6;

/// Budget of a selection by simulation for one of several sizes, and of the claims of a policy that was selected on a log, in
/// events of First-Fit with few types.
const BUDGET_OF_A_SIZE: u64 = 40_000_000;
const BUDGET_ON_LOGS: u64 = 1_000_000;

/// What is typed beside the workload to make a policy.
#[derive(Args, Clone)]
pub struct SynthesisArgs {
    /// What may happen to a running job when the schedule changes [default: none, or what the rule of --family needs]
    #[arg(long, value_enum)]
    preemption: Option<Preemption>,

    /// Family of policies, or a rule by its name [default: auto, the best of all, chosen by simulation]
    ///
    /// By analysis, proved stable: msr (a clock moves between the working schedules of the program), msfq-strict (MSFQ to the
    /// letter of its paper, where one of two types needs the whole server; with the best threshold, for which `compare` does not
    /// look, or msfq-strict:20), over a fleet partition (slots for each type). Tuned by simulation: quickswap (the types in turn, or the largest first until others starve),
    /// adaptive-msr (working schedules left and chosen by queue lengths), reserving (First-Fit with a reservation that
    /// opens when it is worth the drain), tdc (what is worth most, with the price of the drain); with --preemption full or
    /// setup tuned-max-weight (the schedule of most weight); over a fleet pooled (First-Fit and its kin, EASY, and rules
    /// that keep room for short jobs). auto: the best of these, and of First-Fit, most and least servers first and EASY by
    /// mean sizes; with --preemption full, of msr, tuned-max-weight and ServerFilling; with setup, of all that do not
    /// preempt, msr and tuned-max-weight. Any other name is that of a rule, as it is (`synth rules` lists them):
    /// first-fit, msfq:20
    #[arg(long, value_name = "NAME")]
    family: Option<FamilyName>,

    /// A policy of your own: schedules with weights or rates of an MSR policy, to be analysed, or the turns of Static
    /// Quickswap, to be simulated (docs/policies.md)
    #[arg(long, value_name = "FILE", conflicts_with = "family")]
    policy: Option<PathBuf>,

    /// Choose the order of the queue on this log of jobs, instead of by simulation; where no workload is given, it is
    /// made of the log, too. Its times count in seconds
    #[arg(id = "trace", long = "trace", value_name = "LOG", conflicts_with_all = ["family", "policy"])]
    log_of_jobs: Option<PathBuf>,

    #[command(flatten)]
    criteria: Criteria,

    #[command(flatten)]
    reading: trace::ReadOptions,

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

    /// What is minimized
    #[arg(long, value_enum, default_value = "mean")]
    objective: Objective,

    /// What is promised of a job type, as in 'g8: wait 95 % < 6 h', or `response` for the whole stay; may
    /// be given several times. Of the policies that keep all, the best is chosen; where none does, nothing
    /// is written
    #[arg(long, value_name = "PROMISE")]
    slo: Vec<String>,

    /// Find how many servers of this shape, or on one server how much of this resource, are the least with which a policy is
    /// found that keeps every --slo, and make it for that. Jobs come as they do now
    #[arg(long, value_name = "NAME", requires = "slo", conflicts_with_all = ["time", "trace", "policy"])]
    size: Option<String>,

    /// Work that may be done to tune and to choose, in events of First-Fit with few types; others take as much as they
    /// cost. 1e8 take some seven seconds of processor [default: 4e8; for each size of --size 4e7; with --trace 1e6, for what is
    /// claimed alone]
    #[arg(long, value_name = "EVENTS", value_parser = count)]
    budget: Option<u64>,

    /// Seed of the simulations: the same seed gives the same policy
    #[arg(long, default_value = "1")]
    seed: u64,

    /// How much work may go into exact analysis: 1 is about ten seconds; the time is
    /// proportional
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    effort: f64,

    /// Say how it was found, too: the proof, all families that were compared, schedules, what to buy
    #[arg(long, short)]
    verbose: bool,

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
        files(self.policy.iter().chain(&self.log_of_jobs), &self.log)
    }
}

impl SynthesisArgs {
    /// Returns a part of the time limit, if there is one.
    fn within(&self, part: f64) -> Option<Duration> {
        self.time.map(|limit| seconds(part * limit))
    }

    /// Returns the options of an MSR policy, from which every choice begins.
    fn options(&self) -> SynthesisOptions {
        SynthesisOptions {
            setup_rate: self.setup_rate,
            switching_rate: self.switching_rate,
            route: self.route,
            backfill: self.backfill.unwrap_or(Backfill::FirstFit),
            objective: self.objective,
            effort: self.effort,
            limits: SolveLimits {
                time: self.within(PROOF).unwrap_or(SolveLimits::default().time),
                ..SolveLimits::default()
            },
            ..SynthesisOptions::new(self.preemption())
        }
    }

    /// Returns the preemption that is allowed.
    fn preemption(&self) -> Preemption {
        let of_rule = || self.family.as_ref().map(FamilyName::preemption);
        self.preemption.or_else(of_rule).unwrap_or(Preemption::None)
    }

    /// Returns which policies are considered, by the options.
    fn sought(&self, fleet: &Fleet) -> VerbResult<Sought> {
        let typed = first_typed(&[
            ("--route", self.route.is_some()),
            ("--switching-rate", self.switching_rate.is_some()),
        ]);
        let sought = match (&self.policy, &self.family) {
            (Some(file), _) => Sought::read(file, fleet)?,
            (None, Some(family)) => family.sought(self.preemption(), fleet)?,
            (None, None) if typed.is_some() => Sought::Analysed,
            (None, None) => Sought::Among(Families::All),
        };
        let simulated = first_typed(&[
            ("--objective p99", self.objective == Objective::P99),
            ("--slo", !self.slo.is_empty()),
        ]);
        match (&sought, typed, simulated) {
            (Sought::Among(_) | Sought::StrictMsfq(_), Some(name), _) => refuse(format!(
                "{name} goes with --family msr: leave it out, or that"
            )),
            (Sought::Own(own), Some(_), _)
                if own.rates.is_some() && self.switching_rate.is_some() =>
            {
                refuse(
                    "the rates of --policy say how often it switches: leave --switching-rate out",
                )
            }
            (Sought::Own(_) | Sought::Analysed | Sought::StrictMsfq(_), _, Some(name)) => {
                refuse(format!(
                    "{name} goes with families that are chosen by simulation: msr, msfq-strict and partition are made by analysis"
                ))
            }
            _ => Ok(sought),
        }
    }

    /// Returns the options of the synthesis.
    fn request(&self, fleet: &Fleet, caller: &Caller<'_>) -> VerbResult<SolveRequest> {
        let (now, sought) = (Instant::now(), self.sought(fleet)?);
        let families = match &sought {
            Sought::Among(families) => families.clone(),
            _ => Families::All,
        };
        let promises = self.slo.iter();
        let promises = promises.map(|text| promise(text, fleet.envelope()));
        Ok(SolveRequest {
            options: SynthesisOptions {
                end: self.within(ANALYSIS).map(|time| now + time),
                ..self.options()
            },
            sought,
            choice: ChoiceOptions {
                families,
                budget: self.budget.unwrap_or(match &self.size {
                    Some(_) => BUDGET_OF_A_SIZE,
                    None if self.log_of_jobs.is_some() => BUDGET_ON_LOGS,
                    None => BUDGET,
                }),
                end: self.within(1.0).map(|time| now + time),
                seed: self.seed,
                promises: promises.collect::<Result<_, _>>()?,
                interrupt: caller.interrupt.clone(),
            },
        })
    }
}

/// Fits a workload to the log of jobs, if there is one.
///
/// # Errors
/// When it cannot be read or fitted.
pub fn workload_of_log(args: &SynthesisArgs, caller: &mut Caller<'_>) -> VerbResult<Option<Fleet>> {
    let file = args.log_of_jobs.as_ref();
    file.map(|file| fit::workload_of(file, &args.reading, caller))
        .transpose()
}

/// Makes a policy, and has it checked: of one server or over all servers of a fleet, whose jobs wait in one place.
///
/// # Errors
/// When the options do not go together, when the solver fails, and when the checker finds
/// fault with the policy.
pub fn synthesize(
    fleet: &Fleet,
    args: &SynthesisArgs,
    caller: &mut Caller<'_>,
) -> VerbResult<SynthesisAnswer<Multiresource>> {
    fleet.counts_amounts()?;
    let mut args = args.clone();
    let mut stops_nothing = "";
    if fleet.is_one_server() {
        if let Some(FamilyName::Family(Family::Partition | Family::Pooled)) = args.family {
            return refuse(OVER_A_FLEET);
        }
    } else {
        goes_with_a_fleet(&args)?;
        // Rules over all servers stop nothing.
        if args.preemption() != Preemption::None {
            stops_nothing = STOPS_NOTHING;
        }
        (args.preemption, args.setup_rate) = (Some(Preemption::None), None);
    }
    let width = caller.width;
    if let Some(file) = &args.log_of_jobs {
        match args.criteria.best((file, &args.reading), fleet, caller) {
            Ok(Ok(policy)) => args.family = Some(FamilyName::Rule(Rule::from(policy).into())),
            Ok(Err(why)) => return Ok(SynthesisAnswer::Refused { why, decided: true }),
            Err(_) if caller.interrupt.load(Ordering::Relaxed) => {
                return Ok(SynthesisAnswer::Interrupted);
            }
            Err(why) => return Err(why),
        }
    }
    let is_own = args.policy.is_some() || matches!(args.family, Some(FamilyName::Rule(_)));
    if fleet.envelope().has_priorities() && !is_own {
        caller.notify(Notice::Known(NO_PRIORITIES));
    }
    let request = args.request(fleet, caller)?;
    let mut listener = caller.doing();
    listener("solving the program");
    let refused = |why, decided| Ok(SynthesisAnswer::Refused { why, decided });
    let (size, found, mut summary) = match &args.size {
        Some(name) => match Sizes::named(name, fleet)?.least(&request, width, &mut listener)? {
            Ok(found) => found,
            Err(answer) => return Ok(answer),
        },
        None => match solve(fleet, &request, &mut listener)? {
            Solved::Policy(found) => (fleet.clone(), found, String::new()),
            Solved::Overloaded(overload) => {
                let upgrades = synthesis::upgrades(fleet, &request.options, &[]);
                let why = report::refusal(fleet, &overload, &upgrades, width);
                return refused(why, overload.decided);
            }
            Solved::Unkept(nearest) => return refused(nearest.why, true),
            Solved::Broken(why) => return refused(why, true),
        },
    };
    let (found, log) = checked(&size, &args, &request, *found)?;
    summary += &report::summary(&size, &found, &log, args.verbose, width);
    summary += stops_nothing;
    summary += &thresholds(&size, &request, &found, width).unwrap_or_default();
    let documents = args.log.iter().map(|file| Ok((file.clone(), json(&log)?)));
    Ok(SynthesisAnswer::Policy {
        documents: documents.collect::<VerbResult<_>>()?,
        artifact: Box::new(found.artifact().clone()),
        summary,
    })
}

/// Returns a policy once the checker has found it valid; its log has what no policy can beat, if that is printed or written.
fn checked(
    fleet: &Fleet,
    args: &SynthesisArgs,
    request: &SolveRequest,
    (found, mut log): (Synthesized, SynthesisLog),
) -> VerbResult<(Synthesized, SynthesisLog)> {
    // As far as the checker gets in the time that is left.
    let left = synthesis::left(request.choice.end).as_secs_f64();
    let work = LEAST_CHECK.max(1e9 * left);
    check_within(found.artifact(), work).map_err(|findings| unchecked(&findings))?;
    if (args.verbose || args.log.is_some()) && matches!(found, Synthesized::Chosen(_)) {
        log.lower_bound = floor(fleet, request);
    }
    Ok((found, log))
}

/// Describes strict MSFQ by its threshold, if such a policy was asked for.
fn thresholds(
    fleet: &Fleet,
    request: &SolveRequest,
    found: &Synthesized,
    width: usize,
) -> Option<String> {
    let Sought::StrictMsfq(_) = request.sought else {
        return None;
    };
    let workload = fleet.envelope();
    let outlook = MsfqOutlook::new(workload, request.options.objective)?;
    let own = match found.artifact().policy.followed() {
        Rule::StaticQuickswap(own) => own.thresholds.get(outlook.system.light),
        _ => None,
    };
    let own = own.copied();
    Some(report::thresholds(workload, &outlook, own, width))
}

const OVER_A_FLEET: &str =
    "this family is a rule over a fleet, and here is one server: take another --family";

const NO_PRIORITIES: &str = "The families of policies ignore the priorities of the workload: `--family priority` and `--family strict-priority` follow them.";

/// Printed where preemption is allowed.
const STOPS_NOTHING: &str = "\nNo job is stopped: rules over a fleet do not preempt.\n";

/// Refuses options that are about one server.
fn goes_with_a_fleet(args: &SynthesisArgs) -> Result<(), String> {
    use Family::{Auto, Partition, Pooled};
    let is_of_server = match args.family {
        Some(FamilyName::Family(family)) => !matches!(family, Auto | Pooled | Partition),
        Some(FamilyName::Rule(_)) | None => false,
    };
    let typed = first_typed(&[
        ("--backfill", args.backfill.is_some()),
        ("--route", args.route.is_some()),
        ("--switching-rate", args.switching_rate.is_some()),
        ("this --family", is_of_server),
    ]);
    match typed {
        Some(name) => Err(format!(
            "{name} goes with one server, and the workload is a fleet: leave it out, or take --family auto, pooled or partition"
        )),
        None => Ok(()),
    }
}

/// Returns the first of these options that was typed.
fn first_typed(options: &[(&'static str, bool)]) -> Option<&'static str> {
    let typed = options.iter().find(|(_, is_typed)| *is_typed);
    typed.map(|(name, _)| *name)
}

/// Work that goes into what the checker solves anew even where no time is left, roughly in nanoseconds.
const LEAST_CHECK: f64 = 5e8;
