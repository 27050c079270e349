use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;

use super::resolve::solve_load;
use crate::kind::{
    Caller, Files, NamedPolicy, Rules as _, RunVerb, VerbOutput, VerbResult, files, json, refuse,
};
use crate::multiresource::MultiresourceKind;
use crate::multiresource::artifact::{Objective, Preemption};
use crate::multiresource::bound::{BoundDocument, lower_bound};
use crate::multiresource::optimum::{
    Optimum, OptimumError, OptimumLimits, OptimumStep, Problem, optimum,
};
use crate::multiresource::report::{self, LowerBounds, SimulatedPolicy};
use crate::multiresource::workload::Fleet;
use crate::report::number;
use crate::typed::{RunLength, count, load, part, positive, seconds};

/// Compute a lower bound for any policy.
///
/// For a small system, this is close to the optimum
#[derive(Args)]
#[command(after_long_help = ABOUT)]
pub(crate) struct Arguments {
    /// The workload, a YAML file (`-`: standard input)
    #[arg(value_name = "FILE")]
    workload: PathBuf,

    /// Scale the arrival rates to this load ρ, such as 0.8
    #[arg(long, value_parser = load, allow_negative_numbers = true, value_name = "ρ")]
    load: Option<f64>,

    /// Whether running jobs can be preempted
    #[arg(long, value_enum, default_value = "none")]
    preemption: Preemption,

    /// The setup rate γ [1/time unit] of `--preemption setup`
    #[arg(long, value_name = "γ", value_parser = positive, allow_negative_numbers = true, required_if_eq("preemption", "setup"))]
    setup_rate: Option<f64>,

    /// The metric that the lower bound is computed for
    #[arg(long, value_enum, default_value = "mean")]
    minimize: Objective,

    /// Stop at this relative difference between the bounds
    #[arg(long, default_value = "0.5%", value_parser = part)]
    tolerance: f64,

    /// Also simulate these rules (see `synth rules`) or policy files
    #[arg(long, value_delimiter = ',', value_name = "P,P,…")]
    policies: Vec<String>,

    /// The maximum number of states of the dynamic program
    ///
    /// Each state needs 20 bytes. The linear program has at most one row for every 2000 states. If
    /// the dynamic program needs more states than this, only the linear program is used
    #[arg(long, default_value = "2e7", value_parser = count, value_name = "STATES")]
    work: u64,

    /// Also write the proof of the bound to this file, for `synth check`
    #[arg(long, value_name = "FILE")]
    proof: Option<PathBuf>,

    #[command(flatten)]
    length: RunLength,

    /// Also write all results to this file as JSON (`-`: standard output)
    ///
    /// On the standard output, it replaces the table
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const ABOUT: &str = "\
If there is a single server, the arrivals are Poisson and the sizes are exponential, a dynamic program is used to compute a bound that is \
close to the optimum, unless it has too many states (see --work). A state is a schedule and the number of waiting jobs of each type or, with preemption, the number of jobs of each type. \
Otherwise, a linear program is used. This bound is proved, but it may be much smaller than the optimum.";

const STATES_A_ROW: u64 = 2000;

const EVENTS: u64 = 50_000_000;

impl RunVerb for Arguments {
    fn files(&self) -> Files<'_> {
        let policies = self.policies.iter().map(Path::new);
        let read = policies.chain([&*self.workload]);
        files(read, self.output.iter().chain(&self.proof))
    }

    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        if self.setup_rate.is_some() && self.preemption != Preemption::Setup {
            return refuse("`--setup-rate` can only be used with `--preemption setup`");
        }
        let own = caller.known(Fleet::read(&self.workload)?);
        own.require_no_devices()?;
        let policies: Vec<NamedPolicy<MultiresourceKind>> =
            NamedPolicy::resolve_each(&self.policies, Some(&own), caller.changes)?;
        let load = solve_load(Some(self.time()), &own)?;
        let (load, fleet) = match self.load {
            Some(to) => (to, own.scaled(to / load)?),
            None if load >= 1.0 => {
                return refuse(format!(
                    "the load ρ is {load}, but if the load is 1 or more, the response times are infinite; use `--load` to set a smaller load"
                ));
            }
            None => (load, own.clone()),
        };
        let sought = Problem {
            preemption: self.preemption,
            setup_rate: self.setup_rate,
            objective: self.minimize,
        };
        let (solved, bound) = self.bounds(&fleet, sought, caller)?;
        let mut documents = Vec::new();
        if let (Some(file), Some(bound)) = (&self.proof, &bound) {
            documents.push((file.clone(), json(bound)?));
        }
        let mut least = LowerBounds::new(load, sought, solved, bound.as_ref());
        let mut notes = Vec::new();
        let settings = self.length.settings(EVENTS, caller.interrupt.clone());
        let mut listener = caller.doing();
        for policy in policies {
            if settings.is_interrupted() {
                break;
            }
            listener(&format!("simulating {}", policy.name));
            if let Err(why) = MultiresourceKind::fits(&policy, &own) {
                notes.push(format!("{}: {why}", policy.name));
                continue;
            }
            let run = policy.rule.simulate_on(&fleet, &settings, |_| ())?;
            least.policies.push(SimulatedPolicy {
                policy: policy.name,
                health: run.health,
                response: match self.minimize {
                    Objective::Mean => run.mean_response,
                    Objective::Weighted => run.weighted_response,
                    Objective::P99 => run.p99_response,
                },
            });
        }
        let output = VerbOutput {
            report: report::optimum(&least, fleet.envelope()),
            document: crate::kind::document("synth-optimum", &least)?,
            documents,
            negative: !notes.is_empty(),
            notes,
            ..VerbOutput::default()
        };
        output.written_to(None, self.output.as_ref())
    }
}

impl Arguments {
    fn time(&self) -> Duration {
        self.length.time.map_or(Duration::from_secs(300), seconds)
    }

    /// Solves the dynamic program if it can be used, and the linear programs, which prove a bound.
    fn bounds(
        &self,
        fleet: &Fleet,
        sought: Problem,
        caller: &mut Caller<'_>,
    ) -> VerbResult<(Result<Optimum, OptimumError>, Option<BoundDocument>)> {
        let count = |of: u64| usize::try_from(of).unwrap_or(usize::MAX);
        let limits = OptimumLimits {
            tolerance: self.tolerance,
            states: count(self.work),
            time: self.time(),
            ..OptimumLimits::default()
        };
        let interrupt = caller.interrupt.clone();
        let mut listener = caller.doing();
        listener("solving the dynamic program");
        let mut step = |step: OptimumStep| {
            let [low, high] = step.bounds.map(number);
            listener(&format!(
                "the dynamic program has {} states ({:.0} MB); after sweep {}, the optimum is between {low} and {high}",
                step.states,
                step.bytes() / 1e6,
                step.sweeps
            ));
        };
        let solved = match fleet.one_server() {
            _ if fleet.envelope().has_limits() => Err(OptimumError::of_sizes()),
            Some(server) => optimum(server, sought, &limits, &interrupt, &mut step),
            None => Err(OptimumError::of_fleet()),
        };
        if interrupt.load(Ordering::Relaxed) && solved.is_ok() {
            return Ok((solved, None));
        }
        listener("solving the linear programs for the bound");
        let rows = count(self.work / STATES_A_ROW);
        let is_over = || interrupt.load(Ordering::Relaxed);
        let bound = lower_bound(fleet, self.minimize, self.preemption, rows, &is_over)?;
        Ok((solved, Some(bound)))
    }
}
