//! Multiresource jobs as a kind of workload: what is typed → verbs → what is printed.

mod bridge;
mod drive;
mod export;
mod fit;
mod optimum;
mod promise;
mod replay;
mod sweep;
mod synthesis_args;
mod synthesize;

use std::path::Path;

use clap::{Args, Subcommand};

use crate::artifact::Finding;
use crate::document::{DocumentError, Parsed};
use crate::kind::{
    Answer, Caller, Compared, Files, Kind, NamesFiles, Notice, OwnVerb, VerbOutput, VerbResult,
    required_workload, run_document,
};
use crate::multiresource::artifact::{Checked, Multiresource};
use crate::multiresource::replay::Speed;
use crate::multiresource::report;
use crate::multiresource::verbs;
use crate::multiresource::workload::{Fleet, Workload};
use crate::number::Decimal;
use crate::number::quantity::explained;
use crate::simulation::Settings;
use crate::simulation::sweep::{Comparing, Stage, Whole};
use crate::typed::fraction;
pub use synthesis_args::SynthesisArgs;
use verbs::replay::{Pace, Replaying, TraceArgs};

/// What is typed to run a policy in other ways than its own.
#[derive(Args)]
pub struct SimulationArgs {
    /// Dead time: how long a job holds its room before it runs, in place of the workload's own [the policy's time
    /// unit; with --trace s]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = start_latency)]
    start_latency: Option<Decimal>,

    #[command(flatten)]
    trace: TraceArgs,

    /// Let the jobs of the trace come so fast that its load is this: the most that a resource is asked for, over what
    /// there is of it
    #[arg(long, value_name = "ρ", requires = "trace", conflicts_with = "speed", value_parser = fraction)]
    load: Option<f64>,
}

impl NamesFiles for SimulationArgs {
    fn files(&self) -> Files<'_> {
        self.trace.files()
    }
}

/// What is typed to compare policies.
#[derive(Args)]
pub struct ComparisonArgs {
    /// Dead time: how long each job of the trace holds its room before it runs [s]
    #[arg(long, value_name = "TIME", requires = "trace", allow_negative_numbers = true, value_parser = start_latency)]
    start_latency: Option<Decimal>,

    #[command(flatten)]
    trace: TraceArgs,

    /// Replicate the trace: whole weeks of it drawn with replacement, 8 times, the same for each policy
    #[arg(long, requires = "trace")]
    resample: bool,
}

impl NamesFiles for ComparisonArgs {
    fn files(&self) -> Files<'_> {
        self.trace.files()
    }
}

/// Verbs that other kinds do not have.
#[derive(Subcommand)]
pub enum Verb {
    /// Evaluate the cost over the switching rate, for each route: CSV, and a picture
    SweepAlpha(sweep::Arguments),
    /// The best that any policy without preemption can do, for small systems
    Optimum(optimum::Arguments),
    /// Make a workload of a trace: types of jobs, laws of sizes, and how they arrive
    Fit(fit::Arguments),
    /// Run a policy for a scheduler in any language: events in, decisions out, a line of JSON each
    Drive(drive::Arguments),
    /// Run the jobs of a real cluster by a policy: hold, decide, release
    Bridge(bridge::Arguments),
    /// Write files for other programs
    Export {
        /// Which program
        #[command(subcommand)]
        to: export::Export,
    },
}

impl Verb {
    fn arguments(&self) -> &dyn OwnVerb {
        match self {
            Verb::SweepAlpha(arguments) => arguments,
            Verb::Optimum(arguments) => arguments,
            Verb::Fit(arguments) => arguments,
            Verb::Drive(arguments) => arguments,
            Verb::Bridge(arguments) => arguments,
            Verb::Export { to } => to,
        }
    }
}

impl NamesFiles for Verb {
    fn files(&self) -> Files<'_> {
        self.arguments().files()
    }
}

impl OwnVerb for Verb {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        self.arguments().run(caller)
    }
}

impl Kind for Multiresource {
    type SynthesisArgs = SynthesisArgs;
    type SimulationArgs = SimulationArgs;
    type ComparisonArgs = ComparisonArgs;
    type Verb = Verb;

    const EXAMPLES: &'static str = EXAMPLES;

    fn parse(text: &str, name: &str) -> Result<Parsed<Fleet>, DocumentError> {
        Fleet::parse(text, name)
    }

