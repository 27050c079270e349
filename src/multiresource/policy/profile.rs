use super::estimates::{covers, reduce};

/// Free room over the time ahead: steps, each from its time to that of the next, the last one without
/// end.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    resources: usize,
    /// Ascending; the first is the present.
    times: Vec<f64>,
    /// R numbers a step.
    room: Vec<u64>,
}

impl Profile {
    /// An empty server of this capacity.
    pub fn new(capacity: &[u64]) -> Self {
        Profile {
            resources: capacity.len(),
            times: vec![0.0],
            room: capacity.to_vec(),
        }
    }

    /// The past is dropped.
    pub fn advance(&mut self, now: f64) {
        let past = self.times.partition_point(|time| *time <= now);
        let dropped = past.saturating_sub(1);
        self.times.drain(..dropped);
        self.room.drain(..dropped * self.resources);
        if self.times[0] < now {
            self.times[0] = now;
        }
    }

    /// The earliest time from which this demand fits for so long. O(steps · R).
    pub fn earliest(&self, demand: &[u64], duration: f64) -> f64 {
        let mut start = 0;
        for step in 0..self.times.len() {
            if start < step && self.times[step] >= self.times[start] + duration {
                break;
            }
            if !covers(self.step(step), demand) {
                start = step + 1;
            }
        }
        let found = self.times.get(start);
        *found.expect("in the last step all that is planned has ended")
    }

    /// Takes this demand out of the room from one time to another, where it fits.
    pub fn take(&mut self, from: f64, to: f64, demand: &[u64]) {
        self.change(from, to, |room| reduce(room, demand));
    }

    /// Gives it back.
    pub fn give(&mut self, from: f64, to: f64, demand: &[u64]) {
        self.change(from, to, |room| {
            room.iter_mut().zip(demand).for_each(|(room, d)| *room += d);
        });
    }

    fn change(&mut self, from: f64, to: f64, of_step: impl Fn(&mut [u64])) {
        let from = from.max(self.times[0]);
        if from >= to {
            return;
        }
        let (first, last) = (self.step_at(from), self.step_at(to));
        for step in first..last {
            let at = step * self.resources;
            of_step(&mut self.room[at..at + self.resources]);
        }
        self.join(last);
        self.join(first);
    }

    /// The step that begins at this time, made if need be.
    fn step_at(&mut self, time: f64) -> usize {
        let step = self.times.partition_point(|other| *other < time);
        if self.times.get(step) != Some(&time) {
            self.times.insert(step, time);
            let before = (step - 1) * self.resources;
            let at = step * self.resources;
            for j in 0..self.resources {
                self.room.insert(at + j, self.room[before + j]);
            }
        }
        step
    }

    /// Makes one step of two that have the same room.
    fn join(&mut self, step: usize) {
        if step > 0 && self.step(step - 1) == self.step(step) {
            self.times.remove(step);
            let at = step * self.resources;
            self.room.drain(at..at + self.resources);
        }
    }

    fn step(&self, step: usize) -> &[u64] {
        &self.room[step * self.resources..][..self.resources]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_found_behind_and_between_what_is_planned() {
        let mut profile = Profile::new(&[4, 10]);
        profile.take(0.0, 2.0, &[3, 1]);
        profile.take(3.0, 5.0, &[2, 1]);
        assert_eq!(profile.earliest(&[1, 9], 1.5), 0.0);
        assert_eq!(profile.earliest(&[1, 10], 1.0), 2.0, "another resource");
        assert_eq!(profile.earliest(&[3, 1], 1.0), 2.0, "in the gap");
        assert_eq!(profile.earliest(&[3, 1], 1.1), 5.0, "the gap is too short");
        assert_eq!(profile.earliest(&[2, 1], 9.0), 2.0);
        profile.advance(1.0);
        profile.give(0.5, 2.0, &[3, 1]);
        assert_eq!(profile.earliest(&[4, 10], 2.0), 1.0);
        profile.give(3.0, 5.0, &[2, 1]);
        assert_eq!((profile.times, profile.room), (vec![1.0], vec![4, 10]));
    }
}
