mod report;

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::{Args, ValueEnum};
use itertools::Itertools as _;

use super::SEED;
use crate::slurm::advise;
use synth_slurm::commands;
use synth_slurm::configuration::{SlurmSite, of_path, of_texts};
use synth_slurm::rule::prepare;
use synth_traces::replay::Log;
use synth_traces::trace::{self, Source};
use synth_typed::{positive, time};
use synth_verb::{
    Caller, Files, NamesFiles, RunVerb, VerbOutput, VerbResult, document, files, refuse,
};

/// Advise configuration changes from the site's own jobs: effect, winners, losers and confidence
#[derive(Args)]
#[command(after_help = about())]
pub struct Advise {
    /// The scheduler of the site
    #[arg(value_enum, value_name = "SCHEDULER")]
    of: Scheduler,

    /// Output of sacct, plain or gzip-compressed [default: runs sacct on this machine]
    #[arg(id = "trace", value_name = "LOG", requires = "slurm")]
    trace: Option<PathBuf>,

    /// The site's configuration: slurm.conf, or a folder with the output of the commands below
    /// [default: runs the commands on this machine]
    #[arg(long, value_name = "FILE|DIR")]
    slurm: Option<PathBuf>,

    /// Without a log: export jobs of this last period
    #[arg(long, value_name = "TIME", default_value = "4w", value_parser = weeks, conflicts_with = "trace")]
    since: f64,

    /// Only consider changes under which the longest wait in the first half of the log is at most
    /// this many times the current one, such as 1.5 [default: no limit]
    #[arg(long, value_name = "TIMES", value_parser = positive)]
    longest: Option<f64>,

    /// Also write all results as JSON to this file (`-`: to standard output, in place of the text)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also write an HTML report for decision makers
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    #[command(flatten)]
    reading: trace::ReadArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Scheduler {
    /// Advise changes of slurm.conf from recent jobs, replayed as Slurm schedules them
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
        "Examples:\n  synth advise slurm\n      on a login node: reads four weeks of jobs and the configuration from Slurm\n  synth advise slurm jobs.txt --slurm site/ --html advice.html\n      from files, which these commands write (all but jobs.txt to site/):\n\n  {}\n\n\
Changes are selected on the first half of the log, and their effect is measured on the second. Preemption, reservations, licenses, \
constraints and dependencies are not replayed; nothing is advised if the replay differs too much from the recorded waits.",
        commands
            .join("\n  ")
            .replace(" --format=", " \\\n      --format=")
            .replace("TimelimitRaw >", "TimelimitRaw \\\n      >")
    )
}

impl NamesFiles for Advise {
    fn files(&self) -> Files<'_> {
        let slurm = self.slurm.iter().filter(|path| path.is_file());
        let written = self.output.iter().chain(&self.html);
        files(self.trace.iter().chain(slurm), written)
    }
}

impl RunVerb for Advise {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let Scheduler::Slurm = self.of;
        let interrupt = caller.interrupt.clone();
        let command = caller.command.clone();
        let mut listener = caller.doing();
        if self.reading.servers.is_some() {
            return refuse("the servers are the nodes of the site: omit --servers");
        }
        let (mut site, source, remarks) = self.site(&mut listener)?;
        let reading = trace::ReadOptions {
            servers: Some(site.servers().0),
            ..self.reading.options()?
        };
        let (mut log, _) = Log::of_source(&source, &reading, &mut listener)?;
        let out = prepare(&mut site, &mut log)?;
        let advice = advise(&log, &site, (self.longest, SEED), &interrupt, &mut |what| {
            listener(&format!("trying: {what}"));
        });
        let mut advice = match advice {
            Err(_) if interrupt.load(Ordering::Relaxed) => {
                return Ok(VerbOutput::interrupted_before("all changes were tried"));
            }
            advice => advice?,
        };
        let of_log = log.account.remarks.iter().cloned();
        let before = remarks.into_iter().chain(of_log).chain(out);
        advice.remarks.splice(0..0, before);
        let output = VerbOutput {
            report: report::report(&advice, &log, command),
            document: document("synth-advice", &advice)?,
            negative: !advice.is_checked(),
            ..VerbOutput::default()
        };
        output.written_to(self.html.as_ref(), self.output.as_ref())
    }
}

impl Advise {
    fn site(&self, listener: &mut dyn FnMut(&str)) -> VerbResult<(SlurmSite, Source, Vec<String>)> {
        if let Some(file) = &self.trace {
            let site = self.slurm.as_deref().map(of_path).transpose()?;
            let site = site.ok_or("the site's configuration is missing: give --slurm")?;
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
