use std::error::Error;
use std::path::{Path, PathBuf};

use crate::artifact::Content as _;
use crate::document::text_of;
use crate::kind::{Kind, NamesFiles as _, VerbOutput, refuse};
use crate::simulation::Settings;
use crate::simulation::sweep::{Comparing, Journal, Shard, Share, Whole};
use crate::typed::{Budget, WorkloadFile, load};
use clap::Args;
use itertools::Itertools as _;

use super::interrupt;
use super::output::{Results, check_destinations, is_stdout};
use super::progress::with_caller;
use super::terminal::{Common, Outcome, SUCCESS, code_if};
use super::workload::read_workload;

#[derive(Args)]
pub(super) struct Arguments<K: Kind> {
    #[command(flatten)]
    workload: WorkloadFile,

    /// Policies to compare: rule names (see `synth rules`) or policy files
    #[arg(long, value_delimiter = ',', required = true, value_name = "P,P,…")]
    policies: Vec<String>,

    /// Loads ρ, as fractions of the maximum that any policy can sustain [default: 0.5,0.7,0.9]
    #[arg(long, value_delimiter = ',', value_parser = load, allow_negative_numbers = true, value_name = "ρ,ρ,…")]
    loads: Vec<f64>,

    #[command(flatten)]
    budget: Budget,

    #[command(flatten)]
    extras: K::ComparisonArgs,

    #[command(flatten)]
    results: Results,

    /// Continue the comparison whose finished parts are in OUTPUT.partial
    #[arg(long, requires = "output")]
    resume: bool,

    /// Run only shard I of N and write its part to OUTPUT; combine the parts with `synth merge`
    #[arg(long, value_name = "I/N", requires = "output", conflicts_with_all = ["csv", "html"])]
    shard: Option<Shard>,
}

const EVENTS: u64 = 20_000_000;

pub(super) const ABOUT: &str = "\
A policy that cannot run on this workload, or that is unstable at a load, is reported as such, and the \
others continue. All policies face the same jobs, so ratios are more precise than means. \
With --output FILE, finished parts are kept in FILE.partial until FILE is written. Where jobs queue, --resume \
continues after Ctrl-C or a crash, and the same options give the same bytes as an uninterrupted run. \
With --shard, the cells (one policy at one load) are divided among N shards of about equal work. A part is \
written completely or not at all. `synth merge` combines the parts of shards 1/N to N/N into one comparison, \
byte for byte the one that a single machine writes.";

pub(super) fn run<K: Kind>(arguments: &Arguments<K>, common: &Common) -> Outcome {
    arguments.check()?;
    let file = arguments.workload.file()?;
    let workload = read_workload::<K>(file, common)?;
    let share = |shard| -> Result<Share, std::io::Error> {
        Ok(Share {
            shard,
            kind: K::Content::NAME.into(),
            document: text_of(file)?,
        })
    };
    let share = arguments.shard.map(share).transpose()?;
    let interrupt = interrupt::Later::new(&common.host);
    let settings = Settings {
        interrupt: interrupt.flag(),
        common_sizes: true,
        ..arguments.budget.settings(EVENTS)
    };
    let journal = arguments.journal_at();
    let file = file.display().to_string();
    let comparing = Comparing {
        file: &file,
        policies: &arguments.policies,
        changes: common.changes(),
        loads: &arguments.loads,
        settings: &settings,
        journal: journal.map(|output| (output.as_path(), arguments.resume)),
        share: share.as_ref(),
    };
    let mut compared = with_caller(common, &interrupt, |caller| {
        K::compare(&workload, &comparing, &arguments.extras, caller)
    })?;
    if let (Some(shard), Some(output)) = (arguments.shard, &arguments.results.output) {
        return written(shard, output, compared, common);
    }
    arguments.results.publish(&mut compared, common)?;
    if compared.interrupted {
        return Ok(cut(&compared, common));
    }
    compared.journal.map_or(Ok(()), Journal::remove)?;
    Ok(code_if(compared.negative))
}

