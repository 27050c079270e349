//! Quickswap: MSFQ, static and adaptive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::backfilling::{Backfilling, Greedy};
use super::rule::{NamedRule, Parameter, PolicyConfig, TuningContext, no_settings};
use super::{Event, OneOrAll, Policy, System, Unsuitable};
use crate::schedule::{Packing, largest};
use crate::workload::{Fleet, JobType, Workload};
use synth_core::artifact::Findings;

pub(super) const MSFQ: NamedRule = NamedRule {
    name: "msfq",
    about: "quickswap: heavy jobs, then light ones until few are left, while heavy ones wait; one-or-all",
    parameter: Some(Parameter {
        what: "the threshold ℓ, below the number k of light jobs that fit; k − 1 if not given",
        least: 0.0,
        default: None,
        whole: true,
    }),
    settings: |fleet, l| Ok(StaticQuickswapConfig::msfq(fleet.envelope(), l)?.into()),
    ..NamedRule::PLAIN
};

pub(super) const MSFQ_STRICT: NamedRule = NamedRule {
    name: "msfq-strict",
    about: "the same to the letter of its paper: light jobs give way at the threshold even if no heavy one waits (`--family msfq-strict` takes the best ℓ)",
    settings: |fleet, l| Ok(StaticQuickswapConfig::strict_msfq(fleet.envelope(), l)?.into()),
    ..MSFQ
};

pub(super) const STATIC_QUICKSWAP: NamedRule = NamedRule {
    name: "static-quickswap",
    about: "the types in turn, each until too few are left to use its room; the next when all are done",
    settings: |fleet, _| Ok(StaticQuickswapConfig::published(fleet.envelope()).into()),
    ..NamedRule::PLAIN
};

pub(super) const ADAPTIVE_QUICKSWAP: NamedRule = NamedRule {
    name: "adaptive-quickswap",
    about: "most servers first, until a type waits in vain: then no job enters before the largest one",
    settings: |_, _| Ok(AdaptiveQuickswapConfig {}.into()),
    ..NamedRule::PLAIN
};

/// The types in a fixed cycle, one at a time, without preemption (Quickswap paper, section 4.3). On
/// a one-or-all system with the heavy type's threshold 0 it is MSFQ(ℓ), ℓ the light type's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticQuickswapConfig {
    /// All types, in the order of their turns, as indices into the workload's.
    pub cycle: Vec<usize>,
    /// ℓ_i by type, below the number of its jobs that fit: its turn is over once no more are left, all
    /// in service, and another type waits.
    pub thresholds: Vec<u32>,
    /// Whether the next type starts as soon as it fits, while the last one drains.
    pub overlap: bool,
    /// Whether a turn ends like this even if no other type waits, to the letter of the paper: then means are known exactly on
    /// one-or-all systems.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
}

impl StaticQuickswapConfig {
    /// Returns the paper's policy: the largest need (dominant share) first, of equals the first type; ℓ_i = c_i − 1.
    pub fn published(workload: &Workload) -> Self {
        let packing = Packing::new(workload);
        let threshold = |i| packing.alone(i).saturating_sub(1);
        let needs = workload.dominant_shares();
        let mut cycle: Vec<usize> = (0..needs.len()).collect();
        cycle.sort_by(|&a, &b| needs[b].total_cmp(&needs[a]));
        StaticQuickswapConfig {
            cycle,
            thresholds: (0..packing.types()).map(threshold).collect(),
            overlap: false,
            strict: false,
        }
    }

    /// Returns Most Servers First with Quickswap, MSFQ(ℓ) of the paper's section 4.2, for one-or-all systems; ℓ = k − 1
    /// where none is given, and ℓ = 0 is Most Servers First.
    ///
    /// The turn of the light jobs ends once a heavy job waits. The paper words it *strictly*: at ℓ light jobs even when
    /// none does, so that a light job that finds the system empty ends it. Both are throughput-optimal for every ℓ < k.
    ///
    /// # Errors
    /// Where the system is not one-or-all, or ℓ ≥ k.
    pub fn msfq(workload: &Workload, threshold: Option<f64>) -> Result<Self, Unsuitable> {
        let OneOrAll { light, servers, .. } = OneOrAll::new(workload)?;
        let most = servers - 1;
        let threshold = threshold.unwrap_or(most.into());
        if threshold > most.into() {
            return Err(Unsuitable(format!(
                "its threshold ℓ is from 0 to {most} here, and not {threshold}"
            )));
        }
        let mut policy = StaticQuickswapConfig::published(workload);
        policy.thresholds[light] = threshold as u32;
        Ok(policy)
    }

    /// Returns the same to the letter of the paper.
    ///
    /// # Errors
    /// As [`StaticQuickswapConfig::msfq`].
    pub fn strict_msfq(workload: &Workload, threshold: Option<f64>) -> Result<Self, Unsuitable> {
        Ok(StaticQuickswapConfig {
            strict: true,
            ..Self::msfq(workload, threshold)?
        })
    }

