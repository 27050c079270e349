//! This example runs a policy file without the code that is used for the synthesis. It prints the
//! first decisions of the rule, and simulates the rule to check the claims.
//!
//! ```text
//! cargo run --release -p light -- policy.json
//! ```
//!
//! The exit code is 0 if none of the claims is refuted, 1 if the simulation refutes a claim, and 2
//! if the file cannot be used.
use std::{error::Error, path::Path, process::ExitCode};

use synth_multiresource::artifact::Checked;
use synth_multiresource::policy::{Action, Event, System};
use synth_multiresource::simulator::{
    Contender, Settings, Verdict, as_analysed, judge, thresholds_to_record,
};

const EVENTS: u64 = 20_000_000;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: light POLICY.json");
        return ExitCode::from(2);
    };
    match run(&path) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(path: &str) -> Result<bool, Box<dyn Error>> {
    let checked = Checked::read(Path::new(path))?;
    if !checked.workload().is_one_server() {
        return Err(format!(
            "{path} is a policy for a fleet, but this example simulates a single server"
        )
        .into());
    }
    first_decisions(&checked);
    simulate(&checked)
}

fn first_decisions(checked: &Checked) {
    let fleet = checked.workload();
    let mut rule = checked.artifact().policy.build(fleet);
    let mut system = System::for_policy(fleet, &*rule);
    rule.begin(&mut system);
    for (i, kind) in fleet.types().iter().enumerate() {
        let job = system.arrive(i, i as f64 / 10.0);
        rule.react(Event::Arrival(i), &mut system);
        print!("job {} ({}) arrives:", job.number, kind.name());
        for action in system.actions() {
            match action {
                Action::Start(_, job) => print!(" start {}", job.number),
                Action::Stop(_, job) => print!(" stop {}", job.number),
            }
        }
        println!();
        system.clear_actions();
    }
}

/// Returns `true` if none of the claims is refuted.
fn simulate(checked: &Checked) -> Result<bool, Box<dyn Error>> {
    let (artifact, workload) = (checked.artifact(), checked.workload().envelope());
    let settings = Settings {
        events: EVENTS,
        watch: thresholds_to_record(artifact, workload),
        ..Settings::default()
    };
    let contender = Contender::from(as_analysed(artifact, &artifact.policy));
    let run = contender.simulate(workload, &settings, |_| ())?;
    let mean = run
        .mean_response
        .ok_or("the run does not have an estimate of the mean")?;
    println!(
        "{}: E[T] = {:.4} ± {:.4} {}",
        contender.name(),
        mean.mean,
        mean.half_width,
        workload.time_unit()
    );
    let judgements = judge(artifact, workload, &run);
    let refuted = judgements.iter().filter(|j| j.verdict == Verdict::Refuted);
    let refuted: Vec<_> = refuted.map(|j| format!("{:?}", j.claim)).collect();
    println!("{} claims, refuted: {}", judgements.len(), refuted.len());
    refuted.iter().for_each(|claim| println!("  {claim}"));
    Ok(refuted.is_empty())
}
