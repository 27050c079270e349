//! Malleable jobs as a kind of workload: what is typed → verbs → what is told.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::artifact::Finding;
use crate::document::Parsed;
use crate::kind::{
    Answer, Answered, Caller, Compared, Given, Kind, OverLoads, Simulated, VerbError, Word, json,
    run_document, wanted,
};
use crate::malleable::artifact::{Checked, Malleable};
use crate::malleable::policy::Online;
use crate::malleable::report;
use crate::malleable::synthesis::{self, Options, Outcome};
use crate::malleable::verbs::{self, Ran, Tournament};
use crate::malleable::workload::{Pool, Stream, Workload};
use crate::simulation::sweep::{Comparing, Journal, Stage, Swept, Whole};
use crate::simulation::{Progress, Settings};
use crate::typed::{count, part};

/// What is typed beside the workload to make a policy.
#[derive(Args, Clone)]
pub struct Wishes {
    /// Take the speedup that fits these measurements best in place of the workload's: CSV with the columns
    /// `servers` and `throughput`
    #[arg(long, value_name = "FILE")]
    fit_speedup: Option<PathBuf>,

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

fn knob(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err(format!("`{text}` is not a number from 0 to 100")),
    }
}

/// Nothing: policies run as they say.
#[derive(Args)]
pub struct Ways {}

/// What is typed to compare policies.
#[derive(Args)]
pub struct Extras {
    /// Compare at speedups k^p with these exponents in place of the workload's own, where jobs are all there
    #[arg(long, value_name = "P,P,…", value_delimiter = ',', value_parser = exponent)]
    exponents: Vec<f64>,
}

fn exponent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(1.0) => Ok(1.0),
        _ => part(text).map_err(|_| format!("`{text}` is not an exponent above 0 and at most 1")),
    }
}

/// There are none of its own.
#[derive(Subcommand)]
pub enum Verb {}

impl Kind for Malleable {
    type Described = Workload;
    type Wishes = Wishes;
    type Ways = Ways;
    type Extras = Extras;
    type Verb = Verb;

    const EXAMPLES: &'static str = EXAMPLES;

    fn read(file: &Path) -> Given<Parsed<Workload>> {
        Ok(Workload::read(file)?)
    }

    fn parse(text: &str, name: &str) -> Given<Parsed<Workload>> {
        Ok(Workload::parse(text, name)?)
    }

    fn files(wishes: &Wishes) -> Vec<&Path> {
        wishes.fit_speedup.iter().map(PathBuf::as_path).collect()
    }

    fn synthesize(
        workload: &Workload,
        wishes: &Wishes,
        caller: &mut Caller<'_>,
    ) -> Given<Answer<Self>> {
        match (workload, &wishes.fit_speedup) {
            (Workload::Pool(pool), None) => plan(pool, wishes, caller, String::new()),
            (Workload::Pool(pool), Some(file)) => {
                let fitted = verbs::fit(file)?;
                let told = report::fitted(&fitted, caller.width) + "\n";
                match pool.with_speedup(&fitted.fits[0].record) {
                    Some(pool) => plan(&pool, wishes, caller, told),
                    None => Err("the speedup that fits does not go with this workload".into()),
                }
            }
            (Workload::Stream(stream), None) => online(stream, wishes, caller, String::new()),
            (Workload::Stream(stream), Some(file)) => {
                let fitted = verbs::fit(file)?;
                let told = report::fitted(&fitted, caller.width) + "\n";
                match stream.with_speedup(&fitted.fits[0].record) {
                    Some(stream) => online(&stream, wishes, caller, told),
                    None => Err("the speedup that fits does not go with this workload".into()),
                }
            }
        }
    }

    fn against(policy: &Checked, workload: &Workload) -> Given<Vec<Finding>> {
        Ok(verbs::against(policy.artifact(), workload))
    }

    fn valid(policy: &Checked, width: usize) -> String {
        report::valid(policy, width)
    }

    fn show(policy: &Checked, width: usize) -> String {
        report::show(policy, width)
    }

    fn simulate(
        policy: &str,
        workload: Option<Workload>,
        _: &Ways,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> Given<Simulated> {
        let changes = caller.changes;
        let hears = |reached| caller.hear(Word::Simulating("simulating", reached));
        let simulated = verbs::simulate(policy, workload, changes, settings, hears);
        let simulated = simulated.map_err(VerbError::boxed)?;
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
        Ok(Simulated {
            table,
            document,
            notes: report::notes(&simulated),
            refuted: simulated.is_refuted(),
            documents: Vec::new(),
        })
    }

    fn compare<'a>(
        workload: Option<&'a Workload>,
        asked: &Comparing<'_>,
        extras: &Extras,
        caller: &mut Caller<'_>,
    ) -> Given<Box<dyn Compared + 'a>> {
        let workload = wanted(workload)?;
        caller.hear(Word::Interruptible);
        match workload {
            Workload::Pool(pool) => {
                let hears = |what: &str| caller.hear(Word::Doing(what));
                let tournament = verbs::tournament(pool, asked, &extras.exponents, hears);
                Ok(Box::new(tournament.map_err(VerbError::boxed)?))
            }
            Workload::Stream(_) if !extras.exponents.is_empty() => Err(
                "--exponents goes with jobs that are all there, and here jobs arrive: leave it out"
                    .into(),
            ),
            Workload::Stream(stream) => {
                let hears = |stage: Stage<'_>| caller.hear(Word::Comparing(stage));
                Ok(Box::new(OverLoads {
                    swept: verbs::compare(stream, asked, hears).map_err(VerbError::boxed)?,
                    besides: report::besides(stream),
                }))
            }
        }
    }

    fn merge<'a>(workload: &'a Workload, whole: &Whole) -> Given<Box<dyn Compared + 'a>> {
        let Workload::Stream(stream) = workload else {
            return Err("jobs that are all there are not compared over loads".into());
        };
        let mut comparison = whole.comparison()?;
        verbs::add_bounds(&mut comparison, stream).map_err(VerbError::boxed)?;
        let journal = None;
        Ok(Box::new(OverLoads {
            swept: Swept {
                comparison,
                journal,
            },
            besides: report::besides(stream),
        }))
    }

    fn rules(width: usize) -> String {
        report::rules(width)
    }

    fn files_of(verb: &Verb) -> (Vec<&Path>, Vec<&Path>) {
        match *verb {}
    }

    fn run(verb: &Verb, _: &mut Caller<'_>) -> Given<Answered> {
        match *verb {}
    }
}

