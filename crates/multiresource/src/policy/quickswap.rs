use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::backfilling::{Backfilling, Greedy};
use super::rule::{NamedRule, Parameter, PolicyConfig, TuningContext};
use super::{Event, OneOrAll, Policy, System, Unsuitable};
use crate::schedule::{Packing, index_of_largest};
use crate::workload::{Fleet, JobType, Workload};
use synth_core::artifact::Findings;

pub(super) const MSFQ: NamedRule = NamedRule {
    name: "msfq",
    description: "Quickswap: serves the heavy jobs, then the light jobs until only a few are left and a heavy job is waiting; only for one-or-all workloads",
    parameter: Some(Parameter {
        meaning: "the threshold ℓ, which must be less than the number k of light jobs that fit (default k − 1)",
        least: 0.0,
        default: None,
        whole: true,
    }),
    settings: |fleet, l| Ok(StaticQuickswapConfig::msfq(fleet.envelope(), l)?.into()),
    ..NamedRule::PLAIN
};

pub(super) const MSFQ_STRICT: NamedRule = NamedRule {
    name: "msfq-strict",
    description: "MSFQ exactly as in its paper: the turn of the light jobs ends at the threshold even if no heavy job is waiting (use `--family msfq-strict` to select the best ℓ)",
    settings: |fleet, l| Ok(StaticQuickswapConfig::strict_msfq(fleet.envelope(), l)?.into()),
    ..MSFQ
};

pub(super) const STATIC_QUICKSWAP: NamedRule = NamedRule {
    name: "static-quickswap",
    description: "serves one type after the other, each until there are not enough of its jobs to fill the server; the next type starts when they are done",
    settings: |fleet, _| Ok(StaticQuickswapConfig::published(fleet.envelope()).into()),
    ..NamedRule::PLAIN
};

pub(super) const ADAPTIVE_QUICKSWAP: NamedRule = NamedRule {
    name: "adaptive-quickswap",
    description: "most servers first, until a waiting type cannot start; after that, no job is started before the largest waiting job",
    settings: |_, _| Ok(AdaptiveQuickswapConfig {}.into()),
    ..NamedRule::PLAIN
};

/// A policy in which the types take turns in a fixed cycle, without preemption (Quickswap paper,
/// section 4.3). For one-or-all systems with a heavy threshold of 0, this is MSFQ(ℓ) with the light
/// threshold `ℓ`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticQuickswapConfig {
    /// All types in the order of their turns, as indices into the workload's types.
    pub cycle: Vec<usize>,
    /// The threshold `ℓ_i` of each type, less than the number of its jobs that fit. A turn ends if
    /// at most `ℓ_i` jobs remain, all of them in service, and another type is waiting.
    pub thresholds: Vec<u32>,
    /// Whether the next type starts as soon as it fits, while the last one drains.
    pub overlap: bool,
    /// If `true`, a turn also ends in this way if no other type is waiting, exactly as in the
    /// paper. For one-or-all systems, the means are then known exactly.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
}

impl StaticQuickswapConfig {
    /// Returns the policy of the paper: `ℓ_i = c_i − 1`, types by descending share, then by index.
    pub fn published(workload: &Workload) -> Self {
        let packing = Packing::new(workload);
        let thresholds = (0..packing.types()).map(|i| packing.max_jobs_alone(i).saturating_sub(1));
        let needs = workload.dominant_shares();
        let mut cycle: Vec<usize> = (0..needs.len()).collect();
        cycle.sort_by(|&a, &b| needs[b].total_cmp(&needs[a]));
        StaticQuickswapConfig {
            cycle,
            thresholds: thresholds.collect(),
            overlap: false,
            strict: false,
        }
    }

