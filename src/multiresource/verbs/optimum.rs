//! `synth optimum`: a lower bound on the mean response time, and how far policies are above it.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;

use super::known;
use super::resolve::own_load;
use crate::kind::{
    Caller, Files, NamedPolicy, NamesFiles, Rules as _, RunVerb, VerbOutput, VerbResult, files,
    json, refuse,
};
use crate::multiresource::MultiresourceKind;
use crate::multiresource::artifact::{Objective, Preemption};
use crate::multiresource::bound::{Bound, document, lower_bound};
use crate::multiresource::optimum::{
    Optimum, OptimumError, OptimumLimits, OptimumStep, Problem, optimum,
};
use crate::multiresource::report::{self, Distance, Least};
use crate::multiresource::workload::Fleet;
use crate::report::number;
use crate::simulation::Settings;
use crate::typed::{RunLength, count, load, part, positive};

/// Bound what any policy can achieve: the optimum of small systems, a proved lower bound for others
#[derive(Args)]
#[command(after_help = ABOUT)]
pub struct Arguments {
    /// The workload, a YAML file (`-`: standard input)
    #[arg(value_name = "FILE")]
    workload: PathBuf,

    /// Scale the arrival rates to this load ρ, a fraction of the sustainable maximum
    #[arg(long, value_parser = load, allow_negative_numbers = true, value_name = "ρ")]
    load: Option<f64>,

    /// What may happen to running jobs: nothing, or preemption at no cost or with a setup
    #[arg(long, value_enum, default_value = "none")]
    preemption: Preemption,

    /// Setup rate γ [1/time unit]; required with `--preemption setup`
    #[arg(long, value_name = "γ", value_parser = positive, allow_negative_numbers = true, required_if_eq("preemption", "setup"))]
    setup_rate: Option<f64>,

    /// The metric to bound
    #[arg(long, value_enum, default_value = "mean")]
    minimize: Objective,

    /// Relative gap between the bounds at which to stop
    #[arg(long, default_value = "0.5%", value_parser = part)]
    tolerance: f64,

    /// Also simulate these policies: rule names (see `synth rules`) or policy files
    #[arg(long, value_delimiter = ',', value_name = "P,P,…")]
    policies: Vec<String>,

    /// Maximum number of states of the dynamic program (20 bytes each); the linear program has at
    /// most one row per 2000 of them. If the dynamic program would start with more states, only the
    /// linear program is solved
    #[arg(long, default_value = "2e7", value_parser = count, value_name = "STATES")]
    work: u64,

    /// Also write the linear-programming bound with its proof to this file, for `synth check`
    #[arg(long, value_name = "FILE")]
    proof: Option<PathBuf>,

    #[command(flatten)]
    length: RunLength,

    /// Also write all results as JSON to this file (`-`: to standard output, in place of the table)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const ABOUT: &str = "\
On one server with Poisson arrivals and exponential sizes, a dynamic program with few enough states (see --work) gives a bound \
close to the optimum. Its states are schedules times waiting jobs of each type or, with preemption, the numbers of jobs. \
Otherwise the bound comes from a linear program: it is proved, but may be far below the optimum.";

/// The number of states of the dynamic program per row of the linear program.
const STATES_A_ROW: u64 = 2000;

const EVENTS: u64 = 50_000_000;

impl NamesFiles for Arguments {
    fn files(&self) -> Files<'_> {
        let policies = self.policies.iter().map(Path::new);
        let read = policies.chain([&*self.workload]);
        files(read, self.output.iter().chain(&self.proof))
    }
}

impl RunVerb for Arguments {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        if self.setup_rate.is_some() && self.preemption != Preemption::Setup {
            return refuse("--setup-rate goes with --preemption setup");
        }
        let own = known(Fleet::read(&self.workload)?, caller);
        own.counts_amounts()?;
        let policies = NamedPolicy::<MultiresourceKind>::resolve_each(
            &self.policies,
            Some(&own),
            caller.changes,
        )?;
        let load = own_load(Some(self.time()), &own)?;
        let (load, fleet) = match self.load {
            Some(to) => (to, own.scaled(to / load)?),
            None if load >= 1.0 => {
                return refuse(format!(
                    "the load ρ is {load}, but at loads of 1 and more all response times are infinite: give --load with a smaller one"
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
            let proof = document(&fleet, (self.minimize, self.preemption), bound);
            documents.push((file.clone(), json(&proof)?));
        }
        let mut least = Least::new(load, sought, solved, bound.as_ref());
        let mut notes = Vec::new();
        let settings = Settings {
            interrupt: caller.interrupt.clone(),
            ..self.length.settings(EVENTS)
        };
        let mut listener = caller.doing();
        for policy in policies {
            if settings.interrupt.load(Ordering::Relaxed) {
                break;
            }
            listener(&format!("simulating {}", policy.name));
            if let Err(why) = MultiresourceKind::fits(&policy, &own) {
                notes.push(format!("{}: {why}", policy.name));
                continue;
            }
            let distance = self.distance(&policy, &fleet, &settings)?;
            least.policies.push(distance);
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

const TIME: Duration = Duration::from_secs(300);

type Solved = Result<Optimum, OptimumError>;

impl Arguments {
    fn time(&self) -> Duration {
        self.length.settings(EVENTS).time.unwrap_or(TIME)
    }

    /// Solves the dynamic program, if it applies, and the linear programs, whose bound is proved.
    fn bounds(
        &self,
        fleet: &Fleet,
        sought: Problem,
        caller: &mut Caller<'_>,
    ) -> VerbResult<(Solved, Option<Bound>)> {
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
                "dynamic program: {} states ({:.0} MB), sweep {}, between {low} and {high}",
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
        listener("solving linear programs for a bound");
        let rows = count(self.work / STATES_A_ROW);
        let is_over = || interrupt.load(Ordering::Relaxed);
        let bound = lower_bound(fleet, self.minimize, self.preemption, rows, &is_over)?;
        Ok((solved, Some(bound)))
    }

    fn distance(
        &self,
        policy: &NamedPolicy<MultiresourceKind>,
        fleet: &Fleet,
        settings: &Settings,
    ) -> VerbResult<Distance> {
        let run = policy.rule.simulate_on(fleet, settings, |_| ())?;
        let response = match self.minimize {
            Objective::Mean => run.mean_response,
            Objective::Weighted => run.weighted_response,
            Objective::P99 => run.p99_response,
        };
        Ok(Distance {
            policy: policy.name.clone(),
            health: run.health,
            response,
        })
    }
}
