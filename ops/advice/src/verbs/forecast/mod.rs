//! `synth forecast` computes when jobs will start.

mod live;
mod report;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;

use super::SEED;
use crate::forecast::{Draws, ForecastRecord, ForecastSite, Scored, Scoring};
use synth_multiresource::policy::{Information, Policy};
use synth_multiresource::simulator::Contender;
use synth_slurm::commands::Slurm;
use synth_slurm::configuration::SlurmSite;
use synth_slurm::rule::{Facts, SlurmRule, clock_of};
use synth_slurm::{SiteArgs, SiteLog, is_live, what_is_missing};
use synth_traces::replay::{Log, LogError};
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

    /// For `slurm`, a log of past jobs in this partition
    ///
    /// This is the output of sacct (see `synth advise slurm --help`). It is used to calibrate the
    /// forecasts
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

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
    site: SiteArgs,
}

const ABOUT: &str = include_str!("about.txt").trim_ascii_end();

/// The approximate number of jobs in the log of a partition that are used for the calibration.
const LOOKED_AT: usize = 2000;

impl RunVerb for Arguments {
    fn files(&self) -> Files<'_> {
        let read = self.log.as_deref();
        let read = read.into_iter().chain(self.site.files(&self.trace));
        files(read, self.output.iter().chain(&self.metrics))
    }

    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        caller.notify(Notice::Interruptible);
        if !is_live(&self.trace) {
            return match &self.log {
                Some(log) => refuse(format!(
                    "`--log` can only be used for Slurm; use `synth forecast slurm --partition NAME --log {0}`, or `synth forecast {0}` to evaluate the forecasts for this log",
                    log.display()
                )),
                None => self.scored(caller),
            };
        }
        let [partition] = &self.site.reading.partition[..] else {
            return refuse(
                "the forecasts for waiting jobs are for one partition; use `--partition NAME` to specify it (`sinfo -s` lists the partitions)",
            );
        };
        if self.map || self.output.is_some() || self.site.slurm.is_some() {
            return refuse(
                "`--map`, `--output` and `--slurm` can only be used if the forecasts are evaluated using a log",
            );
        }
        self.live(partition, caller)
    }
}

impl Arguments {
    fn policy(&self) -> &str {
        let usual = match self.site.slurm {
            Some(_) => "slurm",
            None => "easy",
        };
        self.policy.as_deref().unwrap_or(usual)
    }

    fn scored(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let interrupt = caller.interrupt.clone();
        let listener = &mut |what: &str| caller.notify(Notice::Doing(what));
        let SiteLog { log, name, site } = self.site.read(&self.trace, listener)?;
        let missing = site
            .as_ref()
            .and_then(|(site, _)| what_is_missing(&site.not_modeled));
        let rule = SiteRule::new(self.policy(), site, &log)?;
        let scored = match self.score((&log, self.every as usize), &rule, &interrupt, listener) {
            Err(_) if interrupt.load(Ordering::Relaxed) => {
                return Ok(VerbOutput::interrupted_before("the last job"));
            }
            scored => scored?,
        };
        let mut output = VerbOutput {
            report: report::scored(&log, &scored, &name, self.policy()),
            document: document("synth-forecast", &scored)?,
            ..VerbOutput::default()
        };
        output.report.summary.splice(0..0, missing);
        let metrics = self.metrics(scored.record.as_ref(), ("log", &name));
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
        let reading = self.site.reading.options()?;
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

    /// Creates the rule for the jobs of a log.
    fn new(name: &str, site: Option<(SlurmSite, Vec<Facts>)>, log: &Log) -> Result<Self, String> {
        let mut own = SiteRule::named(name)?;
        if let Some((mut site, facts)) = site {
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
