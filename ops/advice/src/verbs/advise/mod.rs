//! `synth advise` finds changes to the configuration of a site.

mod change;
mod report;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::{Args, ValueEnum};
use itertools::Itertools as _;

use crate::slurm::{FORMAT, advise};
use synth_slurm::commands;
use synth_slurm::configuration::{SlurmSite, of_path, of_texts};
use synth_slurm::rule::prepare;
use synth_traces::replay::Log;
use synth_traces::trace::{self, Source};
use synth_typed::{positive, time};
use synth_verb::{Caller, Files, RunVerb, VerbOutput, VerbResult, document, files, refuse};

/// Find changes to the configuration of a site using its own jobs
///
/// The result shows who gains, who loses, and how certain this is
#[derive(Args)]
#[command(after_long_help = about())]
pub struct Advise {
    /// The scheduler that is used by the site
    #[arg(value_enum, value_name = "SCHEDULER")]
    of: Scheduler,

    /// The output of sacct, which may be gzipped [default: run sacct]
    #[arg(id = "trace", value_name = "LOG", requires = "slurm")]
    trace: Option<PathBuf>,

    /// The slurm.conf, or a directory with outputs [default: run commands]
    ///
    /// The directory contains the output of the commands below. By default, they are run on this
    /// machine
    #[arg(long, value_name = "FILE|DIR")]
    slurm: Option<PathBuf>,

    /// The period before now whose jobs are read if there is no log
    #[arg(long, value_name = "TIME", default_value = "4w", value_parser = weeks, conflicts_with = "trace")]
    since: f64,

    /// Limit the longest wait to this multiple of today's, such as 1.5
    ///
    /// Only changes that meet the limit in the first half of the log are used [default: no limit]
    #[arg(long, value_name = "TIMES", value_parser = positive)]
    longest: Option<f64>,

    /// Also write the change to this directory, or all results to a JSON file (`-`: standard output)
    ///
    /// The directory contains the steps to apply and undo the change (README.md), a patch of the
    /// slurm.conf, the script of an order, and all results (advice.json). If the path ends with
    /// .json, only the results are written. On the standard output, they replace the text
    #[arg(long, short, value_name = "DIR|FILE")]
    output: Option<PathBuf>,

    /// Also write a report for decision-makers to this file (HTML)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    #[command(flatten)]
    reading: trace::ReadArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Scheduler {
    /// Find changes to the slurm.conf using recent jobs, which are scheduled as in Slurm
    Slurm,
}

const WEEK: f64 = 7.0 * 86_400.0;

fn weeks(text: &str) -> Result<f64, String> {
    match text.strip_suffix('w').map(str::parse::<f64>) {
        Some(Ok(weeks)) if weeks > 0.0 && weeks.is_finite() => Ok(weeks * WEEK),
        _ => time(text),
    }
}

fn about() -> String {
    let commands = commands::Exported::commands("now-4weeks");
    format!(
        "Examples:\n  synth advise slurm\n      read the configuration and the jobs of four weeks from Slurm, on a login node\n  synth advise slurm jobs.txt --slurm site/ --html advice.html\n      use files that were created with these commands (all except jobs.txt are in site/):\n\n  {}\n\n\
The changes are selected using the first half of the log, and their effect is measured using the second half. Preemption, reservations, licenses, \
constraints and dependencies are not supported. If the waits in the replay are too different from those in the log, there is no advice.",
        commands
            .join("\n  ")
            .replace(" --format=", " \\\n      --format=")
            .replace("TimelimitRaw >", "TimelimitRaw \\\n      >")
    )
}

impl RunVerb for Advise {
    fn files(&self) -> Files<'_> {
        let slurm = self.slurm.iter().filter(|path| path.is_file());
        let written = self.document().into_iter().chain(&self.html);
        files(self.trace.iter().chain(slurm), written)
    }

    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let Scheduler::Slurm = self.of;
        let interrupt = caller.interrupt.clone();
        let command = caller.command.clone();
        let mut listener = caller.doing();
        if self.reading.servers.is_some() {
            return refuse("the servers are the nodes of the site, so `--servers` cannot be used");
        }
        if let Some(folder) = self.folder() {
            change::check_empty(folder)?;
        }
        let (mut site, source, remarks) = self.site(&mut listener)?;
        let reading = trace::ReadOptions {
            servers: Some(site.servers().0),
            ..self.reading.options()?
        };
        let (mut log, _) = Log::of_source(&source, &reading, &mut listener)?;
        let out = prepare(&mut site, &mut log)?;
        let advice = advise(&log, &site, self.longest, &interrupt, &mut |what| {
            listener(&format!("trying: {what}"));
        });
        let mut advice = match advice {
            Err(_) if interrupt.load(Ordering::Relaxed) => {
                return Ok(VerbOutput::interrupted_before(
                    "all changes have been tested",
                ));
            }
            advice => advice?,
        };
        let of_log = log.account.remarks.iter().cloned();
        let before = remarks.into_iter().chain(of_log).chain(out);
        advice.remarks.splice(0..0, before);
        let mut output = VerbOutput {
            report: report::report(&advice, &log, command),
            document: document(FORMAT, &advice)?,
            negative: !advice.is_checked(),
            ..VerbOutput::default()
        };
        output = output.written_to(self.html.as_ref(), self.document())?;
        if let Some(folder) = self.folder() {
            change::add(&mut output, folder, &advice, &site, self.slurm.as_deref())?;
        }
        Ok(output)
    }
}

impl Advise {
    /// Returns the file for the results, if only the results are written.
    fn document(&self) -> Option<&PathBuf> {
        let is_document = |path: &&PathBuf| {
            path.as_os_str() == "-" || path.extension().is_some_and(|end| end == "json")
        };
        self.output.as_ref().filter(is_document)
    }

    /// Returns the folder for the change.
    fn folder(&self) -> Option<&Path> {
        let output = self.output.as_deref();
        output.filter(|_| self.document().is_none())
    }

    fn site(&self, listener: &mut dyn FnMut(&str)) -> VerbResult<(SlurmSite, Source, Vec<String>)> {
        if let Some(file) = &self.trace {
            let site = self.slurm.as_deref().map(of_path).transpose()?;
            let site = site
                .ok_or("the configuration of the site is missing; use `--slurm` to specify it")?;
            return Ok((site, Source::named(file), Vec::new()));
        }
        let since = format!("now-{:.0}hours", (self.since / 3600.0).ceil());
        listener("running sacct, scontrol, sacctmgr and sshare");
        let exported = commands::Slurm::new("").export(&since)?;
        let site = match &self.slurm {
            Some(path) => of_path(path)?,
            None => of_texts(&exported.texts)?,
        };
        let commands = commands::Exported::commands(&since);
        let commands = commands.iter().filter_map(|line| line.split(" > ").next());
        let mut remarks = vec![format!("data exported with: {}", commands.format("; "))];
        remarks.extend(exported.remarks);
        let log = exported.log;
        Ok((site, Source::Text(log.name, log.text.into_bytes()), remarks))
    }
}
