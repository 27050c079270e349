//! Clusters with a compatibility graph as a kind of workload: what is typed → verbs → what is told.

use std::path::Path;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};

use crate::artifact::Finding;
use crate::compatibility::artifact::{Checked, Compatibility};
use crate::compatibility::report;
use crate::compatibility::synthesis::{self, Aim, Options, Outcome, SynthesisError};
use crate::compatibility::verbs;
use crate::compatibility::workload::{Cluster, Trial};
use crate::document::Parsed;
use crate::kind::{
    Answer, Answered, Caller, Compared, Given, Kind, OverLoads, Simulated, VerbError, Word,
    run_document, wanted,
};
use crate::simulation::Settings;
use crate::simulation::sweep::{Comparing, Stage, Swept, Whole};
use crate::typed::{count, part};

/// What is typed beside the workload to make a policy.
#[derive(Args, Clone)]
pub struct Wishes {
    /// How often a job goes to the end of the queue, in the mean; tuned if not given
    #[arg(long, value_name = "M", value_parser = interruptions, allow_negative_numbers = true)]
    interruptions: Option<f64>,

    /// Whether a job may be interrupted: `none` is as `--interruptions 0` [default: full]
    #[arg(long, value_enum, conflicts_with = "interruptions")]
    preemption: Option<Preemption>,

    /// How near to balanced fairness the mean response time is to come
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = part)]
    tolerance: f64,

    /// Propose other servers for the classes: for the least load, or the least mean response time
    #[arg(long, value_name = "AIM", value_enum)]
    design: Option<Design>,

    /// Servers a class may have at most, where they are proposed [default: as many as the class with the most now]
    #[arg(long, value_name = "N", requires = "design", value_parser = clap::value_parser!(u32).range(1..))]
    degree: Option<u32>,

    /// Events that may be simulated to tune
    #[arg(long, value_name = "EVENTS", default_value = "1e8", value_parser = count)]
    budget: u64,

    /// Seed of the simulations: the same seed gives the same policy
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// What may happen to a job that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Preemption {
    /// It runs to its end: first come, first served at every server
    None,
    /// It may go to the end of the queue, and keeps what was done of it
    Full,
}

/// What proposed servers are best for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Design {
    /// The least load: the most that could be added to all arrivals alike
    Load,
    /// The least mean response time under balanced fairness
    Response,
}

fn interruptions(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(m) if (0.0..=1e6).contains(&m) => Ok(m),
        _ => Err(format!("`{text}` is not a number from 0 to 1e6")),
    }
}

/// Nothing: policies run as they say.
#[derive(Args)]
pub struct Ways {}

/// What is typed to compare policies.
#[derive(Args)]
pub struct Extras {
    /// Laws of sizes to try each policy with, of the workload's mean; how far it depends on them
    #[arg(
        long,
        value_name = "LAW,LAW,…",
        value_delimiter = ',',
        default_value = "own"
    )]
    #[arg(value_parser = trial())]
    sizes: Vec<Trial>,
}

/// A law by its name.
fn trial() -> impl TypedValueParser<Value = Trial> {
    let names = Trial::ALL.map(Trial::name);
    let named = |name: String| Trial::ALL.into_iter().find(|trial| trial.name() == name);
    PossibleValuesParser::new(names).map(move |name| named(name).unwrap_or(Trial::Own))
}

/// There are none of its own.
#[derive(Subcommand)]
pub enum Verb {}

impl Kind for Compatibility {
    type Described = Cluster;
    type Wishes = Wishes;
    type Ways = Ways;
    type Extras = Extras;
    type Verb = Verb;

    const EXAMPLES: &'static str = EXAMPLES;

    fn read(file: &Path) -> Given<Parsed<Cluster>> {
        Ok(Cluster::read(file)?)
    }

    fn parse(text: &str, name: &str) -> Given<Parsed<Cluster>> {
        Ok(Cluster::parse(text, name)?)
    }

    fn synthesize(
        cluster: &Cluster,
        wishes: &Wishes,
        caller: &mut Caller<'_>,
    ) -> Given<Answer<Self>> {
        synthesize(cluster, wishes, caller)
    }

    fn against(policy: &Checked, cluster: &Cluster) -> Given<Vec<Finding>> {
        Ok(verbs::against(policy.artifact(), cluster))
    }

    fn valid(policy: &Checked, width: usize) -> String {
        report::valid(policy, width)
    }

    fn show(policy: &Checked, width: usize) -> String {
        report::show(policy, width)
    }

