//! Malleable jobs as a kind of workload: what is typed → verbs → what is told.

use clap::Args;

use crate::artifact::Finding;
use crate::document::{DocumentError, Parsed};
use crate::kind::{
    Answer, Caller, Compared, Kind, NamesFiles, NoArgs, NoVerb, Notice, VerbOutput, VerbResult,
    checked, other_workload, required_workload, run_document, same_workload,
};
use crate::malleable::artifact::{Checked, Malleable};
use crate::malleable::policy::Online;
use crate::malleable::report;
use crate::malleable::synthesis::{self, Options, Outcome};
use crate::malleable::verbs::{self, Ran};
use crate::malleable::workload::{Pool, Stream, Workload};
use crate::report::rules_table;
use crate::simulation::sweep::{Comparing, Stage, Whole};
use crate::simulation::{Progress, Settings};
use crate::typed::{count, part};

/// What is typed beside the workload to make a policy.
#[derive(Args, Clone)]
pub struct SynthesisArgs {
    /// How far small jobs go first where jobs arrive: 0 is the same for each, 1 as if no job came any more; tuned if not given
    #[arg(long, value_name = "U", value_parser = knob, requires = "background")]
    urgency: Option<f64>,

    /// Jobs that are reckoned to stay behind all others where jobs arrive; tuned if not given
    #[arg(long, value_name = "B", value_parser = knob, requires = "urgency")]
    background: Option<f64>,

    /// Events that may be simulated where jobs arrive
    #[arg(long, value_name = "EVENTS", default_value = "4e7", value_parser = count)]
    budget: u64,

    /// Seed of the simulations: the same seed gives the same policy
    #[arg(long, default_value = "1")]
    seed: u64,
}

impl NamesFiles for SynthesisArgs {}

fn knob(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err(format!("`{text}` is not a number from 0 to 100")),
    }
}

/// What is typed to compare policies.
#[derive(Args)]
pub struct ComparisonArgs {
    /// Compare at speedups k^p with these exponents in place of the workload's own, where jobs are all there
    #[arg(long, value_name = "P,P,…", value_delimiter = ',', value_parser = exponent)]
    exponents: Vec<f64>,
}

impl NamesFiles for ComparisonArgs {}

fn exponent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(1.0) => Ok(1.0),
        _ => part(text).map_err(|_| format!("`{text}` is not an exponent above 0 and at most 1")),
    }
}

impl Kind for Malleable {
    type SynthesisArgs = SynthesisArgs;
    type SimulationArgs = NoArgs;
    type ComparisonArgs = ComparisonArgs;
    type Verb = NoVerb;

    const EXAMPLES: &'static str = EXAMPLES;

    fn parse(text: &str, name: &str) -> Result<Parsed<Workload>, DocumentError> {
        Workload::parse(text, name)
    }

