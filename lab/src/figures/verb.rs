//! The verb `figures`.

use std::path::PathBuf;

use clap::Args;
use synth::kind::{Caller, NamesFiles, Notice, Run, VerbOutput, VerbResult};
use synth::typed::count;

use super::{Paper, report, write};

/// Recompute the figures of a paper: pictures, tables, and what it says beside what is found
#[derive(Args)]
pub struct Arguments {
    /// The paper
    paper: Paper,

    /// The folder that they are written to: figureN.svg and figureN.csv, and findings.csv
    #[arg(long, value_name = "DIR")]
    output: PathBuf,

    /// Draw these figures only
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    figure: Vec<u32>,

    /// Events of a simulated point, at most; it ends earlier at a precision of 1 %. Points on Borg cell B have three times as many
    #[arg(long, value_name = "EVENTS", default_value = "2e7", value_parser = count)]
    events: u64,
}

impl NamesFiles for Arguments {}

impl Run for Arguments {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let notify = |what: &str| caller.notify(Notice::Known(what));
        let (findings, written) =
            write(self.paper, &self.figure, self.events, &self.output, notify)?;
        let table = report(&findings, caller.width);
        if let Err(why) = written {
            caller.output.write_all(table.as_bytes())?;
            return Err(format!("cannot write to {}: {why}", self.output.display()).into());
        }
        Ok(VerbOutput::of_table(table))
    }
}
