use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;

use super::family::{Family, FamilyOrRule, PolicySearch};
use super::promise::promise;
use super::size::Sizes;
use super::solve::{SolveRequest, Solved, floor, solve};
use crate::kind::{
    Caller, Files, NamesFiles, Notice, SynthesisAnswer, VerbResult, checker_error, document, files,
    refuse,
};
use crate::multiresource::artifact::{
    Backfill, Family as Rule, Multiresource, Objective, Preemption, Route, check_within,
};
use crate::multiresource::program::SolveLimits;
use crate::multiresource::report::{self, Synthesized};
use crate::multiresource::synthesis::{
    self, BUDGET, ChoiceOptions, Families, MsfqAnalysis, SynthesisOptions,
};
use crate::multiresource::workload::Fleet;
use crate::report::Section;
use crate::typed::{count, positive, seconds, time};

/// The proof of the mix and the analysis must end at this fraction of the time limit, because the
/// simulations and the checker use the rest of the time.
const PROOF: f64 = 0.3;
const ANALYSIS: f64 = 0.6;

const BUDGET_OF_A_SIZE: u64 = 40_000_000;

/// The options of every verb that creates a policy.
#[derive(Args, Clone, Default)]
pub(crate) struct MakingArgs {
    /// Whether running jobs can be preempted [default: as `--family` needs]
    #[arg(long, value_enum)]
    preemption: Option<Preemption>,

    /// The setup rate γ [1/time unit] of `--preemption setup`
    #[arg(long, value_name = "γ", value_parser = positive, allow_negative_numbers = true)]
    setup_rate: Option<f64>,

    /// The metric to minimize
    #[arg(long, value_enum, default_value = "mean")]
    minimize: Objective,

    /// A target for one job type, such as 'g8: wait 95 % < 6 h'
    ///
    /// Use `response` instead of `wait` to include the run time. This option can be used multiple
    /// times. The result is the best policy that meets all of the targets. If there is none,
    /// nothing is written
    #[arg(long, value_name = "TARGET")]
    slo: Vec<String>,

    /// The budget for tuning and selection, in events [default: 4e8]
    ///
    /// An event is one of First-Fit with a small number of types. A budget of 1e8 takes about
    /// seven seconds of processor time. The default of `synth size` is 4e7 for each size
    #[arg(long, value_name = "EVENTS", value_parser = count)]
    work: Option<u64>,

    /// The seed for the simulations
    ///
    /// The same seed gives the same policy
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// The options of `synth FILE`.
#[derive(Args, Clone, Default)]
pub struct SynthesisArgs {
    #[command(flatten)]
    pub(super) making: MakingArgs,

    /// Also print the proof, all candidates and how the policy was found
    #[arg(long, short)]
    pub(super) verbose: bool,

    /// The family of policies, or a rule [default: auto, the best of all]
    ///
    /// The following families are found by analysis, with a proof that they are stable: msr (a
    /// clock switches between the working schedules of the program), msfq-strict (this is MSFQ as
    /// in its paper, if there are two types and one of them needs the whole server; it uses the
    /// best threshold, which `compare` does not search for, or the given one as in msfq-strict:20)
    /// and, for a fleet, partition (each type has its own slots). The parameters of the following
    /// families are found by simulation: quickswap (one type at a time, or the largest jobs first
    /// until the other jobs have to wait too long), adaptive-msr (the queue lengths determine when
    /// to leave a working schedule and which one is next), reserving (First-Fit with a reservation
    /// that is only made if it is worth waiting for the drain), tdc (the schedule with the largest
    /// value, minus the cost of the drain), tuned-max-weight with --preemption full or setup (the
    /// schedule with the largest weight) and, for a fleet, pooled (First-Fit and its variants,
    /// EASY, and rules that keep some capacity free for short jobs). If this is auto, the result
    /// is the best of these families and of First-Fit, most and least servers first and EASY by
    /// mean sizes. With --preemption full, it is the best of msr, tuned-max-weight and
    /// ServerFilling. With --preemption setup, it is the best of all policies that do not preempt,
    /// msr and tuned-max-weight. Any other value is the name of a rule with fixed parameters, such
    /// as first-fit or msfq:20 (use `synth rules` to list all rules)
    #[arg(long, value_name = "NAME")]
    pub(super) family: Option<FamilyOrRule>,

    #[command(flatten)]
    pub(super) msr: MsrArgs,

    /// Also write all candidates and comparisons to this file as JSON
    ///
    /// The file `-` is the standard output, which requires --output
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(super) log: Option<PathBuf>,