    fn synthesize(
        workload: &Workload,
        args: &SynthesisArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<Answer<Self>> {
        match workload {
            Workload::Pool(pool) => plan(pool, args, caller),
            Workload::Stream(stream) => online(stream, args, caller),
        }
    }

    fn against(policy: &Checked, workload: &Workload) -> VerbResult<Vec<Finding>> {
        let (own, other) = (policy.workload().digest(), workload.digest());
        let what = "servers, speedups, jobs or the objective";
        Ok(same_workload(&own, &other, what))
    }

    fn about(policy: &Checked) -> String {
        report::about(policy.workload())
    }

    fn show(policy: &Checked, width: usize) -> String {
        report::show(policy, width)
    }

    fn simulate(
        policy: &str,
        workload: Option<Workload>,
        _: &NoArgs,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> VerbResult<(VerbOutput, String)> {
        let changes = caller.changes;
        let listener = |reached| caller.notify(Notice::Simulating("simulating", reached));
        let simulated = verbs::simulate(policy, workload, changes, settings, listener)?;
        let verdicts = &simulated.verdicts;
        let (table, document) = match &simulated.ran {
            Ran::Pool(pool, course) => (
                report::course(pool, course, verdicts, caller.width),
                run_document(policy, &report::of_course(pool, course), verdicts)?,
            ),
            Ran::Stream(stream, run) => (
                report::simulation(stream, run, verdicts, caller.width),
                run_document(policy, run, verdicts)?,
            ),
        };
        let answered = VerbOutput {
            table,
            notes: other_workload(simulated.other_workload),
            negative: simulated.is_refuted(),
            documents: Vec::new(),
        };
        Ok((answered, document))
    }

    fn compare(
        workload: Option<&Workload>,
        asked: &Comparing<'_>,
        extras: &ComparisonArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<Compared> {
        let workload = required_workload(workload)?;
        caller.notify(Notice::Interruptible);
        match workload {
            Workload::Pool(pool) => {
                let listener = |what: &str| caller.notify(Notice::Doing(what));
                let outcomes = verbs::compare_pool(pool, asked, &extras.exponents, listener);
                Compared::outcomes(&outcomes?, caller.width)
            }
            Workload::Stream(_) if !extras.exponents.is_empty() => Err(
                "--exponents goes with jobs that are all there, and here jobs arrive: leave it out"
                    .into(),
            ),
            Workload::Stream(stream) => {
                let listener = |stage: Stage<'_>| caller.notify(Notice::Comparing(stage));
                let swept = verbs::compare(stream, asked, listener)?;
                Compared::over_loads(swept, &report::besides(stream), caller.width)
            }
        }
    }

    fn merge(workload: &Workload, whole: &Whole, width: usize) -> VerbResult<Compared> {
        let Workload::Stream(stream) = workload else {
            return Err("jobs that are all there are not compared over loads".into());
        };
        let mut comparison = whole.comparison()?;
        verbs::add_bounds(&mut comparison, stream)?;
        Compared::over_loads(comparison, &report::besides(stream), width)
    }

    fn rules(width: usize) -> String {
        rules_table(&verbs::RULES, width)
    }
}

fn options(args: &SynthesisArgs, caller: &Caller<'_>) -> Options {
    let knobs = args.urgency.zip(args.background);
    Options {
        events: args.budget,
        seed: args.seed,
        knobs: knobs.map(|(urgency, background)| Online {
            urgency,
            background,
        }),
        interrupt: caller.interrupt.clone(),
    }
}

fn plan(
    pool: &Pool,
    args: &SynthesisArgs,
    caller: &mut Caller<'_>,
) -> VerbResult<Answer<Malleable>> {
    if args.urgency.is_some() {
        return Err("--urgency and --background go with jobs that arrive, and here all are there at the start: leave them out".into());
    }
    caller.notify(Notice::Doing("planning"));
    let (artifact, planned) = synthesis::plan(pool);
    let summary = report::made(pool, &planned, caller.width);
    caller.notify(Notice::Doing("checking"));
    Ok(Answer::Policy {
        artifact: checked(artifact)?,
        summary,
        documents: Vec::new(),
    })
}

fn online(
    stream: &Stream,
    args: &SynthesisArgs,
    caller: &mut Caller<'_>,
) -> VerbResult<Answer<Malleable>> {
    caller.notify(Notice::Interruptible);
    let options = options(args, caller);
    let listener = |what: &str, reached: Progress| caller.notify(Notice::Simulating(what, reached));
    Ok(match synthesis::online(stream, &options, listener)? {
        Outcome::Made(made) => Answer::Policy {
            summary: report::online(stream, &made, caller.width),
            documents: Vec::new(),
            artifact: checked(made.artifact)?,
        },
        Outcome::Overload(times) => Answer::Refused {
            why: report::overload(stream, times, caller.width),
            decided: true,
        },
        Outcome::Interrupted => Answer::Interrupted,
    })
}

const EXAMPLES: &str = "  synth --workload models/amdahl_training.yaml --output p.json
      how jobs that are all there divide the servers, when each ends, and the proof that no plan costs less
  synth --workload models/training_stream.yaml --output p.json
      jobs that arrive: a rule, tuned by simulation, beside a bound that no policy can beat
  synth show p.json
      what a policy file says, in words
  synth check p.json
      derive again what can be, and say what was judged for sense and what is taken on trust
  synth simulate p.json
      run it, and judge its claims
  synth compare --workload models/five_hundred_pareto.yaml --policies hesrpt,equi,srpt,hell,knee --exponents .05,.3,.5,.9,.99
      what rules cost over the exponent of the speedup
  synth compare --workload models/training_stream.yaml --policies hesrpt,equi,srpt,p.json --loads .3,.6,.9
      mean response times where jobs arrive
";
