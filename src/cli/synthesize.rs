use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use synth::artifact::{self, Route};
use synth::program::Limits;
use synth::report;
use synth::synthesis::{self, Options};

use super::output::{apart, emit};
use super::{Common, NEGATIVE, Outcome, positive, progress, read_workload, tell};

#[derive(Args)]
pub struct Arguments {
    /// The workload, a YAML file: capacity of the server; types of jobs with their demands,
    /// arrival rates and mean sizes
    #[arg(long, value_name = "FILE", required = true)]
    workload: Option<PathBuf>,

    /// What may happen to a running job when the schedule changes
    #[arg(long, value_enum, required = true)]
    preemption: Option<Preemption>,

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

    /// What happens with room that the schedule leaves
    #[arg(long, value_enum, default_value = "first-fit")]
    backfill: Backfill,

    /// What happens with draining slots that hold no job
    #[arg(long, value_enum, default_value = "release")]
    empty_slots: EmptySlots,

    /// What route and switching rate are chosen for
    #[arg(long, value_enum, default_value = "mean")]
    objective: Objective,

    /// How much work may go into exact analysis: 1 is some ten seconds, and proportionally
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    effort: f64,

    /// Print the MSR paper's bounds and approximation beside the exact means
    #[arg(long)]
    explain: bool,

    /// Seconds for the proof that the mix is best; past it the answer says "not proven"
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = positive)]
    time_limit: f64,

    /// Where the policy goes; standard output if not given
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Preemption, as typed.
#[derive(Clone, Copy, ValueEnum)]
pub enum Preemption {
    /// Jobs run to their end
    None,
    /// Jobs are preempted at no cost
    Full,
    /// Jobs are preempted, and their room is held for an exponential setup time
    Setup,
}

impl From<Preemption> for artifact::Preemption {
    fn from(typed: Preemption) -> Self {
        match typed {
            Preemption::None => artifact::Preemption::None,
            Preemption::Full => artifact::Preemption::Full,
            Preemption::Setup => artifact::Preemption::Setup,
        }
    }
}

/// The objective, as typed.
#[derive(Clone, Copy, ValueEnum)]
pub enum Objective {
    /// The mean response time over all jobs
    Mean,
    /// The types' mean response times, weighted by their shares of the dominant load
    Weighted,
}

impl From<Objective> for artifact::Objective {
    fn from(typed: Objective) -> Self {
        match typed {
            Objective::Mean => artifact::Objective::Mean,
            Objective::Weighted => artifact::Objective::Weighted,
        }
    }
}

/// Backfilling, as typed.
#[derive(Clone, Copy, ValueEnum)]
pub enum Backfill {
    /// It stays empty
    None,
    /// It is offered to waiting jobs in arrival order
    FirstFit,
}

/// Empty slots, as typed.
#[derive(Clone, Copy, ValueEnum)]
pub enum EmptySlots {
    /// They keep their clock, as in the exact analysis
    Phantom,
    /// They are freed at once
    Release,
}

impl From<Backfill> for artifact::Backfill {
    fn from(typed: Backfill) -> Self {
        match typed {
            Backfill::None => artifact::Backfill::None,
            Backfill::FirstFit => artifact::Backfill::FirstFit,
        }
    }
}

impl From<EmptySlots> for artifact::EmptySlots {
    fn from(typed: EmptySlots) -> Self {
        match typed {
            EmptySlots::Phantom => artifact::EmptySlots::Phantom,
            EmptySlots::Release => artifact::EmptySlots::Release,
        }
    }
}

impl Arguments {
    fn options(&self) -> Option<Options> {
        Some(Options {
            setup_rate: self.setup_rate,
            switching_rate: self.switching_rate,
            route: self.route,
            backfill: self.backfill.into(),
            empty_slots: self.empty_slots.into(),
            objective: self.objective.into(),
            effort: self.effort,
            limits: Limits {
                time: Duration::from_secs_f64(self.time_limit.min(1e9)),
                ..Limits::default()
            },
            ..Options::new(self.preemption?.into())
        })
    }
}

pub fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let (Some(file), Some(options)) = (&arguments.workload, arguments.options()) else {
        return Err("give --workload FILE and --preemption none|full|setup; see --help".into());
    };
    let written: Vec<&Path> = arguments.output.iter().map(PathBuf::as_path).collect();
    apart(&[file], &written)?;
    let workload = read_workload(file, common)?;
    let spinner = progress::spinner(common, "solving the program");
    let outcome = synthesis::synthesize(&workload, &options)?;
    drop(spinner);
    match outcome {
        synthesis::Outcome::Policy(made) => {
            // The second derivation of every number, before anybody relies on the first.
            if let Err(findings) = artifact::check(&made.artifact) {
                let listed: Vec<String> = findings.iter().map(ToString::to_string).collect();
                return Err(format!(
                    "the policy made does not check, and is not written:\n  {}\nPlease report this with the workload",
                    listed.join("\n  ")
                )
                .into());
            }
            emit(arguments.output.as_ref(), &made.artifact.to_json()?)?;
            tell(common, &report::synthesis(&workload, &made));
            if arguments.explain {
                let bounds = synthesis::paper_bounds(&workload, &made.artifact.policy)?;
                tell(common, &report::explain(&workload, &made.artifact, &bounds));
            }
            Ok(ExitCode::SUCCESS)
        }
        synthesis::Outcome::Overloaded(overload) => {
            // A negative answer is the result: it is told to the quiet, too.
            anstream::eprintln!("{}", report::overload(&workload, &overload, true));
            Ok(ExitCode::from(NEGATIVE))
        }
        synthesis::Outcome::Undecided(overload) => {
            anstream::eprintln!("{}", report::overload(&workload, &overload, false));
            Ok(ExitCode::from(2))
        }
    }
}
