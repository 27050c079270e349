mod fleet;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use synth::multiresource::artifact::{Artifact, CheckedPolicy, Family, MsrPolicy};
use synth::multiresource::report;
use synth::multiresource::simulator::{
    Contender, Ending, Health, Judgement, Run, Settings, Verdict, judge, watches,
};
use synth::multiresource::workload::Workload;

use super::output::{apart, publish};
use super::typed::{Backfill, EmptySlots, Routing};
use super::{
    Common, INTERRUPTED, NEGATIVE, Outcome, count, fraction, interrupt, positive, progress,
    read_workload, tell,
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

    /// How jobs are sent to the servers of a fleet: as its claims have it, if nothing is said
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

    /// Independent replications; they run side by side on the cores there are
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

    /// As the simulator takes it, with so many events where none were asked for.
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

/// Why nothing is routed.
const NO_FLEET: &str =
    "--routing goes with the policy of a fleet, and here is one server: leave it out";

/// Events where none are asked for.
const EVENTS: u64 = 200_000_000;

impl Arguments {
    /// How to simulate; Ctrl-C ends it.
    fn settings(&self) -> Result<Settings, Box<dyn std::error::Error>> {
        Ok(Settings {
            interrupt: interrupt::flag()?,
            ..self.budget.settings(EVENTS)
        })
    }

    /// The policy, with what was typed in place of its own ways.
    fn overriding(&self, policy: &Family) -> Result<Family, String> {
        match policy {
            Family::Msr(policy) => Ok(Family::Msr(MsrPolicy {
                backfill: self.backfill.map_or(policy.backfill, Into::into),
                empty_slots: self.empty_slots.map_or(policy.empty_slots, Into::into),
                ..policy.clone()
            })),
            _ if self.backfill.is_some() || self.empty_slots.is_some() => Err(format!(
                "--backfill and --empty-slots go with policies of the family msr, and this one is of {}",
                policy.name()
            )),
            _ => Ok(policy.clone()),
        }
    }
}

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
    let settings = arguments.settings()?;
    let given = arguments
        .workload
        .as_ref()
        .map(|file| read_workload(file, common))
        .transpose()?;
    let (run, verdicts, workload) = match (Contender::named(&arguments.policy), given) {
        (Some(_), _) if arguments.routing.is_some() => return Err(NO_FLEET.into()),
        (Some(_), _) if arguments.backfill.is_some() || arguments.empty_slots.is_some() => {
            let why = "--backfill and --empty-slots go with a policy file; a rule has no such ways";
            return Err(why.into());
        }
        (Some(rule), Some(workload)) => {
            let run = simulate(&rule, &workload, &settings, common, "simulating")?;
            (run, Vec::new(), workload)
        }
        (Some(_), None) => {
            return Err(format!(
                "the rule {} needs a workload: give --workload FILE",
                arguments.policy
            )
            .into());
        }
        (None, given) => simulate_artifact(arguments, given, &settings, common)?,
    };
    let table = report::simulation(&workload, &run, &verdicts);
    let document = Document {
        policy: &arguments.policy,
        run: &run,
        verdicts: &verdicts,
    };
    publish(common, &table, &document, arguments.output.as_ref())?;
    if settings.interrupt.load(Ordering::Relaxed) {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    // A policy that is unstable on the workload it was made for is refuted as a whole.
    let unstable = run.health == Health::Unstable && !verdicts.is_empty();
    let refuted = unstable || verdicts.iter().any(|j| j.verdict == Verdict::Refuted);
    Ok(if refuted {
        ExitCode::from(NEGATIVE)
    } else {
        ExitCode::SUCCESS
    })
}

/// Runs the policy as it is; and where its claims hold under other conditions, once more
/// under those, to judge them.
fn simulate_artifact(
    arguments: &Arguments,
    given: Option<Workload>,
    settings: &Settings,
    common: &Common,
) -> Result<(Run, Vec<Judgement>, Workload), Box<dyn std::error::Error>> {
    let path = PathBuf::from(&arguments.policy);
    if !path.exists()
        && let Err(why) = Contender::parse(&arguments.policy)
    {
        return Err(format!("there is no policy file {}, and {why}", arguments.policy).into());
    }
    let checked = match CheckedPolicy::read(&path)? {
        CheckedPolicy::Server(checked) => checked,
        CheckedPolicy::Fleet(_) if given.is_some() => {
            return Err(
                "the policy of a fleet is simulated on the fleet that it was made for: leave --workload out"
                    .into(),
            );
        }
        CheckedPolicy::Fleet(checked) => {
            let (run, judged) = fleet::run(arguments, &checked, settings, common)?;
            return Ok((run, judged, checked.fleet().envelope().clone()));
        }
    };
    if arguments.routing.is_some() {
        return Err(NO_FLEET.into());
    }
    let artifact = checked.artifact();
    let workload = given.unwrap_or_else(|| checked.workload().clone());
    same_types(artifact, &workload)?;
    let policy = arguments.overriding(&artifact.policy)?;
    let watching = Settings {
        watch: watches(artifact, &workload),
        ..settings.clone()
    };
    let contender = |policy: &Family| Contender::from(policy.clone());
    let analysed = as_analysed(artifact, &policy);
    let made_for = workload.digest() == artifact.workload.digest;
    let run = simulate(
        &contender(&policy),
        &workload,
        match made_for && analysed == policy {
            true => &watching,
            false => settings,
        },
        common,
        "simulating",
    )?;
    if !made_for {
        tell(
            common,
            "The workload is not the one that the policy was made for: its claims are not judged.",
        );
        return Ok((run, Vec::new(), workload));
    }
    if analysed == policy {
        let judged = judge(artifact, &workload, &run);
        return Ok((run, judged, workload));
    }
    if run.ending == Ending::Interrupted {
        tell(common, "Interrupted before the claims could be judged.");
        return Ok((run, Vec::new(), workload));
    }
    let again = simulate(
        &contender(&analysed),
        &workload,
        &watching,
        common,
        "simulating as analysed",
    )?;
    told_of_analysed(&again, common);
    let judged = judge(artifact, &workload, &again);
    Ok((run, judged, workload))
}

/// What a person should know of the run that claims are judged by.
fn told_of_analysed(run: &Run, common: &Common) {
    let how = match run.health {
        Health::Settled => None,
        Health::Unsettled => Some("did not settle"),
        Health::Unstable => Some("is unstable"),
    };
    if let Some(how) = how {
        tell(
            common,
            &format!(
                "Under the conditions that its claims hold for, the policy {how}: of these claims nothing is measured."
            ),
        );
    }
    if run.ending == Ending::Interrupted {
        tell(
            common,
            "Interrupted: the claims are judged by what was there.",
        );
    }
}

/// The policy under the conditions that its claims hold for.
fn as_analysed(artifact: &Artifact, policy: &Family) -> Family {
    let conditions = |c: &synth::multiresource::artifact::Claim| {
        Some((c.holds_for.backfill?, c.holds_for.empty_slots?))
    };
    match (policy, artifact.claims.iter().find_map(conditions)) {
        (Family::Msr(policy), Some((backfill, empty_slots))) => Family::Msr(MsrPolicy {
            backfill,
            empty_slots,
            ..policy.clone()
        }),
        _ => policy.clone(),
    }
}

/// A policy runs on another workload if the types, the server and the time unit are the same.
pub fn same_types(artifact: &Artifact, workload: &Workload) -> Result<(), String> {
    let other = workload.record();
    let own = &artifact.workload;
    let demands = |r: &synth::multiresource::workload::Record| -> Vec<(String, Vec<u64>)> {
        r.types
            .iter()
            .map(|t| (t.name.clone(), t.units.clone()))
            .collect()
    };
    let capacity = |r: &synth::multiresource::workload::Record| -> Vec<u64> {
        r.resources.iter().map(|r| r.units).collect()
    };
    if own.time_unit != other.time_unit {
        return Err(format!(
            "the policy's rates are per {}, the workload's per {}; write the workload in the policy's time unit",
            own.time_unit, other.time_unit
        ));
    }
    if demands(own) == demands(&other) && capacity(own) == capacity(&other) {
        return Ok(());
    }
    Err("the policy was made for other job types or another server; synthesize one for this workload".into())
}

/// Simulates with progress on standard error.
fn simulate(
    contender: &Contender,
    workload: &Workload,
    settings: &Settings,
    common: &Common,
    what: &str,
) -> Result<Run, Box<dyn std::error::Error>> {
    let spinner = progress::spinner(common, what);
    let started = Instant::now();
    let run = contender.simulate(workload, settings, |reached| {
        let elapsed = started.elapsed();
        spinner.set_message(progress::simulation(what, reached, settings, elapsed));
    })?;
    Ok(cut_short(run, settings))
}

/// What was cut short may by chance be precise enough; it still is not the whole run.
fn cut_short(mut run: Run, settings: &Settings) -> Run {
    if settings.interrupt.load(Ordering::Relaxed) {
        run.ending = Ending::Interrupted;
    }
    run
}
