//! `synth bridge`: a policy runs the jobs of a real scheduler.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use clap::{Args, Subcommand};
use itertools::Itertools as _;

use crate::journal::{jobs_csv, replay};
use crate::release::release_all;
use crate::run::{Bridge, Signals};
use crate::setup::Setup;
use synth_advice::forecast::OnlineForecasts;
use synth_core::number::seconds_in;
use synth_multiresource::artifact::Checked;
use synth_operator::protocol::{Foresight as _, Line, Started};
use synth_operator::{Scheduler, read_policy};
use synth_slurm::commands::Slurm;
use synth_verb::report::{counted, length, percent};
use synth_verb::{
    Caller, Files, NamesFiles, Notice, RunVerb, VerbOutput, VerbResult, files, refuse,
};

/// Run the jobs of a real cluster by a policy: hold, decide, release
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    to: Option<To>,

    #[command(flatten)]
    journal: ReplayArguments,
}

/// Which scheduler.
#[derive(Subcommand)]
enum To {
    /// Hold and release the jobs of a partition of Slurm
    Slurm(Box<SlurmArguments>),
}

/// A journal, without Slurm.
#[derive(Args)]
struct ReplayArguments {
    /// Decide again what this journal says, without Slurm: the same must come of it
    #[arg(long, value_name = "JOURNAL", required = true)]
    replay: Option<PathBuf>,

    /// The policy: a JSON file made by `synth FILE`
    #[arg(value_name = "POLICY", required = true)]
    policy: Option<PathBuf>,

    /// Write the jobs that came and ended as CSV (type, arrival, size, wait, latency), for `synth simulate --jobs`
    #[arg(long, value_name = "FILE")]
    jobs: Option<PathBuf>,

    /// Say why this job waits at the end of the journal, and when it starts
    #[arg(long, value_name = "JOBID")]
    why: Option<String>,
}

#[derive(Args)]
#[command(after_help = include_str!("verb.txt").trim_ascii_end())]
struct SlurmArguments {
    /// The policy: a JSON file made by `synth FILE`
    #[arg(
        value_name = "POLICY",
        required_unless_present = "release_all",
        conflicts_with = "release_all"
    )]
    policy: Option<PathBuf>,

    /// The partition, whose jobs are held when they are submitted (`synth export slurm` writes how)
    #[arg(long, value_name = "NAME")]
    partition: String,

    #[command(flatten)]
    setup: Setup,

    /// Release every held job of the partition, and end: the way back, without a policy
    #[arg(long)]
    release_all: bool,

    /// Say why this job waits, and when it starts: from the queue and the journal of the bridge that runs
    #[arg(long, value_name = "JOBID", requires = "journal", conflicts_with_all = ["release_all", "dry_run"])]
    why: Option<String>,
}

/// The same text is printed again after this time.
const AGAIN: Duration = Duration::from_secs(60);

impl NamesFiles for Arguments {
    fn files(&self) -> Files<'_> {
        let (policy, read, written) = match &self.to {
            None => {
                let own = &self.journal;
                (own.policy.as_ref(), &own.replay, [&own.jobs, &None])
            }
            Some(To::Slurm(own)) => {
                let setup = &own.setup;
                // With --why, the journal of the bridge that runs is only read.
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
}

impl RunVerb for Arguments {
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
            let obstacle = Bridge::begin(slurm, setup)?.obstacle(job)?;
            return Ok(VerbOutput::of_table(match obstacle {
                Some(why) => format!("job {job}: {why}. When it starts nobody can say."),
                None => {
                    let written = fs::metadata(journal).and_then(|own| own.modified());
                    let later = written.map(|at| SystemTime::now().duration_since(at));
                    let later = later.ok().and_then(Result::ok).unwrap_or_default();
                    let policy = read_policy(policy, caller.changes)?;
                    why(journal, &policy, job, later.as_secs_f64())?
                }
            }));
        }
        let signals = listen()?;
        let mut bridge = Bridge::begin(slurm, setup.clone())?;
        caller.notify(Notice::Known(&bridge.announced()));
        if setup.dry_run {
            return Ok(VerbOutput::of_table(bridge.plan()?));
        }
        // What is true of every round is printed once a minute.
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

/// SIGTERM and Ctrl-C end the bridge, a second one at once; SIGHUP and SIGUSR1 as the help says.
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
    listened.map_err(|why| format!("cannot listen to signals: {why}"))?;
    Ok(signals)
}

impl ReplayArguments {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let (Some(file), Some(policy)) = (&self.replay, &self.policy) else {
            return Err("give --replay JOURNAL and the policy".into());
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
            format!("line {line} is decided otherwise: then {then:?} started, and now {now:?}")
        } else {
            format!(
                "{} rounds with {} starts are decided again as they were; {} jobs came and ended",
                replayed.rounds,
                replayed.starts,
                replayed.jobs.len()
            )
        };
        answered.report = text.into();
        Ok(answered)
    }
}

