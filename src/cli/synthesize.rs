mod fleet;
mod renewal;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use synth::multiresource::artifact::{self, Route};
use synth::multiresource::program::{Balancing, Limits};
use synth::multiresource::report;
use synth::multiresource::synthesis::{self, Families, MsfqOutlook, Options};
use synth::multiresource::verbs::{self, Answer, How, Made, Request, VerbError, Wanted};
use synth::multiresource::workload::{Described, Workload};

use super::output::{apart, emit, is_stdout, writable};
use super::progress::spinner;
use super::typed::{Backfill, Balance, EmptySlots, Family, Objective, Preemption, weight};
use super::{
    Common, INTERRUPTED, NEGATIVE, Outcome, count, interrupt, positive, read_described, tell, width,
};
use renewal::Earlier;

/// Seconds for the proof, by default.
const TIME_LIMIT: f64 = 60.0;

#[derive(Args, Clone)]
pub struct Arguments {
    /// The workload, a YAML file: capacity of the server, or of a fleet's server shapes; types of jobs
    /// with their demands, arrival rates and mean sizes
    #[arg(long, value_name = "FILE", required = true)]
    workload: Option<PathBuf>,

    /// An earlier policy: start from its schedules, and print what changed. Options that are not given
    /// are taken from it: preemption, family, route
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,

    /// What may happen to a running job when the schedule changes
    #[arg(long, value_enum, required_unless_present = "from")]
    preemption: Option<Preemption>,

    /// Family of policies [default: without preemption the best of all, chosen by simulation; else
    /// msr]
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

    /// What the mix of schedules is best for, under msr
    #[arg(long, value_enum, default_value = "load")]
    balance: Balance,

    /// Weights of types for --balance; a type that is not named has the default weight of that aim
    #[arg(long, value_name = "NAME=W,NAME=W,…", value_delimiter = ',', value_parser = weight)]
    weights: Option<Vec<(String, f64)>>,

    /// The largest E[T]/E[S] of a type over the smallest that a policy may have, where it is chosen
    /// by simulation
    #[arg(long, value_name = "RATIO", value_parser = at_least_one)]
    max_slowdown_ratio: Option<f64>,

    /// Events (arrivals, completions, clocks) that may be simulated to tune and to choose: 1e8 take
    /// some five seconds
    #[arg(long, value_name = "EVENTS", default_value = "4e8", value_parser = count)]
    budget: u64,

    /// Seed of the simulations: the same seed gives the same policy
    #[arg(long, default_value = "1")]
    seed: u64,

    /// Static Quickswap with this order of turns, by names of types, in place of one that is tuned
    #[arg(long, value_name = "TYPE,TYPE,…", value_delimiter = ',')]
    cycle: Option<Vec<String>>,

    /// Static Quickswap with these thresholds ℓ, in the order of the types in the workload
    #[arg(long, value_name = "ℓ,ℓ,…", value_delimiter = ',')]
    thresholds: Option<Vec<u32>>,

    /// How much work may go into exact analysis: 1 is about ten seconds; the time is
    /// proportional
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    effort: f64,

    /// Print the MSR paper's bounds and approximation beside the exact means
    #[arg(long)]
    explain: bool,

    /// Seconds for the proof that the mix is best; after that the answer says "not proven"
    #[arg(long, value_name = "SECONDS", default_value_t = TIME_LIMIT, value_parser = positive)]
    time_limit: f64,

    /// Where the policy goes; standard output if not given
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    fn options(&self) -> Option<Options> {
        let nodes = Limits::default().nodes;
        Some(Options {
            setup_rate: self.setup_rate,
            switching_rate: self.switching_rate,
            route: self.route,
            backfill: self.backfill.unwrap_or(Backfill::FirstFit).into(),
            empty_slots: self.empty_slots.unwrap_or(EmptySlots::Release).into(),
            objective: self.objective.into(),
            effort: self.effort,
            limits: Limits {
                time: Duration::from_secs_f64(self.time_limit.min(1e9)),
                // More time allows more nodes.
                nodes: (nodes as f64 * (self.time_limit / TIME_LIMIT).max(1.0)) as u64,
                ..Limits::default()
            },
            ..Options::new(self.preemption?.into())
        })
    }

    /// The family: as given, or as the other options imply.
    fn family(&self) -> Result<Family, String> {
        match self.asked_family()? {
            Family::Msr if self.max_slowdown_ratio.is_some() => Err(
                "--max-slowdown-ratio goes with families that are chosen by simulation, and msr is not"
                    .into(),
            ),
            family => Ok(family),
        }
    }

    fn asked_family(&self) -> Result<Family, String> {
        let for_msr = [
            ("--route", self.route.is_some()),
            ("--switching-rate", self.switching_rate.is_some()),
            ("--setup-rate", self.setup_rate.is_some()),
            ("--balance", self.balance != Balance::Load),
            ("--explain", self.explain),
        ];
        let typed = for_msr
            .iter()
            .find(|(_, typed)| *typed)
            .map(|(name, _)| *name);
        let turns = self.cycle.is_some() || self.thresholds.is_some();
        let drains = self.preemption == Some(Preemption::None);
        match self.family {
            _ if turns && !drains => {
                Err("--cycle and --thresholds go with --preemption none".into())
            }
            None if turns => Ok(Family::Quickswap),
            None if drains && typed.is_none() => Ok(Family::Auto),
            None | Some(Family::Auto) if !drains => Ok(Family::Msr),
            None => Ok(Family::Msr),
            Some(Family::Msr) if turns => {
                Err("--cycle and --thresholds go with --family quickswap".into())
            }
            Some(Family::Msr) => Ok(Family::Msr),
            Some(_) if !drains => Err(
                "of the families only msr preempts: the others go with --preemption none".into(),
            ),
            Some(family) => match typed.filter(|name| *name != "--explain") {
                Some(name) => Err(format!(
                    "{name} goes with --family msr: leave it out, or that"
                )),
                None if turns && family != Family::Quickswap => {
                    Err("--cycle and --thresholds go with --family quickswap".into())
                }
                None => Ok(family),
            },
        }
    }

