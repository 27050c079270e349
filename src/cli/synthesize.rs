mod fleet;
mod renewal;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use synth::multiresource::artifact::{self, Artifact, Finding, Route, StaticQuickswapPolicy};
use synth::multiresource::optimum;
use synth::multiresource::policy::StaticQuickswap;
use synth::multiresource::program::{Balancing, Limits};
use synth::multiresource::report;
use synth::multiresource::synthesis::{
    self, ChoiceError, ChoiceOptions, Families, MsfqOutlook, Options, Synthesis,
};
use synth::multiresource::workload::{Described, Workload};

use super::output::{apart, emit, is_stdout, writable};

use super::typed::{Backfill, Balance, EmptySlots, Family, Objective, Preemption, weight};
use super::{
    Common, INTERRUPTED, NEGATIVE, Outcome, count, interrupt, positive, progress, read_described,
    tell,
};
use renewal::Earlier;

/// Seconds for the proof, if nothing is said.
const TIME_LIMIT: f64 = 60.0;

#[derive(Args, Clone)]
pub struct Arguments {
    /// The workload, a YAML file: capacity of the server, or of a fleet's server shapes; types of jobs
    /// with their demands, arrival rates and mean sizes
    #[arg(long, value_name = "FILE", required = true)]
    workload: Option<PathBuf>,

    /// An earlier policy, to start from its schedules and to say what changed; what is not typed is
    /// as it was for that: preemption, family, route
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,

    /// What may happen to a running job when the schedule changes
    #[arg(long, value_enum, required_unless_present = "from")]
    preemption: Option<Preemption>,

    /// Which kind of policy: chosen by simulation among all that there are, if nothing is said, where
    /// jobs cannot be preempted; else msr
    #[arg(long, value_enum)]
    family: Option<Family>,

    /// γ, the rate of setups [1/time unit]; needed with `--preemption setup`
    #[arg(long, value_name = "γ", value_parser = positive, allow_negative_numbers = true)]
    setup_rate: Option<f64>,

    /// α, switches per time unit of the preemptive loop; found if not given
    #[arg(long, value_name = "α", value_parser = positive, allow_negative_numbers = true)]
    switching_rate: Option<f64>,

    /// The way between schedules: sequential-eager, concurrent-eager, concurrent-late or
    /// sequential-late; found if not given
    #[arg(long)]
    route: Option<Route>,

    /// What happens with room that the schedule leaves, under msr [default: first-fit]
    #[arg(long, value_enum)]
    backfill: Option<Backfill>,

    /// What happens with draining slots that hold no job, under msr [default: release]
    #[arg(long, value_enum)]
    empty_slots: Option<EmptySlots>,

    /// What is made least
    #[arg(long, value_enum, default_value = "mean")]
    objective: Objective,

    /// What the mix of schedules is best for, under msr
    #[arg(long, value_enum, default_value = "load")]
    balance: Balance,

    /// Weights of types for --balance; a type that is not named has the weight that goes with it
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

    /// How much work may go into exact analysis: 1 is some ten seconds, and proportionally
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    effort: f64,

    /// Print the MSR paper's bounds and approximation beside the exact means
    #[arg(long)]
    explain: bool,

