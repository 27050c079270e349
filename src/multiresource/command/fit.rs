//! A workload from a trace.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::{Args, ValueEnum};

use super::reading::{Reading, share};
use crate::kind::{Answered, Caller, Given, Word, json};
use crate::multiresource::fit::{self, Options};
use crate::multiresource::report;
use crate::trace::{Source, Trace};
use crate::typed::count;

/// What is typed.
#[derive(Args)]
pub struct Arguments {
    /// The trace, plain or packed by gzip; `-` is standard input
    #[arg(id = "trace", value_name = "TRACE")]
    trace: PathBuf,

    /// Where the workload goes (`-`: to standard output) [default: it is not written]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also write what was found as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// The most types
    #[arg(long, value_name = "K", default_value = "32", value_parser = count)]
    max_types: u64,

    /// How much the load may rise by merging demands into types
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = share)]
    rounding_loss: f64,

    /// How jobs arrive in the workload
    #[arg(long, value_enum, default_value_t = Arrivals::Auto)]
    arrivals: Arrivals,

    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Arrivals {
    /// As the dispersion of their work says
    Auto,
    /// As Poisson processes
    Poisson,
    /// At rates that change between two states
    Modulated,
}

impl From<Arrivals> for fit::Arrivals {
    fn from(typed: Arrivals) -> Self {
        match typed {
            Arrivals::Auto => fit::Arrivals::Auto,
            Arrivals::Poisson => fit::Arrivals::Poisson,
            Arrivals::Modulated => fit::Arrivals::Modulated,
        }
    }
}

impl Arguments {
    /// Files that are read, and those that are written.
    pub fn files(&self) -> (Vec<&Path>, Vec<&Path>) {
        let results = [&self.output, &self.report].into_iter().flatten();
        let written = results.map(PathBuf::as_path).collect();
        (vec![&self.trace], written)
    }

    /// Fits the workload.
    pub fn run(&self, caller: &mut Caller<'_>) -> Given<Answered> {
        let source = Source::named(&self.trace);
        caller.hear(Word::Doing("reading the trace"));
        let mut trace = Trace::open(&source, &self.reading.options())?;
        let options = Options {
            source: format!("synth fit {}", source.name()),
            max_types: self.max_types.min(1000) as usize,
            rounding_loss: self.rounding_loss,
            arrivals: self.arrivals.into(),
        };
        let interrupt = caller.interrupt.clone();
        let fit = fit::fit(&mut trace, &options, &mut |doing| {
            caller.hear(Word::Doing(doing));
            !interrupt.load(Ordering::Relaxed)
        })?;
        let mut answered = Answered {
            table: report::fit(&fit.report, caller.width),
            negative: fit.report.load >= 1.0,
            notes: report::fit_notes(&fit.report),
            documents: Vec::new(),
        };
        if let Some(file) = &self.output {
            answered
                .documents
                .push((file.clone(), fit.workload.to_yaml()));
        }
        if let Some(file) = &self.report {
            answered.documents.push((file.clone(), json(&fit.report)?));
        }
        Ok(answered)
    }
}
