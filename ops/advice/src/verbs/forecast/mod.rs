//! `synth forecast` computes when jobs will start.

mod live;
mod report;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;

use super::SEED;
use crate::forecast::{Draws, ForecastRecord, ForecastSite, Scored, Scoring};
use synth_multiresource::policy::{Information, Policy};
use synth_multiresource::simulator::Contender;
use synth_slurm::commands::Slurm;
use synth_slurm::configuration::{SlurmSite, of_path};
use synth_slurm::rule::{SlurmRule, clock_of, facts, prepare};
use synth_traces::replay::{Log, LogError};
use synth_traces::trace::{self, Source};
use synth_verb::{Caller, Files, Notice, RunVerb, VerbOutput, VerbResult, document, files, refuse};

/// Forecast when jobs will start
///
/// For a log, the forecasts are compared with the actual times. For a Slurm partition, the result
/// is for the jobs that wait now
#[derive(Args)]
#[command(after_long_help = ABOUT)]
pub struct Arguments {
    /// The log that the forecasts are tested on, or `slurm`
    ///
    /// The log may be gzipped, and `-` is the standard input. With `slurm`, the result is for the
    /// jobs that are currently waiting in --partition
    #[arg(id = "trace", value_name = "LOG|slurm")]
    trace: PathBuf,

    /// The partition, which is required for `slurm`
    #[arg(long, value_name = "NAME")]
    partition: Option<String>,

    /// For `slurm`, a log of past jobs in this partition
    ///
    /// This is the output of sacct (see `synth advise slurm --help`). It is used to calibrate the
    /// forecasts
    #[arg(long, value_name = "FILE", requires = "partition")]
    log: Option<PathBuf>,

    /// The slurm.conf of the site, or a folder that also contains the files that it includes
    ///
    /// The queue is then simulated with the priorities, limits and partitions of the site (see
    /// `synth advise slurm --help`)
    #[arg(long, value_name = "FILE|DIR")]
    slurm: Option<PathBuf>,

    /// The rule of the site, such as easy, easy+saf or first-fit+sjf [default: slurm with --slurm,
    /// otherwise easy]
    #[arg(long, value_name = "RULE")]
    policy: Option<String>,

    /// Only compute a forecast for every N-th job that waits
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,

    /// Also show the waits for other widths and limits in the second half
    #[arg(long)]
    map: bool,

    /// Also write all results to this file as JSON (`-`: standard output)
    ///
    /// On the standard output, it replaces the tables
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also write the accuracy to this file, for Prometheus
    ///
    /// The format is that of the textfile collector of node_exporter
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,

    #[command(flatten)]
    reading: trace::ReadArgs,
}

const ABOUT: &str = include_str!("about.txt").trim_ascii_end();

/// The approximate number of jobs in the log of a partition that are used for the calibration.
const LOOKED_AT: usize = 2000;

impl RunVerb for Arguments {
    fn files(&self) -> Files<'_> {
        let read = match self.live_partition() {
            Some(_) => self.log.as_ref(),
            None => Some(&self.trace),
        };
        files(read, self.output.iter().chain(&self.metrics))
    }

    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        caller.notify(Notice::Interruptible);
        let Some(partition) = self.live_partition() else {
            return match &self.log {
                Some(log) => refuse(format!(
                    "`--log` can only be used for Slurm; use `synth forecast slurm --partition NAME --log {0}`, or `synth forecast {0}` to evaluate the forecasts for this log",
                    log.display()
                )),
                None => self.scored(caller),
            };
        };
        if self.map || self.output.is_some() || self.slurm.is_some() {
            return refuse(
                "`--map`, `--output` and `--slurm` can only be used if the forecasts are evaluated using a log",
            );
        }
        self.live(partition, caller)
    }
}

impl Arguments {
    fn policy(&self) -> &str {
        let usual = if self.slurm.is_some() {
            "slurm"
        } else {
            "easy"
        };
        self.policy.as_deref().unwrap_or(usual)
    }

    fn live_partition(&self) -> Option<&str> {
        let partition = self.partition.as_deref();
        partition.filter(|_| self.trace == Path::new("slurm"))
    }

    fn scored(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let interrupt = caller.interrupt.clone();
        let listener = &mut |what: &str| caller.notify(Notice::Doing(what));
        let (source, mut reading) = (Source::named(&self.trace), self.reading.options()?);
        let site = self.slurm.as_deref().map(of_path).transpose()?;
        if site.is_some() && reading.servers.is_some() {
            return refuse(
                "if `--slurm` is used, the servers are the nodes of the site, so `--servers` cannot be used",
            );
        }
        reading.servers = reading
            .servers
            .or(site.as_ref().map(|site| site.servers().0));
        let (mut log, file) = Log::of_source(&source, &reading, listener)?;
        let rule = SiteRule::new(self.policy(), site, &mut log)?;
        let scored = match self.score((&log, self.every as usize), &rule, &interrupt, listener) {
            Err(_) if interrupt.load(Ordering::Relaxed) => {
                return Ok(VerbOutput::interrupted_before("the last job"));
            }
            scored => scored?,
        };
        let mut output = VerbOutput {
            report: report::scored(&log, &scored, &file, self.policy()),
            document: document("synth-forecast", &scored)?,
            ..VerbOutput::default()
        };
        let metrics = self.metrics(scored.record.as_ref(), ("log", &file));
        output.documents.extend(metrics);
        output.written_to(None, self.output.as_ref())
    }

