use super::{Packing, Schedule};

/// The schedulable set, or the part of it within the budget.
#[derive(Clone, Debug)]
pub struct Enumeration {
    /// The schedules in lexicographic order, the empty one first.
    pub schedules: Vec<Schedule>,
    /// Whether these are all; `false` if the budget was exhausted.
    pub complete: bool,
}

/// Returns the schedules in `S`, but stops after `budget` of them: ten cloud instance shapes on a
/// host with 96 cores have 4·10⁷ schedules.
pub fn enumerate(packing: &Packing, budget: usize) -> Enumeration {
    let mut schedules = Vec::new();
    let empty = &mut Vec::new();
    let complete = visit_schedules(packing, false, empty, packing.capacity(), &mut |u, _| {
        let is_affordable = schedules.len() < budget;
        schedules.extend(is_affordable.then(|| u.to_vec()));
        is_affordable
    });
    Enumeration {
        schedules,
        complete,
    }
}

/// Returns all maximal schedules in lexicographic order, or `None` if there are more than `most`,
/// or more than `visits` schedules are visited.
pub fn maximal(packing: &Packing, most: usize, mut visits: usize) -> Option<Vec<Schedule>> {
    let mut found = Vec::new();
    let empty = &mut Vec::new();
    let complete = visit_schedules(packing, true, empty, packing.capacity(), &mut |u, free| {
        if visits == 0 {
            return false;
        }
        visits -= 1;
        if (0..packing.types()).all(|i| packing.max_jobs_in(i, free) == 0) {
            found.push(u.to_vec());
        }
        found.len() <= most
    });
    complete.then_some(found)
}

/// Calls `visit` with each schedule that begins with the counts in `begun`, and with its free
/// capacity, in lexicographic order until it returns `false`; returns whether this never happened.
/// If `filled` is set, only schedules without space for the last type are visited, which include
/// all maximal ones.
fn visit_schedules(
    packing: &Packing,
    filled: bool,
    begun: &mut Schedule,
    free: &[u64],
    visit: &mut impl FnMut(&[u32], &[u64]) -> bool,
) -> bool {
    let i = begun.len();
    if i == packing.types() {
        return visit(begun, free);
    }
    let most = packing.max_jobs_in(i, free);
    let is_last = i + 1 == packing.types();
    let mut counts = if filled && is_last { most } else { 0 }..=most;
    counts.all(|count| {
        let mut left = free.to_vec();
        packing.take(i, count, &mut left);
        begun.push(count);
        let goes_on = visit_schedules(packing, filled, begun, &left, visit);
        begun.pop();
        goes_on
    })
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

    /// The numbers are given in appendix J and in section 7 of the MSR paper.
    #[test]
    fn counts_of_schedulable_sets() {
        for (name, schedules, maximal) in [("vms", 10_901, 408), ("section7", 20, 7)] {
            let packing = Packing::new(&model(name));
            let all = enumerate(&packing, 1_000_000);
            assert!(all.complete);
            let found = all.schedules.iter().filter(|u| packing.is_maximal(u));
            let found = (all.schedules.len(), found.count());
            assert_eq!(found, (schedules, maximal), "{name}");
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
