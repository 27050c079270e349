//! What is typed to replay a trace.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::artifact::Changes;
use crate::document::{all_bytes_of, called};
use crate::kind::{Caller, Compared, Files, NamesFiles, Notice, VerbOutput, VerbResult, json};
use crate::multiresource::replay::{Speed, Window};
use crate::multiresource::report::replay::{
    notes, recorded, replay_csv, replay_page, replayed, series, visits,
};
use crate::multiresource::verbs::replay::{
    Pace, Recording, Replaying, Replays, replay_trace, run_once,
};
use crate::multiresource::workload::Fleet;
use crate::number::Decimal;
use crate::simulation::Settings;
use crate::trace::{Options, Source};
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
    reading: Options,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Demands {
    /// What they did
    Exact,
    /// What their types in --workload do
    Rounded,
}

impl NamesFiles for Trace {
    fn files(&self) -> Files<'_> {
        let mut read = Vec::from_iter(self.file());
        let mut written = Vec::from_iter(self.series.as_deref());
        // Without a trace these are recorded jobs.
        let jobs = if self.trace.is_some() {
            &mut written
        } else {
            &mut read
        };
        jobs.extend(self.jobs.as_deref());
        (read, written)
    }
}

impl Trace {
    /// The trace's file.
    pub fn file(&self) -> Option<&Path> {
        self.trace.as_deref()
    }

    /// Whether a speed is typed.
    pub fn has_speed(&self) -> bool {
        self.speed.is_some()
    }

    /// The file of recorded jobs, where there is no trace.
    pub fn recorded(&self) -> Option<&Path> {
        let jobs = self.jobs.as_deref();
        jobs.filter(|_| self.trace.is_none())
    }

    /// Returns what is asked for of these policies, at the speed that is typed or the trace's own.
    pub fn replaying<'a>(
        &self,
        source: &'a Source,
        policies: &'a [String],
        settings: &Settings,
        changes: Changes,
    ) -> Replaying<'a> {
        Replaying {
            source,
            options: self.reading.clone(),
            workload: None,
            policies,
            paces: vec![Pace::Speed(self.speed.unwrap_or(Speed::ONE))],
            rounded: self.demands == Demands::Rounded,
            unknown_out: self.unknown_out,
            start_latency: None,
            window: self.measure,
            step: self.step.as_ref().map(Duration::as_secs_f64),
            keeps_visits: self.jobs.is_some(),
            resample: false,
            changes,
            seed: settings.seed,
            interrupt: settings.interrupt.clone(),
        }
    }

    /// Replays the trace, and renders all that is asked for.
    pub fn replay(&self, asked: &Replaying<'_>, caller: &mut Caller<'_>) -> VerbResult<OnTrace> {
        caller.notify(Notice::Interruptible);
        let mut listener = |what: &str| caller.notify(Notice::Doing(what));
        let replays = replay_trace(asked, &mut listener)?;
        let mut documents = Vec::new();
        if let Some(file) = &self.jobs {
            documents.push((file.clone(), visits(&replays)?));
        }
        if let Some(file) = &self.series {
            documents.push((file.clone(), series(&replays)?));
        }
        Ok(OnTrace { replays, documents })
    }
}

/// Policies on a trace.
pub struct OnTrace {
    replays: Replays,
    documents: Vec<(PathBuf, String)>,
}

impl OnTrace {
    /// Returns the answer about one policy, and the same for programs.
    ///
    /// # Errors
    /// When the policy could not be replayed.
    pub fn simulated(self, width: usize) -> VerbResult<(VerbOutput, String)> {
        if let Some((_, _, why)) = self.replays.failures().next() {
            return Err(why.into());
        }
        let answered = VerbOutput {
            notes: notes(&self.replays, width),
            table: replayed(&self.replays, width),
            documents: self.documents,
            negative: false,
        };
        Ok((answered, json(&self.replays)?))
    }

    /// Returns the comparison of several; the caller hears what should be known of it.
    ///
    /// # Errors
    /// When a picture cannot be drawn.
    pub fn compared(self, caller: &mut Caller<'_>) -> VerbResult<Compared> {
        for note in notes(&self.replays, caller.width) {
            caller.notify(Notice::Known(&note));
        }
        Ok(Compared {
            table: replayed(&self.replays, caller.width),
            document: json(&self.replays)?,
            csv: replay_csv(&self.replays)?,
            page: replay_page(&self.replays)?,
            interrupted: self.replays.interrupted,
            has_failure: self.replays.failures().next().is_some(),
            documents: self.documents,
            journal: None,
        })
    }
}

/// Runs recorded jobs once.
pub fn run_recorded(
    file: &Path,
    policy: &str,
    (workload, start_latency): (Option<&Fleet>, Option<Decimal>),
    settings: &Settings,
    caller: &mut Caller<'_>,
) -> VerbResult<(VerbOutput, String)> {
    let name = called(file);
    let text = all_bytes_of(file).map_err(|why| format!("cannot read {name}: {why}"))?;
    let asked = Recording {
        file: name,
        text: &text,
        policy,
        workload,
        start_latency,
        seed: settings.seed,
        changes: caller.changes,
        interrupt: settings.interrupt.clone(),
    };
    caller.notify(Notice::Interruptible);
    let run = run_once(&asked, &mut |what| caller.notify(Notice::Doing(what)))?;
    let answered = VerbOutput {
        table: recorded(&run, caller.width),
        ..VerbOutput::default()
    };
    Ok((answered, json(&run)?))
}
