//! The cost over the switching rate.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use clap::Args;

use super::known;
use crate::kind::{
    Caller, Files, NamesFiles, Notice, RunVerb, VerbOutput, VerbResult, files, refuse,
};
use crate::multiresource::artifact::{Preemption, Route};
use crate::multiresource::report;
use crate::multiresource::synthesis::{self, SynthesisOptions};
use crate::multiresource::workload::Workload;
use crate::typed::{WorkloadFile, positive, seconds, time};

/// Evaluate the cost over the switching rate, for each route: CSV, and a picture
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    workload: WorkloadFile,

    /// What may happen to a running job when the schedule changes
    #[arg(long, value_enum, default_value_t = Preemption::None)]
    preemption: Preemption,

    /// γ, the rate of setups [1/time unit]; needed with `--preemption setup`
    #[arg(long, value_name = "γ", value_parser = positive, allow_negative_numbers = true)]
    setup_rate: Option<f64>,

    /// One route only
    #[arg(long)]
    route: Option<Route>,

    /// How much work may go into exact analysis, as for a synthesis
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    effort: f64,

    /// Switching rates for each route, on a logarithmic scale around the best, which is added
    #[arg(long, value_name = "N", default_value = "40", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    points: u64,

    /// Seconds, or such as 10min, that all of it may take: the rates that were evaluated by then are told
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<f64>,

    /// Where the table goes, as CSV; standard output if not given
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also write a page with the curves (`-`: to standard output)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl NamesFiles for Arguments {
    fn files(&self) -> Files<'_> {
        files(self.workload.typed(), self.output.iter().chain(&self.html))
    }
}

impl RunVerb for Arguments {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let workload = known(Workload::read(self.workload.file()?)?, caller);
        let options = SynthesisOptions {
            setup_rate: self.setup_rate,
            route: self.route,
            effort: self.effort,
            end: self.time.map(|limit| Instant::now() + seconds(limit)),
            ..SynthesisOptions::new(self.preemption)
        };
        caller.notify(Notice::Doing("solving the program"));
        let (points, interrupt) = (self.points as usize, Arc::clone(&caller.interrupt));
        let begun = || {
            caller.notify(Notice::Interruptible);
            caller.notify(Notice::Doing("evaluating switching rates"));
        };
        let swept = synthesis::sweep(&workload, &options, points, &interrupt, begun)?;
        let cut = match options.end {
            _ if interrupt.load(Ordering::Relaxed) => Some("Interrupted"),
            Some(end) if Instant::now() >= end => Some("The time is over"),
            _ => None,
        };
        let note = cut.map(|why| format!("{why}: {} switching rates were evaluated.", swept.len()));
        let mut answered = VerbOutput::default();
        answered.notes.extend(note);
        if swept.is_empty() {
            return match cut {
                Some(_) => Ok(answered),
                None => refuse(
                    "there is nothing to sweep: one schedule serves all types, and is never left",
                ),
            };
        }
        let csv = report::sweep_csv(&workload, &swept)?;
        if let Some(file) = &self.html {
            let command = caller.command.clone();
            let page = report::sweep_page(&workload, &swept, command)?;
            answered.documents.push((file.clone(), page));
        }
        match &self.output {
            Some(file) => answered.documents.push((file.clone(), csv)),
            None => answered.report = VerbOutput::of_table(csv).report,
        }
        Ok(answered)
    }
}
