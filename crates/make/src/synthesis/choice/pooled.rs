//! From a fleet to a rule over all of its servers, whose jobs wait in one place.

use super::candidates::by_priority;
use super::chosen::{Basis, ChoiceError, ChoiceOptions, Chosen, Families, Stage};
use super::decision::decide;
use super::evaluator::{Evaluator, Guard, REPLICATIONS};
use super::ladder::CLOSE;
use super::record::artifact;
use crate::analysis::Cost;
use crate::program::Solution;
use crate::synthesis::partition::{Partitioned, partition};
use crate::synthesis::proof::solved;
use crate::synthesis::{Options, Outcome, SynthesisError};
use synth_multiresource::artifact::{
    self, Artifact, Family, Objective, Order, Placement, PooledConfig, PooledEasyConfig, Zone,
};
use synth_multiresource::policy::TuningContext;
use synth_multiresource::schedule::Packing;
use synth_multiresource::simulator::Run;
use synth_multiresource::workload::{Fleet, Shape};

/// Which rule is requested.
#[derive(Clone, Copy, Debug)]
pub enum Pooling<'a> {
    /// Slots for each type, by analysis.
    Partition,
    /// The best, by simulation.
    Chosen(&'a ChoiceOptions),
}

/// Makes a rule over all servers of a fleet; with the program's solution.
///
/// # Errors
/// When the solver fails; and where nothing can be chosen.
pub fn pool(
    fleet: &Fleet,
    options: &Options,
    pooling: Pooling<'_>,
    mut progress: impl FnMut(Stage),
) -> Result<Outcome<(Chosen, Solution)>, ChoiceError> {
    let solution = match solved(fleet, options)? {
        Outcome::Policy(solution) => *solution,
        Outcome::Overloaded(overload) => return Ok(Outcome::Overloaded(overload)),
    };
    let (slots, objective) = (partition(fleet, &solution), options.objective);
    let slots = slots.as_ref();
    let artifact = |policy: &Family, run: Option<&Run>| {
        artifact(fleet, &solution, policy, slots, (run, objective))
    };
    let own = slots.map(|own| Family::from(own.policy.clone()));
    let chosen = match (pooling, own) {
        (Pooling::Partition, None) => {
            return Err(SynthesisError::Refused("no partition of this fleet is stable: rounded to whole slots, and with the time that changes of assignments take, it does not carry this load; take --family auto, fewer jobs or more servers".into()).into());
        }
        (Pooling::Partition, Some(own)) => Chosen::new(artifact(&own, None), Basis::Given),
        (Pooling::Chosen(choice), own) => {
            match own.zip(by_analysis(fleet, objective, choice, slots)) {
                Some((own, above)) => Chosen {
                    skipped: vec![format!(
                        "rules that would have to be simulated: jobs of the partition stay {:.2} % longer than they run, and no rule can have less than 0",
                        100.0 * above
                    )],
                    ..Chosen::new(artifact(&own, None), Basis::Analysis)
                },
                None => {
                    let starts = starts(fleet, &choice.families, slots);
                    check_memory(fleet, starts.len())?;
                    let starts = (starts, slots);
                    simulated(fleet, objective, choice, starts, artifact, &mut progress)?
                }
            }
        }
    };
    Ok(Outcome::Policy(Box::new((chosen, solution))))
}

/// Refuses fleets whose simulations would take too much memory: each rule has several at once, which go on from rung to rung.
fn check_memory(fleet: &Fleet, rules: usize) -> Result<(), SynthesisError> {
    let (servers, types) = (fleet.servers(), fleet.types());
    let in_service: f64 = types.iter().map(|t| t.offered_pieces()).sum();
    // As measured, in bytes.
    let each = servers as f64 * (48 + 16 * types.len()) as f64 + 96.0 * in_service;
    let needed = each * f64::from(REPLICATIONS) * (rules + 1) as f64 / f64::from(1 << 30);
    if needed <= 1.0 {
        return Ok(());
    }
    Err(SynthesisError::Refused(format!(
        "to compare {} rules by simulation on {servers} servers would take about {needed:.1} GiB of memory, and 1 GiB is allowed: describe a smaller fleet, with the counts of servers and the arrival rates divided by {:.0}; or choose one rule with --family, such as --family partition, which is analysed without a simulation",
        rules + 1,
        needed.ceil().max(2.0)
    )))
}

/// Chooses a rule by simulation. Where there is a partition it takes over where jobs pile up.
fn simulated(
    fleet: &Fleet,
    objective: Objective,
    choice: &ChoiceOptions,
    (starts, slots): (Vec<Family>, Option<&Partitioned>),
    artifact: impl Fn(&Family, Option<&Run>) -> Artifact,
    progress: &mut dyn FnMut(Stage),
) -> Result<Chosen, ChoiceError> {
    let guards = slots
        .filter(|_| fleet.envelope().is_poisson() && !choice.families.are_fixed())
        .map(|own| Guard {
            policy: artifact::Guard::Partition(own.policy.clone()),
            mean_number: own.mean_number(fleet),
        });
    let guards = guards.into_iter().collect();
    let mut evaluator = Evaluator::new(fleet, objective, choice, guards, progress);
    let context = TuningContext {
        servers: fleet.shapes().iter().map(Shape::count).collect(),
        ..TuningContext::new(fleet.envelope(), f64::INFINITY)
    };
    // What people run now.
    let rivals = vec![PooledConfig::plain(Order::Oldest, Placement::First).into()];
    decide(&mut evaluator, starts, rivals, &context, |policy, run| {
        Ok(artifact(policy, run))
    })
}

