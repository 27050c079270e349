use std::collections::HashSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use synth::multiresource::artifact::Objective;
use synth::multiresource::optimum;
use synth::multiresource::program::{self, Limits};
use synth::multiresource::report::{
    self, Budgets, Cell, Comparison, Header, OptimumAt, Outcome as CellOutcome, Subject,
};
use synth::multiresource::simulator::Settings;
use synth::multiresource::workload::Workload;

use super::journal::Journal;
use super::output::{apart, emit, is_stdout, writable};
use super::plan::{Entered, Plan, enter};
use super::simulate::Budget;
use super::{
    Common, INTERRUPTED, NEGATIVE, Outcome, fraction, interrupt, progress, read_workload, tell,
};

#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The workload; its arrival rates are scaled to each load
    #[arg(long, value_name = "FILE")]
    workload: PathBuf,

    /// Policies to compare, by name (`synth rules` lists them) or policy file
    #[arg(long, value_delimiter = ',', required = true, value_name = "P,P,…")]
    policies: Vec<String>,

    /// Loads ρ to compare at, as fractions of what any policy can serve
    #[arg(long, value_delimiter = ',', default_value = "0.5,0.7,0.9", value_parser = load, allow_negative_numbers = true, value_name = "ρ,ρ,…")]
    loads: Vec<f64>,

    #[command(flatten)]
    budget: Budget,

    /// Show how far each policy is above the least mean response time that any policy without
    /// preemption can have (`synth optimum`), where that can be computed: up to three types, and two
    /// minutes a load
    #[arg(long)]
    optimum: bool,

    /// Also write all results as JSON to this file (`-`: to standard output, in place of the
    /// table). Until it is whole, finished parts stand in FILE.partial
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also write all numbers as CSV, one a line (`-`: to standard output)
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Also write a page with the answer in words, tables and pictures (`-`: to standard output)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Go on with the comparison whose finished parts stand in OUTPUT.partial
    #[arg(long, requires = "output")]
    resume: bool,
}

const EXAMPLES: &str = "\
Examples:
  synth compare --workload models/section7.yaml --policies first-fit,fcfs
      a table and who is surely faster, at loads .5, .7 and .9
  synth compare --workload models/section7.yaml --policies first-fit,p.json --loads 50%,90%,95% \\
        --precision .5% --events 1e8 --output c.json --csv c.csv --html c.html
      more exactly, and for programs, for spreadsheets, for people
  synth compare … --output c.json --resume
      go on after Ctrl-C or a crash; the same options give the same bytes as without the break

A policy that is unstable at a load is called so, and the others go on. Every policy faces the same
arrivals and sizes, so that their ratios are known better than their means.";

/// Events a cell, where none are asked for.
const EVENTS: u64 = 20_000_000;

/// A load below 1.
pub fn load(text: &str) -> Result<f64, String> {
    match fraction(text)? {
        load if load < 1.0 => Ok(load),
        _ => Err(format!(
            "`{text}`: at a load of 1 and more no policy is stable; give a load below 1, such as 0.9 or 90%"
        )),
    }
}

pub fn run(arguments: &Arguments, common: &Common) -> Outcome {
    arguments.check()?;
    let workload = read_workload(&arguments.workload, common)?;
    let entered = arguments.enter(&workload)?;
    let spinner = progress::spinner(common, "solving the program");
    let solution = program::solve(&workload, &Limits::default())?;
    drop(spinner);
    let settings = Settings {
        interrupt: interrupt::flag()?,
        common_sizes: true,
        ..arguments.budget.settings(EVENTS)
    };
    let header = arguments.header(&workload, solution.certificate.load, &settings, &entered);
    let (mut journal, finished) = match arguments.journal_at() {
        Some(file) => {
            let (journal, cells) = Journal::open(file, &header, arguments.resume)?;
            (Some(journal), cells)
        }
        None => (None, Vec::new()),
    };
    let plan = Plan {
        workload: &workload,
        header: &header,
        entered: &entered,
        settings: &settings,
    };
    let cells = plan.run(finished, journal.as_mut(), common)?;
    let interrupted = !plan.is_done(&cells);
    let mut comparison = Comparison::new(header, cells, interrupted);
    if arguments.optimum {
        comparison.optima = arguments.optima(&workload, &comparison, &settings, common)?;
    }
    arguments.publish(&workload, &comparison, common)?;
    conclude(&comparison, journal, common)
}

/// The exit code; the journal goes once everything is there.
fn conclude(comparison: &Comparison, journal: Option<Journal>, common: &Common) -> Outcome {
    if comparison.interrupted {
        if journal.is_some() {
            tell(
                common,
                "Interrupted: give the same options with --resume to go on.",
            );
        }
        return Ok(ExitCode::from(INTERRUPTED));
    }
    journal.map_or(Ok(()), Journal::remove)?;
    let failed = |cell: &Cell| matches!(cell.outcome, CellOutcome::Failure(_));
    match comparison.cells.iter().any(failed) {
        true => Ok(ExitCode::from(NEGATIVE)),
        false => Ok(ExitCode::SUCCESS),
    }
}

