use std::path::PathBuf;

use crate::figures::{self, Paper};
use crate::typed::count;
use clap::Args;

use super::terminal::{Common, Outcome};

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

pub fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let Arguments {
        paper,
        output,
        figure,
        events,
    } = arguments;
    let notify = |what: &str| common.tell(what);
    let (findings, written) = figures::write(*paper, figure, *events, output, notify)?;
    let printed = common.printed(&figures::report(&findings, common.host.width()));
    written.map_err(|why| format!("cannot write to {}: {why}", output.display()))?;
    printed
}
