use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use synth::multiresource::report;
use synth::multiresource::simulator::{Judgement, Run, Settings};
use synth::multiresource::verbs::{self, Ways};

use super::output::{apart, publish};
use super::typed::{Backfill, EmptySlots, Routing};
use super::{
    Common, INTERRUPTED, NEGATIVE, Outcome, count, fraction, interrupt, positive, progress,
    read_workload, tell, width,
};

#[derive(Args)]
pub struct Arguments {
    /// The policy: a JSON file, or a rule (such as first-fit, or easy-backfill:3; needs --workload)
    #[arg(long, value_name = "FILE|NAME")]
    policy: String,

    /// Simulate on this workload instead of the one that the policy was made for
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,

    /// Run with this backfilling instead of the policy's own
    #[arg(long, value_enum)]
    backfill: Option<Backfill>,

    /// Treat empty draining slots like this instead of the policy's own way
    #[arg(long, value_enum)]
    empty_slots: Option<EmptySlots>,

    /// How jobs are sent to the servers of a fleet [default: as its claims assume]
    #[arg(long, value_enum)]
    routing: Option<Routing>,

    #[command(flatten)]
    budget: Budget,

    /// Also write all results as JSON to this file (`-`: to standard output, in place of the
    /// table)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// When a simulation ends.
#[derive(Args)]
pub struct Budget {
    /// Seed of the random streams: the same seed gives the same numbers
    #[arg(long, default_value = "1")]
    seed: u64,

    /// Stop when the 95 % interval of the mean response time is this narrow, relatively
    #[arg(long, default_value = "1%", value_parser = fraction)]
    precision: f64,

    /// Stop after so many events (arrivals, completions, clocks) [default: 2e8; 2e7 a policy and
    /// load where policies are compared]
    #[arg(long, value_parser = count)]
    events: Option<u64>,

    /// Independent replications; they run in parallel on the available cores
    #[arg(long, default_value = "8", value_parser = clap::value_parser!(u32).range(1..=1000))]
    replications: u32,

    /// Stop after so many seconds; the numbers then depend on the machine
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    time: Option<f64>,
}

impl Budget {
    /// Independent replications.
    pub fn replications(&self) -> u32 {
        self.replications
    }

    /// Settings of the simulator, with this default for the number of events.
    pub fn settings(&self, events: u64) -> Settings {
        Settings {
            seed: self.seed,
            replications: self.replications,
            precision: self.precision,
            events: self.events.unwrap_or(events),
            time: self.time.map(|t| Duration::from_secs_f64(t.min(1e9))),
            ..Settings::default()
        }
    }
}

/// Events, by default.
const EVENTS: u64 = 200_000_000;

#[derive(serde::Serialize)]
struct Document<'a> {
    policy: &'a str,
    run: &'a Run,
    verdicts: &'a [Judgement],
}

pub fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let workload = arguments.workload.iter().map(PathBuf::as_path);
    let read: Vec<&Path> = workload.chain([Path::new(&arguments.policy)]).collect();
    let written: Vec<&Path> = arguments.output.iter().map(PathBuf::as_path).collect();
    apart(&read, &written)?;
    let settings = Settings {
        interrupt: interrupt::flag()?,
        ..arguments.budget.settings(EVENTS)
    };
    let given = arguments.workload.as_ref();
    let given = given.map(|file| read_workload(file, common)).transpose()?;
    let ways = Ways {
        backfill: arguments.backfill.map(Into::into),
        empty_slots: arguments.empty_slots.map(Into::into),
        routing: arguments.routing.map(Into::into),
    };
    let (spinner, started) = (progress::spinner(common, "simulating"), Instant::now());
    let simulated = verbs::simulate(
        &arguments.policy,
        given,
        &ways,
        &settings,
        |what, reached| {
            let elapsed = started.elapsed();
            spinner.set_message(progress::simulation(what, reached, &settings, elapsed));
        },
    )?;
    drop(spinner);
    report::notes(&simulated)
        .iter()
        .for_each(|note| tell(common, note));
    let (run, verdicts) = (&simulated.run, &simulated.verdicts);
    let table = report::simulation(&simulated.workload, run, verdicts, width());
    let document = Document {
        policy: &arguments.policy,
        run,
        verdicts,
    };
    publish(common, &table, &document, arguments.output.as_ref())?;
    if settings.interrupt.load(Ordering::Relaxed) {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(match simulated.is_refuted() {
        true => ExitCode::from(NEGATIVE),
        false => ExitCode::SUCCESS,
    })
}
