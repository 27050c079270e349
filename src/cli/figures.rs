use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use synth::figures::{self, Paper};
use synth::typed::count;

use super::terminal::{Common, Outcome, say, tell, width};

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
    let told = |what: &str| tell(common, what);
    let findings = figures::write(*paper, figure, *events, output, told)?;
    say(&figures::report(&findings, width()))?;
    Ok(ExitCode::SUCCESS)
}