    /// Seconds for the proof that the mix is best; past it the answer says "not proven"
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
                // With more time, longer searches.
                nodes: (nodes as f64 * (self.time_limit / TIME_LIMIT).max(1.0)) as u64,
                ..Limits::default()
            },
            ..Options::new(self.preemption?.into())
        })
    }

    /// The family: what was typed, or what goes with the rest.
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

    fn choice(&self, families: Families, interrupt: Arc<AtomicBool>) -> ChoiceOptions {
        ChoiceOptions {
            families,
            budget: self.budget,
            seed: self.seed,
            max_slowdown_ratio: self.max_slowdown_ratio,
            interrupt,
        }
    }

    /// Static Quickswap as it was typed; where only one of the two was, the other as published.
    fn turns(&self, workload: &Workload) -> Result<Option<StaticQuickswapPolicy>, String> {
        if self.cycle.is_none() && self.thresholds.is_none() {
            return Ok(None);
        }
        let mut policy = StaticQuickswap::published(workload, false);
        let names: Vec<&str> = workload.types().iter().map(|t| t.name()).collect();
        if let Some(cycle) = &self.cycle {
            let place = |name: &String| names.iter().position(|n| n == name);
            let places: Option<Vec<usize>> = cycle.iter().map(place).collect();
            let once = |places: &Vec<usize>| (0..names.len()).all(|i| places.contains(&i));
            let right = places.filter(|p| p.len() == names.len() && once(p));
            policy.cycle = right.ok_or_else(|| {
                format!(
                    "--cycle {}: give each type once: {}",
                    cycle.join(","),
                    names.join(",")
                )
            })?;
        }
        if let Some(thresholds) = &self.thresholds {
            let most = std::mem::replace(&mut policy.thresholds, thresholds.clone());
            if thresholds.len() != most.len() {
                return Err(format!(
                    "--thresholds has {} numbers: give one for each of {}",
                    thresholds.len(),
                    names.join(", ")
                ));
            }
            let types = thresholds.iter().zip(&most).zip(&names);
            if let Some(((l, most), name)) = types.into_iter().find(|((l, most), _)| l > most) {
                return Err(format!(
                    "--thresholds: ℓ of `{name}` is {l}, and it is from 0 to {most}, less than the jobs of it that fit"
                ));
            }
        }
        Ok(Some(policy))
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
    let family = arguments.family()?;
    let turns = arguments.turns(&workload)?;
    options.balance = arguments.balancing(&workload)?;
    options.known = earlier.map_or_else(Vec::new, |earlier| earlier.schedules(&workload));
    let spinner = progress::spinner(common, "solving the program");
    let outcome = synthesis::synthesize(&workload, &options)?;
    drop(spinner);
    let made = match outcome {
        synthesis::Outcome::Policy(made) => made,
        synthesis::Outcome::Overloaded(overload) => {
            // A negative answer is the result: it is told to the quiet, too.
            anstream::eprintln!("{}", report::overload(&workload, &overload, true));
            return Ok(ExitCode::from(NEGATIVE));
        }
        synthesis::Outcome::Undecided(overload) => {
            anstream::eprintln!("{}", report::overload(&workload, &overload, false));
            return Ok(ExitCode::from(2));
        }
    };
    let interrupt = interrupt::flag()?;
    let families = match (family, turns) {
        (Family::Msr, _) => {
            publish(arguments, &made.artifact)?;
            tell(common, &report::synthesis(&workload, &made));
            changes(earlier, &made.artifact, common);
            return explain(arguments, &workload, &made, common);
        }
        (_, Some(policy)) => given(artifact::Family::StaticQuickswap(policy)),
        (Family::Quickswap, None) => Families::Quickswap,
        (Family::AdaptiveMsr, None) => Families::AdaptiveMsr,
        (Family::Auto, None) => Families::All,
        (Family::Optimal, None) => given(optimal(arguments, &workload, &interrupt, common)?),
    };
    let spinner = progress::spinner(common, "simulating candidates");
    let choice = arguments.choice(families, interrupt);
    let chosen = synthesis::choose(&workload, &options, &choice, made, |stage| {
        spinner.set_message(format!(
            "{} ({:.0} % of the budget)",
            stage.what,
            100.0 * stage.spent
        ));
    });
    drop(spinner);
    let chosen = match chosen {
        Err(ChoiceError::Interrupted) => {
            tell(
                common,
                "Interrupted before a policy was chosen: nothing is written.",
            );
            return Ok(ExitCode::from(INTERRUPTED));
        }
        chosen => chosen?,
    };
    publish(arguments, &chosen.artifact)?;
    tell(common, &report::choice(&workload, &chosen));
    changes(earlier, &chosen.artifact, common);
    if arguments.explain
        && let Some(outlook) = MsfqOutlook::new(&workload, options.objective)
    {
        tell(common, &report::thresholds(&workload, &outlook));
    }
    Ok(ExitCode::SUCCESS)
}

