//! The choice among rules over all servers of a fleet.

use super::decision::{Field, decide};
use super::evaluator::{Evaluator, Guard};
use super::ladder::CLOSE;
use super::{Basis, ChoiceError, ChoiceOptions, Families, Stage, record};
use crate::multiresource::artifact::{
    self, Claim, Family, Objective, Order, Placement, PooledEasyPolicy, PooledPolicy, Simulation,
    Zone,
};
use crate::multiresource::policy::KnobRange;
use crate::multiresource::schedule::Packing;
use crate::multiresource::synthesis::{Choice, Partitioned};
use crate::multiresource::workload::{Fleet, Shape};

/// The rule that was chosen.
#[derive(Debug)]
pub struct PooledChosen {
    /// The rule, under guard where there is one.
    pub policy: Family,
    /// What speaks for it.
    pub basis: Basis,
    /// Whether an interrupt or a time limit ended the choice.
    pub is_cut: bool,
    /// How it was chosen; none where only its proof speaks for it.
    pub choice: Option<Choice>,
    /// What was simulated and may be claimed of it.
    pub claims: Vec<Claim>,
    /// The run that these come from.
    pub simulation: Option<Simulation>,
    /// Why nothing that was simulated is claimed of it.
    pub unclaimed: Option<String>,
    /// What was not considered, and why.
    pub skipped: Vec<String>,
}

/// Chooses a rule over all servers of a fleet. What is given as a partition takes over where jobs pile up.
///
/// # Errors
/// As [`super::choose`].
pub fn choose_pooled(
    fleet: &Fleet,
    objective: Objective,
    choice: &ChoiceOptions,
    partition: Option<&Partitioned>,
    mut progress: impl FnMut(Stage),
) -> Result<PooledChosen, ChoiceError> {
    if let Some(chosen) = by_analysis(fleet, objective, choice, partition) {
        return Ok(chosen);
    }
    let workload = fleet.envelope();
    let guard = partition.filter(|_| workload.is_poisson());
    let guards = guard.into_iter().map(|own| Guard {
        policy: artifact::Guard::Partition(own.policy.clone()),
        mean_number: own.mean_number(fleet),
    });
    let mut evaluator = Evaluator::new(fleet, objective, choice, guards.collect());
    let knobs = KnobRange {
        servers: fleet.shapes().iter().map(Shape::count).collect(),
        ..KnobRange::new(workload, f64::INFINITY)
    };
    let field = Field {
        starts: starts(fleet, &choice.families, partition),
        // What people run now.
        rivals: vec![PooledPolicy::plain(Order::Oldest, Placement::First).into()],
    };
    let decision = decide(&mut evaluator, choice, field, &knobs, &mut progress)?;
    let (run, unclaimed) = decision.description(&evaluator);
    let claimed = run.filter(|_| unclaimed.is_none());
    Ok(PooledChosen {
        claims: claimed
            .iter()
            .flat_map(|run| record::simulated(run, objective, workload))
            .collect(),
        simulation: claimed.map(record::simulation),
        choice: Some(record::choice(&evaluator, choice, &decision)),
        policy: decision.taken().policy.clone(),
        basis: decision.basis,
        is_cut: evaluator.is_cut,
        unclaimed,
        skipped: Vec::new(),
    })
}

/// The partition, where no rule can be better by what is worth the trouble: jobs stay for as long as they run, at least.
fn by_analysis(
    fleet: &Fleet,
    objective: Objective,
    choice: &ChoiceOptions,
    partition: Option<&Partitioned>,
) -> Option<PooledChosen> {
    let (partition, workload) = (partition?, fleet.envelope());
    let policy = Family::from(partition.policy.clone());
    if !choice.promises.is_empty()
        || choice.families != Families::All
        || !policy.is_proved_stable(workload)
    {
        return None;
    }
    let weights: Vec<f64> = match objective {
        Objective::Mean => vec![1.0; fleet.types().len()],
        Objective::Weighted => {
            let shares = workload.load_shares().into_iter().zip(fleet.types());
            shares.map(|(share, t)| share / t.arrival_rate()).collect()
        }
        Objective::P99 => return None,
    };
    let sum = |numbers: &mut dyn Iterator<Item = f64>| -> f64 {
        numbers
            .zip(&weights)
            .map(|(number, weight)| number * weight)
            .sum()
    };
    let found = sum(&mut partition.numbers.as_ref()?.iter().copied());
    let least = sum(&mut fleet.types().iter().map(|t| t.offered_load()));
    let above = found / least - 1.0;
    (above <= CLOSE).then(|| PooledChosen {
        policy,
        basis: Basis::Analysis,
        is_cut: false,
        choice: None,
        claims: Vec::new(),
        simulation: None,
        unclaimed: None,
        skipped: vec![format!(
            "rules that would have to be simulated: jobs of the partition stay {:.2} % longer than they run, and no rule can have less than 0",
            100.0 * above
        )],
    })
}

/// Rules in common use, and those that keep room.
fn starts(fleet: &Fleet, families: &Families, partition: Option<&Partitioned>) -> Vec<Family> {
    if let Families::Fixed(policy) = families {
        return vec![(**policy).clone()];
    }
    let keeping = |order, reserve| PooledPolicy {
        order,
        placement: Placement::Best,
        reserve,
        zone: None,
    };
    let mut starts: Vec<Family> = [
        PooledPolicy::plain(Order::Oldest, Placement::First),
        PooledPolicy::plain(Order::Oldest, Placement::Best),
        PooledPolicy::plain(Order::Largest, Placement::Best),
        PooledPolicy::plain(Order::Smallest, Placement::Best),
        PooledPolicy::plain(Order::Fcfs, Placement::Best),
        keeping(Order::Oldest, 0.7),
        keeping(Order::Oldest, 1.0),
        keeping(Order::Oldest, 1.3),
        keeping(Order::Oldest, 1.5),
        keeping(Order::Largest, 0.85),
    ]
    .map(Family::from)
    .into();
    for zone in zones(fleet) {
        for (order, reserve) in [(Order::Oldest, 0.0), (Order::Largest, 0.0)] {
            let zone = Some(zone.clone());
            starts.push(
                PooledPolicy {
                    zone,
                    ..keeping(order, reserve)
                }
                .into(),
            );
        }
    }
    starts.push(PooledEasyPolicy { limits: false }.into());
    if fleet.envelope().has_limits() {
        starts.push(PooledEasyPolicy { limits: true }.into());
    }
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
