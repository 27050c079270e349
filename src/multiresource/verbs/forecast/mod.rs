//! When jobs will start.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::kind::{Caller, Files, NamesFiles, Notice, OwnVerb, VerbOutput, VerbResult, json};
use crate::multiresource::forecast::{Draws, Scoring};
use crate::multiresource::replay::Speed;
use crate::multiresource::simulator::Contender;
use crate::multiresource::verbs::judge::read;
use crate::trace;

/// What is typed.
#[derive(Args)]
pub struct Arguments {
    /// The log, plain or packed by gzip; `-` is standard input
    #[arg(id = "trace", value_name = "LOG")]
    trace: PathBuf,

    /// The rule that runs there
    #[arg(long, value_name = "RULE", default_value = "easy")]
    policy: String,

    /// By how much faster jobs come than they did, such as 5/4; sizes stay
    #[arg(long, value_name = "A/B", value_parser = Speed::parse)]
    speed: Option<Speed>,

    /// Seed of all that is drawn
    #[arg(long, default_value = "1")]
    seed: u64,

    #[arg(long, default_value = "60")]
    runs: u32,
    #[arg(long, default_value = "1")]
    every: usize,

    /// Also write all results as JSON to this file (`-`: to standard output, in place of the tables)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    reading: trace::Options,
}

impl NamesFiles for Arguments {
    fn files(&self) -> Files<'_> {
        let written = [&self.output].into_iter().flatten();
        (vec![&self.trace], written.map(PathBuf::as_path).collect())
    }
}

impl OwnVerb for Arguments {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        caller.notify(Notice::Interruptible);
        let interrupt = caller.interrupt.clone();
        let listener = &mut |what: &str| caller.notify(Notice::Doing(what));
        let (log, _file) = read(Path::new(&self.trace), &self.reading, listener)?;
        let scoring = Scoring {
            log: &log,
            speed: self.speed.unwrap_or(Speed::ONE),
            draws: Draws {
                runs: self.runs,
                seed: self.seed,
            },
            every: self.every,
            interrupt: &interrupt,
        };
        let (forecasts, spent) = scoring.forecasts(
            |site| {
                let rule = Contender::named(&self.policy, &site.fleet)?;
                rule.rule(&site.fleet).map_err(|why| why.to_string())
            },
            &mut |_| (),
        )?;
        let mut documents = Vec::new();
        if let Some(file) = &self.output {
            documents.push((file.clone(), json(&forecasts)?));
        }
        Ok(VerbOutput {
            table: format!(
                "{} forecasts, {} ms each",
                forecasts.len(),
                1e3 * spent / forecasts.len() as f64
            ),
            documents,
            ..VerbOutput::default()
        })
    }
}