fn cut(compared: &VerbOutput, common: &Common) -> u8 {
    if compared.journal.is_some() {
        let how = "Interrupted: give the same options with --resume to continue.";
        common.tell(how);
    }
    interrupt::code()
}

/// Turns the journal of a shard into its part. A policy that cannot run is reported by
/// `synth merge`; the shard itself succeeds, so that a batch scheduler does not treat it as failed.
fn written(shard: Shard, output: &Path, compared: VerbOutput, common: &Common) -> Outcome {
    if compared.interrupted {
        return Ok(cut(&compared, common));
    }
    let to = output.display();
    let cells = compared.journal.map(|journal| journal.complete(output));
    let text = match cells.transpose()? {
        Some(1) => format!("Shard {shard} is complete: 1 cell in {to}."),
        Some(cells) => format!("Shard {shard} is complete: {cells} cells in {to}."),
        None => format!("Shard {shard} was already complete in {to}."),
    };
    common.tell(&text);
    Ok(SUCCESS)
}

fn given_once(what: &str, option: &str, values: &[impl ToString]) -> Result<(), String> {
    let mut twice = values.iter().map(ToString::to_string).duplicates();
    match twice.next() {
        Some(twice) => Err(format!(
            "the {what} {twice} appears twice in --{option}: give it once"
        )),
        None => Ok(()),
    }
}

impl<K: Kind> Arguments<K> {
    fn check(&self) -> Result<(), Box<dyn Error>> {
        given_once("policy", "policies", &self.policies)?;
        given_once("load", "loads", &self.loads)?;
        if self.budget.replications() < 2 {
            return Err("a comparison needs at least 2 replications to tell differences from chance: omit --replications to use 8".into());
        }
        let journal = self.journal_at().map(|output| Journal::path(output));
        let (mut read, mut written) = self.extras.files();
        read.extend(self.policies.iter().map(Path::new));
        read.extend(self.workload.typed());
        written.extend(self.results.files().chain(&journal).map(PathBuf::as_path));
        check_destinations(&read, &written)?;
        match self.journal_at() {
            None if self.shard.is_some() => {
                refuse("--shard writes a part and prints no table: give --output FILE")
            }
            None if self.resume => refuse(
                "--resume needs an interrupted comparison to continue: give the --output FILE of the interrupted comparison",
            ),
            _ => Ok(()),
        }
    }

    fn journal_at(&self) -> Option<&PathBuf> {
        let regular = |path: &&PathBuf| std::fs::metadata(path).map_or(true, |m| m.is_file());
        let output = self.results.output.as_ref();
        output.filter(|path| !is_stdout(path)).filter(regular)
    }
}

#[derive(Args)]
#[command(after_long_help = ABOUT_MERGE)]
pub(super) struct MergeArguments {
    /// The parts to combine, in any order; each shard must be present at least once
    #[arg(required = true, value_name = "PART")]
    parts: Vec<PathBuf>,

    #[command(flatten)]
    results: Results,
}

const ABOUT_MERGE: &str = "\
Examples:
  synth merge part-*.jsonl --output c.json --html c.html
      the same bytes that `synth compare` writes on one machine

Parts contain the workload and the complete plan, so no other file is read. If parts belong to different plans, \
or some are missing or truncated, the merge is refused, with the commands that produce them again.";

pub(super) fn merge<K: Kind>(arguments: &MergeArguments, common: &Common) -> Outcome {
    let results = &arguments.results;
    let read: Vec<&Path> = arguments.parts.iter().map(PathBuf::as_path).collect();
    let written: Vec<&Path> = results.files().map(PathBuf::as_path).collect();
    check_destinations(&read, &written)?;
    let whole = Whole::read(&arguments.parts)?;
    let heading = &whole.heading;
    if heading.kind != K::Content::NAME {
        return Err(format!(
            "these parts are of an unknown kind of workload, `{}`",
            heading.kind
        )
        .into());
    }
    let workload =
        K::Content::parse(&heading.document, &heading.comparison.workload.file)?.workload;
    let mut merged = K::merge(&workload, &whole)?;
    results.publish(&mut merged, common)?;
    Ok(code_if(merged.negative))
}