    /// A time limit, such as 10min [default: no limit]
    ///
    /// The limit is for the whole synthesis. The proof, the analysis and the selection are stopped
    /// at this time. If this happens, it is reported, and the result depends on the speed of the
    /// machine [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = time, hide_short_help = true)]
    pub(super) time: Option<f64>,

    /// The path to a policy that was written by the user.
    #[arg(skip)]
    pub(super) own: Option<PathBuf>,

    /// The name of the server shape or resource that is sized.
    #[arg(skip)]
    pub(super) size: Option<String>,
}

/// The options that are only used for the family msr.
#[derive(Args, Clone, Default)]
pub(crate) struct MsrArgs {
    /// Switch between the schedules at this rate α [default: tuned]
    ///
    /// This is the number of switches of the preemptive loop per time unit
    #[arg(long, value_name = "α", value_parser = positive, allow_negative_numbers = true, hide_short_help = true)]
    switching_rate: Option<f64>,

    /// The route that is used to switch between schedules [default: selected]
    ///
    /// It is one of sequential-eager, concurrent-eager, concurrent-late and sequential-late
    #[arg(long, hide_short_help = true)]
    route: Option<Route>,

    /// How to use the capacity that is not used by the schedule [default: first-fit]
    #[arg(long, value_enum, hide_short_help = true)]
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
    fn within(&self, part: f64) -> Option<Duration> {
        self.time.map(|limit| seconds(part * limit))
    }

    /// Returns the options for the MSR policy that is used at the start of every selection.
    fn options(&self, sought: &PolicySearch) -> SynthesisOptions {
        let effort = self.making.work.unwrap_or(BUDGET) as f64 / BUDGET as f64;
        // A selection by simulation uses all of the work for the simulations.
        let effort = match sought {
            PolicySearch::Among(_) => effort.max(1.0),
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
        let of_rule = || self.family.as_ref().map(FamilyOrRule::preemption);
        let typed = self.making.preemption.or_else(of_rule);
        typed.unwrap_or(Preemption::None)
    }

    fn sought(&self, fleet: &Fleet) -> VerbResult<PolicySearch> {
        let typed = self.msr.typed();
        let sought = match (&self.own, &self.family) {
            (Some(file), _) => PolicySearch::read(file, fleet)?,
            (None, Some(family)) => family.sought(self.preemption(), fleet)?,
            (None, None) if typed.is_some() => PolicySearch::Analysed,
            (None, None) => PolicySearch::Among(Families::All),
        };
        let simulated = first_typed(&[
            ("--minimize p99", self.making.minimize == Objective::P99),
            ("--slo", !self.making.slo.is_empty()),
        ]);
        match (&sought, typed, simulated) {
            (PolicySearch::Among(_) | PolicySearch::StrictMsfq(_), Some(name), _) => {
                refuse(format!("{name} can only be used with `--family msr`"))
            }
            (PolicySearch::Own(own), Some(_), _)
                if own.rates.is_some() && self.msr.switching_rate.is_some() =>
            {
                refuse(
                    "`--switching-rate` cannot be used, because the rates of the policy determine how often it switches",
                )
            }
            (
                PolicySearch::Own(_) | PolicySearch::Analysed | PolicySearch::StrictMsfq(_),
                _,
                Some(name),
            ) => refuse(format!(
                "{name} requires a family that is selected by simulation, but msr, msfq-strict and partition are found by analysis"
            )),
            _ => Ok(sought),
        }
    }

    fn request(&self, fleet: &Fleet, caller: &Caller<'_>) -> VerbResult<SolveRequest> {
        let (now, sought) = (Instant::now(), self.sought(fleet)?);
        let families = match &sought {
            PolicySearch::Among(families) => families.clone(),
            _ => Families::All,
        };
        let usual = self.size.as_ref().map_or(BUDGET, |_| BUDGET_OF_A_SIZE);
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
                budget: self.making.work.unwrap_or(usual),
                end: self.within(1.0).map(|time| now + time),
                seed: self.making.seed,
                promises: promises.collect::<Result<_, _>>()?,
                interrupt: caller.interrupt.clone(),
            },
        })
    }
}