    /// Returns the one-or-all system on which it is strict MSFQ(ℓ), and ℓ; `None` where it is not.
    pub fn as_strict_msfq(&self, workload: &Workload) -> Option<(OneOrAll, u32)> {
        let system = OneOrAll::new(workload).ok()?;
        let is_one = self.strict && !self.overlap && self.thresholds[system.heavy] == 0;
        is_one.then(|| (system, self.thresholds[system.light]))
    }
}

/// The most types whose turns are listed one by one.
const LISTED: usize = 5;

impl PolicyConfig for StaticQuickswapConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(StaticQuickswap::new(self, fleet.envelope()))
    }

    fn words(&self, workload: &Workload) -> String {
        let turn = |i: &usize| {
            let name = workload.types()[*i].name();
            format!("{name} ({})", self.thresholds[*i])
        };
        let turns: Vec<String> = self.cycle.iter().map(turn).collect();
        let next = if self.overlap {
            "as soon as it fits, while the last one drains"
        } else {
            "when the last one has drained"
        };
        let others = if self.strict {
            "whether or not another type waits"
        } else {
            "and another type waits"
        };
        format!(
            "Static Quickswap, without preemption: the types have their turns in the order {}. A turn ends when no more jobs of the type are left than its threshold (in brackets), all in service, {others}; the next type starts {next}.",
            turns.join(", ")
        )
    }

    /// Each type has its turn, and thresholds are below the number of jobs that fit: no more are in
    /// service, and a turn that ends with jobs waiting would not end.
    fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        let workload = fleet.envelope();
        let (types, thresholds) = (workload.types(), &self.thresholds);
        findings.permutation("cycle", &self.cycle, types.len(), "job type");
        findings.length("thresholds", thresholds.len(), types.len(), "job type");
        let packing = Packing::new(workload);
        for (i, (kind, threshold)) in types.iter().zip(thresholds).enumerate() {
            let most = packing.alone(i);
            if *threshold >= most {
                let name = kind.name();
                let expected = format!("less than {most}: so many jobs of type `{name}` fit");
                findings.differs(format!("thresholds[{i}]"), threshold, expected);
            }
        }
    }

    fn is_proved_stable(&self, workload: &Workload) -> bool {
        !self.overlap && time_of_turns(workload) < 1.0
    }

    fn knobs_in_words(&self, workload: &Workload) -> Option<String> {
        let published = StaticQuickswapConfig {
            overlap: self.overlap,
            strict: self.strict,
            ..StaticQuickswapConfig::published(workload)
        };
        let turn = |i: &usize| {
            let name = workload.types()[*i].name();
            format!("{name} ℓ = {}", self.thresholds[*i])
        };
        let turns = if *self == published {
            "as published".into()
        } else if self.cycle.len() <= LISTED {
            self.cycle.iter().map(turn).collect::<Vec<_>>().join(", ")
        } else {
            "other thresholds or turns than published".into()
        };
        let strict = if self.strict { ", strict" } else { "" };
        let overlap = if self.overlap { ", overlapping" } else { "" };
        Some(turns + overlap + strict)
    }

    fn other_axes(&self, context: &TuningContext<'_>) -> usize {
        1 + context.several.len() + self.cycle.len()
    }

    /// Overlap, all thresholds together, each of them, each two turns that follow each other.
    fn step(&mut self, axis: usize, up: bool, context: &TuningContext<'_>) -> Option<()> {
        let before = self.clone();
        let turned = |i: usize, l: u32| {
            if up {
                (2 * l + 1).min(context.most[i] - 1)
            } else {
                l / 2
            }
        };
        match axis {
            0 => self.overlap = up,
            1 => {
                let thresholds = self.thresholds.iter_mut().enumerate();
                thresholds.for_each(|(i, l)| *l = turned(i, *l));
            }
            axis if axis - 2 < context.several.len() => {
                let i = context.several[axis - 2];
                self.thresholds[i] = turned(i, self.thresholds[i]);
            }
            // A cycle of two has one order.
            axis if up && self.cycle.len() > 2 => {
                let place = axis - 2 - context.several.len();
                self.cycle.swap(place, place + 1);
            }
            _ => return None,
        }
        (*self != before).then_some(())
    }
}

no_settings! {
    /// Adaptive Quickswap.
    AdaptiveQuickswapConfig;
}

impl PolicyConfig for AdaptiveQuickswapConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(AdaptiveQuickswap::new(fleet.envelope()))
    }

    fn words(&self, _: &Workload) -> String {
        "Adaptive Quickswap, without preemption: the largest jobs first, until others wait in vain."
            .into()
    }

    fn added_work(&self, _: &Workload) -> f64 {
        0.1
    }
}