/// Returns how much longer than they run the jobs of the partition stay, relatively, where no rule can be better by what is
/// worth the trouble: jobs stay for as long as they run, at least.
fn by_analysis(
    fleet: &Fleet,
    objective: Objective,
    choice: &ChoiceOptions,
    partition: Option<&Partitioned>,
) -> Option<f64> {
    let (partition, workload) = (partition?, fleet.envelope());
    let policy = Family::from(partition.policy.clone());
    if !choice.promises.is_empty()
        || choice.families != Families::All
        || objective == Objective::P99
        || !policy.is_proved_stable(workload)
    {
        return None;
    }
    let value = |numbers| Cost { numbers }.value(workload, objective);
    let least = fleet.types().iter().map(|t| t.offered_load()).collect();
    let above = value(partition.numbers.clone()?) / value(least) - 1.0;
    (above <= CLOSE).then_some(above)
}

/// Rules in common use, and those that keep room.
fn starts(fleet: &Fleet, families: &Families, partition: Option<&Partitioned>) -> Vec<Family> {
    if let Families::Fixed(policy) = families {
        return vec![(**policy).clone()];
    }
    let keeping = |order, reserve| PooledConfig {
        order,
        placement: Placement::Best,
        reserve,
        zone: None,
    };
    let mut starts: Vec<Family> = [
        PooledConfig::plain(Order::Oldest, Placement::First),
        PooledConfig::plain(Order::Oldest, Placement::Best),
        PooledConfig::plain(Order::Largest, Placement::Best),
        PooledConfig::plain(Order::Smallest, Placement::Best),
        PooledConfig::plain(Order::Fcfs, Placement::Best),
        keeping(Order::Oldest, 0.7),
        keeping(Order::Oldest, 1.0),
        keeping(Order::Oldest, 1.3),
        keeping(Order::Oldest, 1.5),
        keeping(Order::Largest, 0.85),
    ]
    .map(Family::from)
    .into();
    for zone in zones(fleet) {
        let with_zone = |order| PooledConfig {
            zone: Some(zone.clone()),
            ..keeping(order, 0.0)
        };
        starts.extend([Order::Oldest, Order::Largest].map(|order| with_zone(order).into()));
    }
    starts.push(PooledEasyConfig { limits: false }.into());
    if fleet.envelope().has_limits() {
        starts.push(PooledEasyConfig { limits: true }.into());
    }
    starts.extend(by_priority(fleet.envelope(), Some(Placement::Best)));
    let exact = partition.filter(|own| own.numbers.is_some());
    starts.extend(exact.map(|own| own.policy.clone().into()));
    starts.retain(|policy| families.have(policy.name()));
    starts
}

/// Splits of types, by what a job of them takes of a server or of several, that are tried.
const SPLITS: usize = 3;

/// Servers over those that the work of a zone's types keeps busy.
const SPARE: f64 = 1.1;

/// Zones for the types that take most at once, where others are longer: on the shape that has room for all of them on
/// most servers, with a few more than their work keeps busy.
fn zones(fleet: &Fleet) -> Vec<Zone> {
    let types = fleet.types();
    let shares = fleet.envelope().dominant_shares();
    let size = |i: usize| f64::from(types[i].nodes()) * shares[i];
    let mut descending: Vec<usize> = (0..types.len()).collect();
    descending.sort_by(|a, b| size(*b).total_cmp(&size(*a)));
    let packing = Packing::new(fleet.envelope());
    let zone = |count: usize| {
        let (kept, others) = descending.split_at(count);
        let longest = |of: &[usize]| of.iter().map(|i| types[*i].mean_size()).fold(0.0, f64::max);
        let apart = size(kept[count - 1]) > size(others[0]) && longest(others) > longest(kept);
        let fitting = |h: usize, i: usize| packing.most(i, &fleet.units(h));
        let shapes = 0..fleet.shapes().len();
        let home = shapes
            .filter(|h| kept.iter().all(|i| fitting(*h, *i) > 0))
            .max_by_key(|h| fleet.shapes()[*h].count())
            .filter(|_| apart)?;
        let busy = |i: &usize| types[*i].offered_pieces() / f64::from(fitting(home, *i));
        let busy: f64 = kept.iter().map(busy).sum();
        let mut servers = vec![0; fleet.shapes().len()];
        servers[home] = ((SPARE * busy).ceil() as u32).min(fleet.shapes()[home].count());
        Some(Zone {
            types: kept.to_vec(),
            servers,
        })
    };
    (1..types.len()).filter_map(zone).take(SPLITS).collect()
}
