//! What no policy can beat: the least mean response time without preemption or with it, and how far policies are above it.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args;

use super::resolve::own_load;
use super::{progress, server_of};
use crate::kind::{
    Caller, Files, Kind as _, NamesFiles, OwnVerb, Policy, VerbOutput, VerbResult, json, refuse,
};
use crate::multiresource::Multiresource;
use crate::multiresource::artifact::{Objective, Preemption};
use crate::multiresource::optimum::{Limits, Problem, Step, optimum};
use crate::multiresource::report::{self, Distance, Least};
use crate::multiresource::workload::Fleet;
use crate::report::number;
use crate::simulation::Settings;
use crate::typed::{Budget, WorkloadFile, count, load, part, positive, seconds, time};

/// What is typed.
#[derive(Args)]
#[command(after_help = ABOUT)]
pub struct Arguments {
    #[command(flatten)]
    workload: WorkloadFile,

    /// Scale its arrival rates to this load ρ, as a fraction of what any policy can serve
    #[arg(long, value_parser = load, allow_negative_numbers = true, value_name = "ρ")]
    load: Option<f64>,

    /// What may happen to a running job: nothing, or that it waits again, at no cost or after a setup
    #[arg(long, value_enum, default_value = "none")]
    preemption: Preemption,

    /// γ, the rate of setups [1/time unit]; needed with `--preemption setup`
    #[arg(long, value_name = "γ", value_parser = positive, allow_negative_numbers = true, required_if_eq("preemption", "setup"))]
    setup_rate: Option<f64>,

    /// What is least: the mean response time, or that weighted by load
    #[arg(long, value_enum, default_value = "mean")]
    objective: Objective,

    /// Relative distance between the bounds at which to stop
    #[arg(long, default_value = "0.5%", value_parser = part)]
    tolerance: f64,

    /// Also measure these policies, by name (`synth rules` lists them) or policy file
    #[arg(long, value_delimiter = ',', value_name = "P,P,…")]
    policies: Vec<String>,

    /// States of the dynamic program at most, 20 bytes each; what begins with more is refused
    #[arg(long, default_value = "2e7", value_parser = count)]
    states: u64,

    /// Seconds, or such as 10min, for the dynamic program; after that the bounds are printed as they are
    #[arg(long, value_name = "TIME", default_value = "300", value_parser = time)]
    time_limit: f64,

    #[command(flatten)]
    budget: Budget,

    /// Also write all results as JSON to this file (`-`: to standard output, in place of the table)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const ABOUT: &str = "\
The workload has Poisson arrivals and exponential sizes, on a system so small that schedules times waiting jobs of each type \
are few, or with preemption the numbers of jobs (see --states).";

/// Events per policy, by default.
const EVENTS: u64 = 50_000_000;

impl NamesFiles for Arguments {
    fn files(&self) -> Files<'_> {
        let policies = self.policies.iter().map(Path::new);
        let read = policies.chain(self.workload.typed()).collect();
        (read, self.output.iter().map(PathBuf::as_path).collect())
    }
}

impl OwnVerb for Arguments {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        if self.setup_rate.is_some() && self.preemption != Preemption::Setup {
            return refuse("--setup-rate goes with --preemption setup");
        }
        let workload = server_of(self.workload.file()?, caller)?;
        let own = Fleet::from(workload.clone());
        let resolve = |name| Policy::resolve(name, Some(&own), caller.changes);
        let policies = self.policies.iter().map(String::as_str).map(resolve);
        let policies = policies.collect::<VerbResult<Vec<Policy<Multiresource>>>>()?;
        let limits = Limits {
            tolerance: self.tolerance,
            states: usize::try_from(self.states).unwrap_or(usize::MAX),
            time: seconds(self.time_limit),
            ..Limits::default()
        };
        let load = own_load(Some(limits.time), &own)?;
        let (load, fleet) = match self.load {
            Some(to) => (to, own.scaled(to / load)?),
            None if load >= 1.0 => {
                return refuse(format!(
                    "the load ρ is {load}, and at 1 and more every response time is infinite: give --load"
                ));
            }
            None => (load, own.clone()),
        };
        let (interrupt, width) = (caller.interrupt.clone(), caller.width);
        let mut listener = progress(caller);
        listener("solving the dynamic program");
        let step = |step: Step| {
            let [low, high] = step.bounds.map(number);
            listener(&format!(
                "dynamic program: {} states ({:.0} MB), sweep {}, between {low} and {high}",
                step.states,
                step.bytes() / 1e6,
                step.sweeps
            ));
        };
        let sought = Problem {
            preemption: self.preemption,
            setup_rate: self.setup_rate,
            objective: self.objective,
        };
        let found = optimum(fleet.envelope(), sought, &limits, &interrupt, step)?;
        let (mut distances, mut notes) = (Vec::new(), Vec::new());
        let settings = Settings {
            interrupt,
            ..self.budget.settings(EVENTS)
        };
        for policy in policies {
            if settings.interrupt.load(Ordering::Relaxed) {
                break;
            }
            listener(&format!("simulating {}", policy.name));
            match Multiresource::fits(&policy, &own) {
                Err(why) => notes.push(format!("{}: {why}", policy.name)),
                Ok(()) => distances.push(self.distance(&policy, &fleet, &settings, found.lower)?),
            }
        }
        let least = Least::new(load, sought, found, distances);
        let document = json(&least)?;
        let file = self.output.iter().cloned();
        Ok(VerbOutput {
            table: report::optimum(&least, fleet.envelope(), self.objective, width) + "\n",
            documents: file.map(|file| (file, document.clone())).collect(),
            document,
            negative: !notes.is_empty(),
            notes,
            ..VerbOutput::default()
        })
    }
}

impl Arguments {
    /// Simulates a policy, and says how far it is above the bound.
    fn distance(
        &self,
        policy: &Policy<Multiresource>,
        fleet: &Fleet,
        settings: &Settings,
        bound: f64,
    ) -> VerbResult<Distance> {
        let run = policy.rule.simulate_on(fleet, settings, |_| ())?;
        let response = match self.objective {
            Objective::Mean => run.mean_response,
            Objective::Weighted => run.weighted_response,
            Objective::P99 => run.p99_response,
        };
        // A dynamic program that was cut short at once has no bound yet.
        let bounded = response.filter(|_| bound > 0.0);
        Ok(Distance {
            policy: policy.name.clone(),
            health: run.health,
            response,
            over: bounded.map(|e| e.mean / bound - 1.0),
        })
    }
}
