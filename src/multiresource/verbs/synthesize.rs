//! `synth FILE`: from a workload to a policy that has passed the checker.

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

/// The shares of the time limit until the proof that the mix is optimal, and until the analysis,
/// must end. The rest is for the selection by simulation and for the checker.
const PROOF: f64 = 0.3;
const ANALYSIS: f64 = 0.6;

/// The default budget per size of a selection for `synth size`, in events of First-Fit with few
/// types.
const BUDGET_OF_A_SIZE: u64 = 40_000_000;

/// The options of every verb that makes a policy.
#[derive(Args, Clone, Default)]
pub struct MakingArgs {
    /// What may happen to running jobs [default: none, or as the rule of --family needs]
    #[arg(long, value_enum)]
    preemption: Option<Preemption>,

    /// Setup rate γ [1/time unit]; required with `--preemption setup`
    #[arg(long, value_name = "γ", value_parser = positive, allow_negative_numbers = true)]
    setup_rate: Option<f64>,

    /// The metric to minimize
    #[arg(long, value_enum, default_value = "mean")]
    minimize: Objective,

    /// A target for jobs of one type, as in 'g8: wait 95 % < 6 h'; write `response` instead of
    /// `wait` to include the run time; may be repeated. The best policy that meets all targets is
    /// selected; if none does, nothing is written
    #[arg(long, value_name = "TARGET")]
    slo: Vec<String>,

    /// Budget for tuning, selection and analysis, in events of First-Fit with few types; 1e8 takes
    /// about seven seconds of processor time [default: 4e8; 4e7 for each size of `synth size`]
    #[arg(long, value_name = "EVENTS", value_parser = count)]
    work: Option<u64>,

    /// Seed of the simulations: the same seed gives the same policy
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// The options of `synth FILE`.
#[derive(Args, Clone, Default)]
pub struct SynthesisArgs {
    #[command(flatten)]
    making: MakingArgs,

    /// Also explain how the policy was found: the proof, all compared families, schedules, upgrades
    #[arg(long, short)]
    verbose: bool,

    /// Family of policies, or the name of a rule [default: auto, the best of all, selected by
    /// simulation]
    ///
    /// By analysis, proved stable: msr (a clock moves between the working schedules of the
    /// program); msfq-strict (MSFQ exactly as in its paper, if one of two types needs the whole
    /// server, with the best threshold; msfq-strict:20 sets it); on a fleet partition (slots for
    /// each type). Tuned by simulation: quickswap (one type at a time, or the largest jobs first
    /// until others starve), adaptive-msr (working schedules left and chosen by queue lengths),
    /// reserving (First-Fit with a reservation that opens when it is worth the drain), tdc (the
    /// schedule of greatest value, net of the cost of draining); with --preemption full or setup
    /// tuned-max-weight (the schedule of greatest weight); on a fleet pooled (First-Fit and its
    /// variants, EASY, and rules that keep capacity free for short jobs). auto: the best of these
    /// and of First-Fit, most and least servers first and EASY by mean sizes; with --preemption
    /// full, of msr, tuned-max-weight and ServerFilling; with setup, of all that do not preempt,
    /// msr and tuned-max-weight. Any other name is that of a rule with fixed parameters, such as
    /// first-fit or msfq:20 (`synth rules` lists them)
    #[arg(long, value_name = "NAME")]
    family: Option<FamilyName>,

    #[command(flatten)]
    msr: MsrArgs,

    /// Also write candidates, tuning and comparisons as JSON (`-`: standard output, with --output)
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Time limit for the whole synthesis, in seconds or as 10min or 1h. Proof, analysis and
    /// selection stop then, the answer says so, and it depends on the machine [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<f64>,

    /// File of the user's own policy.
    #[arg(skip)]
    own: Option<PathBuf>,

