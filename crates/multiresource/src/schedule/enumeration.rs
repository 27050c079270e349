use super::{Packing, Schedule};

/// The schedulable set, or the part of it within the budget.
#[derive(Clone, Debug)]
pub struct Enumeration {
    /// The schedules in lexicographic order, the empty one first.
    pub schedules: Vec<Schedule>,
    /// The number of schedules that are maximal.
    pub maximal: usize,
    /// Whether these are all; `false` if the budget was exhausted.
    pub complete: bool,
}

/// Returns the schedules in `S`, but stops after `budget` of them.
///
/// This is only useful for small systems: ten cloud instance shapes on a host with 96 cores have
/// 4·10⁷ schedules.
pub fn enumerate(packing: &Packing, budget: usize) -> Enumeration {
    let mut found = Vec::new();
    let complete = visit_schedules(packing, false, |schedule, _| {
        let is_affordable = found.len() < budget;
        found.extend(is_affordable.then(|| schedule.to_vec()));
        is_affordable
    });
    Enumeration {
        maximal: found.iter().filter(|u| packing.is_maximal(u)).count(),
        schedules: found,
        complete,
    }
}

/// Returns all maximal schedules in lexicographic order.
///
/// `None` if there are more than `max_jobs_in`, or more than `visits` schedules are visited.
pub fn maximal(packing: &Packing, most: usize, mut visits: usize) -> Option<Vec<Schedule>> {
    let mut found = Vec::new();
    let complete = visit_schedules(packing, true, |schedule, room| {
        if visits == 0 {
            return false;
        }
        visits -= 1;
        if (0..packing.types()).all(|i| packing.max_jobs_in(i, room) == 0) {
            found.push(schedule.to_vec());
        }
        found.len() <= most
    });
    complete.then_some(found)
}

/// Calls `visit` with each schedule and its free capacity in lexicographic order until it returns
/// `false`; returns whether this never happened. If `filled` is set, only schedules without space
/// for the last type are visited, which include all maximal ones.
fn visit_schedules(
    packing: &Packing,
    filled: bool,
    mut visit: impl FnMut(&[u32], &[u64]) -> bool,
) -> bool {
    let (mut schedule, room) = (vec![0; packing.types()], packing.capacity());
    visit_from(0, packing, filled, room, &mut schedule, &mut visit)
}

fn visit_from(
    i: usize,
    packing: &Packing,
    filled: bool,
    room: &[u64],
    schedule: &mut Schedule,
    visit: &mut impl FnMut(&[u32], &[u64]) -> bool,
) -> bool {
    if i == packing.types() {
        return visit(schedule, room);
    }
    let most = packing.max_jobs_in(i, room);
    let is_last = i + 1 == packing.types();
    for count in if filled && is_last { most } else { 0 }..=most {
        let mut left = room.to_vec();
        packing.take(i, count, &mut left);
        schedule[i] = count;
        if !visit_from(i + 1, packing, filled, &left, schedule, visit) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::workload::Workload;

    fn model(name: &str) -> Workload {
        let path = format!("{}/../../models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        Workload::read(path.as_ref()).unwrap().workload
    }

    /// The numbers are given in appendix J and in section 7 of the MSR paper, from an independent
    /// enumeration.
    #[test]
    fn counts_of_schedulable_sets() {
        for (name, schedules, maximal) in [("vms", 10_901, 408), ("section7", 20, 7)] {
            let all = enumerate(&Packing::new(&model(name)), 1_000_000);
            assert!(all.complete);
            assert_eq!(
                (all.schedules.len(), all.maximal),
                (schedules, maximal),
                "{name}"
            );
        }
    }

    #[test]
    fn an_exhausted_budget_is_reported() {
        let some = enumerate(&Packing::new(&model("vms")), 100);
        assert!(!some.complete);
        assert_eq!(some.schedules.len(), 100);
    }

    #[test]
    fn maximal_means_that_nothing_more_fits() {
        let packing = Packing::new(&model("section7"));
        for schedule in enumerate(&packing, 1000).schedules {
            assert!(packing.fits(&schedule));
            let extended = (0..packing.types()).any(|i| {
                let mut more = schedule.clone();
                more[i] += 1;
                packing.fits(&more)
            });
            assert_eq!(packing.is_maximal(&schedule), !extended, "{schedule:?}");
        }
    }

    #[test]
    fn agrees_with_the_enumeration_of_all_schedules() {
        for model in ["section7", "four_types", "one_or_all", "vms"] {
            let packing = Packing::new(&self::model(model));
            let mut all = enumerate(&packing, 1_000_000).schedules;
            all.retain(|u| packing.is_maximal(u));
            assert_eq!(maximal(&packing, 1000, 100_000), Some(all), "{model}");
        }
    }

    #[test]
    fn returns_none_beyond_the_limits() {
        let vms = Packing::new(&model("vms"));
        assert_eq!(maximal(&vms, 407, 100_000), None);
        assert_eq!(maximal(&vms, 1000, 100), None);
    }
}