    /// Returns Most Servers First with Quickswap, MSFQ(ℓ) of section 4.2 of the paper, for
    /// one-or-all systems. The default is `ℓ = k − 1`, and `ℓ = 0` is Most Servers First.
    ///
    /// The turn of the light jobs only ends if a heavy job is waiting. In the paper
    /// ([`StaticQuickswapConfig::strict_msfq`]), it always ends at `ℓ` light jobs, even at the one
    /// that arrives in an empty system. Both are throughput-optimal for each `ℓ < k`.
    ///
    /// # Errors
    /// Returns an error if the system is not one-or-all, or if `ℓ ≥ k`.
    pub fn msfq(workload: &Workload, threshold: Option<f64>) -> Result<Self, Unsuitable> {
        let OneOrAll { light, servers, .. } = OneOrAll::new(workload)?;
        let most = servers - 1;
        let threshold = threshold.unwrap_or(most.into());
        if threshold > most.into() {
            return Err(Unsuitable(format!(
                "its threshold ℓ must be from 0 to {most} for this workload, found {threshold}"
            )));
        }
        let mut policy = StaticQuickswapConfig::published(workload);
        policy.thresholds[light] = threshold as u32;
        Ok(policy)
    }

    /// Returns MSFQ(ℓ) exactly as in the paper.
    ///
    /// # Errors
    /// See [`StaticQuickswapConfig::msfq`].
    pub fn strict_msfq(workload: &Workload, threshold: Option<f64>) -> Result<Self, Unsuitable> {
        Ok(StaticQuickswapConfig {
            strict: true,
            ..Self::msfq(workload, threshold)?
        })
    }

    /// Returns the one-or-all system on which this is strict MSFQ(ℓ), and ℓ. `None` if it is not.
    pub fn as_strict_msfq(&self, workload: &Workload) -> Option<(OneOrAll, u32)> {
        let system = OneOrAll::new(workload).ok()?;
        let is_one = self.strict && !self.overlap && self.thresholds[system.heavy] == 0;
        is_one.then(|| (system, self.thresholds[system.light]))
    }
}

const LISTED: usize = 5;

impl PolicyConfig for StaticQuickswapConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(StaticQuickswap::new(self, fleet.envelope()))
    }

    fn describe(&self, workload: &Workload) -> String {
        let name = |i: usize| workload.types()[i].name();
        let turn = |i: &usize| format!("{} ({})", name(*i), self.thresholds[*i]);
        let turns: Vec<String> = self.cycle.iter().map(turn).collect();
        let next = match self.overlap {
            true => "as soon as it fits, while the last one drains",
            false => "after the last one has drained",
        };
        let others = match self.strict {
            true => "even if no other type is waiting",
            false => "and another type is waiting",
        };
        format!(
            "Static Quickswap, without preemption: the types are served in the order {}. The turn of a type ends if the number of its remaining jobs is at most its threshold (in brackets) and all of them are in service, {others}; the next type starts {next}.",
            turns.join(", ")
        )
    }

    fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        let workload = fleet.envelope();
        let (types, thresholds) = (workload.types(), &self.thresholds);
        findings.permutation("cycle", &self.cycle, types.len(), "job type");
        findings.length("thresholds", thresholds.len(), types.len(), "job type");
        let packing = Packing::new(workload);
        for (i, (kind, threshold)) in types.iter().zip(thresholds).enumerate() {
            let (most, name) = (packing.max_jobs_alone(i), kind.name());
            if *threshold >= most {
                let expected =
                    format!("less than {most}, the number of jobs of type `{name}` that fit");
                findings.differs(format!("thresholds[{i}]"), threshold, expected);
            }
        }
    }

    fn is_proved_stable(&self, workload: &Workload) -> bool {
        !self.overlap && time_of_turns(workload) < 1.0
    }

    fn describe_parameters(&self, workload: &Workload) -> Option<String> {
        let published = StaticQuickswapConfig {
            overlap: self.overlap,
            strict: self.strict,
            ..StaticQuickswapConfig::published(workload)
        };
        let name = |i: usize| workload.types()[i].name();
        let turn = |i: &usize| format!("{} ℓ = {}", name(*i), self.thresholds[*i]);
        let turns = match self.cycle.len() {
            _ if *self == published => "as published".into(),
            0..=LISTED => self.cycle.iter().map(turn).collect::<Vec<_>>().join(", "),
            _ => "the thresholds or turns are not as published".into(),
        };
        let strict = if self.strict { ", strict" } else { "" };
        let overlap = if self.overlap { ", overlapping" } else { "" };
        Some(turns + overlap + strict)
    }

    fn other_axes(&self, context: &TuningContext<'_>) -> usize {
        1 + context.types_with_several.len() + self.cycle.len()
    }

    fn step(&mut self, axis: usize, up: bool, context: &TuningContext<'_>) -> Option<()> {
        let before = self.clone();
        let turned = |i: usize, l: u32| match up {
            true => (2 * l + 1).min(context.most[i] - 1),
            false => l / 2,
        };
        let several = &context.types_with_several;
        match axis {
            0 => self.overlap = up,
            1 => {
                let thresholds = self.thresholds.iter_mut().enumerate();
                thresholds.for_each(|(i, l)| *l = turned(i, *l));
            }
            axis if axis - 2 < several.len() => {
                let i = several[axis - 2];
                self.thresholds[i] = turned(i, self.thresholds[i]);
            }
            // A cycle of two types has only one order.
            axis if up && self.cycle.len() > 2 => {
                let place = axis - 2 - several.len();
                self.cycle.swap(place, place + 1);
            }
            _ => return None,
        }
        (*self != before).then_some(())
    }
}

