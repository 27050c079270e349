use super::{Packing, Schedule};

/// All maximal schedules in lexicographic order, if there are at most `most` of them and they are
/// found among `visits` candidates.
///
/// A candidate is a schedule that the last type has no room in; there are far fewer of them than
/// schedules.
pub fn maximal(packing: &Packing, most: usize, visits: usize) -> Option<Vec<Schedule>> {
    let mut search = Search {
        packing,
        most,
        visits,
        schedule: vec![0; packing.types()],
        found: Vec::new(),
    };
    let complete = search.visit(0, packing.capacity());
    complete.then_some(search.found)
}

struct Search<'a> {
    packing: &'a Packing,
    most: usize,
    visits: usize,
    schedule: Schedule,
    found: Vec<Schedule>,
}

impl Search<'_> {
    /// Visits all counts of type `i` and of those after it; `false` when there are too many.
    fn visit(&mut self, i: usize, room: &[u64]) -> bool {
        let most = self.packing.most(i, room);
        let last = i + 1 == self.packing.types();
        for count in if last { most } else { 0 }..=most {
            let mut left = room.to_vec();
            self.packing.take(i, count, &mut left);
            self.schedule[i] = count;
            let goes_on = match last {
                true => self.candidate(&left),
                false => self.visit(i + 1, &left),
            };
            if !goes_on {
                return false;
            }
        }
        true
    }

    fn candidate(&mut self, room: &[u64]) -> bool {
        if self.visits == 0 {
            return false;
        }
        self.visits -= 1;
        if (0..self.packing.types()).all(|i| self.packing.most(i, room) == 0) {
            self.found.push(self.schedule.clone());
        }
        self.found.len() <= self.most
    }
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