    /// The shape or resource to size.
    #[arg(skip)]
    size: Option<String>,
}

/// The options of policies of the family msr.
#[derive(Args, Clone, Default)]
pub struct MsrArgs {
    /// Switching rate α, in switches per time unit of the preemptive loop; tuned by default
    #[arg(long, value_name = "α", value_parser = positive, allow_negative_numbers = true)]
    switching_rate: Option<f64>,

    /// Route between schedules: sequential-eager, concurrent-eager, concurrent-late or
    /// sequential-late; tuned by default
    #[arg(long)]
    route: Option<Route>,

    /// Use of the capacity that the schedule leaves free [default: first-fit]
    #[arg(long, value_enum)]
    backfill: Option<Backfill>,
}

impl MsrArgs {
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
    pub(super) fn of_own(policy: &Path, making: &MakingArgs, msr: &MsrArgs) -> Self {
        SynthesisArgs {
            making: making.clone(),
            msr: msr.clone(),
            verbose: true,
            own: Some(policy.to_owned()),
            ..SynthesisArgs::default()
        }
    }

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

    fn within(&self, part: f64) -> Option<Duration> {
        self.time.map(|limit| seconds(part * limit))
    }

    fn work(&self, default: u64) -> u64 {
        self.making.work.unwrap_or(default)
    }

    /// Returns the options of the MSR policy from which every selection starts.
    fn options(&self, sought: &Sought) -> SynthesisOptions {
        let effort = self.work(BUDGET) as f64 / BUDGET as f64;
        // A selection by simulation spends its work on the simulations.
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

    fn preemption(&self) -> Preemption {
        let of_rule = || self.family.as_ref().map(FamilyName::preemption);
        let typed = self.making.preemption.or_else(of_rule);
        typed.unwrap_or(Preemption::None)
    }

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
                "{name} requires --family msr: omit {name} or the other family"
            )),
            (Sought::Own(own), Some(_), _)
                if own.rates.is_some() && self.msr.switching_rate.is_some() =>
            {
                refuse("the policy's rates determine how often it switches: omit --switching-rate")
            }
            (Sought::Own(_) | Sought::Analysed | Sought::StrictMsfq(_), _, Some(name)) => {
                refuse(format!(
                    "{name} requires a family that is selected by simulation; msr, msfq-strict and partition are made by analysis"
                ))
            }
            _ => Ok(sought),
        }
    }

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

/// Makes a policy, for one server or a fleet, and has it checked.
///
/// # Errors
/// If options conflict, the solver fails, or the checker rejects the policy.
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

/// Checks a policy; its log gets the lower bound if the log is printed or written.
fn checked(
    fleet: &Fleet,
    args: &SynthesisArgs,
    request: &SolveRequest,
    (found, mut log): (Synthesized, SynthesisLog),
) -> VerbResult<(Synthesized, SynthesisLog)> {
    // Checks as much as the remaining time permits.
    let left = synthesis::left(request.choice.end).as_secs_f64();
    let work = LEAST_CHECK.max(1e9 * left);
    check_within(found.artifact(), work).map_err(|findings| unchecked(&findings))?;
    if (args.verbose || args.log.is_some()) && matches!(found, Synthesized::Chosen(_)) {
        log.lower_bound = floor(fleet, request);
    }
    Ok((found, log))
}

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
    "this family needs a fleet, but the workload is one server: choose another --family";

const NO_PRIORITIES: &str = "The families of policies ignore the priorities of the workload; to use them, choose `--family priority` or `--family strict-priority`.";

const STOPS_NOTHING: &str = "No job is preempted: policies for fleets do not preempt.";

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
            "{name} applies to one server, but the workload is a fleet: omit it, or choose --family auto, pooled or partition"
        )),
        None => Ok(()),
    }
}

fn first_typed(options: &[(&'static str, bool)]) -> Option<&'static str> {
    let typed = options.iter().find(|(_, is_typed)| *is_typed);
    typed.map(|(name, _)| *name)
}

/// The minimum work for re-solving in the checker even if no time is left, roughly in nanoseconds.
const LEAST_CHECK: f64 = 5e8;