/// The settings of Adaptive Quickswap, which has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveQuickswapConfig {}

impl PolicyConfig for AdaptiveQuickswapConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(AdaptiveQuickswap::new(fleet.envelope()))
    }

    fn describe(&self, _: &Workload) -> String {
        "Adaptive Quickswap, without preemption: the largest jobs are started first, until there are waiting jobs of another type that cannot start. After that, no job is started before the largest waiting job."
            .into()
    }

    fn extra_work_per_event(&self, _: &Workload) -> f64 {
        0.1
    }
}

/// Static Quickswap, without preemption. The types take turns in a fixed cycle.
///
/// In the working phase of type `i`, only its jobs are admitted, as many as possible. The phase
/// ends if at most `ℓ_i` of its jobs are in the system, all in service, and a job of another type
/// is waiting. The jobs in service then end, and the next type in the cycle with a waiting job is
/// served. With *overlap*, it can start as soon as it fits, while the last one drains.
/// Without overlap, the policy is stable for all `ℓ_i < c_i` if [`time_of_turns`] is less than 1.
/// The source is Chen et al., "Improving Nonpreemptive Multiserver Job Scheduling with
/// Quickswap", 2025, section 4.3, with `ℓ_i = c_i − 1` and one resource. We have added lower
/// thresholds, several resources, and turns that continue if no other job is waiting.
#[derive(Clone, Debug)]
pub struct StaticQuickswap {
    policy: StaticQuickswapConfig,
    turn: usize,
    draining: bool,
    shares: Vec<f64>,
}

impl StaticQuickswap {
    /// Creates the rule with the given settings.
    pub fn new(policy: &StaticQuickswapConfig, workload: &Workload) -> Self {
        StaticQuickswap {
            shares: workload.dominant_shares(),
            policy: policy.clone(),
            turn: 0,
            draining: false,
        }
    }

    fn next(&self, system: &System) -> Option<usize> {
        let cycle = &self.policy.cycle;
        let mut places = (1..=cycle.len()).map(|step| (self.turn + step) % cycle.len());
        places.find(|place| system.waiting(cycle[*place]) > 0)
    }
}

