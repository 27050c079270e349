//! What is typed to replay a trace.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::reading::Reading;
use crate::document::{all_bytes_of, called};
use crate::kind::{Caller, Compared, Given, Simulated, Word, json};
use crate::multiresource::replay::{Speed, Window};
use crate::multiresource::report::replay::{
    notes, recorded, replay_csv, replay_page, replayed, series, visits,
};
use crate::multiresource::verbs::VerbError;
use crate::multiresource::verbs::replay::{
    Pace, Recording, Replaying, Replays, replay_trace, run_once,
};
use crate::multiresource::workload::Fleet;
use crate::number::Decimal;
use crate::simulation::Settings;
use crate::trace::Source;
use crate::typed::duration;

/// A trace, and how it is replayed.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Replay of a trace")]
pub struct Trace {
    /// Replay the jobs of this trace instead of drawing some (`-`: from standard input; .gz is read as it is)
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    /// By how much faster jobs come than they did, such as 5/4; sizes stay
    #[arg(long, value_name = "A/B", requires = "trace", value_parser = Speed::parse)]
    speed: Option<Speed>,

    /// What jobs hold under rules by name: policy files always know jobs by the types of their workload
    #[arg(long, requires = "trace", value_enum, default_value_t = Demands::Exact)]
    demands: Demands,

    /// Leave out jobs that demand more than every type, for every policy, also where they are over 1 % of the work
    #[arg(long, requires = "trace")]
    unknown_out: bool,

    /// Of which jobs measures are: all, or those submitted in a part of the span such as .1,.9 [default: .02,.98]
    #[arg(long, value_name = "PART", requires = "trace", value_parser = Window::parse)]
    measure: Option<Window>,

    /// With --trace: where to write what came of each job, as CSV (`-`: to standard output). Without: recorded jobs to
    /// run once under --policy of `simulate`, a table with the columns type, arrival and size in the policy's time
    /// unit, as `synth bridge --replay … --jobs` writes them (`-`: from standard input)
    #[arg(long, value_name = "FILE")]
    jobs: Option<PathBuf>,

    /// Also write how many wait and run over time, as CSV (`-`: to standard output)
    #[arg(long, value_name = "FILE", requires = "trace")]
    series: Option<PathBuf>,

    /// Length of a step of the series, such as 1h; a millionth of the span at least [default: a 500th of it]
    #[arg(long, value_name = "TIME", requires = "series", value_parser = duration)]
    step: Option<Duration>,

    #[command(flatten)]
    reading: Reading,
}

/// Policies that are replayed, and how, beside what [`Trace`] says.
pub struct Replay<'a> {
    /// Rules by name, or policy files.
    pub policies: &'a [String],
    /// Loads that jobs are brought to.
    pub loads: &'a [f64],
    /// The workload whose types jobs are, where one is given.
    pub workload: Option<&'a Fleet>,
    /// The start latency that is asked for.
    pub start_latency: Option<Decimal>,
    /// Whether whole weeks are drawn, too.
    pub resample: bool,
    /// Seed, and what ends it.
    pub settings: &'a Settings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Demands {
    /// What they did
    Exact,
    /// What their types in --workload do
    Rounded,
}

impl Trace {
    /// The trace, if one is named.
    pub fn file(&self) -> Option<&Path> {
        self.trace.as_deref()
    }

    /// Files that are read, and those that are written.
    pub fn files(&self) -> (Vec<&Path>, Vec<&Path>) {
        let (written, recorded) = match self.trace {
            Some(_) => (self.jobs(), None),
            None => (None, self.jobs()),
        };
        let written = written.into_iter().chain(self.series.as_deref());
        let read = self.file().into_iter().chain(recorded);
        (
            read.filter(|file| file.as_os_str() != "-").collect(),
            written.collect(),
        )
    }

    /// Where jobs go to, or without a trace come from.
    pub fn jobs(&self) -> Option<&Path> {
        self.jobs.as_deref()
    }

