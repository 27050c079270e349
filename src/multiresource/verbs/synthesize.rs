//! From a workload to a policy that passed the checker.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;

use super::family::{Family, FamilyName, Sought};
use super::promise::promise;
use super::size::Sizes;
use super::solve::{SolveRequest, Solved, floor, solve};
use crate::kind::{
    Caller, Files, NamesFiles, Notice, SynthesisAnswer, VerbResult, document, files, refuse,
    unchecked,
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
use crate::report::Section;
use crate::typed::{count, positive, seconds, time};

/// What the proof that the mix is best, and that with the analysis, may have of the time for all; the rest is for
/// the choice by simulation, where there is one, and for the checker.
const PROOF: f64 = 0.3;
const ANALYSIS: f64 = 0.6;

/// Budget of a selection by simulation for one of several sizes, in events of First-Fit with few types.
const BUDGET_OF_A_SIZE: u64 = 40_000_000;

/// What may be typed for every verb that makes a policy.
#[derive(Args, Clone, Default)]
pub struct MakingArgs {
    /// What may happen to a running job when the schedule changes [default: none, or what the rule of --family needs]
    #[arg(long, value_enum)]
    preemption: Option<Preemption>,

    /// γ, the rate of setups [1/time unit]; needed with `--preemption setup`
    #[arg(long, value_name = "γ", value_parser = positive, allow_negative_numbers = true)]
    setup_rate: Option<f64>,

    /// The metric to minimize
    #[arg(long, value_enum, default_value = "mean")]
    minimize: Objective,

    /// A target for the jobs of a type, as in 'g8: wait 95 % < 6 h', or `response` for the whole stay; may be given several
    /// times. The best of the policies that keep all targets is selected; if none does, nothing is written
    #[arg(long, value_name = "TARGET")]
    slo: Vec<String>,

    /// Work that may be done to tune, select and analyse, in events of First-Fit with few types. 1e8 takes some seven seconds
    /// of processor time on any machine [default: 4e8; for each size of `synth size` 4e7]
    #[arg(long, value_name = "EVENTS", value_parser = count)]
    work: Option<u64>,

    /// Seed of the simulations: the same seed gives the same policy
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// What is typed beside the workload to make a policy.
#[derive(Args, Clone, Default)]
pub struct SynthesisArgs {
    #[command(flatten)]
    making: MakingArgs,

    /// Explain how the policy was found, too: the proof, all families that were compared, schedules, what to buy
    #[arg(long, short)]
    verbose: bool,

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

    #[command(flatten)]
    msr: MsrArgs,

    /// Also write what was tried, tuned and compared, as JSON (`-`: to standard output, with --output only)
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Seconds, or such as 10min or 1h, that all of it may take; what is not proven, analysed or tried by then is not,
    /// the answer says so, and it depends on the machine [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<f64>,

    /// A policy of the user's own, which is analysed or simulated.
    #[arg(skip)]
    own: Option<PathBuf>,

    /// The shape or resource of which the least amount is sought that keeps all targets.
    #[arg(skip)]
    size: Option<String>,
}

/// What may be typed for policies of the family msr.
#[derive(Args, Clone, Default)]
pub struct MsrArgs {
    /// α, switches per time unit of the preemptive loop; tuned if not given
    #[arg(long, value_name = "α", value_parser = positive, allow_negative_numbers = true)]
    switching_rate: Option<f64>,

    /// The way between schedules: sequential-eager, concurrent-eager, concurrent-late or
    /// sequential-late; tuned if not given
    #[arg(long)]
    route: Option<Route>,

    /// What happens with capacity that the schedule leaves [default: first-fit]
    #[arg(long, value_enum)]
    backfill: Option<Backfill>,
}

impl MsrArgs {
    /// Returns the first option that was typed, of those that are for one server.
    fn typed(&self) -> Option<&'static str> {
        first_typed(&[
            ("--route", self.route.is_some()),
            ("--switching-rate", self.switching_rate.is_some()),
        ])
    }
}

impl NamesFiles for SynthesisArgs {
    fn files(&self) -> Files<'_> {
        files(&self.own, &self.log)
    }
}

impl SynthesisArgs {
    /// Returns the arguments for a policy of the user's own.
    pub(super) fn of_own(policy: &Path, making: &MakingArgs, msr: &MsrArgs) -> Self {
        SynthesisArgs {
            making: making.clone(),
            msr: msr.clone(),
            verbose: true,
            own: Some(policy.to_owned()),
            ..SynthesisArgs::default()
        }
    }

    /// Returns the arguments for the least amount of this shape or resource that keeps all targets.
    pub(super) fn of_size(
        name: &str,
        family: &Option<FamilyName>,
        making: &MakingArgs,
        verbose: bool,
    ) -> Self {
        SynthesisArgs {
            family: family.clone(),
            making: making.clone(),
            verbose,
            size: Some(name.to_owned()),
            ..SynthesisArgs::default()
        }
    }

    /// Returns a part of the time limit, if there is one.
    fn within(&self, part: f64) -> Option<Duration> {
        self.time.map(|limit| seconds(part * limit))
    }

    /// Returns the work that may be done, by default this much.
    fn work(&self, default: u64) -> u64 {
        self.making.work.unwrap_or(default)
    }

