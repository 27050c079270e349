//! One file a subcommand: what was typed → a library call → what is printed.

mod check;
mod compare;
mod completions;
mod interrupt;
mod optimum;
mod output;
mod progress;
mod simulate;
mod sweep;
mod synthesize;
mod typed;

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::{Args, Parser, Subcommand};
use synth::document::{DocumentError, Parsed};
use synth::multiresource::artifact::{Artifact, ArtifactError};
use synth::multiresource::report;
use synth::multiresource::verbs::VerbError;
use synth::multiresource::workload::{Described, Workload};

use output::emit;

/// The style of `error:` and `warning:`.
pub const EMPHASIS: Style = AnsiColor::Red.on_default().bold();

/// A sound negative answer: nothing can stabilize it, the artifact is refused, a claim is
/// refuted.
const NEGATIVE: u8 = 1;

/// Ended by Ctrl-C, by the convention of shells: 128 plus the number of the signal.
const INTERRUPTED: u8 = 130;

type Outcome = Result<ExitCode, Box<dyn Error>>;

/// From a workload to a scheduling policy, with a proof; and a simulator that checks it.
#[derive(Parser)]
#[command(
    name = "synth",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true,
    after_long_help = EXAMPLES
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    synthesize: synthesize::Arguments,

    #[command(flatten)]
    common: Common,
}

/// What every subcommand takes.
#[derive(Args)]
pub struct Common {
    /// Print results only: no summary of a synthesis, no warnings, no progress
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Check a policy: every number in it is derived again
    Check(check::Arguments),
    /// Simulate a policy, and try to refute its claims
    Simulate(simulate::Arguments),
    /// Compare policies over a range of loads, on the same arrivals and sizes
    Compare(compare::Arguments),
    /// List the rules that can be simulated and compared by name
    Rules,
    /// Evaluate the cost over the switching rate, for each route: CSV, and a picture
    SweepAlpha(sweep::Arguments),
    /// The best that any policy without preemption can do, for small systems
    Optimum(optimum::Arguments),
    /// Print the JSON Schema of policies
    Schema,
    /// Print a shell completion script
    Completions(completions::Arguments),
    /// Print the manual page
    Man,
}

const EXAMPLES: &str = "\
Examples:
  synth --workload models/vms.yaml --preemption none
      the best of all families for jobs that cannot be preempted, to standard output
  synth --workload models/one_or_all.yaml --preemption none --family quickswap --explain
      one family, tuned; with the exact means of MSFQ by its threshold
  synth --workload models/vms.yaml --preemption none --family msr --output p.json
      a policy with exact claims and proved stability, and what a change would do
  synth --workload models/section7.yaml --preemption setup --setup-rate 10 --output p.json
      preemption at the price of a setup of mean 1/10 of the time unit
  synth --workload models/fleet.yaml --preemption none --output p.json
      a fleet of several server shapes: where jobs are sent, and a policy for each shape
  synth check p.json
      derive every number of the policy again
  synth simulate --policy p.json --precision 1%
      run it, with confidence intervals, and judge its claims
  synth compare --workload models/section7.yaml --policies first-fit,fcfs,p.json --loads 0.5,0.7,0.9
      mean response times beside those of rules in use today, and which policy is surely faster
  synth compare --workload models/section7.yaml --policies first-fit,p.json --output c.json --html c.html
      the same as a page with pictures; finished parts are kept, and --resume continues them
  synth optimum --workload models/section7.yaml --load .8 --policies first-fit,adaptive-quickswap
      the least mean response time that any policy without preemption can have, and how near policies are
  synth sweep-alpha --workload models/section7.yaml --preemption none --plot curves.svg
      mean response time over the switching rate, as CSV and as a picture
  synth completions bash > /etc/bash_completion.d/synth

Exit codes:
  0  done
  1  a sound negative answer: no policy can stabilize the workload, the policy is refused,
     a claim is refuted, a policy of a comparison cannot be run
  2  usage, input or I/O
  130  interrupted by Ctrl-C: the results so far are printed and marked";