    fn replay(&self, replay: &Replay<'_>, caller: &mut Caller<'_>) -> Given<Replays> {
        let file = self.file().ok_or("no trace is named: give --trace FILE")?;
        let loads = replay.loads.iter().map(|load| Pace::Load(*load));
        let paces = self.speed.map(Pace::Speed).into_iter().chain(loads);
        let mut asked = Replaying {
            source: &Source::named(file),
            options: self.reading.options(),
            workload: replay.workload,
            policies: replay.policies,
            paces: paces.collect(),
            rounded: self.demands == Demands::Rounded,
            unknown_out: self.unknown_out,
            start_latency: replay.start_latency,
            window: self.measure,
            step: self.step.as_ref().map(Duration::as_secs_f64),
            keeps_visits: self.jobs.is_some(),
            resample: replay.resample,
            changes: caller.changes,
            seed: replay.settings.seed,
            interrupt: replay.settings.interrupt.clone(),
        };
        if asked.paces.is_empty() {
            asked.paces.push(Pace::Speed(Speed::ONE));
        }
        caller.hear(Word::Interruptible);
        let mut hears = |what: &str| caller.hear(Word::Doing(what));
        replay_trace(&asked, &mut hears).map_err(VerbError::boxed)
    }

    /// What is written besides, each with its file.
    fn documents(&self, replays: &Replays) -> Given<Vec<(PathBuf, String)>> {
        let mut documents = Vec::new();
        if let Some(file) = &self.jobs {
            documents.push((file.clone(), visits(replays)?));
        }
        if let Some(file) = &self.series {
            documents.push((file.clone(), series(replays)?));
        }
        Ok(documents)
    }

    /// Recorded jobs once.
    pub fn run_once(
        &self,
        policy: &str,
        replay: &Replay<'_>,
        caller: &mut Caller<'_>,
    ) -> Given<Simulated> {
        let file = self.jobs().ok_or("no jobs are named: give --jobs FILE")?;
        let name = called(file);
        let text = all_bytes_of(file).map_err(|why| format!("cannot read {name}: {why}"))?;
        let asked = Recording {
            file: name,
            text: &text,
            policy,
            workload: replay.workload,
            start_latency: replay.start_latency,
            seed: replay.settings.seed,
            changes: caller.changes,
            interrupt: replay.settings.interrupt.clone(),
        };
        caller.hear(Word::Interruptible);
        let run = run_once(&asked, &mut |what| caller.hear(Word::Doing(what)));
        let run = run.map_err(VerbError::boxed)?;
        Ok(Simulated {
            document: json(&run)?,
            refuted: false,
            notes: Vec::new(),
            table: recorded(&run, caller.width),
            documents: Vec::new(),
        })
    }

    /// One policy on the trace.
    pub fn simulate(&self, replay: &Replay<'_>, caller: &mut Caller<'_>) -> Given<Simulated> {
        let replays = self.replay(replay, caller)?;
        let mut told = replays.paces.iter().flat_map(|pace| &pace.policies);
        if let Some(why) = told.find_map(|told| told.failure()) {
            return Err(why.into());
        }
        Ok(Simulated {
            document: json(&replays)?,
            refuted: false,
            notes: notes(&replays, caller.width),
            table: replayed(&replays, caller.width),
            documents: self.documents(&replays)?,
        })
    }

    /// Policies on the trace.
    pub fn compare<'a>(
        &self,
        replay: &Replay<'_>,
        caller: &mut Caller<'_>,
    ) -> Given<Box<dyn Compared + 'a>> {
        if !replay.loads.is_empty() && self.speed.is_some() {
            return Err("--loads and --speed both say how fast jobs come: keep one of them".into());
        }
        let replays = self.replay(replay, caller)?;
        for note in notes(&replays, caller.width) {
            caller.hear(Word::Known(&note));
        }
        let documents = self.documents(&replays)?;
        Ok(Box::new(OnTrace { replays, documents }))
    }
}

/// Policies on a trace.
struct OnTrace {
    replays: Replays,
    documents: Vec<(PathBuf, String)>,
}

impl Compared for OnTrace {
    fn document(&self) -> Given<String> {
        json(&self.replays)
    }

    fn csv(&self) -> Given<String> {
        replay_csv(&self.replays)
    }

    fn page(&self) -> Given<String> {
        replay_page(&self.replays)
    }

    fn table(&self, width: usize) -> String {
        replayed(&self.replays, width)
    }

    fn documents(&self) -> &[(PathBuf, String)] {
        &self.documents
    }

    fn is_interrupted(&self) -> bool {
        self.replays.interrupted
    }

    fn has_failure(&self) -> bool {
        let mut told = self.replays.paces.iter().flat_map(|pace| &pace.policies);
        told.any(|told| told.failure().is_some())
    }

    fn journal(self: Box<Self>) -> Option<crate::simulation::sweep::Journal> {
        None
    }
}
