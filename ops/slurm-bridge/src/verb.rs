use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use itertools::Itertools as _;

use crate::journal::{jobs_csv, replay};
use crate::release::release_all;
use crate::run::{Bridge, Signals};
use crate::setup::Setup;
use synth_advice::forecast::OnlineForecasts;
use synth_core::number::seconds_in;
use synth_multiresource::artifact::Checked;
use synth_operator::protocol::{Line, StartPredictor as _, Started};
use synth_operator::{Scheduler, read_policy};
use synth_slurm::commands::Slurm;
use synth_verb::report::{counted, length, percent};
use synth_verb::{Caller, Files, Notice, RunVerb, VerbOutput, VerbResult, files, refuse};

/// Use a policy to decide when the jobs of a real cluster start
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    to: Option<To>,

    #[command(flatten)]
    journal: ReplayArguments,
}

#[derive(Subcommand)]
enum To {
    /// Hold and release the jobs of a Slurm partition
    Slurm(Box<SlurmArguments>),
}

#[derive(Args)]
struct ReplayArguments {
    /// Repeat the decisions of this journal without Slurm, and check that they are the same
    #[arg(long, value_name = "JOURNAL", required = true)]
    replay: Option<PathBuf>,

    /// The policy, which is a JSON file written by `synth FILE`
    #[arg(value_name = "POLICY", required = true)]
    policy: Option<PathBuf>,

    /// Write the jobs that have arrived and ended as CSV (type, arrival, size, wait, latency), for
    /// `synth simulate --jobs`
    #[arg(long, value_name = "FILE")]
    jobs: Option<PathBuf>,

    /// Explain why this job is waiting at the end of the journal, and predict its start
    #[arg(long, value_name = "JOBID")]
    why: Option<String>,
}

#[derive(Args)]
#[command(after_long_help = include_str!("verb.txt").trim_ascii_end())]
struct SlurmArguments {
    /// The policy, which is a JSON file written by `synth FILE`
    #[arg(
        value_name = "POLICY",
        required_unless_present = "release_all",
        conflicts_with = "release_all"
    )]
    policy: Option<PathBuf>,

    /// The partition.
    ///
    /// Its jobs must be held at submission (see `synth export slurm`)
    #[arg(long, value_name = "NAME")]
    partition: String,

    #[command(flatten)]
    setup: Setup,

    /// Release all held jobs of the partition and exit.
    ///
    /// A policy is not needed
    #[arg(long)]
    release_all: bool,

    /// Explain why this job is waiting, and predict its start, using the journal of a running
    /// bridge
    #[arg(long, value_name = "JOBID", requires = "journal", conflicts_with_all = ["release_all", "dry_run"])]
    why: Option<String>,
}

const AGAIN: Duration = Duration::from_secs(60);

impl RunVerb for Arguments {
    fn files(&self) -> Files<'_> {
        let (policy, read, written) = match &self.to {
            None => {
                let own = &self.journal;
                (own.policy.as_ref(), &own.replay, [&own.jobs, &None])
            }
            Some(To::Slurm(own)) => {
                let setup = &own.setup;
                let (read, journal) = match own.why {
                    Some(_) => (&setup.journal, &None),
                    None => (&setup.types, &setup.journal),
                };
                (own.policy.as_ref(), read, [journal, &setup.metrics])
            }
        };
        let read = policy.into_iter().chain(read);
        files(read, written.into_iter().flatten())
    }

    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        match &self.to {
            None => self.journal.run(caller),
            Some(To::Slurm(own)) => own.run(caller),
        }
    }
}

impl SlurmArguments {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let slurm = Slurm::new(&self.partition);
        if self.release_all {
            slurm.site()?;
            let released = release_all(&slurm, self.setup.hold)?;
            let table = format!("{}: {released}", self.partition);
            return Ok(VerbOutput::of_table(table));
        }
        let policy = self.policy.as_deref().unwrap_or(Path::new(""));
        let setup = Setup {
            policy: policy.to_owned(),
            changes: caller.changes,
            dry_run: self.setup.dry_run || self.why.is_some(),
            ..self.setup.clone()
        };
        if let Some((job, journal)) = self.why.as_ref().zip(self.setup.journal.as_ref()) {
            if let Some(why) = Bridge::begin(slurm, &setup)?.obstacle(job)? {
                let text = format!("job {job}: {why}. Its start cannot be predicted.");
                return Ok(VerbOutput::of_table(text));
            }
            let written = fs::metadata(journal).and_then(|own| own.modified());
            let later = written.ok().and_then(|at| at.elapsed().ok());
            let later = later.unwrap_or_default().as_secs_f64();
            let policy = read_policy(policy, caller.changes)?;
            return Ok(VerbOutput::of_table(why(journal, &policy, job, later)?));
        }
        let signals = listen()?;
        let mut bridge = Bridge::begin(slurm, &setup)?;
        caller.notify(Notice::Known(&bridge.announced()));
        if setup.dry_run {
            return Ok(VerbOutput::of_table(bridge.plan()?));
        }
        let mut printed: HashMap<String, Instant> = HashMap::new();
        bridge.run(&signals, &mut |text| {
            printed.retain(|_, at| at.elapsed() < AGAIN);
            if printed.insert(text.to_owned(), Instant::now()).is_none() {
                caller.notify(Notice::Known(text));
            }
        })?;
        Ok(VerbOutput::default())
    }
}