impl Compared for Tournament {
    fn document(&self) -> Given<String> {
        json(&report::document(self))
    }

    fn csv(&self) -> Given<String> {
        report::lines(self)
    }

    fn page(&self) -> Given<String> {
        report::page_of(self)
    }

    fn table(&self, width: usize) -> String {
        report::table(self, width)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted
    }

    fn has_failure(&self) -> bool {
        let mut entries = self.columns.iter().flat_map(|column| &column.entries);
        entries.any(Result::is_err)
    }

    fn journal(self: Box<Self>) -> Option<Journal> {
        None
    }
}

fn options(wishes: &Wishes, caller: &Caller<'_>) -> Options {
    let knobs = wishes.urgency.zip(wishes.background);
    let file = wishes.fit_speedup.as_ref();
    let mut typed: Vec<String> = file
        .map(|file| format!("--fit-speedup {}", file.display()))
        .into_iter()
        .collect();
    typed.extend(wishes.urgency.map(|u| format!("--urgency {u}")));
    typed.extend(wishes.background.map(|b| format!("--background {b}")));
    typed.push(format!("--budget {}", wishes.budget));
    typed.push(format!("--seed {}", wishes.seed));
    Options {
        events: wishes.budget,
        seed: wishes.seed,
        knobs: knobs.map(|(urgency, background)| Online {
            urgency,
            background,
        }),
        typed,
        interrupt: caller.interrupt.clone(),
    }
}

fn plan(
    pool: &Pool,
    wishes: &Wishes,
    caller: &mut Caller<'_>,
    told: String,
) -> Given<Answer<Malleable>> {
    if wishes.urgency.is_some() {
        return Err("--urgency and --background go with jobs that arrive, and here all are there at the start: leave them out".into());
    }
    caller.hear(Word::Doing("planning"));
    let (artifact, planned) = synthesis::plan(pool, &options(wishes, caller));
    let changes = synthesis::changes(pool, &planned);
    caller.hear(Word::Doing("checking"));
    let artifact = Checked::check(artifact)
        .map_err(VerbError::Unchecked)?
        .artifact()
        .clone();
    Ok(Answer::Policy {
        summary: told + &report::made(pool, &planned, &changes, caller.width),
        artifact: Box::new(artifact),
    })
}

fn online(
    stream: &Stream,
    wishes: &Wishes,
    caller: &mut Caller<'_>,
    told: String,
) -> Given<Answer<Malleable>> {
    let options = options(wishes, caller);
    let hears = |what: &str, reached: Progress| caller.hear(Word::Simulating(what, reached));
    Ok(match synthesis::online(stream, &options, hears)? {
        Outcome::Made(made) => Answer::Policy {
            summary: told + &report::online(stream, &made, caller.width),
            artifact: Box::new(
                Checked::check(made.artifact)
                    .map_err(VerbError::Unchecked)?
                    .artifact()
                    .clone(),
            ),
        },
        Outcome::Overload(times) => Answer::Refused {
            why: report::overload(stream, times, caller.width),
            decided: true,
        },
        Outcome::Interrupted => Answer::Interrupted,
    })
}

const EXAMPLES: &str = "\
  synth --workload models/amdahl_training.yaml --output p.json
      how jobs that are all there divide the servers, when each ends, and the proof that no plan costs less
  synth --workload models/amdahl_training.yaml --fit-speedup measured.csv --output p.json
      the same with the speedup that fits measured throughputs best
  synth --workload models/training_stream.yaml --output p.json
      jobs that arrive: a rule, tuned by simulation, beside a bound that no policy can beat
  synth show p.json
      what a policy file says, in words, and its plan as areas over time
  synth check p.json
      derive again what can be, and say what was judged for sense and what is taken on trust
  synth simulate p.json
      run it, and judge its claims
  synth compare --workload models/five_hundred_pareto.yaml --policies hesrpt,equi,srpt,hell,knee --exponents .05,.3,.5,.9,.99 --html c.html
      what rules cost over the exponent of the speedup, as a page with pictures
  synth compare --workload models/training_stream.yaml --policies hesrpt,equi,srpt,p.json --loads .3,.6,.9
      mean response times where jobs arrive
";
