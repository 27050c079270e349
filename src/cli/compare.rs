use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use synth::kind::{Compared, Given, Kind};
use synth::simulation::sweep::{Comparing, Journal, Shard, Share};

use super::output::{Results, apart, code_of, is_stdout};
use super::progress::heard;
use super::question::{Question, read_with_text};
use super::{Common, Outcome, examples_of, interrupt, read_workload, tell};

#[derive(Args)]
#[command(after_long_help = examples::<K>())]
pub struct Arguments<K: Kind> {
    #[command(flatten)]
    question: Question<K>,

    #[command(flatten)]
    results: Results,

    /// Continue the comparison whose finished parts are in OUTPUT.partial
    #[arg(long, requires = "output")]
    resume: bool,

    /// Run this shard of so many only, and write its part to OUTPUT: `synth merge` puts parts together
    #[arg(long, value_name = "I/N", requires = "output", conflicts_with_all = ["csv", "html"])]
    shard: Option<Shard>,
}

fn examples<K: Kind>() -> String {
    format!("{}\n\n{ABOUT}", examples_of::<K>("compare "))
}

const ABOUT: &str = "\
A policy that cannot be run somewhere, or is unstable at a load, is reported as that, and the others
continue. All policies face the same jobs, so that ratios are known more precisely than means.
With --output FILE, finished parts are kept in FILE.partial until it is written: --resume continues after
Ctrl-C or a crash, where jobs queue, and the same options give the same bytes as an uninterrupted run.
With --shard, cells (a policy at a load) are dealt to shards that have about the same work. A part is
written whole or not at all; what --shard 1/N to N/N write, `synth merge` makes one comparison of, with
the bytes of one machine.";

pub fn run<K: Kind>(arguments: &Arguments<K>, common: &Common) -> Outcome {
    arguments.check()?;
    let (workload, share) = arguments.read(common)?;
    let question = &arguments.question;
    let interrupt = interrupt::Later::new();
    let settings = question.settings(interrupt.flag());
    let journal = arguments.journal_at();
    let file = question.file();
    let asked = Comparing {
        file: &file,
        policies: &question.policies,
        changes: common.changes(),
        loads: &question.loads,
        settings: &settings,
        journal: journal.map(|output| (output.as_path(), arguments.resume)),
        share: share.as_ref(),
    };
    let compared = heard(common, &interrupt, |caller| {
        K::compare(workload.as_ref(), &asked, &question.extras, caller)
    })?;
    match (arguments.shard, &arguments.results.output) {
        (Some(shard), Some(output)) => written(shard, output, compared, common),
        _ => {
            arguments.results.publish(&*compared, common)?;
            conclude(compared, common)
        }
    }
}

/// The exit code. The journal is removed once all results are written.
fn conclude(compared: Box<dyn Compared + '_>, common: &Common) -> Outcome {
    let (interrupted, code) = (compared.is_interrupted(), code_of(&*compared));
    let journal = compared.journal();
    if interrupted {
        return Ok(cut(journal.is_some(), common));
    }
    journal.map_or(Ok(()), Journal::remove)?;
    Ok(code)
}

/// What an interruption leaves.
fn cut(is_kept: bool, common: &Common) -> ExitCode {
    if is_kept {
        tell(
            common,
            "Interrupted: give the same options with --resume to continue.",
        );
    }
    interrupt::code()
}

/// The journal of a shard becomes its part. That a policy could not be run somewhere is told when
/// parts are merged, and is no reason for a scheduler to take the shard for failed.
fn written(
    shard: Shard,
    output: &Path,
    compared: Box<dyn Compared + '_>,
    common: &Common,
) -> Outcome {
    let interrupted = compared.is_interrupted();
    let journal = compared.journal();
    if interrupted {
        return Ok(cut(journal.is_some(), common));
    }
    let to = output.display();
    let told = match journal {
        Some(journal) => match journal.complete(output)? {
            1 => format!("Shard {shard} has 1 cell, in {to}."),
            cells => format!("Shard {shard} has {cells} cells, in {to}."),
        },
        None => format!("Shard {shard} is whole already, in {to}."),
    };
    tell(common, &told);
    Ok(ExitCode::SUCCESS)
}

impl<K: Kind> Arguments<K> {
    /// Finds mistakes in the arguments before anything runs.
    fn check(&self) -> Result<(), Box<dyn Error>> {
        self.question.check()?;
        let journal = self.journal_at().map(|output| Journal::path(output));
        let (mut read, mut written) = K::files_of_extras(&self.question.extras);
        read.extend(self.question.files());
        written.extend(self.results.files().chain(&journal).map(PathBuf::as_path));
        apart(&read, &written)?;
        if self.shard.is_some() && self.question.is_replay() {
            return Err("a replay goes through its trace once, job after job, and is over soon: leave --shard out, or compare some of the policies on each machine".into());
        }
        if self.resume && self.question.is_replay() {
            return Err("a replay is over soon and keeps no journal: leave --resume out".into());
        }
        if self.shard.is_some() && self.journal_at().is_none() {
            return Err("--shard writes a part, and makes no table: give --output FILE".into());
        }
        if self.resume && self.journal_at().is_none() {
            return Err("--resume needs a file to continue: give the --output FILE of the interrupted comparison".into());
        }
        self.results.check()
    }

    /// The workload; and what is shared out, where a shard runs.
    fn read(&self, common: &Common) -> Given<(Option<K::Described>, Option<Share>)> {
        let file = self.question.workload();
        let (Some(shard), Some(file)) = (self.shard, file) else {
            let read = |file: &Path| read_workload::<K>(file, common);
            return Ok((file.map(read).transpose()?, None));
        };
        let (workload, document) = read_with_text::<K>(file, common)?;
        let share = Share {
            shard,
            kind: K::NAME.into(),
            extras: K::besides_cells(&self.question.extras),
            document,
        };
        Ok((Some(workload), Some(share)))
    }

    /// The output file beside which the journal is kept; none for a stream.
    fn journal_at(&self) -> Option<&PathBuf> {
        if self.question.is_replay() {
            return None;
        }
        let regular = |path: &&PathBuf| std::fs::metadata(path).map_or(true, |m| m.is_file());
        let output = &self.results.output;
        output
            .as_ref()
            .filter(|path| !is_stdout(path))
            .filter(regular)
    }
}
