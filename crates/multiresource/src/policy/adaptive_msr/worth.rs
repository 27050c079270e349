use crate::policy::{Event, System};

const CHUNK: usize = 8;

#[derive(Clone, Debug)]
pub(super) struct ScheduleWeights {
    pub schedules: Vec<Vec<Slots>>,
    serving: Vec<Vec<usize>>,
    numbers: Vec<f64>,
    /// `Σ p_i min(u_i, Q_i)`, by schedule.
    pub uses: Vec<f64>,
    /// `Σ p_i min(u_i, Q_i) Q_i`, by schedule.
    pub weighs: Vec<f64>,
    seen: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    pub job_type: usize,
    pub count: u32,
    /// p_i.
    pub price: f64,
}

impl Slots {
    pub(super) fn has_waiting_job(&self, system: &System) -> bool {
        system.running(self.job_type) < self.count && system.waiting(self.job_type) > 0
    }
}

impl ScheduleWeights {
    pub(super) fn new(schedules: &[Vec<u32>], prices: &[f64]) -> Self {
        let slots = |(job_type, count): (usize, &u32)| Slots {
            job_type,
            count: *count,
            price: prices[job_type],
        };
        let schedule = |u: &Vec<u32>| -> Vec<Slots> {
            let all = u.iter().enumerate().map(slots);
            all.filter(|slots| slots.count > 0).collect()
        };
        let serve = |i: usize| {
            let all = schedules.iter().enumerate();
            all.filter(|(_, u)| u[i] > 0).map(|(s, _)| s).collect()
        };
        ScheduleWeights {
            schedules: schedules.iter().map(schedule).collect(),
            serving: (0..prices.len()).map(serve).collect(),
            numbers: vec![0.0; prices.len()],
            uses: vec![0.0; schedules.len()],
            weighs: vec![0.0; schedules.len()],
            seen: 0,
        }
    }

    /// Updates the values, and returns `true` if no event was missed since the last call. The sums
    /// are computed from scratch, so that rounding errors do not add up.
    pub(super) fn look(&mut self, event: Event, system: &System) -> bool {
        let counters = system.counters();
        let seen = counters.arrivals + counters.completions;
        let is_next = seen == self.seen + 1;
        self.seen = seen;
        match event {
            Event::Arrival(i) | Event::Completion(i) if is_next => {
                self.numbers[i] = system.present(i) as f64;
                (0..self.serving[i].len()).for_each(|n| self.weigh(self.serving[i][n]));
            }
            _ => self.look_at_all(system),
        }
        is_next
    }

    fn look_at_all(&mut self, system: &System) {
        for (i, number) in self.numbers.iter_mut().enumerate() {
            *number = system.present(i) as f64;
        }
        (0..self.schedules.len()).for_each(|s| self.weigh(s));
    }

    #[inline]
    fn weigh(&mut self, s: usize) {
        let (mut uses, mut weighs) = (0.0, 0.0);
        for slots in &self.schedules[s] {
            let number = self.numbers[slots.job_type];
            let served = slots.price * number.min(slots.count.into());
            uses += served;
            weighs += served * number;
        }
        (self.uses[s], self.weighs[s]) = (uses, weighs);
    }

    #[inline]
    pub(super) fn next_heavier(&self, from: usize, than: f64) -> Option<usize> {
        let rest = &self.weighs[from..];
        // The values are compared without branches, because usually no schedule is heavier.
        let (chunks, _) = rest.as_chunks::<CHUNK>();
        let light = |chunk: &&[f64; CHUNK]| !chunk.iter().fold(false, |any, w| any | (*w > than));
        let passed = CHUNK * chunks.iter().take_while(light).count();
        let found = rest[passed..].iter().position(|w| *w > than);
        found.map(|n| from + passed + n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    use crate::policy::tests::servers;

    #[test]
    fn incremental_worths_match_recomputed_worths() {
        let workload = servers(10, &[1, 3, 7]);
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        let schedules = [vec![10, 0, 0], vec![1, 3, 0], vec![0, 1, 1], vec![3, 0, 1]];
        let mut worths = ScheduleWeights::new(&schedules, &[0.1, 0.3, 0.7]);
        let mut system = System::new(&workload, 0, false);
        for n in 0..1000 {
            let now = f64::from(n);
            let i = random.random_range(0..3);
            let event = match random.random_range(0..3) {
                0 if system.complete(i, 0, now).is_some() => Event::Completion(i),
                _ => {
                    system.arrive(i, now);
                    Event::Arrival(i)
                }
            };
            while let Some(fitting) = system.oldest_fitting_type() {
                system.start(fitting);
            }
            if random.random_range(0..10) == 0 {
                continue;
            }
            worths.look(event, &system);
            let mut fresh = ScheduleWeights::new(&schedules, &[0.1, 0.3, 0.7]);
            fresh.look_at_all(&system);
            assert_eq!(worths.uses, fresh.uses);
            assert_eq!(worths.weighs, fresh.weighs);
            for than in fresh.weighs.iter().flat_map(|w| [*w, 0.9 * w]) {
                let expected = (1..4).find(|s| fresh.weighs[*s] > than);
                assert_eq!(worths.next_heavier(1, than), expected);
            }
        }
    }
}