impl Arguments {
    /// What can be known to be wrong before anything runs.
    fn check(&self) -> Result<(), Box<dyn Error>> {
        let mut seen = HashSet::new();
        if let Some(twice) = self.policies.iter().find(|name| !seen.insert(*name)) {
            return Err(
                format!("the policy {twice} stands twice in --policies: give it once").into(),
            );
        }
        let mut seen = HashSet::new();
        if let Some(twice) = self.loads.iter().find(|load| !seen.insert(load.to_bits())) {
            return Err(format!("the load {twice} stands twice in --loads: give it once").into());
        }
        if self.budget.replications() < 2 {
            return Err("a comparison needs 2 replications at least, to tell chance from difference: leave --replications away for 8".into());
        }
        self.check_outputs()
    }

    fn outputs(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.output, &self.csv, &self.html].into_iter().flatten()
    }

    fn check_outputs(&self) -> Result<(), Box<dyn Error>> {
        let journal = self.journal_at().map(|output| Journal::path(output));
        let policies = self.policies.iter().map(Path::new);
        let read: Vec<&Path> = policies.chain([&*self.workload]).collect();
        let written = self.outputs().chain(&journal).map(PathBuf::as_path);
        apart(&read, &written.collect::<Vec<_>>())?;
        if self.resume && self.journal_at().is_none() {
            return Err("--resume needs a file to go on with: give the --output FILE of the comparison that was cut short".into());
        }
        self.outputs()
            .filter(|path| !is_stdout(path))
            .try_for_each(|path| writable(path))
    }

    /// The output beside which the journal stands; none for a stream.
    fn journal_at(&self) -> Option<&PathBuf> {
        let regular = |path: &&PathBuf| std::fs::metadata(path).map_or(true, |m| m.is_file());
        self.output
            .as_ref()
            .filter(|path| !is_stdout(path))
            .filter(regular)
    }

    /// Reads the policies.
    fn enter(&self, workload: &Workload) -> Result<Vec<Entered>, Box<dyn Error>> {
        let entered: Result<Vec<Entered>, _> = self
            .policies
            .iter()
            .map(|name| enter(name, workload))
            .collect();
        let entered = entered?;
        let misfits: Vec<&str> = entered
            .iter()
            .filter_map(|e| e.contender.as_ref().err())
            .map(String::as_str)
            .collect();
        if misfits.len() == entered.len() {
            return Err(
                format!("no policy can run on this workload: {}", misfits.join("; ")).into(),
            );
        }
        Ok(entered)
    }

    /// What no policy without preemption can beat, load by load.
    fn optima(
        &self,
        workload: &Workload,
        comparison: &Comparison,
        settings: &Settings,
        common: &Common,
    ) -> Result<Vec<OptimumAt>, Box<dyn Error>> {
        let own = comparison.header.workload.load;
        let limits = optimum::Limits {
            time: Duration::from_secs(120),
            ..optimum::Limits::default()
        };
        let at = |&load: &f64| {
            let spinner = progress::spinner(common, "solving the dynamic program");
            let scaled = workload.scaled(load / own)?;
            let mean = Objective::Mean;
            let found = optimum::optimum(&scaled, mean, &limits, &settings.interrupt, |step| {
                spinner.set_message(format!("ρ = {load}: {}", report::optimum_step(&step)));
            });
            let (lower_bound, why) = match found {
                Ok(found) => {
                    let cut = "cut short, the bound from below is weaker than it would be";
                    let bound = Some(found.lower).filter(|lower| *lower > 0.0);
                    (bound, found.interrupted.then(|| cut.to_string()))
                }
                Err(why) => (None, Some(why.to_string())),
            };
            Ok(OptimumAt {
                load,
                lower_bound,
                why,
            })
        };
        self.loads.iter().map(at).collect()
    }

    fn header(
        &self,
        workload: &Workload,
        load: f64,
        settings: &Settings,
        entered: &[Entered],
    ) -> Header {
        Header {
            format: Header::FORMAT.into(),
            version: Header::VERSION,
            tool: format!("synth {}", env!("CARGO_PKG_VERSION")),
            workload: Subject {
                file: self.workload.display().to_string(),
                source: workload.source().map(Into::into),
                digest: workload.digest(),
                time_unit: workload.time_unit().into(),
                load,
            },
            settings: Budgets {
                seed: settings.seed,
                replications: settings.replications,
                precision: settings.precision,
                events: settings.events,
                time_seconds: settings.time.map(|t| t.as_secs_f64()),
            },
            policies: entered.iter().map(|e| e.entrant.clone()).collect(),
            loads: self.loads.clone(),
        }
    }

    /// The table to standard output, unless one of the documents goes there; it then is for people
    /// only. Files are written in any case.
    fn publish(
        &self,
        workload: &Workload,
        comparison: &Comparison,
        common: &Common,
    ) -> Result<(), Box<dyn Error>> {
        if let Some(path) = &self.output {
            emit(
                Some(path),
                &(serde_json::to_string_pretty(comparison)? + "\n"),
            )?;
        }
        if let Some(path) = &self.csv {
            emit(Some(path), &report::comparison_csv(workload, comparison)?)?;
        }
        if let Some(path) = &self.html {
            emit(Some(path), &report::comparison_page(workload, comparison)?)?;
        }
        let table = report::comparison_table(comparison);
        match self.outputs().any(|path| is_stdout(path)) {
            true => tell(common, &table),
            false => emit(None, &format!("{table}\n"))?,
        }
        Ok(())
    }
}