/// Runs what was asked for.
pub fn run(arguments: &Arguments) -> Outcome {
    let common = &arguments.common;
    match &arguments.command {
        None => synthesize::run(&arguments.synthesize, common),
        Some(Command::Check(arguments)) => check::run(arguments, common),
        Some(Command::Simulate(arguments)) => simulate::run(arguments, common),
        Some(Command::Compare(arguments)) => compare::run(arguments, common),
        Some(Command::Rules) => {
            emit(None, &format!("{}\n", report::rules(width())))?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::SweepAlpha(arguments)) => sweep::run(arguments, common),
        Some(Command::Optimum(arguments)) => optimum::run(arguments, common),
        Some(Command::Schema) => {
            let schema = serde_json::to_string_pretty(&Artifact::schema())?;
            emit(None, &format!("{schema}\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Completions(arguments)) => completions::completions(arguments),
        Some(Command::Man) => completions::manual(),
    }
}

/// The exit code of an error. That a policy is refused is an answer, not a failure.
pub fn code_of(error: &(dyn Error + 'static)) -> u8 {
    let refused = match error.downcast_ref::<VerbError>() {
        Some(VerbError::Artifact(refused)) => Some(refused),
        _ => error.downcast_ref::<ArtifactError>(),
    };
    match refused {
        Some(ArtifactError::Refused { .. }) => NEGATIVE,
        _ => 2,
    }
}

/// Whether the reader of the output has closed it, which is no error.
pub fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Reads a workload; warnings go to standard error.
fn read_workload(path: &Path, common: &Common) -> Result<Workload, DocumentError> {
    Workload::read(path).map(|parsed| warned(parsed, common))
}

/// Reads a workload of one server or of a fleet; warnings go to standard error.
fn read_described(path: &Path, common: &Common) -> Result<Described, DocumentError> {
    Described::read(path).map(|parsed| warned(parsed, common))
}

fn warned<W>(parsed: Parsed<W>, common: &Common) -> W {
    if !common.quiet {
        for warning in &parsed.warnings {
            anstream::eprintln!("{warning}");
        }
    }
    parsed.workload
}

/// Prints to standard error, unless --quiet was given.
fn tell(common: &Common, text: &str) {
    if !common.quiet {
        // A closed standard error is no reason to fail.
        let _ = writeln!(anstream::stderr(), "{text}");
    }
}

/// Width of tables: that of the terminal where it is narrower than [`report::WIDTH`].
fn width() -> usize {
    use terminal_size::{Width, terminal_size_of};
    let found = terminal_size_of(std::io::stdout()).or_else(|| terminal_size_of(std::io::stderr()));
    found.map_or(report::WIDTH, |(Width(columns), _)| {
        usize::from(columns).clamp(NARROWEST, report::WIDTH)
    })
}

/// In narrower terminals lines are broken by the terminal.
const NARROWEST: usize = 60;

/// A positive number, or a percentage of 1: `0.01` or `1%`.
fn fraction(text: &str) -> Result<f64, String> {
    let (digits, scale) = text
        .strip_suffix('%')
        .map_or((text, 1.0), |t| (t.trim(), 0.01));
    match digits.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value * scale),
        _ => Err(format!(
            "`{text}` is not a positive number such as 0.01 or 1%"
        )),
    }
}

/// A positive finite number.
fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err(format!("`{text}` is not a positive number")),
    }
}

/// A whole number, `2e8` and `1_000_000` too.
fn count(text: &str) -> Result<u64, String> {
    let plain = text.replace('_', "");
    let value = plain.parse::<f64>().unwrap_or(f64::NAN);
    if (1.0..=1e15).contains(&value) && value.fract() == 0.0 {
        Ok(value as u64)
    } else {
        Err(format!("`{text}` is not a whole number from 1 to 1e15"))
    }
}