/// What is different from the policy that it was made from, if it was.
fn changes(earlier: Option<&Earlier>, made: &Artifact, common: &Common) {
    if let Some(earlier) = earlier {
        tell(common, &report::change(&earlier.artifact, made));
    }
}

fn given(policy: artifact::Family) -> Families {
    Families::Given(Box::new(policy))
}

/// Writes an artifact, after the second derivation of every number: before anybody relies on the first.
fn publish(arguments: &Arguments, artifact: &Artifact) -> Result<(), Box<dyn Error>> {
    let Err(findings) = artifact::check(artifact) else {
        return emit(arguments.output.as_ref(), &artifact.to_json()?);
    };
    let confirmed = without_tails(artifact, &findings);
    artifact::check(&confirmed).map_err(|findings| unchecked(&findings))?;
    emit(arguments.output.as_ref(), &confirmed.to_json()?)
}

/// Without the claims on tails that the second derivation puts elsewhere: far out in the tail of a
/// long loop the digits of one of the two are gone, and what is not agreed upon is not claimed.
fn without_tails(artifact: &Artifact, findings: &[Finding]) -> Artifact {
    let mut confirmed = artifact.clone();
    let paths: Vec<&str> = findings.iter().map(|f| f.path.as_str()).collect();
    let mut place = 0;
    confirmed.claims.retain(|claim| {
        let path = format!("claims[{place}]");
        place += 1;
        let is_found = paths.iter().any(|found| {
            found
                .strip_prefix(&path)
                .is_some_and(|rest| !rest.starts_with(char::is_numeric))
        });
        !(is_found && claim.quantity == artifact::Quantity::NumberAbove)
    });
    confirmed
}

/// What is said of a policy that does not check.
fn unchecked(findings: &[Finding]) -> String {
    let listed: Vec<String> = findings.iter().map(ToString::to_string).collect();
    format!(
        "the policy made does not check, and is not written:\n  {}\nPlease report this with the workload",
        listed.join("\n  ")
    )
}

/// The MSR paper's quantities, if they were asked for.
fn explain(
    arguments: &Arguments,
    workload: &Workload,
    made: &Synthesis,
    common: &Common,
) -> Outcome {
    if arguments.explain {
        let bounds = synthesis::paper_bounds(workload, &made.policy)?;
        tell(common, &report::explain(workload, &made.artifact, &bounds));
    }
    Ok(ExitCode::SUCCESS)
}

/// The table of the dynamic program.
fn optimal(
    arguments: &Arguments,
    workload: &Workload,
    interrupt: &AtomicBool,
    common: &Common,
) -> Result<artifact::Family, Box<dyn Error>> {
    let types = workload.types().len();
    if types > MOST_TYPES {
        return Err(format!(
            "tables are for at most {MOST_TYPES} types, and here are {types}: take --family auto, and `synth optimum` for the bound"
        )
        .into());
    }
    let spinner = progress::spinner(common, "solving the dynamic program");
    let limits = optimum::Limits::default();
    let objective = arguments.objective.into();
    let found = optimum::optimum(workload, objective, &limits, interrupt, |step| {
        spinner.set_message(report::optimum_step(&step));
    })?;
    if found.interrupted && !interrupt.load(Ordering::Relaxed) {
        return Err(format!(
            "the dynamic program was not solved within {} s: its table would be no optimum; take --family auto",
            limits.time.as_secs()
        )
        .into());
    }
    Ok(artifact::Family::Optimal(found.policy.written()))
}

/// Types that a table is made for: its size is the product of the queues that it tells apart.
const MOST_TYPES: usize = 2;

/// A ratio of 1 and more.
fn at_least_one(text: &str) -> Result<f64, String> {
    match positive(text)? {
        ratio if ratio >= 1.0 => Ok(ratio),
        _ => Err(format!(
            "`{text}`: the larger over the smaller is 1 at least"
        )),
    }
}
