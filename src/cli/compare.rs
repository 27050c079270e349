use std::collections::HashSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use synth::kind::{Caller, Compared, Kind};
use synth::simulation::Settings;
use synth::simulation::sweep::{Comparing, Journal};
use synth::typed::{Budget, below_one, fraction};

use super::listener::Listener;
use super::output::{apart, emit, is_stdout, writable};
use super::{
    Common, INTERRUPTED, NEGATIVE, Outcome, examples_of, interrupt, read_workload, tell, width,
};

#[derive(Args)]
#[command(after_long_help = examples::<K>())]
pub struct Arguments<K: Kind> {
    /// The workload; its arrival rates are scaled to each load
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,

    /// Policies to compare, by name (`synth rules` lists them) or policy file
    #[arg(long, value_delimiter = ',', required = true, value_name = "P,P,…")]
    policies: Vec<String>,

    /// Loads ρ to compare at, as fractions of what any policy can serve [default: 0.5,0.7,0.9]
    #[arg(long, value_delimiter = ',', value_parser = fraction, allow_negative_numbers = true, value_name = "ρ,ρ,…")]
    loads: Vec<f64>,

    #[command(flatten)]
    budget: Budget,

    #[command(flatten)]
    extras: K::Extras,

    /// Also write all results as JSON to this file (`-`: to standard output, in place of the
    /// table). While it is being made, finished parts are kept in FILE.partial
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also write all numbers as CSV, one per line (`-`: to standard output)
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Also write a page with the answer in words, tables and pictures (`-`: to standard output)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Continue the comparison whose finished parts are in OUTPUT.partial
    #[arg(long, requires = "output")]
    resume: bool,
}

fn examples<K: Kind>() -> String {
    format!("{}\n\n{ABOUT}", examples_of::<K>("compare "))
}

const ABOUT: &str = "\
A policy that cannot be run somewhere, or is unstable at a load, is reported as that, and the others
continue. All policies face the same jobs, so that ratios are known more precisely than means.
With --output, --resume continues after Ctrl-C or a crash, where jobs queue: the same options give the
same bytes as an uninterrupted run.";

/// Events per cell, by default.
const EVENTS: u64 = 20_000_000;

pub fn run<K: Kind>(arguments: &Arguments<K>, common: &Common) -> Outcome {
    arguments.check()?;
    let given = arguments.workload.as_ref();
    let workload = given
        .map(|file| read_workload::<K>(file, common))
        .transpose()?;
    let interrupt = interrupt::Later::new();
    let settings = Settings {
        interrupt: interrupt.flag(),
        common_sizes: true,
        ..arguments.budget.settings(EVENTS)
    };
    let journal = arguments.journal_at();
    let file = given.map_or(String::new(), |file| file.display().to_string());
    let asked = Comparing {
        file: &file,
        policies: &arguments.policies,
        changes: common.changes(),
        loads: &arguments.loads,
        settings: &settings,
        journal: journal.map(|output| (output.as_path(), arguments.resume)),
    };
    let mut listener = Listener::new(common, &interrupt, Some(&settings));
    let mut caller = Caller {
        width: width(),
        changes: common.changes(),
        interrupt: interrupt.flag(),
        hears: &mut |word| listener.hear(word),
        output: &mut std::io::sink(),
    };
    let compared = K::compare(workload.as_ref(), &asked, &arguments.extras, &mut caller);
    drop(listener);
    let compared = compared?;
    arguments.publish(&*compared, common)?;
    conclude(compared, common)
}

/// The exit code. The journal is removed once all results are written.
fn conclude(compared: Box<dyn Compared + '_>, common: &Common) -> Outcome {
    let (interrupted, failed) = (compared.is_interrupted(), compared.has_failure());
    let journal = compared.journal();
    if interrupted {
        if journal.is_some() {
            tell(
                common,
                "Interrupted: give the same options with --resume to continue.",
            );
        }
        return Ok(ExitCode::from(INTERRUPTED));
    }
    journal.map_or(Ok(()), Journal::remove)?;
    match failed {
        true => Ok(ExitCode::from(NEGATIVE)),
        false => Ok(ExitCode::SUCCESS),
    }
}

impl<K: Kind> Arguments<K> {
    /// Finds mistakes in the arguments before anything runs.
    fn check(&self) -> Result<(), Box<dyn Error>> {
        let mut seen = HashSet::new();
        if let Some(twice) = self.policies.iter().find(|name| !seen.insert(*name)) {
            return Err(format!("the policy {twice} is twice in --policies: give it once").into());
        }
        let mut seen = HashSet::new();
        if let Some(twice) = self.loads.iter().find(|load| !seen.insert(load.to_bits())) {
            return Err(format!("the load {twice} is twice in --loads: give it once").into());
        }
        let is_replay = K::trace(&self.extras).is_some();
        if self.workload.is_none() && !is_replay {
            return Err("policies are compared on a workload: give --workload FILE".into());
        }
        let mut loads = self.loads.iter().filter(|_| !is_replay);
        loads.try_for_each(|load| below_one(*load).map(drop))?;
        if self.budget.replications() < 2 {
            return Err("a comparison needs at least 2 replications to separate differences from chance: leave --replications out for 8".into());
        }
        self.check_outputs()
    }

    fn outputs(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.output, &self.csv, &self.html].into_iter().flatten()
    }

    fn check_outputs(&self) -> Result<(), Box<dyn Error>> {
        let journal = self.journal_at().map(|output| Journal::path(output));
        let policies = self.policies.iter().map(Path::new);
        let (mut read, mut written) = K::files_of_extras(&self.extras);
        read.extend(policies.chain(self.workload.as_deref()));
        written.extend(self.outputs().chain(&journal).map(PathBuf::as_path));
        apart(&read, &written)?;
        if self.resume && K::trace(&self.extras).is_some() {
            return Err("a replay is over soon and keeps no journal: leave --resume out".into());
        }
        if self.resume && self.journal_at().is_none() {
            return Err("--resume needs a file to continue: give the --output FILE of the interrupted comparison".into());
        }
        self.outputs()
            .filter(|path| !is_stdout(path))
            .try_for_each(|path| writable(path))
    }

    /// The output file beside which the journal is kept; none for a stream.
    fn journal_at(&self) -> Option<&PathBuf> {
        if K::trace(&self.extras).is_some() {
            return None;
        }
        let regular = |path: &&PathBuf| std::fs::metadata(path).map_or(true, |m| m.is_file());
        self.output
            .as_ref()
            .filter(|path| !is_stdout(path))
            .filter(regular)
    }

    /// Prints the table to standard output, or to standard error where a document goes to standard
    /// output. Files are written in any case.
    fn publish(&self, compared: &dyn Compared, common: &Common) -> Result<(), Box<dyn Error>> {
        if let Some(path) = &self.output {
            emit(Some(path), &compared.document()?)?;
        }
        if let Some(path) = &self.csv {
            emit(Some(path), &compared.csv()?)?;
        }
        if let Some(path) = &self.html {
            emit(Some(path), &compared.page()?)?;
        }
        for (path, document) in compared.documents() {
            emit(Some(path), document)?;
        }
        let table = compared.table(width());
        let own = compared.documents().iter().map(|(path, _)| path);
        match self.outputs().chain(own).any(|path| is_stdout(path)) {
            true => tell(common, &table),
            false => emit(None, &format!("{table}\n"))?,
        }
        Ok(())
    }
}
