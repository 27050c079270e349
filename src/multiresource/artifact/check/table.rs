//! A knapsack that needs no search: some resources are kept whole, the others priced, and the best
//! worth is found room by room.

use crate::multiresource::artifact::RelaxedRecord;
use crate::multiresource::schedule::Packing;

/// Rooms times types that are worked through at most.
const WORK: usize = 50_000_000;

/// A table of what fits into each room at most, at these values (K) of running jobs; `None` where
/// rooms are too many, or something of value takes nothing that is kept whole.
///
/// `max_u Σ_i (v_i − w·D_i) u_i + w·P` over the u that fit in the resources kept, by the worth of
/// each room: that of the best job to put in, and of the room that then is left.
pub(super) fn fill<'a>(
    packing: &Packing,
    relaxed: &'a RelaxedRecord,
    values: &[f64],
) -> Option<Filled<'a>> {
    let RelaxedRecord { whole, prices } = relaxed;
    let priced = |units: &[u64]| -> f64 {
        let pairs = units.iter().zip(prices).enumerate();
        let rest = pairs.filter(|(j, _)| !whole.contains(j));
        rest.map(|(_, (d, w))| *d as f64 * w).sum()
    };
    let kept = |units: &[u64]| -> Vec<u64> { whole.iter().map(|&j| units[j]).collect() };
    let jobs: Vec<(Vec<u64>, f64)> = (0..values.len())
        .map(|i| {
            (
                kept(packing.demand(i)),
                values[i] - priced(packing.demand(i)),
            )
        })
        .filter(|(_, worth)| *worth > 0.0)
        .collect();
    let capacity: Vec<u64> = kept(packing.capacity());
    let rooms = capacity.iter().try_fold(1_usize, |rooms, units| {
        rooms.checked_mul(usize::try_from(*units).ok()?.checked_add(1)?)
    })?;
    let is_small = rooms.checked_mul(jobs.len().max(1))? <= WORK;
    if !is_small || jobs.iter().any(|(taken, _)| taken.iter().all(|d| *d == 0)) {
        return None;
    }
    // A room's place: the last resource counts single, the first by the product of all others.
    let place = |room: &[u64]| -> usize {
        let pairs = room.iter().zip(&capacity);
        pairs.fold(0, |place, (units, all)| {
            place * (*all as usize + 1) + *units as usize
        })
    };
    let steps: Vec<usize> = jobs.iter().map(|(taken, _)| place(taken)).collect();
    let mut worth = vec![0.0_f64; rooms];
    let mut room = vec![0; capacity.len()];
    for at in 1..rooms {
        // One unit more, with carry.
        for (units, all) in room.iter_mut().zip(&capacity).rev() {
            *units = if *units == *all { 0 } else { *units + 1 };
            if *units > 0 {
                break;
            }
        }
        let fits = |taken: &[u64]| taken.iter().zip(&room).all(|(d, r)| d <= r);
        let pairs = jobs.iter().zip(&steps);
        let fitting = pairs.filter(|((taken, _), _)| fits(taken));
        worth[at] = fitting
            .map(|((_, value), step)| value + worth[at - step])
            .fold(0.0, f64::max);
    }
    Some(Filled {
        relaxed,
        capacity,
        worth,
    })
}

/// The worth of each room of what is kept whole.
pub(super) struct Filled<'a> {
    relaxed: &'a RelaxedRecord,
    capacity: Vec<u64>,
    worth: Vec<f64>,
}

impl Filled<'_> {
    /// No jobs that fit into this room (R) are worth more.
    pub fn bound(&self, room: &[u64]) -> f64 {
        let RelaxedRecord { whole, prices } = self.relaxed;
        let pairs = whole.iter().zip(&self.capacity);
        let place = pairs.fold(0, |place, (&j, all)| {
            place * (*all as usize + 1) + room[j] as usize
        });
        let rest = room.iter().zip(prices).enumerate();
        let rest = rest.filter(|(j, _)| !whole.contains(j));
        self.worth[place] + rest.map(|(_, (r, w))| *r as f64 * w).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::multiresource::schedule::{Schedule, enumerate};
    use crate::multiresource::workload::Workload;

    /// With all resources kept it is the best of all schedules, and with fewer no less.
    #[test]
    fn agrees_with_enumeration() {
        let path = format!("{}/models/section7.yaml", env!("CARGO_MANIFEST_DIR"));
        let packing = Packing::new(&Workload::read(path.as_ref()).unwrap().workload);
        let all = enumerate(&packing, 1000).schedules;
        let resources = packing.capacity().len();
        for n in 0_u32..100 {
            let values = [n % 5 + 1, n / 5 % 5 + 1, n / 25 + 1].map(f64::from);
            let worth = |u: &Schedule| -> f64 {
                let jobs = u.iter().zip(values);
                jobs.map(|(u, v)| f64::from(*u) * v).sum()
            };
            let best = all.iter().map(worth).fold(0.0, f64::max);
            let ask = |whole: Vec<usize>, price: f64| {
                let prices = vec![price; resources];
                let relaxed = RelaxedRecord { whole, prices };
                let filled = fill(&packing, &relaxed, &values).unwrap();
                filled.bound(packing.capacity())
            };
            assert_eq!(ask((0..resources).collect(), 0.5), best);
            for j in 0..resources {
                assert!(ask(vec![j], 0.05) >= best - 1e-12, "{j}");
            }
        }
    }
}