/// Installs the signal handlers. The bridge ends after a SIGTERM or SIGINT, and a second one ends
/// it immediately. For SIGHUP and SIGUSR1 see the help.
fn listen() -> Result<Signals, String> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
    use signal_hook::flag::{register, register_conditional_shutdown};
    let signals = Signals::default();
    let end = || Arc::clone(&signals.end);
    let listened = register_conditional_shutdown(SIGINT, 130, end())
        .and_then(|_| register_conditional_shutdown(SIGTERM, 143, end()))
        .and_then(|_| register(SIGINT, end()))
        .and_then(|_| register(SIGTERM, end()))
        .and_then(|_| register(SIGHUP, Arc::clone(&signals.reload)))
        .and_then(|_| register(SIGUSR1, Arc::clone(&signals.give_up)));
    listened.map_err(|why| format!("cannot install signal handlers: {why}"))?;
    Ok(signals)
}

impl ReplayArguments {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let (Some(file), Some(policy)) = (&self.replay, &self.policy) else {
            return Err("use --replay JOURNAL, and specify the policy".into());
        };
        let policy = read_policy(policy, caller.changes)?;
        let replayed = replay(file, &policy, &mut |_, _, _| ())?;
        let mut answered = VerbOutput::default();
        if let Some(file) = &self.jobs {
            answered.documents = vec![(file.clone(), jobs_csv(&replayed.jobs)?)];
        }
        let text = if let Some(job) = &self.why {
            why(file, &policy, job, 0.0)?
        } else if let Some((line, then, now)) = &replayed.differs {
            answered.negative = true;
            format!(
                "the decision of line {line} is different: {then:?} started then, and {now:?} starts now"
            )
        } else {
            let (rounds, starts, jobs) = (replayed.rounds, replayed.starts, replayed.jobs.len());
            format!(
                "the decisions of {rounds} rounds with {starts} starts are the same as before; {jobs} jobs have arrived and ended"
            )
        };
        answered.report = text.into();
        Ok(answered)
    }
}

/// The maximum number of forecasts that are used to measure their accuracy.
const LOOKED_AT: usize = 200;

/// Explains why a job is waiting at the end of a journal, which was `later` seconds ago.
fn why(file: &Path, policy: &(Checked, String), job: &str, later: f64) -> VerbResult<String> {
    let mut came = 0;
    replay(file, policy, &mut |line, scheduler, _| {
        came += usize::from(newly_waits(line, scheduler).is_some());
    })?;
    let every = came.div_ceil(LOOKED_AT).max(1);
    let mut foresight = OnlineForecasts::new(1);
    let replayed = replay(file, policy, &mut |line, scheduler, starts| {
        let ids = starts.iter().map(Started::id);
        ids.for_each(|id| foresight.started(id, line.t));
        if let Some(id) = newly_waits(line, scheduler) {
            came += 1;
            if came % every == 0 {
                // If a forecast fails, there is no result from which we can learn.
                let _ = foresight.forecast(scheduler, id);
            }
        }
    })?;
    let scheduler = &replayed.scheduler;
    let is_own = |id: &&String| id.split('@').next() == Some(job);
    let id = replayed.present.keys().rfind(is_own);
    let Some(id) = id.filter(|id| scheduler.knows(id)) else {
        return refuse(format!(
            "job {job} is neither waiting nor running at the end of the journal: it has ended, is held, depends on other jobs, or has no type: `synth bridge slurm POLICY --partition NAME --journal {} --why {job}` asks Slurm",
            file.display()
        ));
    };
    let Some(waits) = scheduler.waits(id) else {
        return Ok(format!("job {job} is not waiting: it has been released"));
    };
    let unit = policy.0.workload().time_unit();
    let since = replayed.t - replayed.present[id].arrival;
    let places = scheduler.places();
    let name = places.type_name(waits.job_type);
    let mut text = format!(
        "job {job} has waited for {since:.1} {unit} as `{name}`: {}.\n",
        waits.describe()
    );
    if let Some(doing) = &waits.doing {
        text += &format!("The policy: {doing}.\n");
    }
    let mut counts = places.types().enumerate().map(|(i, name)| {
        let [waiting, running] = scheduler.count(i);
        format!("{name}: {running} running, {waiting} waiting")
    });
    let second = seconds_in(unit).unwrap_or(1.0);
    let left = |at: f64| (at - scheduler.now()) * second - later;
    let starts = foresight.forecast(scheduler, id);
    let when = when(starts.map(|own| own.map(left)), foresight.record());
    Ok(format!("{text}{}\n{when}", counts.join("; ")))
}

/// Returns the job that has arrived in this line, if it is still waiting after all decisions.
fn newly_waits<'a>(line: &'a Line, scheduler: &Scheduler) -> Option<&'a str> {
    let came = line.arrive.as_ref().filter(|_| !line.more);
    let job = came.and(line.job.as_deref());
    job.filter(|job| !scheduler.runs(job))
}

fn when(starts: Result<[f64; 3], String>, (count, right): (usize, [f64; 3])) -> String {
    let [one, half, most] = match starts {
        Ok(starts) => starts.map(|wait| length(wait.max(0.0))),
        Err(why) => return format!("Its start cannot be predicted: {why}."),
    };
    let jobs = counted(count as f64, "job");
    let [first, second, third] = right.map(percent);
    let record = match count {
        0 => "the journal is too short to show how accurate this is".into(),
        _ => format!(
            "of {jobs} in this journal, {first} started by the first time, {second} by the second and {third} by the third"
        ),
    };
    format!(
        "One of ten such jobs starts within {one}, five of ten start within {half}, and nine of ten start within {most}: {record}."
    )
}