    /// What the mix is best for, if it is not the load, weighted as typed.
    fn balancing(&self, workload: &Workload) -> Result<Option<Balancing>, String> {
        match (self.balance.aim(), &self.weights) {
            (None, Some(_)) => Err(
                "--weights goes with --balance headroom, total-response or worst-response: the load has none"
                    .into(),
            ),
            (None, None) => Ok(None),
            (Some(aim), weights) => Balancing::new(workload, aim, weights.as_deref().unwrap_or(&[]))
                .map(Some)
                .map_err(|why| format!("--weights: {why}")),
        }
    }

    /// Among which families the policy is chosen.
    fn wanted(&self, workload: &Workload) -> Result<Wanted, VerbError> {
        let family = self.family().map_err(VerbError::Request)?;
        let (cycle, thresholds) = (self.cycle.as_deref(), self.thresholds.as_deref());
        if cycle.is_some() || thresholds.is_some() {
            let policy = verbs::turns(workload, cycle, thresholds)?;
            let given = Box::new(artifact::Family::StaticQuickswap(policy));
            return Ok(Wanted::Simulated(Families::Given(given)));
        }
        Ok(match family {
            Family::Msr => Wanted::Msr,
            Family::Optimal => Wanted::Optimal,
            Family::Quickswap => Wanted::Simulated(Families::Quickswap),
            Family::AdaptiveMsr => Wanted::Simulated(Families::AdaptiveMsr),
            Family::Auto => Wanted::Simulated(Families::All),
        })
    }
}

pub fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let earlier = arguments.from.as_deref().map(Earlier::read).transpose()?;
    match &earlier {
        None => synthesize(arguments, None, common),
        Some(earlier) => synthesize(&earlier.complete(arguments.clone()), Some(earlier), common),
    }
}

fn synthesize(arguments: &Arguments, earlier: Option<&Earlier>, common: &Common) -> Outcome {
    let (Some(file), Some(mut options)) = (&arguments.workload, arguments.options()) else {
        return Err("give --workload FILE and --preemption none|full|setup; see --help".into());
    };
    let written: Vec<&Path> = arguments.output.iter().map(PathBuf::as_path).collect();
    let read = [file].into_iter().chain(&arguments.from);
    let read: Vec<&Path> = read.map(PathBuf::as_path).collect();
    apart(&read, &written)?;
    let regular = arguments.output.iter().filter(|path| !is_stdout(path));
    regular.into_iter().try_for_each(|path| writable(path))?;
    let workload = match read_described(file, common)? {
        Described::Fleet(_) if earlier.is_some() => {
            return Err("--from is for one server: leave it out for a fleet".into());
        }
        Described::Fleet(fleet) => return fleet::run(arguments, &fleet, &options, common),
        Described::Server(workload) => workload,
    };
    let wanted = arguments.wanted(&workload)?;
    options.balance = arguments.balancing(&workload)?;
    if let Some(earlier) = earlier {
        options.known = verbs::known(&earlier.artifact, &workload);
    }
    let interrupt = interrupt::Later::new();
    let request = Request {
        options,
        wanted,
        budget: arguments.budget,
        seed: arguments.seed,
        max_slowdown_ratio: arguments.max_slowdown_ratio,
        interrupt: interrupt.flag(),
    };
    let spinner = spinner(common, "solving the program");
    let answer = verbs::synthesize(&workload, &request, |doing| {
        if !matches!(doing, verbs::Doing::Program) {
            interrupt.listen();
        }
        spinner.doing(&doing);
    });
    drop(spinner);
    let made = match answer? {
        Answer::Policy(made) => made,
        // A negative answer is the result: it is printed with --quiet, too.
        Answer::Refused(refusal) => {
            anstream::eprintln!("{}", report::refusal(&workload, &refusal, width()));
            return Ok(ExitCode::from(if refusal.decided { NEGATIVE } else { 2 }));
        }
        Answer::Interrupted => {
            let why = "Interrupted before a policy was chosen: nothing is written.";
            tell(common, why);
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    emit(arguments.output.as_ref(), &made.artifact.to_json()?)?;
    tell(common, &report::made(&workload, &made, width()));
    if let Some(earlier) = earlier {
        let changes = verbs::changes(&earlier.artifact, &made.artifact);
        tell(common, &report::changes(&changes));
    }
    if arguments.explain {
        explain(&workload, &made, &request.options, common)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the quantities of the paper that the family is from.
fn explain(
    workload: &Workload,
    made: &Made,
    options: &Options,
    common: &Common,
) -> Result<(), VerbError> {
    match &made.how {
        How::Analysed(analysed) => {
            let bounds = synthesis::paper_bounds(workload, &analysed.policy)?;
            let told = report::explain(workload, &made.artifact, &bounds, width());
            tell(common, &told);
        }
        How::Chosen(..) => {
            if let Some(outlook) = MsfqOutlook::new(workload, options.objective) {
                tell(common, &report::thresholds(workload, &outlook, width()));
            }
        }
    }
    Ok(())
}

/// A ratio of at least 1.
fn at_least_one(text: &str) -> Result<f64, String> {
    match positive(text)? {
        ratio if ratio >= 1.0 => Ok(ratio),
        _ => Err(format!(
            "`{text}`: the larger over the smaller is 1 at least"
        )),
    }
}
