use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args;

use crate::kind::{
    Caller, Files, Notice, RunVerb, VerbOutput, VerbResult, document, files, read_policy, refuse,
};
use crate::multiresource::artifact::Checked;
use crate::multiresource::fit::{self, FitOptions, FittedArrivals};
use crate::multiresource::report;
use crate::multiresource::verbs::replay::places;
use crate::multiresource::workload::Fleet;
use crate::trace::{self, Servers, Trace};
use crate::typed::{count, share};
use synth_slurm::SiteArgs;

/// Create a workload from a log
///
/// The job types, their sizes and their arrivals are those of the log
#[derive(Args)]
pub(crate) struct Arguments {
    /// The log, which may be gzipped (`-`: standard input)
    #[arg(id = "trace", value_name = "TRACE")]
    trace: PathBuf,

    /// The file for the workload (`-`: standard output)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also write the results of the fit to this file as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// The maximum number of job types
    #[arg(long, value_name = "K", default_value = "48", value_parser = count)]
    max_types: u64,

    /// The maximum increase of the load by combining similar demands
    #[arg(long, value_name = "SHARE", default_value = "0.2%", value_parser = share)]
    rounding_loss: f64,

    /// The arrival process of the workload
    #[arg(long, value_enum, default_value_t = FittedArrivals::Auto)]
    arrivals: FittedArrivals,

    /// Also use the time limit of a job to determine its type
    #[arg(long, conflicts_with = "since")]
    by_limit: bool,

    /// Use the same job types as this policy
    ///
    /// Recent jobs are more important: the weight of a job is reduced by half every 14 days
    #[arg(long, value_name = "POLICY")]
    since: Option<PathBuf>,

    #[command(flatten)]
    site: SiteArgs,
}

impl RunVerb for Arguments {
    fn files(&self) -> Files<'_> {
        let read = self.site.files(&self.trace).chain(self.since.as_deref());
        files(read, self.output.iter().chain(&self.report))
    }

    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        caller.notify(Notice::Doing("reading the log"));
        let opened = self.site.open(&self.trace, &mut caller.doing())?;
        let (source, mut reading) = (opened.source, opened.options);
        let policy = self.since.as_ref().map(|file| policy_of(file, caller));
        let policy = policy.transpose()?;
        let servers = reading.servers;
        reading.servers = servers.or(policy.as_ref().map(Servers::from));
        let since = policy.map(|fleet| types_of(&fleet, &reading)).transpose()?;
        let options = FitOptions {
            source: format!("synth fit {}", source.name()),
            max_types: self.max_types.min(1000) as usize,
            rounding_loss: self.rounding_loss,
            arrivals: self.arrivals,
            by_limit: self.by_limit,
            kept_types: since,
        };
        let mut trace = Trace::open(&source, &reading)?;
        trace.account.remarks.splice(0..0, opened.remarks);
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
    let needed = "`--since` requires a policy file";
    let name = file.display().to_string();
    let (checked, _): (Checked, _) = read_policy(&name, needed, caller.changes)?;
    Ok(checked.workload().clone())
}

fn types_of(fleet: &Fleet, reading: &trace::ReadOptions) -> VerbResult<Vec<(String, Vec<f64>)>> {
    let own = Servers::from(fleet);
    let servers = reading.servers.as_ref().unwrap_or(&own);
    let places = places(&servers.resources, &own.resources).ok_or_else(|| {
        format!(
            "the policy is for servers with {}, but the log has {}; use `--capacity` or `--servers` to specify the same resources",
            own.resources.join(", "),
            servers.resources.join(", ")
        )
    })?;
    if fleet.types().iter().any(|kind| kind.limit().is_some()) {
        return refuse(
            "the job types of the policy depend on the limit of a job, which is not supported by `--since`; use `--by-limit` to create a new workload from the log instead",
        );
    }
    let types = fleet.types().iter().map(|kind| {
        let demand = places.iter().map(|j| kind.demand()[*j].value());
        let demand = demand.chain([f64::from(kind.nodes())]).collect();
        (kind.name().to_owned(), demand)
    });
    Ok(types.collect())
}
