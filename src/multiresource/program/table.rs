//! An integer knapsack in some of the resources, exactly, by dynamic programming: the best worth
//! for each room, in as many resources as have few enough units together.

use crate::multiresource::schedule::Schedule;

use super::Relaxed;
use super::problem::Site;

/// The resources of one site that a table is made of, most utilized first.
pub(super) struct Table<'a> {
    site: &'a Site,
    /// Resources that are kept whole.
    pub whole: Vec<usize>,
    /// The others.
    pub rest: Vec<usize>,
    /// Rooms of each resource that is kept, and the distance of neighbours in it.
    sizes: Vec<usize>,
    strides: Vec<usize>,
}

impl<'a> Table<'a> {
    /// A table of at most `rooms` entries, in the resources that this load (K) uses most.
    pub fn new(site: &'a Site, offered: &[f64], rooms: usize) -> Self {
        let capacity = site.packing.capacity();
        let utilization = site.utilization(offered);
        let mut order: Vec<usize> = (0..capacity.len()).filter(|&j| capacity[j] > 0).collect();
        order.sort_by(|&a, &b| utilization[b].total_cmp(&utilization[a]));
        let (mut whole, mut rest, mut entries) = (Vec::new(), Vec::new(), 1_usize);
        for j in order {
            let units = usize::try_from(capacity[j]).unwrap_or(usize::MAX);
            match entries.checked_mul(units.saturating_add(1)) {
                Some(more) if more <= rooms => {
                    entries = more;
                    whole.push(j);
                }
                _ => rest.push(j),
            }
        }
        let sizes: Vec<usize> = whole.iter().map(|&j| capacity[j] as usize + 1).collect();
        let mut strides = vec![1; sizes.len()];
        for d in (1..sizes.len()).rev() {
            strides[d - 1] = strides[d] * sizes[d];
        }
        Table {
            site,
            whole,
            rest,
            sizes,
            strides,
        }
    }

    /// The site's capacity, one entry a resource.
    pub fn capacity(&self) -> &[u64] {
        self.site.packing.capacity()
    }

    /// What is kept whole, with these prices of the units of the others (one a resource).
    pub fn relaxed(&self, prices: &[f64]) -> Relaxed {
        let mut rest = vec![0.0; prices.len()];
        for &j in &self.rest {
            rest[j] = prices[j];
        }
        Relaxed {
            whole: self.whole.clone(),
            prices: rest,
        }
    }

    /// `max Σ v_i u_i` over all u that fit in the resources kept whole, and a u that attains it; `None`
    /// where a type with value demands none of them. Values are of the site's types, of any sign.
    pub fn best(&self, values: &[f64]) -> Option<(f64, Schedule)> {
        let Filled { worth, last, steps } = self.fill(values)?;
        let entries = worth.len();
        let mut schedule = vec![0; values.len()];
        let mut room = entries - 1;
        while let Some(step) = steps.get(last[room] as usize) {
            schedule[last[room] as usize] += 1;
            room -= step;
        }
        Some((worth[entries - 1], schedule))
    }

    /// A bound for searches: what fits into a room is worth no more than the best in what is kept
    /// whole, with these prices of the other resources' units (one a resource).
    pub fn guide(&self, values: &[f64], prices: &[f64]) -> Option<Guide> {
        let packing = &self.site.packing;
        let priced = |units: &[u64]| -> f64 {
            let rest = self.rest.iter();
            rest.map(|&j| units[j] as f64 * prices[j]).sum()
        };
        let reduced = values.iter().enumerate();
        let reduced: Vec<f64> = reduced
            .map(|(i, v)| v - priced(packing.demand(i)))
            .collect();
        let whole = self.whole.iter().copied().zip(self.strides.iter().copied());
        Some(Guide {
            worth: self.fill(&reduced)?.worth,
            whole: whole.collect(),
            rest: self.rest.iter().map(|&j| (j, prices[j])).collect(),
        })
    }