/// So many jobs of a journal are forecast at most, to see how right that is.
const LOOKED_AT: usize = 200;

/// Says why a job waits where the journal of a policy ends, and when it starts, so many seconds later.
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
                // Where nobody knows, nothing is learned.
                let _ = foresight.forecast(scheduler, id);
            }
        }
    })?;
    let scheduler = &replayed.scheduler;
    let is_own = |id: &&String| id.split('@').next() == Some(job);
    let id = replayed.present.0.keys().rfind(is_own);
    let Some(id) = id.filter(|id| scheduler.knows(id)) else {
        return refuse(format!(
            "job {job} neither waits nor runs where the journal ends: it has ended, or is held, depends on others or has no type: `synth bridge slurm POLICY --partition NAME --journal {} --why {job}` asks Slurm",
            file.display()
        ));
    };
    let Some(waits) = scheduler.waits(id) else {
        return Ok(format!(
            "job {job} does not wait for the policy: it has been released"
        ));
    };
    let unit = policy.0.workload().time_unit();
    let since = replayed.t - replayed.present.0[id].arrival;
    let places = scheduler.places();
    let name = places.type_name(waits.job_type);
    let mut text = format!(
        "job {job} has waited for {since:.1} {unit} as `{name}`: {}.\n",
        waits.place()
    );
    if let Some(doing) = &waits.doing {
        text += &format!("The policy: {doing}.\n");
    }
    let mut counts = places.types().enumerate().map(|(i, name)| {
        let [waiting, running] = scheduler.count(i);
        format!("{name}: {running} run, {waiting} wait")
    });
    let second = seconds_in(unit).unwrap_or(1.0);
    let left = |at: f64| (at - scheduler.now()) * second - later;
    let starts = foresight.forecast(scheduler, id);
    let when = when(starts.map(|own| own.map(left)), foresight.record());
    Ok(format!("{text}{}\n{when}", counts.join("; ")))
}

/// Returns the job of a line that came, and waits now that all of its time has been decided.
fn newly_waits<'a>(line: &'a Line, scheduler: &Scheduler) -> Option<&'a str> {
    let came = line.arrive.as_ref().filter(|_| !line.more);
    let job = came.and(line.job.as_deref());
    job.filter(|job| !scheduler.runs(job))
}

/// Says when a job starts: in how many seconds of ten jobs one, five and nine, and how right that was.
fn when(starts: Result<[f64; 3], String>, (count, right): (usize, [f64; 3])) -> String {
    let [one, half, most] = match starts {
        Ok(starts) => starts.map(|wait| length(wait.max(0.0))),
        Err(why) => return format!("When it starts nobody can say: {why}."),
    };
    let jobs = counted(count as f64, "job");
    let [first, second, third] = right.map(percent);
    let record = match count {
        0 => "how right that is, the journal does not show yet".into(),
        _ => format!(
            "of {jobs} in this journal {first} started by the first time, {second} by the second and {third} by the third"
        ),
    };
    format!(
        "Of ten such jobs one starts within {one}, five within {half}, nine within {most}: {record}."
    )
}