    /// Returns the options of an MSR policy, from which every choice begins.
    fn options(&self, sought: &Sought) -> SynthesisOptions {
        let effort = self.work(BUDGET) as f64 / BUDGET as f64;
        // A selection by simulation leaves its work to the simulations.
        let effort = match sought {
            Sought::Among(_) => effort.max(1.0),
            _ => effort,
        };
        SynthesisOptions {
            setup_rate: self.making.setup_rate,
            switching_rate: self.msr.switching_rate,
            route: self.msr.route,
            backfill: self.msr.backfill.unwrap_or(Backfill::FirstFit),
            objective: self.making.minimize,
            effort,
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
        let typed = self.making.preemption.or_else(of_rule);
        typed.unwrap_or(Preemption::None)
    }

    /// Returns which policies are considered, by the options.
    fn sought(&self, fleet: &Fleet) -> VerbResult<Sought> {
        let typed = self.msr.typed();
        let sought = match (&self.own, &self.family) {
            (Some(file), _) => Sought::read(file, fleet)?,
            (None, Some(family)) => family.sought(self.preemption(), fleet)?,
            (None, None) if typed.is_some() => Sought::Analysed,
            (None, None) => Sought::Among(Families::All),
        };
        let simulated = first_typed(&[
            ("--minimize p99", self.making.minimize == Objective::P99),
            ("--slo", !self.making.slo.is_empty()),
        ]);
        match (&sought, typed, simulated) {
            (Sought::Among(_) | Sought::StrictMsfq(_), Some(name), _) => refuse(format!(
                "{name} goes with --family msr: leave it out, or that"
            )),
            (Sought::Own(own), Some(_), _)
                if own.rates.is_some() && self.msr.switching_rate.is_some() =>
            {
                refuse(
                    "the rates of the policy say how often it switches: leave --switching-rate out",
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
        let promises = self.making.slo.iter();
        let promises = promises.map(|text| promise(text, fleet.envelope()));
        Ok(SolveRequest {
            options: SynthesisOptions {
                end: self.within(ANALYSIS).map(|time| now + time),
                ..self.options(&sought)
            },
            sought,
            choice: ChoiceOptions {
                families,
                budget: self.work(match &self.size {
                    Some(_) => BUDGET_OF_A_SIZE,
                    None => BUDGET,
                }),
                end: self.within(1.0).map(|time| now + time),
                seed: self.making.seed,
                promises: promises.collect::<Result<_, _>>()?,
                interrupt: caller.interrupt.clone(),
            },
        })
    }
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
    let mut stops_nothing = None;
    if fleet.is_one_server() {
        if let Some(FamilyName::Family(Family::Partition | Family::Pooled)) = args.family {
            return refuse(OVER_A_FLEET);
        }
    } else {
        goes_with_a_fleet(&args)?;
        // Rules over all servers stop nothing.
        if args.preemption() != Preemption::None {
            stops_nothing = Some(STOPS_NOTHING);
        }
        args.making.preemption = Some(Preemption::None);
        args.making.setup_rate = None;
    }
    let is_own = args.own.is_some() || matches!(args.family, Some(FamilyName::Rule(_)));
    if fleet.envelope().has_priorities() && !is_own {
        caller.notify(Notice::Known(NO_PRIORITIES));
    }
    let request = args.request(fleet, caller)?;
    let mut listener = caller.doing();
    listener("solving the program");
    let refused = |why, decided| Ok(SynthesisAnswer::Refused { why, decided });
    let (size, found, sizing) = match &args.size {
        Some(name) => match Sizes::named(name, fleet)?.least(&request, &mut listener)? {
            Ok(found) => found,
            Err(answer) => return Ok(answer),
        },
        None => match solve(fleet, &request, &mut listener)? {
            Solved::Policy(found) => (fleet.clone(), found, None),
            Solved::Overloaded(overload) => {
                let upgrades = synthesis::upgrades(fleet, &request.options, &[]);
                let why = report::refusal(fleet, &overload, &upgrades);
                return refused(why, overload.decided);
            }
            Solved::Unkept(nearest) => return refused(nearest.why.into(), true),
            Solved::Broken(why) => return refused(why.into(), true),
        },
    };
    let (found, log) = checked(&size, &args, &request, *found)?;
    let mut summary = report::synthesis(&size, &found, &log, args.verbose);
    if let Some(sizing) = sizing {
        summary.summary.splice(..0, sizing.summary);
        summary.warnings.extend(sizing.warnings);
        summary.sections.splice(..0, sizing.sections);
    }
    summary.summary.extend(stops_nothing.map(str::to_owned));
    summary.sections.extend(thresholds(&size, &request, &found));
    let documents = args.log.iter();
    let documents = documents.map(|file| Ok((file.clone(), document("synth-log", &log)?)));
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
fn thresholds(fleet: &Fleet, request: &SolveRequest, found: &Synthesized) -> Option<Section> {
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
    Some(report::thresholds(workload, &outlook, own))
}

const OVER_A_FLEET: &str =
    "this family is a rule over a fleet, and here is one server: take another --family";

const NO_PRIORITIES: &str = "The families of policies ignore the priorities of the workload: `--family priority` and `--family strict-priority` follow them.";

/// Printed where preemption is allowed.
const STOPS_NOTHING: &str = "No job is stopped: rules over a fleet do not preempt.";

/// Refuses options that are about one server.
fn goes_with_a_fleet(args: &SynthesisArgs) -> Result<(), String> {
    use Family::{Auto, Partition, Pooled};
    let is_of_server = match args.family {
        Some(FamilyName::Family(family)) => !matches!(family, Auto | Pooled | Partition),
        Some(FamilyName::Rule(_)) | None => false,
    };
    let typed = first_typed(&[
        ("--backfill", args.msr.backfill.is_some()),
        ("this --family", is_of_server),
    ]);
    match typed.or(args.msr.typed()) {
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