pub(crate) fn synthesize(
    fleet: &Fleet,
    args: &SynthesisArgs,
    caller: &mut Caller<'_>,
) -> VerbResult<SynthesisAnswer<Multiresource>> {
    fleet.require_no_devices()?;
    let mut args = args.clone();
    let mut note = None;
    if fleet.is_one_server() {
        if let Some(FamilyOrRule::Family(Family::Partition | Family::Pooled)) = args.family {
            return refuse(OVER_A_FLEET);
        }
    } else {
        goes_with_a_fleet(&args)?;
        note = (args.preemption() != Preemption::None).then_some(STOPS_NOTHING);
        args.making.preemption = Some(Preemption::None);
        args.making.setup_rate = None;
    }
    let is_own = args.own.is_some() || matches!(args.family, Some(FamilyOrRule::Rule(_)));
    if fleet.envelope().has_priorities() && !is_own {
        caller.notify(Notice::Known(NO_PRIORITIES));
    }
    let request = args.request(fleet, caller)?;
    let mut listener = caller.doing();
    listener("solving the program");
    let refused = |why, decided| Ok(SynthesisAnswer::Refused { why, decided });
    let (size, found, sizing) = match &args.size {
        Some(name) => match Sizes::named("--shape", name, fleet)?.least(&request, &mut listener)? {
            Ok(found) => found,
            Err(answer) => return Ok(answer),
        },
        None => match solve(fleet, &request, &mut listener)? {
            Solved::Policy(found) => (fleet.clone(), found, None),
            Solved::Overloaded(overload) => {
                let upgrades = synthesis::upgrades(fleet, &request.options, &[]);
                let why = report::refusal(fleet, &overload, &upgrades);
                return refused(why, overload.is_proven);
            }
            Solved::GuaranteesMissed(nearest) => {
                return refused(report::missed(&nearest, &request.choice.promises), true);
            }
            Solved::NoPolicy(why) => return refused(why.into(), true),
        },
    };
    let (found, mut log) = *found;
    // The checker uses as much work as is possible in the time that is left.
    let left = synthesis::left(request.choice.end).as_secs_f64();
    let work = LEAST_CHECK.max(1e9 * left);
    check_within(found.artifact(), work).map_err(|findings| checker_error(&findings))?;
    if (args.verbose || args.log.is_some()) && matches!(found, Synthesized::Selected(_)) {
        log.lower_bound = floor(&size, &request);
    }
    let mut summary = report::synthesis(&size, &found, &log, args.verbose);
    if let Some(sizing) = sizing {
        summary.summary.splice(..0, sizing.summary);
        summary.warnings.extend(sizing.warnings);
        summary.sections.splice(..0, sizing.sections);
    }
    summary.summary.extend(note.map(str::to_owned));
    summary.sections.extend(thresholds(&size, &request, &found));
    let documents = args.log.iter();
    let documents = documents.map(|file| Ok((file.clone(), document("synth-log", &log)?)));
    Ok(SynthesisAnswer::Policy {
        documents: documents.collect::<VerbResult<_>>()?,
        artifact: Box::new(found.artifact().clone()),
        summary,
    })
}

fn thresholds(fleet: &Fleet, request: &SolveRequest, found: &Synthesized) -> Option<Section> {
    let PolicySearch::StrictMsfq(_) = request.sought else {
        return None;
    };
    let workload = fleet.envelope();
    let outlook = MsfqAnalysis::new(workload, request.options.objective)?;
    let own = match found.artifact().policy.followed() {
        Rule::StaticQuickswap(own) => own.thresholds.get(outlook.system.light).copied(),
        _ => None,
    };
    Some(report::thresholds(workload, &outlook, own))
}

const OVER_A_FLEET: &str = "this family can only be used for a fleet, but the workload is a single server; use a different value for `--family`";

const NO_PRIORITIES: &str = "The priorities in the workload are not used by the families of policies. To use them, set `--family priority` or `--family strict-priority`.";

const STOPS_NOTHING: &str =
    "Jobs are not preempted, because this is not supported by policies for fleets.";

fn goes_with_a_fleet(args: &SynthesisArgs) -> Result<(), String> {
    use Family::{Auto, Partition, Pooled};
    let is_of_server = match args.family {
        Some(FamilyOrRule::Family(family)) => !matches!(family, Auto | Pooled | Partition),
        Some(FamilyOrRule::Rule(_)) | None => false,
    };
    let typed = first_typed(&[
        ("--backfill", args.msr.backfill.is_some()),
        ("this --family", is_of_server),
    ]);
    typed.or(args.msr.typed()).map_or(Ok(()), |name| Err(format!(
        "{name} applies to one server, but the workload is a fleet; do not use it, or set `--family` to auto, pooled or partition"
    )))
}

fn first_typed(options: &[(&'static str, bool)]) -> Option<&'static str> {
    let typed = options.iter().find(|(_, is_typed)| *is_typed);
    typed.map(|(name, _)| *name)
}

/// The minimum work of the checker even if there is no time left, where 1 is about a nanosecond.
const LEAST_CHECK: f64 = 5e8;