    fn score(
        &self,
        (log, every): (&Log, usize),
        rule: &SiteRule,
        interrupt: &AtomicBool,
        listener: &mut dyn FnMut(&str),
    ) -> Result<Scored, LogError> {
        let scoring = Scoring {
            log,
            slurm: rule.slurm.as_ref(),
            draws: Draws::new(SEED),
            every,
            interrupt,
        };
        let all = log.jobs.len();
        scoring.run(|site| rule.policy(site), self.map, &mut |come| {
            if come % 64 == 0 {
                listener(&format!("{come} of {all} jobs have arrived"));
            }
        })
    }

    fn metrics(
        &self,
        record: Option<&ForecastRecord>,
        of: (&str, &str),
    ) -> Option<(PathBuf, String)> {
        let text = |file: &PathBuf| (file.clone(), report::metrics(record, of, self.policy()));
        self.metrics.as_ref().map(text)
    }

    fn live(&self, partition: &str, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let interrupt = caller.interrupt.clone();
        let reading = self.reading.options()?;
        let past = self.log.as_deref().map(|file| (file, &reading));
        let live = live::live(
            &Slurm::new(partition),
            past,
            Draws::new(SEED),
            &|site| SiteRule::named(self.policy())?.policy(site),
            &mut |log| {
                let every = log.jobs.len().div_ceil(LOOKED_AT).max(self.every as usize);
                let rule = SiteRule::named(self.policy())?;
                let scored = self.score((log, every), &rule, &interrupt, &mut |what| {
                    caller.notify(Notice::Doing(what));
                })?;
                Ok((scored.calibration, scored.record))
            },
        )?;
        Ok(VerbOutput {
            report: report::live(&live, self.policy()),
            documents: Vec::from_iter(self.metrics(live.record.as_ref(), ("partition", partition))),
            notes: live.notes,
            ..VerbOutput::default()
        })
    }
}

/// The name of a rule and, if it is the rule of Slurm, its settings.
struct SiteRule {
    name: String,
    slurm: Option<SlurmRule>,
}

impl SiteRule {
    fn named(name: &str) -> Result<Self, String> {
        Ok(SiteRule {
            name: name.to_owned(),
            slurm: SlurmRule::named(name).transpose()?,
        })
    }

    /// Creates the rule for the jobs of a log. Jobs that could never start are removed.
    fn new(name: &str, site: Option<SlurmSite>, log: &mut Log) -> Result<Self, String> {
        let mut own = SiteRule::named(name)?;
        if let Some(mut site) = site {
            let above = prepare(&mut site, log)?;
            let (facts, notes) = facts(&site, log);
            let remarks = site
                .assumed
                .iter()
                .chain(&site.remarks)
                .chain(&above)
                .chain(&notes);
            log.account.remarks.extend(remarks.cloned());
            // The usage already includes the jobs in the log, because it was exported later.
            site.associations.iter_mut().for_each(|own| own.usage = 0.0);
            own.slurm = own.slurm.map(|rule| SlurmRule {
                at: Some((Arc::new(site), facts.into())),
                clock: clock_of(log),
                ..rule
            });
        }
        Ok(own)
    }

    fn policy(&self, site: &ForecastSite) -> Result<Box<dyn Policy>, String> {
        let (name, fleet) = (&self.name, &site.fleet);
        let rule = match &self.slurm {
            Some(rule) => Contender::External(Arc::new(rule.clone())),
            // If there are multiple servers, the default is the order of arrival.
            None => Contender::named(name, fleet)
                .or_else(|why| Contender::named(&format!("{name}+fcfs"), fleet).map_err(|_| why))?,
        };
        let is_known = rule.information_about(fleet) != Information::Sizes;
        let policy = rule.build_policy(fleet);
        let policy = policy.map_err(|why| why.to_string())?;
        if !is_known || policy.information() == Information::Sizes {
            return Err(format!(
                "`{name}` uses the size of a job, which is not known when the job arrives; use a rule that uses limits, such as easy"
            ));
        }
        if policy.preempts() {
            return Err(format!(
                "`{name}` preempts jobs, which is not supported; use a different rule, such as easy"
            ));
        }
        Ok(policy)
    }
}
