use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args;

use crate::kind::{
    Caller, Files, NamesFiles, Notice, RunVerb, VerbOutput, VerbResult, document, files,
    read_policy, refuse,
};
use crate::multiresource::artifact::Checked;
use crate::multiresource::fit::{self, FitOptions, FittedArrivals};
use crate::multiresource::report;
use crate::multiresource::verbs::replay::places;
use crate::multiresource::workload::Fleet;
use crate::trace::{self, Servers, Source, Trace};
use crate::typed::{count, share};

/// Fit a workload to a log: job types, size distributions and arrivals
#[derive(Args)]
pub struct Arguments {
    /// The log, plain or gzip-compressed (`-`: standard input)
    #[arg(id = "trace", value_name = "TRACE")]
    trace: PathBuf,

    /// File to write the workload to (`-`: standard output) [default: not written]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also write the results of the fit as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Maximum number of job types
    #[arg(long, value_name = "K", default_value = "48", value_parser = count)]
    max_types: u64,

    /// How much the load may grow by merging demands into types
    #[arg(long, value_name = "SHARE", default_value = "0.2%", value_parser = share)]
    rounding_loss: f64,

    /// Arrival process of the workload
    #[arg(long, value_enum, default_value_t = FittedArrivals::Auto)]
    arrivals: FittedArrivals,

    /// Also distinguish types by the time limits of jobs
    #[arg(long, conflicts_with = "since")]
    by_limit: bool,

    /// Keep the job types of this policy; the weight of jobs halves every 14 days back
    #[arg(long, value_name = "POLICY")]
    since: Option<PathBuf>,

    #[command(flatten)]
    reading: trace::ReadArgs,
}

impl NamesFiles for Arguments {
    fn files(&self) -> Files<'_> {
        let read = [&self.trace].into_iter().chain(&self.since);
        files(read, self.output.iter().chain(&self.report))
    }
}

impl RunVerb for Arguments {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let source = Source::named(&self.trace);
        caller.notify(Notice::Doing("reading the log"));
        let policy = self.since.as_ref().map(|file| policy_of(file, caller));
        let policy = policy.transpose()?;
        let mut reading = self.reading.options()?;
        let servers = reading.servers;
        reading.servers = servers.or(policy.as_ref().map(Servers::from));
        let since = policy.map(|fleet| types_of(&fleet, &reading)).transpose()?;
        let options = FitOptions {
            source: format!("synth fit {}", source.name()),
            max_types: self.max_types.min(1000) as usize,
            rounding_loss: self.rounding_loss,
            arrivals: self.arrivals,
            by_limit: self.by_limit,
            since,
        };
        let mut trace = Trace::open(&source, &reading)?;
        let fit = fit::fit(&mut trace, &options, &mut listener(caller))?;
        let fit = fit::predict(fit, &mut listener(caller))?;
        let mut documents = Vec::new();
        if let Some(file) = &self.output {
            documents.push((file.clone(), fit.workload.to_yaml()));
        }
        if let Some(file) = &self.report {
            documents.push((file.clone(), document("synth-fit", &fit.report)?));
        }
        Ok(VerbOutput {
            report: report::fit(&fit.report),
            negative: fit.report.load >= 1.0 || fit.report.of_no_type.1 > 0.01,
            documents,
            ..VerbOutput::default()
        })
    }
}

fn listener(caller: &mut Caller<'_>) -> impl FnMut(&str) -> bool {
    |doing| {
        caller.notify(Notice::Doing(doing));
        !caller.interrupt.load(Ordering::Relaxed)
    }
}

fn policy_of(file: &Path, caller: &Caller<'_>) -> VerbResult<Fleet> {
    let (name, needed) = (file.display().to_string(), "--since needs a policy file");
    let (checked, _): (Checked, _) = read_policy(&name, needed, caller.changes)?;
    Ok(checked.workload().clone())
}

fn types_of(fleet: &Fleet, reading: &trace::ReadOptions) -> VerbResult<Vec<(String, Vec<f64>)>> {
    let own = Servers::from(fleet);
    let servers = reading.servers.as_ref().unwrap_or(&own);
    let places = places(&servers.resources, &own.resources).ok_or_else(|| {
        format!(
            "the policy is for servers with {}, but the log has {}: give the same resources with --capacity or --servers",
            own.resources.join(", "),
            servers.resources.join(", ")
        )
    })?;
    if fleet.types().iter().any(|kind| kind.limit().is_some()) {
        return refuse(
            "the policy distinguishes types by limits, which --since does not support: fit the log again with --by-limit instead",
        );
    }
    let types = fleet.types().iter().map(|kind| {
        let demand = places.iter().map(|j| kind.demand()[*j].value());
        let demand = demand.chain([f64::from(kind.nodes())]).collect();
        (kind.name().to_owned(), demand)
    });
    Ok(types.collect())
}
