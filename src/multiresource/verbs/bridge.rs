//! `synth bridge`: a policy runs the jobs of a real scheduler.

use std::collections::HashMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use itertools::Itertools as _;

use crate::document::{digest, text_of};
use crate::kind::{Caller, Files, NamesFiles, Notice, OwnVerb, VerbOutput, VerbResult};
use crate::multiresource::artifact::Checked;
use crate::multiresource::bridge::{
    Bridge, Replayed, Setup, Signals, jobs_csv, release_all, replay,
};
use crate::slurm::Slurm;
use crate::typed::PolicyFile;

/// What is typed.
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

    #[command(flatten)]
    policy: PolicyFile,

    /// Write the jobs that came and ended as CSV (type, arrival, size, wait, latency), for `synth simulate --jobs`
    #[arg(long, value_name = "FILE")]
    jobs: Option<PathBuf>,

    /// Say why this job waits at the end of the journal
    #[arg(long, value_name = "JOBID")]
    why: Option<String>,
}

#[derive(Args)]
#[command(after_help = EXAMPLES)]
struct SlurmArguments {
    #[command(flatten)]
    policy: PolicyFile<false>,

    /// The partition, whose jobs are held when they are submitted (`synth export slurm` writes how)
    #[arg(long, value_name = "NAME")]
    partition: String,

    #[command(flatten)]
    setup: Setup,

    /// Release every held job of the partition, and end: the way back, without a policy
    #[arg(long, conflicts_with = "a_policy")]
    release_all: bool,
}

const EXAMPLES: &str = "\
Examples:
  synth bridge slurm --partition batch --release-all
      the way back: every held job of the partition is released
  synth bridge slurm policy.json --partition batch --dry-run
      what the policy would release now; nothing is released
  synth bridge slurm policy.json --partition batch --journal batch.jsonl
      the policy runs the partition, until Ctrl-C or SIGTERM; SIGHUP reads the policy again, SIGUSR1 holds \
      jobs again that Slurm does not start
  synth bridge --replay batch.jsonl policy.json --jobs jobs.csv
      the same decisions without Slurm, and the jobs for `synth simulate --jobs`
  synth bridge --replay batch.jsonl policy.json --why 17
      why job 17 waits: what the policy does, and who is ahead";

/// The same text is printed again after this time.
const AGAIN: Duration = Duration::from_secs(60);

impl NamesFiles for Arguments {
    fn files(&self) -> Files<'_> {
        let (policy, read, written) = match &self.to {
            None => {
                let own = &self.journal;
                (own.policy.typed(), &own.replay, [&own.jobs, &None])
            }
            Some(To::Slurm(own)) => {
                let setup = &own.setup;
                (
                    own.policy.typed(),
                    &setup.types,
                    [&setup.journal, &setup.metrics],
                )
            }
        };
        let read = policy.into_iter().chain(read.as_deref());
        let written = written.into_iter().filter_map(Option::as_deref);
        (read.collect(), written.collect())
    }
}

impl OwnVerb for Arguments {
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
            return Ok(VerbOutput {
                table: format!("{}: {released}", self.partition),
                ..VerbOutput::default()
            });
        }
        let policy = self.policy.file()?;
        let signals = listen()?;
        let setup = Setup {
            policy: policy.to_owned(),
            changes: caller.changes,
            ..self.setup.clone()
        };
        let mut bridge = Bridge::begin(slurm, setup.clone())?;
        caller.notify(Notice::Known(&bridge.announced()));
        if setup.dry_run {
            return Ok(VerbOutput {
                table: bridge.plan()?,
                ..VerbOutput::default()
            });
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
        let path = self.policy.file()?;
        let Some(journal) = &self.replay else {
            return Err("give --replay JOURNAL and the policy".into());
        };
        let name = path.display().to_string();
        let text = text_of(path).map_err(|why| format!("cannot read {name}: {why}"))?;
        let policy = Checked::parse_with(&text, &name, caller.changes)?;
        let replayed = replay(journal, &policy, &digest(&text))?;
        let mut answered = VerbOutput::default();
        if let Some(file) = &self.jobs {
            answered.documents = vec![(file.clone(), jobs_csv(&replayed.jobs)?)];
        }
        answered.table = if let Some(job) = &self.why {
            why(job, &replayed, policy.workload().time_unit())?
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
        Ok(answered)
    }
}

/// Says why a job waits where the journal ends.
fn why(job: &str, replayed: &Replayed, unit: &str) -> Result<String, Box<dyn Error>> {
    let scheduler = &replayed.scheduler;
    let is_own = |id: &&String| id.split('@').next() == Some(job);
    let id = replayed.present.keys().rfind(is_own);
    let Some(id) = id.filter(|id| scheduler.knows(id)) else {
        return Err(format!("job {job} neither waits nor runs where the journal ends").into());
    };
    let Some(waits) = scheduler.waits(id) else {
        return Ok(format!(
            "job {job} does not wait for the policy: it has been released"
        ));
    };
    let places = scheduler.places();
    let name = places.type_name(waits.job_type);
    let since = replayed.t - replayed.present[id].arrival;
    let ahead = match waits.ahead {
        0 if waits.is_of_all => "it is the next".to_owned(),
        ahead if waits.is_of_all => format!("{ahead} jobs are before it in the order"),
        0 => "it is the next of its type".to_owned(),
        ahead => format!("{ahead} older ones of its type are ahead"),
    };
    let mut text = format!("job {job} has waited for {since:.1} {unit} as `{name}`: {ahead}.\n");
    if waits.is_shut_out {
        text += "It would fit nowhere if no other job of the policy ran: others use the room, or nodes are down.\n";
    }
    if let Some(doing) = &waits.doing {
        text += &format!("The policy: {doing}.\n");
    }
    let mut counts = places.types().enumerate().map(|(i, name)| {
        let [waiting, running] = scheduler.count(i);
        format!("{name}: {running} run, {waiting} wait")
    });
    Ok(text + &counts.join("; "))
}
