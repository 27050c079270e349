use super::enumeration::visit_schedules;
use super::{Packing, Schedule};

/// All maximal schedules in lexicographic order, if there are at most `most` of them and they are
/// found among `visits` candidates: schedules that have no room for the last type.
pub fn maximal(packing: &Packing, most: usize, mut visits: usize) -> Option<Vec<Schedule>> {
    let mut found = Vec::new();
    let complete = visit_schedules(packing, true, |schedule, room| {
        if visits == 0 {
            return false;
        }
        visits -= 1;
        if (0..packing.types()).all(|i| packing.most(i, room) == 0) {
            found.push(schedule.to_vec());
        }
        found.len() <= most
    });
    complete.then_some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::multiresource::schedule::enumerate;
    use crate::multiresource::workload::Workload;

    fn packing(model: &str) -> Packing {
        let path = format!("{}/models/{model}.yaml", env!("CARGO_MANIFEST_DIR"));
        Packing::new(&Workload::read(path.as_ref()).unwrap().workload)
    }

    #[test]
    fn agrees_with_the_enumeration_of_all_schedules() {
        for model in ["section7", "four_types", "one_or_all", "vms"] {
            let packing = packing(model);
            let mut all = enumerate(&packing, 1_000_000).schedules;
            all.retain(|u| packing.is_maximal(u));
            assert_eq!(maximal(&packing, 1000, 100_000), Some(all), "{model}");
        }
    }

    #[test]
    fn too_many_are_none() {
        assert_eq!(maximal(&packing("vms"), 407, 100_000), None);
        assert_eq!(maximal(&packing("vms"), 1000, 100), None);
    }
}