    fn fill(&self, values: &[f64]) -> Option<Filled> {
        let packing = &self.site.packing;
        let entries = self.sizes.iter().product();
        let mut worth = vec![0.0_f64; entries];
        let mut last = vec![u32::MAX; entries];
        let mut steps = vec![0; values.len()];
        for (i, &value) in values.iter().enumerate().filter(|(_, v)| **v > 0.0) {
            let taken: Vec<usize> = self
                .whole
                .iter()
                .map(|&j| packing.demand(i)[j] as usize)
                .collect();
            let step: usize = taken.iter().zip(&self.strides).map(|(d, s)| d * s).sum();
            if step == 0 {
                return None;
            }
            steps[i] = step;
            self.each_run(&taken, |first, end| {
                for room in first..end {
                    let with = worth[room - step] + value;
                    if with > worth[room] {
                        worth[room] = with;
                        last[room] = i as u32;
                    }
                }
            });
        }
        Some(Filled { worth, last, steps })
    }

    /// All rooms that hold what is taken, as runs along the last resource, in ascending order.
    fn each_run(&self, taken: &[usize], mut run: impl FnMut(usize, usize)) {
        if taken.iter().zip(&self.sizes).any(|(d, size)| d >= size) {
            return;
        }
        let inner = self.sizes.len() - 1;
        let mut at = taken.to_vec();
        loop {
            let base: usize = (0..inner).map(|d| at[d] * self.strides[d]).sum();
            run(base + taken[inner], base + self.sizes[inner]);
            // The next row: the last of the outer resources first.
            let Some(d) = (0..inner).rev().find(|&d| at[d] + 1 < self.sizes[d]) else {
                return;
            };
            at[d] += 1;
            at[d + 1..inner].copy_from_slice(&taken[d + 1..inner]);
        }
    }
}

/// The best worth of each room, the type of its last job, and the distance to the room without a job,
/// by type.
struct Filled {
    worth: Vec<f64>,
    last: Vec<u32>,
    steps: Vec<usize>,
}

/// See [`Table::guide`].
pub(super) struct Guide {
    worth: Vec<f64>,
    /// Resources kept whole, with the distance of neighbours in each.
    whole: Vec<(usize, usize)>,
    /// The others, with the prices of their units.
    rest: Vec<(usize, f64)>,
}

impl Guide {
    /// No jobs that fit into this room are worth more.
    pub fn bound(&self, room: &[u64]) -> f64 {
        let place = self.whole.iter().map(|&(j, s)| room[j] as usize * s);
        let rest = self.rest.iter().map(|&(j, price)| room[j] as f64 * price);
        self.worth[place.sum::<usize>()] + rest.sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::problem::Problem;
    use super::*;
    use crate::multiresource::schedule::enumerate;
    use crate::multiresource::workload::Workload;

    /// With room for all resources the best of all schedules, by enumeration; with fewer no less.
    #[test]
    fn agrees_with_enumeration() {
        for model in ["section7", "four_types", "vms"] {
            let path = format!("{}/models/{model}.yaml", env!("CARGO_MANIFEST_DIR"));
            let problem = Problem::new(&Workload::read(path.as_ref()).unwrap().workload);
            let site = &problem.sites[0];
            let all = enumerate(&site.packing, 100_000).schedules;
            for n in 0..50_usize {
                let values: Vec<f64> = (0..problem.types())
                    .map(|i| ((n * (7 + i) + 3 * i) % 11) as f64 - 1.0)
                    .collect();
                let worth = |u: &Schedule| -> f64 {
                    u.iter().zip(&values).map(|(u, v)| f64::from(*u) * v).sum()
                };
                let best = all.iter().map(worth).fold(0.0, f64::max);
                for rooms in [1_000, 100_000, 100_000_000] {
                    let table = Table::new(site, &problem.offered, rooms);
                    let Some((found, schedule)) = table.best(&values) else {
                        continue;
                    };
                    assert_eq!(found, worth(&schedule), "{model} {values:?}");
                    assert!(found >= best, "{model} {values:?}");
                    if table.rest.is_empty() {
                        assert_eq!(found, best, "{model} {values:?}");
                        assert!(site.packing.fits(&schedule));
                    }
                }
            }
        }
    }
}
