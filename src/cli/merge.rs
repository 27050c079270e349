use std::path::{Path, PathBuf};

use clap::Args;
use synth::kind::Kind;
use synth::simulation::sweep::Whole;

use super::listener::heard;
use super::output::apart;
use super::results::{Results, code_of};
use super::{Common, Outcome, interrupt};

#[derive(Args)]
#[command(after_long_help = ABOUT)]
pub struct Arguments {
    /// The parts, one a shard at least, in any order
    #[arg(required = true, value_name = "PART")]
    parts: Vec<PathBuf>,

    /// Also write all results as JSON to this file (`-`: to standard output, in place of the table)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also write all numbers as CSV, one per line (`-`: to standard output)
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Also write a page with the answer in words, tables and pictures (`-`: to standard output)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

const ABOUT: &str = "\
Examples:
  synth merge part-*.jsonl --output c.json --html c.html
      what `synth compare` on one machine writes, byte for byte

Parts hold the workload and the whole plan: no other file is read. Parts of different plans, missing
shards and parts that are cut short are refused, with the commands that run them again.";

pub fn run<K: Kind>(arguments: &Arguments, common: &Common) -> Outcome {
    let results = Results {
        output: arguments.output.as_ref(),
        csv: arguments.csv.as_ref(),
        html: arguments.html.as_ref(),
    };
    let read: Vec<&Path> = arguments.parts.iter().map(PathBuf::as_path).collect();
    let written: Vec<&Path> = results.files().map(PathBuf::as_path).collect();
    apart(&read, &written)?;
    results.check()?;
    let whole = Whole::read(&arguments.parts)?;
    let heading = whole.heading();
    if heading.kind != K::NAME {
        return Err(format!("parts of the unknown kind of workload `{}`", heading.kind).into());
    }
    let workload = K::parse(&heading.document, &heading.comparison.workload.file)?.workload;
    let interrupt = interrupt::Later::new();
    let merged = heard(common, &interrupt, None, |caller| {
        K::merge(&workload, &whole, caller)
    })?;
    results.publish(&*merged, common)?;
    Ok(code_of(&*merged))
}
