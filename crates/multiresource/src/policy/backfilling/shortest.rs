use crate::policy::Job;

/// The waiting jobs of one type in the order of arrival, with a tournament tree of their estimates.
/// The oldest job within a limit can be found in `O(log n)`.
/// A full tree is built again without the removed jobs, twice as large if more than half of it is
/// in use, so the amortized cost of a job is `O(log n)`.
#[derive(Clone, Debug, Default)]
pub(super) struct MinEstimateTree {
    jobs: Vec<Job>,
    /// The minimum of the children `2n` and `2n + 1`. The second half are the jobs, `∞` if removed.
    least: Vec<f64>,
}

impl MinEstimateTree {
    /// Adds the youngest job. Its estimate \[time\] must be finite.
    #[inline]
    pub(super) fn push(&mut self, job: Job, estimate: f64) {
        if self.jobs.len() == self.places() {
            self.lay_out();
        }
        self.jobs.push(job);
        self.set(self.jobs.len() - 1, estimate);
    }

    #[inline]
    pub(super) fn remove(&mut self, place: usize) {
        self.set(place, f64::INFINITY);
    }

    pub(super) fn oldest_within(&self, limit: f64) -> Option<(usize, Job, f64)> {
        let limit = limit.min(f64::MAX);
        if !self.least.get(1).is_some_and(|least| *least <= limit) {
            return None;
        }
        let mut node = 1;
        while node < self.places() {
            node = 2 * node + usize::from(self.least[2 * node] > limit);
        }
        let place = node - self.places();
        Some((place, self.jobs[place], self.least[node]))
    }

    fn places(&self) -> usize {
        self.least.len() / 2
    }

    fn set(&mut self, place: usize, estimate: f64) {
        let mut node = self.places() + place;
        self.least[node] = estimate;
        while node > 1 {
            node /= 2;
            let least = self.least[2 * node].min(self.least[2 * node + 1]);
            if self.least[node] == least {
                return;
            }
            self.least[node] = least;
        }
    }

    fn lay_out(&mut self) {
        let places = self.places();
        let is_left = |place: &usize| self.least[places + place].is_finite();
        let left: Vec<usize> = (0..self.jobs.len()).filter(is_left).collect();
        let size = match left.len() {
            0 => places.max(16),
            few if 2 * few <= places => places,
            _ => 2 * places,
        };
        let mut least = vec![f64::INFINITY; 2 * size];
        for (to, from) in left.iter().enumerate() {
            self.jobs[to] = self.jobs[*from];
            least[size + to] = self.least[places + from];
        }
        for node in (1..size).rev() {
            least[node] = least[2 * node].min(least[2 * node + 1]);
        }
        self.jobs.truncate(left.len());
        self.least = least;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn agrees_with_a_scan() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        let (mut tournament, mut list) = (MinEstimateTree::default(), Vec::new());
        for number in 0..5000 {
            let (job, estimate) = (
                Job {
                    number,
                    arrived: 0.0,
                    slot: 0,
                },
                random.random::<f64>(),
            );
            tournament.push(job, estimate);
            list.push((number, estimate));
            for _ in 0..random.random_range(0..3) {
                let limit = random.random::<f64>();
                let place = list.iter().position(|(_, e)| *e <= limit);
                let found = tournament.oldest_within(limit);
                let shown = found.map(|(_, job, estimate)| (job.number, estimate));
                assert_eq!(shown, place.map(|place| list[place]));
                if let (Some(place), Some((found, ..))) = (place, found) {
                    list.remove(place);
                    tournament.remove(found);
                }
            }
        }
        assert!(tournament.oldest_within(f64::MAX).unwrap().1.number > 0);
    }
}
