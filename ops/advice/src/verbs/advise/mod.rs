//! `synth advise` finds changes to the configuration of a site.

mod change;
mod promises;
mod report;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::{Args, ValueEnum};

use crate::slurm::{FORMAT, PastAdvice, advise};
use synth_slurm::{SiteArgs, SiteLog, commands, is_live};
use synth_typed::positive;
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
    #[arg(
        id = "trace",
        value_name = "LOG",
        default_value = "slurm",
        hide_default_value = true
    )]
    trace: PathBuf,

    /// Limit the longest wait to this multiple of today's, such as 1.5
    ///
    /// Only changes that meet the limit in the first half of the log are used [default: no limit]
    #[arg(long, value_name = "TIMES", value_parser = positive)]
    longest: Option<f64>,

    /// Check if the promises of an earlier advice came true (its advice.json)
    ///
    /// The log and the configuration must be those after the change. The exit code is 1 if the
    /// promise for all jobs was not kept
    #[arg(long, value_name = "FILE", conflicts_with = "longest")]
    before: Option<PathBuf>,

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
    site: SiteArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Scheduler {
    /// Find changes to the slurm.conf using recent jobs, which are scheduled as in Slurm
    Slurm,
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
        let written = self.document().into_iter().chain(&self.html);
        files(
            self.site.files(&self.trace).chain(self.before.as_deref()),
            written,
        )
    }

    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let Scheduler::Slurm = self.of;
        let interrupt = caller.interrupt.clone();
        let command = caller.command.clone();
        let mut listener = caller.doing();
        let missing = "the configuration of the site is missing; use `--slurm` to specify it";
        if self.site.slurm.is_none() && !is_live(&self.trace) {
            return refuse(missing);
        }
        let past = self.before.as_deref().map(|path| {
            let text = std::fs::read_to_string(path).map_err(|why| why.to_string());
            let own = text.and_then(|text| PastAdvice::read(&text));
            own.map_err(|why| format!("{}: {why}", path.display()))
        });
        let past = past.transpose()?;
        if let Some(folder) = self.folder() {
            change::check_empty(folder)?;
        }
        let SiteLog { log, site, .. } = self.site.read(&self.trace, &mut listener)?;
        let (site, facts) = site.ok_or(missing)?;
        if let Some(past) = past {
            listener("replaying the jobs with and without the change");
            let output = promises::check(&past, (&log, &site, facts), &interrupt, command)?;
            return output.written_to(self.html.as_ref(), self.document());
        }
        let advice = advise(
            (&log, &site, facts),
            self.longest,
            &interrupt,
            &mut |what| {
                listener(&format!("trying: {what}"));
            },
        );
        let advice = match advice {
            Err(_) if interrupt.load(Ordering::Relaxed) => {
                return Ok(VerbOutput::interrupted_before(
                    "all changes have been tested",
                ));
            }
            advice => advice?,
        };
        let mut output = VerbOutput {
            report: report::report(&advice, &log, command),
            document: document(FORMAT, &advice)?,
            negative: !advice.is_checked(),
            ..VerbOutput::default()
        };
        output = output.written_to(self.html.as_ref(), self.document())?;
        if let Some(folder) = self.folder() {
            change::add(
                &mut output,
                folder,
                &advice,
                &site,
                self.site.slurm.as_deref(),
            )?;
        }
        Ok(output)
    }
}

impl Advise {
    /// Returns the file for the results, if only the results are written.
    fn document(&self) -> Option<&PathBuf> {
        let is_document = |path: &&PathBuf| {
            let is_json = path.extension().is_some_and(|end| end == "json");
            is_json || path.as_os_str() == "-" || self.before.is_some()
        };
        self.output.as_ref().filter(is_document)
    }

    /// Returns the folder for the change.
    fn folder(&self) -> Option<&Path> {
        let output = self.output.as_deref();
        output.filter(|_| self.document().is_none())
    }
}
