//! When jobs will start.

mod words;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args;

use crate::kind::{Caller, Files, NamesFiles, Notice, OwnVerb, VerbOutput, VerbResult, json};
use crate::multiresource::forecast::{Draws, Scoring, Site};
use crate::multiresource::policy::{Knows, Policy};
use crate::multiresource::replay::Speed;
use crate::multiresource::simulator::Contender;
use crate::multiresource::verbs::judge::read;
use crate::trace;

/// What is typed.
#[derive(Args)]
#[command(after_help = ABOUT)]
pub struct Arguments {
    /// The log, plain or packed by gzip; `-` is standard input
    #[arg(id = "trace", value_name = "LOG")]
    trace: PathBuf,

    /// The rule that runs there, such as easy, easy+saf or first-fit+sjf
    #[arg(long, value_name = "RULE", default_value = "easy")]
    policy: String,

    /// By how much faster jobs come than they did, such as 5/4; sizes stay
    #[arg(long, value_name = "A/B", value_parser = Speed::parse)]
    speed: Option<Speed>,

    /// Of so many jobs that wait one is forecast
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,

    /// Also say what jobs of other widths and limits would wait, at moments of the second half of the log
    #[arg(long)]
    map: bool,

    /// Seed of all that is drawn
    #[arg(long, default_value = "1")]
    seed: u64,

    /// Also write all results as JSON to this file (`-`: to standard output, in place of the tables)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    reading: trace::Options,
}

const ABOUT: &str = "\
The log comes again under the rule. At each submission of a job that waits, the queue is run forward 60 times, with lengths and \
later arrivals drawn from what was known then; the quantiles of its start are moved by what came of the forecasts before. \
The first tenth of the forecasts is not counted.";

/// How many times a queue is run forward.
const RUNS: u32 = 60;

impl NamesFiles for Arguments {
    fn files(&self) -> Files<'_> {
        let written = self.output.iter().map(PathBuf::as_path);
        (vec![&self.trace], written.collect())
    }
}

impl OwnVerb for Arguments {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        caller.notify(Notice::Interruptible);
        let interrupt = caller.interrupt.clone();
        let width = caller.width;
        let listener = &mut |what: &str| caller.notify(Notice::Doing(what));
        let (log, file) = read(Path::new(&self.trace), &self.reading, listener)?;
        let scoring = Scoring {
            log: &log,
            speed: self.speed.unwrap_or(Speed::ONE),
            draws: Draws {
                runs: RUNS,
                seed: self.seed,
            },
            every: self.every as usize,
            interrupt: &interrupt,
        };
        let all = log.jobs.len();
        let scored = scoring.run(|site| rule(&self.policy, site), self.map, &mut |come| {
            if come % 64 == 0 {
                listener(&format!("{come} of {all} jobs have come"));
            }
        });
        let scored = match scored {
            Err(_) if interrupt.load(Ordering::Relaxed) => {
                return Ok(VerbOutput {
                    notes: vec!["Interrupted before the last job: nothing is written.".into()],
                    interrupted: true,
                    ..VerbOutput::default()
                });
            }
            scored => scored?,
        };
        let mut documents = Vec::new();
        if let Some(file) = &self.output {
            documents.push((file.clone(), json(&scored)?));
        }
        Ok(VerbOutput {
            table: words::tables(&scored, &self.policy, width),
            notes: words::notes(&log, &scored, &file, width),
            documents,
            ..VerbOutput::default()
        })
    }
}

/// Makes a rule for the servers of a log.
fn rule(name: &str, site: &Site) -> Result<Box<dyn Policy>, String> {
    let rule = Contender::named(name, &site.fleet)?;
    let is_known = rule.knows_of(&site.fleet) != Knows::Sizes;
    let policy = rule.rule(&site.fleet).map_err(|why| why.to_string())?;
    if !is_known || policy.knows() == Knows::Sizes {
        return Err(format!(
            "`{name}` goes by sizes, which nobody knows when jobs come: take one that goes by limits, such as easy"
        ));
    }
    if policy.preempts() {
        return Err(format!(
            "`{name}` stops jobs: forecasts are for rules that do not, such as easy"
        ));
    }
    Ok(policy)
}
