//! The choice among rules over all servers of a fleet.

use std::collections::HashMap;
use std::sync::Arc;

use super::budget::worked;
use super::course::{Course, Guard};
use super::finals::{self, Entrant};
use super::{
    CLAIMS, CLOSE, ChoiceError, ChoiceOptions, End, Families, Stage, TUNING, record, search,
};
use crate::multiresource::artifact::{
    self, Choice, Claim, Family, Objective, Order, Placement, PooledEasyPolicy, PooledPolicy, Zone,
};
use crate::multiresource::policy::{KnobRange, is_proved_stable};
use crate::multiresource::schedule::Packing;
use crate::multiresource::synthesis::Partitioned;
use crate::multiresource::workload::{Fleet, Shape};

/// The rule that was chosen.
#[derive(Debug)]
pub struct PooledChosen {
    /// The rule, under guard where there is one.
    pub policy: Family,
    /// How it was chosen; none where only its proof speaks for it.
    pub choice: Option<Choice>,
    /// What was simulated and may be claimed of it.
    pub claims: Vec<Claim>,
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
    let mut course = Course {
        workload,
        fleet: Some(fleet),
        is_stressed: false,
        close: choice.good_enough.unwrap_or(CLOSE),
        objective,
        promises: &choice.promises,
        most_uneven: choice.max_slowdown_ratio.unwrap_or(f64::INFINITY),
        seed: choice.seed.wrapping_add(1),
        guards: guard
            .into_iter()
            .map(|own| Guard {
                policy: artifact::Guard::Partition(own.policy.clone()),
                mean_number: own.mean_number(fleet),
            })
            .collect(),
        interrupt: Arc::clone(&choice.interrupt),
        budget: choice.budget.units(),
        spent: 0,
        begun: worked(),
        most: choice.budget.most(),
        pace: choice.budget.pace(),
        charges: HashMap::new(),
        events: 0,
    };
    let knobs = KnobRange {
        servers: fleet.shapes().iter().map(Shape::count).collect(),
        ..KnobRange::new(workload, f64::INFINITY)
    };
    let share = (TUNING * course.left() as f64) as u64;
    let starts = starts(fleet, &choice.families, partition);
    let found = search::tune(&mut course, &knobs, starts, share, &mut progress)?;
    let mut entrants: Vec<Entrant> = found
        .into_iter()
        .map(|t| Entrant::new(t.policy, t.tried))
        .collect();
    course.seed = choice.seed;
    let behind = finals::too_many(&mut course, &mut entrants);
    let skipped = behind.iter().map(|entrant| {
        let name = entrant.name;
        format!("{name}: behind in short runs, and not enough events are left for longer ones; more with --budget")
    });
    let mut skipped: Vec<String> = skipped.collect();
    // What people run now is there for comparison, at least.
    let first_fit = PooledPolicy::plain(Order::Oldest, Placement::First).into();
    if entrants.iter().all(|entrant| entrant.policy != first_fit) {
        entrants.push(Entrant::rival(first_fit));
    }
    let kept = (course.left() as f64 * CLAIMS) as u64;
    course.budget -= kept;
    let first = finals::rounds(&mut course, &mut entrants, &mut progress)?;
    course.budget += kept;
    if let Some(first) = first.filter(|_| !course.interrupted()) {
        finals::measure(&mut course, &mut entrants[first], None)?;
    }
    if course.interrupted() {
        return Err(ChoiceError::Interrupted);
    }
    let Some(end) = End::of(&course, choice, entrants, first)? else {
        let none = ChoiceError::NoneSettles(choice.budget);
        return by_proof(choice, partition, skipped).ok_or(none);
    };
    skipped.extend(course.told_late());
    let policy = end.standing.order[0].policy.clone();
    let claimed = end.run.iter().filter(|_| end.unclaimed.is_none());
    Ok(PooledChosen {
        claims: claimed
            .flat_map(|run| record::simulated(run, objective, workload))
            .collect(),
        choice: Some(record::choice(&course, choice, &end.standing, None)),
        policy,
        unclaimed: end.unclaimed,
        skipped,
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
    let bound = !choice.promises.is_empty() || choice.max_slowdown_ratio.is_some();
    if bound || choice.families != Families::All || !is_proved_stable(&policy, workload) {
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
    (above <= choice.good_enough.unwrap_or(CLOSE)).then(|| PooledChosen {
        policy,
        choice: None,
        claims: Vec::new(),
        unclaimed: None,
        skipped: vec![format!(
            "rules that would have to be simulated: jobs of the partition stay {:.2} % longer than they run, and no rule can have less than 0",
            100.0 * above
        )],
    })
}

/// Where nothing that was simulated tells anything: the partition, if there is one.
fn by_proof(
    choice: &ChoiceOptions,
    partition: Option<&Partitioned>,
    mut skipped: Vec<String>,
) -> Option<PooledChosen> {
    let partition = partition.filter(|_| choice.families == Families::All)?;
    skipped.push(format!(
        "all but the partition: within a budget of {} none was seen to settle, and of this one stability is proved; more with --budget",
        choice.budget
    ));
    Some(PooledChosen {
        policy: partition.policy.clone().into(),
        choice: None,
        claims: Vec::new(),
        unclaimed: Some("nothing was seen to settle".into()),
        skipped,
    })
}

/// Rules in common use, and those that keep room.
fn starts(fleet: &Fleet, families: &Families, partition: Option<&Partitioned>) -> Vec<Family> {
    if let Families::Given(policy) = families {
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