/// Returns `Σ_i λ_i/(μ_i c_i)`, where `c_i` is the number of jobs of type `i` that fit. If this is
/// less than 1, Static Quickswap without overlap is stable (Quickswap paper, section 4.3).
pub fn time_of_turns(workload: &Workload) -> f64 {
    let packing = Packing::new(workload);
    let types = workload.types().iter().enumerate();
    let turn =
        |(i, kind): (usize, &JobType)| kind.offered_load() / f64::from(packing.max_jobs_alone(i));
    types.map(turn).sum()
}

impl Policy for StaticQuickswap {
    fn react(&mut self, _: Event, system: &mut System) {
        loop {
            let i = self.policy.cycle[self.turn];
            if self.draining {
                if !self.policy.overlap && system.running(i) > 0 {
                    return;
                }
                self.draining = false;
                // The jobs for which the turn has ended may have been removed.
                let Some(next) = self.next(system) else {
                    return;
                };
                self.turn = next;
            } else {
                while system.waiting(i) > 0 && system.fits(i) {
                    system.start(i);
                }
                self.draining = system.waiting(i) == 0
                    && system.present(i) <= self.policy.thresholds[i].into()
                    && (self.policy.strict || system.queued().next().is_some());
                if !self.draining {
                    return;
                }
            }
        }
    }
    fn describe_state(&self, names: &[&str], system: &System) -> Option<String> {
        let i = self.policy.cycle[self.turn];
        let name = names[i];
        Some(match (self.draining, self.policy.overlap) {
            (false, _) => format!(
                "serves {name} as long as one of its jobs is waiting or more than {} of them are in the system{}; {} are running",
                self.policy.thresholds[i],
                if self.policy.strict {
                    ""
                } else {
                    ", or no other job is waiting"
                },
                system.running(i)
            ),
            (true, false) => format!(
                "ends the turn of {name} and waits for its {} running jobs to finish",
                system.running(i)
            ),
            (true, true) => format!("ends the turn of {name}"),
        })
    }

    fn resume(&mut self, system: &mut System) {
        let fills = |i: &usize| self.shares[*i] * f64::from(system.running(*i));
        let fills: Vec<f64> = self.policy.cycle.iter().map(fills).collect();
        self.turn = index_of_largest(&fills);
        self.decide(system);
    }
}

/// Adaptive Quickswap, without preemption. It uses Most Servers First until a waiting type has no
/// job in service, and no type in service has a waiting job. Then only the waiting job with the
/// largest need, which is determined again after each event, can start. Once it runs, Most Servers
/// First is used again.
/// Its stability is not guaranteed. The source is Chen et al., "Improving Nonpreemptive
/// Multiserver Job Scheduling with Quickswap", 2025, section 4.3, for one resource. With several,
/// the need is the dominant share `max_j D_ij / P_j`; ties are broken by age. `O(K)` per decision.
#[derive(Clone, Debug)]
pub struct AdaptiveQuickswap {
    needs: Greedy,
    draining: bool,
}

impl AdaptiveQuickswap {
    pub(super) fn new(workload: &Workload) -> Self {
        AdaptiveQuickswap {
            needs: Greedy::new(Backfilling::MOST_SERVERS_FIRST, workload),
            draining: false,
        }
    }
}

impl Policy for AdaptiveQuickswap {
    fn react(&mut self, event: Event, system: &mut System) {
        if self.draining {
            match self.needs.order.first(system) {
                Some(i) if system.fits(i) => system.start(i),
                _ => return,
            }
            self.needs.order.start_all(system);
        } else {
            self.needs.react(event, system);
        }
        // It drains if there are waiting jobs, but no waiting type has a running job.
        let mut queued = system.queued().peekable();
        self.draining = queued.peek().is_some() && queued.all(|i| system.running(i) == 0);
    }

    fn describe_state(&self, names: &[&str], system: &System) -> Option<String> {
        let largest = self.needs.order.first(system).filter(|_| self.draining)?;
        Some(format!(
            "drains for the largest waiting job, which is of type {}; no other job can start before it",
            names[largest]
        ))
    }
}
