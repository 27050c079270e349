//! The log of a cluster together with the configuration of its scheduler. All verbs that read logs
//! use the same arguments for both.

use std::path::{Path, PathBuf};

use clap::Args;
use itertools::Itertools as _;

use crate::commands::{Exported, Slurm, SlurmError, Texts};
use crate::configuration::{SiteError, SlurmSite, of_path, of_texts};
use crate::rule::{Facts, facts, prepare};
use synth_core::number::date;
use synth_traces::replay::Log;
use synth_traces::trace::{ReadArgs, ReadOptions, Source, TraceEdge, TraceError};

/// The configuration of the cluster, and how its log is read.
#[derive(Args, Clone, Debug)]
pub struct SiteArgs {
    /// The slurm.conf, or a directory with outputs of Slurm's commands
    ///
    /// The directory contains the slurm.conf with the files that it includes, or the output of the
    /// commands that are listed by `synth advise --help`. The nodes are used as the servers
    /// [default: run these commands if the log is `slurm`]
    #[arg(long, value_name = "FILE|DIR")]
    pub slurm: Option<PathBuf>,

    /// How the log is read.
    #[command(flatten)]
    pub reading: ReadArgs,
}

/// The reason why a log or its configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SiteLogError {
    /// The log cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The configuration cannot be read.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// A command of Slurm failed.
    #[error(transparent)]
    Slurm(#[from] SlurmError),
    /// The arguments or the jobs do not match the configuration.
    #[error("{0}")]
    Refused(String),
}

/// A log that has not been read yet, with the configuration if there is one.
#[derive(Clone, Debug)]
pub struct SiteSource {
    /// The log.
    pub source: Source,
    /// How the log is read. With a configuration, the servers are its nodes.
    pub options: ReadOptions,
    /// The configuration of the selected partitions.
    pub site: Option<SlurmSite>,
    /// The commands that were run, and those that failed.
    pub remarks: Vec<String>,
}

/// A log with its name, and with the configuration if there is one.
#[derive(Clone, Debug)]
pub struct SiteLog {
    /// The jobs that can be replayed. The remarks about the configuration are among its remarks.
    pub log: Log,
    /// The name of the log for messages.
    pub name: String,
    /// The configuration, and the facts about each job of the log.
    pub site: Option<(SlurmSite, Vec<Facts>)>,
}

/// The period that is exported from Slurm by default \[s\].
const FOUR_WEEKS: f64 = 28.0 * 86_400.0;

/// Returns `true` if the log should be read from Slurm by running its commands.
pub fn is_live(log: &Path) -> bool {
    log == Path::new("slurm")
}

/// Returns a sentence with the settings that are not modeled, or `None` if there are none.
pub fn what_is_missing(not_modeled: &[String]) -> Option<String> {
    let all = not_modeled.iter().unique().join(", ");
    (!all.is_empty()).then(|| format!("Not included in the replay: {all}."))
}

impl SiteArgs {
    /// Opens a log and its configuration. If the log is `slurm`, the commands of Slurm are run.
    ///
    /// # Errors
    /// If a file or the output of a command cannot be read, or if the arguments are contradictory.
    pub fn open(
        &self,
        log: &Path,
        listener: &mut dyn FnMut(&str),
    ) -> Result<SiteSource, SiteLogError> {
        let mut options = self.reading.options().map_err(SiteLogError::Refused)?;
        let mut remarks = Vec::new();
        let (source, texts) = match is_live(log) {
            true => {
                let since = since(options.from)?;
                options.from = options.from.filter(|from| matches!(from, TraceEdge::At(_)));
                listener("running sacct, scontrol, sacctmgr and sshare");
                let exported = Slurm::new("").export(&since)?;
                let commands = Exported::commands(&since);
                let commands = commands.iter().filter_map(|line| line.split(" > ").next());
                remarks.push(format!("data exported with: {}", commands.format("; ")));
                remarks.extend(exported.remarks);
                let log = exported.log;
                let source = Source::Text(log.name, log.text.into_bytes());
                (source, Some(exported.texts))
            }
            false => (Source::named(log), None),
        };
        let site = self.site(texts.as_ref())?;
        if let Some(site) = &site {
            if options.servers.is_some() {
                let why = "the servers are the nodes of the configuration, so `--servers` and `--capacity` cannot be used together with it";
                return Err(SiteLogError::Refused(why.into()));
            }
            options.servers = Some(site.servers().0);
        }
        Ok(SiteSource {
            source,
            options,
            site,
            remarks,
        })
    }

    /// Returns the files that are read.
    pub fn files<'a>(&'a self, log: &'a Path) -> impl Iterator<Item = &'a Path> {
        let log = Some(log).filter(|log| !is_live(log));
        let slurm = self.slurm.as_deref().filter(|path| path.is_file());
        log.into_iter().chain(slurm)
    }

    fn site(&self, texts: Option<&Texts>) -> Result<Option<SlurmSite>, SiteLogError> {
        let site = match (&self.slurm, texts) {
            (Some(path), _) => of_path(path)?,
            (None, Some(texts)) => of_texts(texts)?,
            (None, None) => return Ok(None),
        };
        let names = &self.reading.partition;
        match names.is_empty() {
            true => Ok(Some(site)),
            false => Ok(Some(
                site.with_partitions(names).map_err(SiteLogError::Refused)?,
            )),
        }
    }

    /// Reads a log and its configuration (see [`SiteArgs::open`] and [`SiteSource::read`]).
    ///
    /// # Errors
    /// Those of both functions.
    pub fn read(
        &self,
        log: &Path,
        listener: &mut dyn FnMut(&str),
    ) -> Result<SiteLog, SiteLogError> {
        self.open(log, listener)?.read(listener)
    }
}

/// Returns the beginning of the period for `sacct -S`.
fn since(from: Option<TraceEdge>) -> Result<String, SiteLogError> {
    match from.unwrap_or(TraceEdge::Ago(FOUR_WEEKS)) {
        TraceEdge::Ago(time) => Ok(format!("now-{:.0}hours", (time / 3600.0).ceil())),
        TraceEdge::At(at) => Ok(date(at)),
        TraceEdge::After(_) => Err(SiteLogError::Refused(
            "--from: if the log is `slurm`, the first job is not known in advance; give a date, or a time before now such as now-6w".into(),
        )),
    }
}

impl SiteSource {
    /// Reads the log. With a configuration, jobs that could never start are left out.
    ///
    /// # Errors
    /// If the log cannot be read, or if it is not from the cluster of the configuration.
    pub fn read(self, listener: &mut dyn FnMut(&str)) -> Result<SiteLog, SiteLogError> {
        let (mut log, name) = Log::of_source(&self.source, &self.options, listener)?;
        log.account.remarks.splice(0..0, self.remarks);
        let site = match self.site {
            None => None,
            Some(mut site) => {
                let left_out = prepare(&mut site, &mut log).map_err(SiteLogError::Refused)?;
                let (facts, notes) = facts(&site, &log);
                let remarks = site.remarks.iter().cloned().chain(left_out).chain(notes);
                log.account.remarks.extend(remarks);
                Some((site, facts))
            }
        };
        Ok(SiteLog { log, name, site })
    }
}