/// Static Quickswap, without preemption: the types in a fixed cycle, one at a time.
///
/// In its working phase only type i is admitted, as many as fit, until no more than ℓ_i of its jobs
/// are in the system, all in service, and a job of another type waits; then those in service
/// finish, and it is the turn of the next type in the cycle that has a waiting job. With *overlap*
/// that type starts as soon as it fits, while the last one drains.
///
/// With c_i the number of type i that fits, `Σ_i λ_i/(μ_i c_i) < 1` suffices for stability, without
/// overlap and for all ℓ_i < c_i.
///
/// Source: Chen, Grosof, Berg, "Improving Nonpreemptive Multiserver Job Scheduling with Quickswap",
/// 2025, section 4.3, with ℓ_i = c_i − 1 and one resource; thresholds below that, and several
/// resources, are ours, and so is that a type continues while no other job waits. O(K) a decision.
#[derive(Clone, Debug)]
pub struct StaticQuickswap {
    policy: StaticQuickswapConfig,
    /// The type whose turn it is: a place in the cycle.
    turn: usize,
    draining: bool,
    /// By type: the dominant share of the server.
    shares: Vec<f64>,
}

impl StaticQuickswap {
    /// With this cycle, thresholds and overlap.
    pub fn new(policy: &StaticQuickswapConfig, workload: &Workload) -> Self {
        StaticQuickswap {
            shares: workload.dominant_shares(),
            policy: policy.clone(),
            turn: 0,
            draining: false,
        }
    }

    /// Returns the next place in the cycle of a type with a waiting job, the present one last.
    fn next(&self, system: &System) -> Option<usize> {
        let cycle = &self.policy.cycle;
        let mut places = (1..=cycle.len()).map(|step| (self.turn + step) % cycle.len());
        places.find(|place| system.waiting(cycle[*place]) > 0)
    }

    fn turn_is_over(&self, i: usize, system: &System) -> bool {
        system.waiting(i) == 0
            && system.present(i) <= self.policy.thresholds[i].into()
            && (self.policy.strict || system.queued().next().is_some())
    }
}

/// `Σ_i λ_i/(μ_i c_i)`, c_i the number of type i that fits: below 1 Static Quickswap without overlap is
/// stable (Quickswap paper, section 4.3).
pub fn time_of_turns(workload: &Workload) -> f64 {
    let packing = Packing::new(workload);
    let types = workload.types().iter().enumerate();
    let turn = |(i, kind): (usize, &JobType)| kind.offered_load() / f64::from(packing.alone(i));
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
                // The jobs that the drain was for may have been withdrawn.
                let Some(next) = self.next(system) else {
                    return;
                };
                self.turn = next;
            } else {
                while system.waiting(i) > 0 && system.fits(i) {
                    system.start(i);
                }
                if !self.turn_is_over(i, system) {
                    return;
                }
                self.draining = true;
            }
        }
    }
    fn doing(&self, names: &[&str], system: &System) -> Option<String> {
        let i = self.policy.cycle[self.turn];
        let name = names[i];
        Some(match (self.draining, self.policy.overlap) {
            (false, _) => format!(
                "it is the turn of {name}, as long as one of them waits or more than {} are there{}; {} run",
                self.policy.thresholds[i],
                if self.policy.strict {
                    ""
                } else {
                    ", or nobody else waits"
                },
                system.running(i)
            ),
            (true, false) => format!(
                "the turn of {name} is over, and the {} that run finish first",
                system.running(i)
            ),
            (true, true) => format!("the turn of {name} is over"),
        })
    }

    /// It is the turn of the type whose running jobs fill most, by dominant share.
    fn resume(&mut self, system: &mut System) {
        let fills = |i: &usize| self.shares[*i] * f64::from(system.running(*i));
        let fills: Vec<f64> = self.policy.cycle.iter().map(fills).collect();
        self.turn = largest(&fills);
        self.react(Event::Clock(usize::MAX), system);
    }
}

/// Adaptive Quickswap, without preemption: Most Servers First, until jobs of a type wait of which
/// none is in service, while no type in service has a waiting job. Then no job starts but the waiting
/// job with the largest need, determined at each event; once it runs, Most Servers First goes on.
///
/// It has no guarantee of stability. With several resources need is the dominant share
/// `max_j D_ij / P_j`, of equals the oldest: the paper has one.
///
/// Source: Chen, Grosof, Berg, "Improving Nonpreemptive Multiserver Job Scheduling with Quickswap",
/// 2025, section 4.3. O(K) a decision.
#[derive(Clone, Debug)]
pub struct AdaptiveQuickswap {
    needs: Greedy,
    draining: bool,
}

impl AdaptiveQuickswap {
    /// The rule for this workload.
    pub fn new(workload: &Workload) -> Self {
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
        self.draining = is_stuck(system);
    }

    fn doing(&self, names: &[&str], system: &System) -> Option<String> {
        let largest = self.needs.order.first(system).filter(|_| self.draining)?;
        Some(format!(
            "room is made for the largest waiting job, of {}: until it starts no other does",
            names[largest]
        ))
    }
}

/// Whether a type waits of which none runs, and no type that runs has a waiting job.
fn is_stuck(system: &System) -> bool {
    let mut queued = system.queued().peekable();
    queued.peek().is_some() && queued.all(|i| system.running(i) == 0)
}