    fn simulate(
        policy: &str,
        workload: Option<Cluster>,
        _: &Ways,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> Given<Simulated> {
        let changes = caller.changes;
        let hears = |reached| caller.hear(Word::Simulating("simulating", reached));
        let simulated = verbs::simulate(policy, workload, changes, settings, hears);
        let simulated = simulated.map_err(VerbError::boxed)?;
        let (run, verdicts) = (&simulated.run, &simulated.verdicts);
        Ok(Simulated {
            table: report::simulation(&simulated.cluster, run, verdicts, caller.width),
            notes: report::notes(&simulated),
            refuted: simulated.is_refuted(),
            document: run_document(policy, run, verdicts)?,
            documents: Vec::new(),
        })
    }

    fn compare<'a>(
        cluster: Option<&'a Cluster>,
        asked: &Comparing<'_>,
        extras: &Extras,
        caller: &mut Caller<'_>,
    ) -> Given<Box<dyn Compared + 'a>> {
        let cluster = wanted(cluster)?;
        caller.hear(Word::Interruptible);
        let hears = |stage: Stage<'_>| caller.hear(Word::Comparing(stage));
        Ok(Box::new(OverLoads {
            swept: verbs::compare(cluster, asked, &extras.sizes, hears)
                .map_err(VerbError::boxed)?,
            besides: report::besides(cluster),
        }))
    }

    fn merge<'a>(cluster: &'a Cluster, whole: &Whole) -> Given<Box<dyn Compared + 'a>> {
        let mut comparison = whole.comparison()?;
        verbs::add_exact(&mut comparison, cluster).map_err(VerbError::boxed)?;
        let journal = None;
        Ok(Box::new(OverLoads {
            swept: Swept {
                comparison,
                journal,
            },
            besides: report::besides(cluster),
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

fn synthesize(
    cluster: &Cluster,
    wishes: &Wishes,
    caller: &mut Caller<'_>,
) -> Given<Answer<Compatibility>> {
    let designed = match wishes.design {
        Some(_) if cluster.classes().is_empty() => {
            return Err("--design goes with classes: where servers are drawn for each job, none can be proposed".into());
        }
        Some(aim) => {
            caller.hear(Word::Doing("looking for servers of each class"));
            let largest = cluster
                .classes()
                .iter()
                .map(|class| class.servers.len())
                .max();
            let degree = wishes
                .degree
                .map_or(largest.unwrap_or(1), |degree| degree as usize);
            let aim = match aim {
                Design::Load => Aim::Load,
                Design::Response => Aim::Response,
            };
            Some(synthesis::design(
                cluster,
                aim,
                degree,
                wishes.seed,
                &caller.interrupt,
            ))
        }
        None => None,
    };
    let (cluster, design) = match &designed {
        Some(designed) => (&designed.cluster, Some(designed.record.clone())),
        None => (cluster, None),
    };
    let options = Options {
        interruptions: match wishes.preemption {
            Some(Preemption::None) => Some(0.0),
            _ => wishes.interruptions,
        },
        tolerance: wishes.tolerance,
        events: wishes.budget,
        seed: wishes.seed,
        typed: typed(wishes),
        interrupt: caller.interrupt.clone(),
    };
    let hears = |step| caller.hear(Word::Doing(&report::doing(&step)));
    let outcome = synthesis::synthesize(cluster, &options, design, hears);
    Ok(
        match outcome.map_err(|error: SynthesisError| Box::new(error))? {
            Outcome::Made(made) => Answer::Policy {
                summary: report::made(cluster, &made, caller.width),
                artifact: Box::new(made.artifact),
            },
            Outcome::Overload(load) => Answer::Refused {
                why: report::overload(cluster, &load, caller.width),
                decided: true,
            },
            Outcome::Interrupted => Answer::Interrupted,
        },
    )
}

/// The options in force.
fn typed(wishes: &Wishes) -> Vec<String> {
    let mut typed = vec![
        format!("--tolerance {}", wishes.tolerance),
        format!("--budget {}", wishes.budget),
        format!("--seed {}", wishes.seed),
    ];
    typed.extend(wishes.interruptions.map(|m| format!("--interruptions {m}")));
    typed.extend(match wishes.preemption {
        Some(Preemption::None) => Some("--preemption none".to_owned()),
        Some(Preemption::Full) => Some("--preemption full".to_owned()),
        None => None,
    });
    let aim = |aim: Design| match aim {
        Design::Load => "--design load",
        Design::Response => "--design response",
    };
    typed.extend(wishes.design.map(|own| aim(own).to_owned()));
    typed.extend(wishes.degree.map(|degree| format!("--degree {degree}")));
    typed
}

const EXAMPLES: &str = "\
  synth --workload models/three_servers.yaml --output p.json
      load, bottleneck, exact means under balanced fairness, and how often jobs are interrupted
  synth --workload models/data_locality.yaml --design response --degree 3 --output p.json
      which servers each class should have, with a bound that no assignment passes
  synth show p.json
      what a policy file says, in words
  synth check p.json
      derive again what can be, and say what was judged for sense and what is taken on trust
  synth simulate p.json --precision 1%
      run it, with confidence intervals, and judge its claims
  synth compare --workload models/three_servers.yaml --policies fcfs,balanced-fairness:5,random-ps,p.json --loads .3,.6,.9 --html c.html
      mean response times beside those of other rules and of balanced fairness, as a page with pictures
  synth compare --workload models/three_servers.yaml --policies fcfs,p.json --sizes exponential,hyperexponential,zipf --loads .6,.9
      how far means depend on the law of sizes
";