    fn synthesize(
        workload: &Fleet,
        args: &SynthesisArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<Answer<Self>> {
        notify_latency(workload, caller);
        synthesize::synthesize(workload, args, caller)
    }

    fn against(policy: &Checked, workload: &Fleet) -> VerbResult<Vec<Finding>> {
        verbs::against(policy, workload)
    }

    fn about(policy: &Checked) -> String {
        report::about(policy.workload())
    }

    fn show(policy: &Checked, width: usize) -> String {
        report::show(policy, width)
    }

    fn simulate(
        policy: &str,
        workload: Option<Fleet>,
        ways: &SimulationArgs,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> VerbResult<(VerbOutput, String)> {
        let (trace, latency) = (&ways.trace, ways.start_latency);
        if trace.file.is_some() {
            let speed = Pace::Speed(trace.speed.unwrap_or(Speed::ONE));
            let request = Replaying {
                trace,
                workload: workload.as_ref(),
                policies: &[policy.to_owned()],
                paces: vec![ways.load.map_or(speed, Pace::Load)],
                start_latency: latency,
                resample: false,
                changes: caller.changes,
                settings,
            };
            return replay::simulate(&request, caller);
        }
        if let Some(file) = &trace.jobs {
            let workload = (workload.as_ref(), latency);
            return replay::run_recorded(file, policy, workload, settings, caller);
        }
        let ways = (latency, caller.changes);
        let listener = |what: &str, reached| caller.notify(Notice::Simulating(what, reached));
        let simulated = verbs::simulate(policy, workload, ways, settings, listener)?;
        let (run, verdicts) = (&simulated.run, &simulated.verdicts);
        let answered = VerbOutput {
            table: report::simulation(&simulated.workload, run, verdicts, caller.width),
            notes: report::notes(&simulated),
            negative: simulated.is_refuted(),
            documents: Vec::new(),
        };
        Ok((answered, run_document(policy, run, verdicts)?))
    }

    fn trace(extras: &ComparisonArgs) -> Option<&Path> {
        extras.trace.file.as_deref()
    }

    fn compare(
        workload: Option<&Fleet>,
        request: &Comparing<'_>,
        extras: &ComparisonArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<Compared> {
        if extras.trace.file.is_some() {
            return on_trace(workload, request, extras, caller);
        }
        if extras.trace.jobs.is_some() {
            return Err("--jobs without --trace runs recorded jobs, under one policy: give it to `synth simulate`, or give --trace FILE".into());
        }
        let workload = required_workload(workload)?;
        notify_latency(workload, caller);
        caller.notify(Notice::Doing("solving the program"));
        let listener = |stage: Stage<'_>| {
            caller.notify(Notice::Interruptible);
            caller.notify(Notice::Comparing(stage));
        };
        let swept = verbs::compare(workload, request, listener)?;
        over_loads(workload, swept, caller.width)
    }

    fn merge(workload: &Fleet, whole: &Whole, width: usize) -> VerbResult<Compared> {
        over_loads(workload, whole.comparison()?, width)
    }

    fn rules(width: usize) -> String {
        report::rules(width)
    }
}

/// A start latency, as typed.
fn start_latency(text: &str) -> Result<Decimal, String> {
    match Decimal::parse(text) {
        Ok(latency) if latency >= Decimal::ZERO => Ok(latency),
        Ok(latency) => Err(format!(
            "the start latency is {latency}, expected a number ≥ 0"
        )),
        Err(why) => {
            let help = explained(text, None).unwrap_or_else(|| why.help());
            Err(format!("{why}; {help}"))
        }
    }
}

/// Notifies the caller that jobs have a start latency.
fn notify_latency(workload: &Fleet, caller: &mut Caller<'_>) {
    if let Some(note) = report::start_latency(workload.envelope()) {
        caller.notify(Notice::Known(&note));
    }
}

/// A comparison over loads, with what is known besides of its workload.
fn over_loads(
    workload: &Fleet,
    comparison: verbs::Comparison,
    width: usize,
) -> VerbResult<Compared> {
    let envelope = workload.envelope();
    let mut besides = report::besides(envelope);
    if let Some(law) = envelope.start_latency() {
        let mean = report::number(law.mean());
        let unit = envelope.time_unit();
        besides.about += &format!(", with a mean start latency of {mean} {unit}");
    }
    Compared::over_loads(comparison, &besides, width)
}

/// Compares policies on a trace.
fn on_trace(
    workload: Option<&Fleet>,
    request: &Comparing<'_>,
    extras: &ComparisonArgs,
    caller: &mut Caller<'_>,
) -> VerbResult<Compared> {
    let paces = match (request.loads, extras.trace.speed) {
        ([], speed) => vec![Pace::Speed(speed.unwrap_or(Speed::ONE))],
        (loads, None) => loads.iter().copied().map(Pace::Load).collect(),
        _ => {
            return Err("--loads and --speed both say how fast jobs come: keep one of them".into());
        }
    };
    let replaying = Replaying {
        trace: &extras.trace,
        workload,
        policies: request.policies,
        paces,
        start_latency: extras.start_latency,
        resample: extras.resample,
        changes: caller.changes,
        settings: request.settings,
    };
    replay::compare(&replaying, caller)
}

/// Reads the workload of one server; the caller hears warnings.
fn server_of(file: &Path, caller: &mut Caller<'_>) -> VerbResult<Workload> {
    let parsed = Workload::read(file)?;
    for warning in &parsed.warnings {
        caller.notify(Notice::Known(warning));
    }
    Ok(parsed.workload)
}

/// Notifies the caller of what a verb does, which may be interrupted from then on.
fn progress(caller: &mut Caller<'_>) -> impl FnMut(&str) {
    |text| {
        caller.notify(Notice::Interruptible);
        caller.notify(Notice::Doing(text));
    }
}

const EXAMPLES: &str = "  synth fit cluster.swf -o workload.yaml
      a workload from a log of jobs: types, sizes as measured, how they arrive, and what was left out
  synth --workload models/vms.yaml --preemption none
      the best of all families for jobs that cannot be preempted, to standard output
  synth - --preemption none < models/vms.yaml
      the same of a workload from standard input; `synth models/vms.yaml …` needs no --workload either
  synth --workload models/one_or_all.yaml --preemption none --family quickswap --explain
      one family, tuned; with the exact means of MSFQ by its threshold
  synth --workload models/vms.yaml --preemption none --family msr --output p.json
      a policy with exact claims and proved stability
  synth --workload models/section7.yaml --preemption setup --setup-rate 10 --output p.json
      preemption at the price of a setup of mean 1/10 of the time unit
  synth --workload models/fleet.yaml --preemption none --output p.json
      a fleet of several server shapes: which job starts on which server
  synth show p.json
      what a policy file says, in words
  synth check p.json
      derive again what can be, and say what was judged for sense and what is taken on trust
  synth simulate p.json --precision 1%
      run it, with confidence intervals, and judge its claims
  synth compare --workload models/section7.yaml --policies first-fit,fcfs,p.json --loads 0.5,0.7,0.9
      mean response times beside those of rules in use today, and which policy is surely faster
  synth compare --workload models/section7.yaml --policies first-fit,p.json --output c.json --html c.html
      the same as a page with pictures; finished parts are kept, and --resume continues them
  synth simulate --trace log.swf --policy first-fit
      a cluster's log again under another rule: the same jobs, to the second
  synth simulate --trace log.swf.gz --policy easy --speed 5/4 --jobs jobs.csv --series series.csv
      the same with jobs a quarter faster; what came of each job, and how many waited and ran over time
  synth simulate --trace vms.csv --columns time=submit_s,size=held_s,cores=cores --capacity cores=4096 --policy best-fit --load .9
      a table of jobs on one server of this capacity, at another load
  synth compare --trace log.swf --policies first-fit,easy,conservative --loads .7,.9 --html c.html
      rules on the same log at two loads, with intervals, and a page with what waited when
  synth compare --trace log.swf --workload fit.yaml --policies first-fit,p.json --resample
      a policy made for the fit beside First-Fit, on the log and on replications of its weeks
  synth optimum --workload models/section7.yaml --load .8 --policies first-fit,adaptive-quickswap
      the least mean response time that any policy without preemption can have, and how near policies are
  synth export slurm p.json --partition batch --output slurm/
      what an administrator installs so that the policy decides when jobs of a Slurm partition start
  synth sweep-alpha --workload models/section7.yaml --preemption none --html curves.html
      mean response time over the switching rate, as CSV and as a page with a picture
";
