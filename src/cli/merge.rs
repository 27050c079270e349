use std::path::{Path, PathBuf};

use clap::Args;
use synth::kind::Kind;
use synth::simulation::sweep::Whole;

use super::output::{Results, apart};
use super::{Common, Outcome, code_if, width};

#[derive(Args)]
#[command(after_long_help = ABOUT)]
pub struct Arguments {
    /// The parts, one a shard at least, in any order
    #[arg(required = true, value_name = "PART")]
    parts: Vec<PathBuf>,

    #[command(flatten)]
    results: Results,
}

const ABOUT: &str = "\
Examples:
  synth merge part-*.jsonl --output c.json --html c.html
      what `synth compare` on one machine writes, byte for byte

Parts hold the workload and the whole plan: no other file is read. Parts of different plans, missing
shards and parts that are cut short are refused, with the commands that run them again.";

pub fn run<K: Kind>(arguments: &Arguments, common: &Common) -> Outcome {
    let results = &arguments.results;
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
    let merged = K::merge(&workload, &whole, width())?;
    results.publish(&merged, common)?;
    Ok(code_if(merged.has_failure))
}
