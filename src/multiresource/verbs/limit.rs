use std::path::{Path, PathBuf};

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::resolve::solve_load;
use crate::kind::{
    Caller, Files, NamedPolicy, Rules as _, RunVerb, VerbOutput, VerbResult, document, files,
};
use crate::multiresource::MultiresourceKind;
use crate::multiresource::workload::Fleet;
use crate::report::{Cell, Section, number};
use crate::simulation::{Estimate, Health, Settings};
use crate::typed::{RunLength, part};
use synth_verb::table;

/// Find the maximum load at which a policy is stable, by simulation
#[derive(Args)]
#[command(after_long_help = ABOUT)]
pub(crate) struct Arguments {
    /// The workload, a YAML file (`-`: standard input)
    #[arg(value_name = "FILE")]
    workload: PathBuf,

    /// The policies to test: names of rules (see `synth rules`) or paths to policy files
    #[arg(long, value_delimiter = ',', required = true, value_name = "P,P,…")]
    policies: Vec<String>,

    /// The maximum difference between the largest stable and the smallest unstable load
    #[arg(long, default_value = "1%", value_parser = part)]
    within: f64,

    #[command(flatten)]
    length: RunLength,

    /// Also write the result of each run to this file as JSON (`-`: standard output, instead of the
    /// table)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const ABOUT: &str = "\
All arrival rates are scaled by the same factor. A load is a fraction of the maximum that any policy can sustain, so no policy \
is stable at a load of 1. This is proved. A policy is stable if a run has converged, and unstable if the number of jobs is growing. \
Between the two loads, the runs are inconclusive; longer runs bring the loads closer together (--events, 1e8 by default).";

const EVENTS: u64 = 100_000_000;

#[derive(Clone, Serialize, JsonSchema)]
struct Seen {
    load: f64,
    health: Health,
    events: u64,
    mean_response: Option<Estimate>,
    /// The mean number of jobs in the last part of the run.
    jobs_at_the_end: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
struct Limit {
    policy: String,
    /// The runs of the policy, sorted by load.
    runs: Vec<Seen>,
}

/// The result of `synth limit`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Limits {
    limits: Vec<Limit>,
}

impl RunVerb for Arguments {
    fn files(&self) -> Files<'_> {
        let policies = self.policies.iter().map(Path::new);
        files(policies.chain([&*self.workload]), &self.output)
    }

    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let fleet = caller.known(Fleet::read(&self.workload)?);
        let policies: Vec<NamedPolicy<MultiresourceKind>> =
            NamedPolicy::resolve_each(&self.policies, Some(&fleet), caller.changes)?;
        let load = solve_load(None, &fleet)?;
        let settings = self.length.settings(EVENTS, caller.interrupt.clone());
        let mut listener = caller.doing();
        let (mut limits, mut notes) = (Vec::new(), Vec::new());
        for policy in policies {
            if let Err(why) = MultiresourceKind::fits(&policy, &fleet) {
                notes.push(format!("{}: {why}", policy.name));
                continue;
            }
            let mut runs: Vec<Seen> = Vec::new();
            while let Some(at) = self.next(&runs)
                && !settings.is_interrupted()
            {
                listener(&format!("simulating {} at ρ = {}", policy.name, number(at)));
                runs.push(seen(&policy, &fleet.scaled(at / load)?, at, &settings)?);
                runs.sort_by(|a, b| a.load.total_cmp(&b.load));
            }
            let policy = policy.name;
            limits.push(Limit { policy, runs });
        }
        let section = table(&limits);
        let output = VerbOutput {
            document: document("synth-limits", &Limits { limits })?,
            negative: !notes.is_empty(),
            notes,
            interrupted: settings.is_interrupted(),
            ..VerbOutput::of_section(section)
        };
        output.written_to(None, self.output.as_ref())
    }
}

/// The first run has 1/`FIRST` of the events, and each of the next runs has `LONGER` times as many.
const LONGER: u64 = 5;
const FIRST: u64 = LONGER.pow(2);

fn seen(
    policy: &NamedPolicy<MultiresourceKind>,
    fleet: &Fleet,
    load: f64,
    settings: &Settings,
) -> VerbResult<Seen> {
    let mut part = FIRST;
    loop {
        let settings = Settings {
            events: (settings.events / part).max(1),
            ..settings.clone()
        };
        let run = policy.rule.simulate_on(fleet, &settings, |_| ())?;
        part /= LONGER;
        let is_over = part == 0 || settings.is_interrupted();
        if is_over || run.health != Health::Unsettled {
            return Ok(Seen {
                load,
                health: run.health,
                events: run.events,
                mean_response: run.mean_response,
                jobs_at_the_end: run.path.0.last().copied(),
            });
        }
    }
}

/// Returns the converged run with the highest load, and the lowest unstable run above it.
fn sides(runs: &[Seen]) -> [Option<&Seen>; 2] {
    let settled = runs.iter().rfind(|run| run.health == Health::Settled);
    let above = |run: &Seen| settled.is_none_or(|own| run.load > own.load);
    let mut unstable = runs.iter().filter(|run| run.health == Health::Unstable);
    [settled, unstable.find(|run| above(run))]
}

impl Arguments {
    /// Returns the middle of a gap between the two sides and the inconclusive runs, if it is wide.
    fn next(&self, runs: &[Seen]) -> Option<f64> {
        let [settled, unstable] = sides(runs);
        let low = settled.map_or(0.0, |run| run.load);
        let high = unstable.map_or(1.0, |run| run.load);
        let is_open =
            |run: &&Seen| run.health == Health::Unsettled && (low..high).contains(&run.load);
        let open: Vec<f64> = runs.iter().filter(is_open).map(|run| run.load).collect();
        let gaps = match (open.first(), open.last()) {
            (Some(first), Some(last)) => vec![(low, *first), (*last, high)],
            _ => vec![(low, high)],
        };
        let wide = gaps.into_iter().find(|(a, b)| b - a > self.within);
        wide.map(|(a, b)| 0.5 * (a + b))
    }
}

fn table(limits: &[Limit]) -> Section {
    let limits = limits.iter();
    let sides = limits.map(|limit| (&limit.policy, sides(&limit.runs)));
    table!("", sides, (policy, [settled, unstable]) => {
        "policy" => policy,
        "stable at ρ [1]" => settled.map_or("none found".into(), |run| Cell::Number(run.load)),
        "E[T] there [1]" => settled.and_then(|run| run.mean_response),
        "unstable at ρ [1]" => match unstable {
            Some(run) => Cell::Number(run.load),
            None => "none found below 1".into(),
        },
        "jobs at the end [1]" => unstable.and_then(|run| run.jobs_at_the_end),
    })
}
