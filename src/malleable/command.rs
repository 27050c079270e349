//! Malleable jobs as a kind of workload: what is typed → verbs → what is told.

use std::path::Path;

use clap::Args;

use crate::artifact::Finding;
use crate::document::Parsed;
use crate::kind::{
    Answer, Answered, Caller, Compared, Given, Kind, NamesFiles, NoArgs, NoVerb, Word, checked,
    other_workload, run_document, same_workload, wanted,
};
use crate::malleable::artifact::{Checked, Malleable};
use crate::malleable::policy::Online;
use crate::malleable::report;
use crate::malleable::synthesis::{self, Options, Outcome};
use crate::malleable::verbs::{self, Ran};
use crate::malleable::workload::{Pool, Stream, Workload};
use crate::report::{rules_table, valid_report};
use crate::simulation::sweep::{Comparing, Stage, Swept, Whole};
use crate::simulation::{Progress, Settings};
use crate::typed::{count, part};

/// What is typed beside the workload to make a policy.
#[derive(Args, Clone)]
pub struct Wishes {
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

impl NamesFiles for Wishes {}

fn knob(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err(format!("`{text}` is not a number from 0 to 100")),
    }
}

/// What is typed to compare policies.
#[derive(Args)]
pub struct Extras {
    /// Compare at speedups k^p with these exponents in place of the workload's own, where jobs are all there
    #[arg(long, value_name = "P,P,…", value_delimiter = ',', value_parser = exponent)]
    exponents: Vec<f64>,
}

impl NamesFiles for Extras {}

fn exponent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(1.0) => Ok(1.0),
        _ => part(text).map_err(|_| format!("`{text}` is not an exponent above 0 and at most 1")),
    }
}

impl Kind for Malleable {
    type Described = Workload;
    type Wishes = Wishes;
    type Ways = NoArgs;
    type Extras = Extras;
    type Verb = NoVerb;

    const EXAMPLES: &'static str = EXAMPLES;

    fn read(file: &Path) -> Given<Parsed<Workload>> {
        Ok(Workload::read(file)?)
    }

    fn parse(text: &str, name: &str) -> Given<Parsed<Workload>> {
        Ok(Workload::parse(text, name)?)
    }

    fn synthesize(
        workload: &Workload,
        wishes: &Wishes,
        caller: &mut Caller<'_>,
    ) -> Given<Answer<Self>> {
        match workload {
            Workload::Pool(pool) => plan(pool, wishes, caller),
            Workload::Stream(stream) => online(stream, wishes, caller),
        }
    }

    fn against(policy: &Checked, workload: &Workload) -> Given<Vec<Finding>> {
        let (own, other) = (policy.workload().digest(), workload.digest());
        let what = "servers, speedups, jobs or the objective";
        Ok(same_workload(&own, &other, what))
    }

    fn valid(policy: &Checked, width: usize) -> String {
        let about = format!("about {}", report::about(policy.workload()));
        valid_report(policy, &about, width)
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
    ) -> Given<(Answered, String)> {
        let changes = caller.changes;
        let hears = |reached| caller.hear(Word::Simulating("simulating", reached));
        let simulated = verbs::simulate(policy, workload, changes, settings, hears)?;
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
        let answered = Answered {
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
        extras: &Extras,
        caller: &mut Caller<'_>,
    ) -> Given<Compared> {
        let workload = wanted(workload)?;
        caller.hear(Word::Interruptible);
        match workload {
            Workload::Pool(pool) => {
                let hears = |what: &str| caller.hear(Word::Doing(what));
                let outcomes = verbs::compare_pool(pool, asked, &extras.exponents, hears);
                Compared::outcomes(&outcomes?, caller.width)
            }
            Workload::Stream(_) if !extras.exponents.is_empty() => Err(
                "--exponents goes with jobs that are all there, and here jobs arrive: leave it out"
                    .into(),
            ),
            Workload::Stream(stream) => {
                let hears = |stage: Stage<'_>| caller.hear(Word::Comparing(stage));
                let swept = verbs::compare(stream, asked, hears)?;
                Compared::over_loads(swept, &report::besides(stream), caller.width)
            }
        }
    }

    fn merge(workload: &Workload, whole: &Whole, width: usize) -> Given<Compared> {
        let Workload::Stream(stream) = workload else {
            return Err("jobs that are all there are not compared over loads".into());
        };
        let mut comparison = whole.comparison()?;
        verbs::add_bounds(&mut comparison, stream)?;
        let journal = None;
        let swept = Swept {
            comparison,
            journal,
        };
        Compared::over_loads(swept, &report::besides(stream), width)
    }

    fn rules(width: usize) -> String {
        rules_table(&verbs::RULES, width)
    }
}

fn options(wishes: &Wishes, caller: &Caller<'_>) -> Options {
    let knobs = wishes.urgency.zip(wishes.background);
    Options {
        events: wishes.budget,
        seed: wishes.seed,
        knobs: knobs.map(|(urgency, background)| Online {
            urgency,
            background,
        }),
        interrupt: caller.interrupt.clone(),
    }
}

fn plan(pool: &Pool, wishes: &Wishes, caller: &mut Caller<'_>) -> Given<Answer<Malleable>> {
    if wishes.urgency.is_some() {
        return Err("--urgency and --background go with jobs that arrive, and here all are there at the start: leave them out".into());
    }
    caller.hear(Word::Doing("planning"));
    let (artifact, planned) = synthesis::plan(pool);
    let summary = report::made(pool, &planned, caller.width);
    caller.hear(Word::Doing("checking"));
    Ok(Answer::Policy {
        artifact: checked(artifact)?,
        summary,
        documents: Vec::new(),
    })
}

fn online(stream: &Stream, wishes: &Wishes, caller: &mut Caller<'_>) -> Given<Answer<Malleable>> {
    caller.hear(Word::Interruptible);
    let options = options(wishes, caller);
    let hears = |what: &str, reached: Progress| caller.hear(Word::Simulating(what, reached));
    Ok(match synthesis::online(stream, &options, hears)? {
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
