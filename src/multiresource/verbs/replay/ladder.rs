//! From a trace to the workload that was fitted to it.

use super::REPLICATIONS;
use super::enter::{By, over_a_fleet};
use super::stage::Stage;
use super::told::{Ladder, Rung};
use super::types::Types;
use crate::multiresource::replay::variants::{
    with_known_sizes, with_shuffled_sizes, with_uniform_arrivals,
};
use crate::multiresource::replay::{Job, Rule, Speed};
use crate::multiresource::simulator::{Settings, simulate_over};
use crate::multiresource::verbs::VerbError;
use crate::multiresource::workload::Described;

/// Events of a simulation of the fit.
const EVENTS: u64 = 5_000_000;

impl Stage<'_> {
    /// Each step keeps those before it. Steps that are drawn at random are means of several sequences.
    pub fn ladder(&self, hears: &mut dyn FnMut(&str)) -> Result<Ladder, VerbError> {
        let Some(typed) = self.types() else {
            return super::super::refuse(
                "--ladder needs the workload that was fitted: give --workload FILE",
            );
        };
        let speed = self.first_speed()?;
        let known = with_known_sizes(self.exact_jobs());
        let rounded = with_known_sizes(&typed.jobs);
        let seed = self.seed();
        let shuffled = |n| with_shuffled_sizes(&rounded, seed, n);
        let uniform = |n| with_uniform_arrivals(&shuffled(n), seed, n);
        let exact = |jobs: &[Job], hears: &mut dyn FnMut(&str)| {
            let mean = |policy| self.mean_response(policy, jobs, speed, hears);
            let means = (0..self.names().count()).map(mean);
            means
                .map(|mean| mean.map(|mean| [mean; 3]))
                .collect::<Vec<_>>()
        };
        let rungs = vec![
            Rung {
                step: "the trace",
                means: exact(self.exact_jobs(), hears),
            },
            Rung {
                step: "limits are sizes",
                means: exact(&known, hears),
            },
            Rung {
                step: "demands rounded to types",
                means: self.of_types(typed, 1, |_| rounded.clone(), speed, hears),
            },
            Rung {
                step: "sizes shuffled within types",
                means: self.of_types(typed, REPLICATIONS, shuffled, speed, hears),
            },
            Rung {
                step: "arrivals uniform over the span",
                means: self.of_types(typed, REPLICATIONS, uniform, speed, hears),
            },
            Rung {
                step: "the workload, simulated",
                means: self.simulated(typed, speed, hears)?,
            },
        ];
        Ok(Ladder {
            speed,
            policies: self.names().map(str::to_owned).collect(),
            rungs,
        })
    }

    /// Means over sequences of jobs of types, by policy: the mean of them, the least and the largest.
    fn of_types(
        &self,
        typed: &Types,
        sequences: u32,
        made: impl Fn(u32) -> Vec<Job>,
        speed: Speed,
        hears: &mut dyn FnMut(&str),
    ) -> Vec<Option<[f64; 3]>> {
        let mut means = vec![Vec::new(); self.names().count()];
        for n in 0..sequences {
            let jobs = made(n);
            for (policy, means) in means.iter_mut().enumerate() {
                means.extend(self.mean_response_of_types(policy, typed, &jobs, speed, hears));
            }
        }
        let spread = |means: Vec<f64>| {
            let mean = means.iter().sum::<f64>() / means.len() as f64;
            let least = means.iter().copied().fold(f64::INFINITY, f64::min);
            let largest = means.iter().copied().fold(0.0, f64::max);
            (!means.is_empty()).then_some([mean, least, largest])
        };
        means.into_iter().map(spread).collect()
    }

    /// The workload itself, at the same speed.
    fn simulated(
        &self,
        typed: &Types,
        speed: Speed,
        hears: &mut dyn FnMut(&str),
    ) -> Result<Vec<Option<[f64; 3]>>, VerbError> {
        let settings = Settings {
            seed: self.seed(),
            events: EVENTS,
            common_sizes: true,
            interrupt: self.interrupt(),
            ..Settings::default()
        };
        let seconds = typed.ticks / self.per_second();
        let scaled = match &typed.described {
            Described::Server(workload) => Described::Server(workload.scaled(speed.ratio())?),
            Described::Fleet(fleet) => Described::Fleet(fleet.scaled(speed.ratio())?),
        };
        let run = |(by, name): (&By, &str)| {
            hears(&format!("simulating {name} on the workload"));
            let rule = match (by, &scaled) {
                (By::Type(rule), _) => Ok(rule.clone()),
                (By::Demand(contender), Described::Server(_)) => {
                    Ok(Rule::One(Box::new(contender.clone())))
                }
                (By::Demand(_), Described::Fleet(_)) => over_a_fleet(name),
            };
            let run = match (rule.ok()?, &scaled) {
                (Rule::One(contender), Described::Server(workload)) => {
                    contender.simulate(workload, &settings, |_| ()).ok()
                }
                (Rule::Over(family), Described::Fleet(fleet)) => {
                    simulate_over(fleet, &family, &settings, |_| ()).ok()
                }
                _ => None,
            };
            Rung::of_run(&run?, seconds)
        };
        Ok(self.policies().map(run).collect())
    }
}
