mod args;
mod busy;
mod csv;
mod recorded;
mod report;
mod results;
mod stage;
mod types;

pub(crate) use args::{Arguments, start_latency};
pub(crate) use recorded::Recorded;
pub(crate) use results::Replays;
pub(crate) use types::places;

use std::path::Path;

use crate::document::{all_bytes_of, display_name};
use crate::kind::{
    Caller, Files, Notice, RunVerb, VerbOutput, VerbResult, document, files, refuse,
};
use crate::multiresource::workload::Fleet;
use crate::number::Decimal;
use crate::simulation::Settings;
use recorded::run_once;
use stage::ReplayPlan;

impl RunVerb for Arguments {
    fn files(&self) -> Files<'_> {
        let policies = self.policies.iter().map(Path::new);
        let read = policies.chain(self.site.files(&self.file));
        let read = read.chain(self.workload.as_deref());
        let written = [&self.output, &self.csv, &self.html, &self.jobs];
        files(read, written.into_iter().flatten())
    }

    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let stage = ReplayPlan::read(self, caller)?;
        let replays = stage.replayed(&mut caller.doing())?;
        let failed = replays.failures().next();
        if let (Some((_, _, why)), [_]) = (&failed, &*self.policies) {
            return refuse(why.to_string());
        }
        let mut output = VerbOutput {
            report: report::report(&replays, caller.command.clone()),
            document: document("synth-replay", &replays)?,
            negative: failed.is_some(),
            interrupted: replays.interrupted,
            ..VerbOutput::default()
        };
        let documents = &mut output.documents;
        if let Some(file) = &self.csv {
            documents.push((file.clone(), output.report.numbers.csv()?));
        }
        if let Some(file) = &self.jobs {
            documents.push((file.clone(), csv::visits(&replays)?));
        }
        output.written_to(self.html.as_ref(), self.output.as_ref())
    }
}

pub(crate) fn run_recorded(
    file: &Path,
    policy: &str,
    of: (Option<&Fleet>, Option<Decimal>),
    settings: &Settings,
    caller: &mut Caller<'_>,
) -> VerbResult<VerbOutput> {
    let name = display_name(file);
    let text = all_bytes_of(file).map_err(|why| format!("cannot read {name}: {why}"))?;
    caller.notify(Notice::Interruptible);
    let (jobs, changes) = ((&*name, &*text), caller.changes);
    let listener = &mut |what: &str| caller.notify(Notice::Doing(what));
    let run = run_once(jobs, policy, of, settings, changes, listener)?;
    Ok(VerbOutput {
        report: report::recorded(&run),
        document: document("synth-recorded-jobs", &run)?,
        ..VerbOutput::default()
    })
}
