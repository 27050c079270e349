use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A priority queue of completion times. The entry of a job that stops early stays until it is at
/// the front or until there are more stale entries than valid ones, which the caller tells apart.
/// The memory is proportional to the number of running jobs.
#[derive(Default)]
pub struct CompletionQueue {
    /// The bits of the time, which have the same order as doubles ≥ 0, and the slot.
    ends: BinaryHeap<Reverse<(u64, u32)>>,
}

impl CompletionQueue {
    /// Adds the completion time of the job in this slot.
    pub fn push(&mut self, end: f64, slot: u32) {
        self.ends.push(Reverse((end.to_bits(), slot)));
    }

    /// Returns the time of the next entry that is due, or infinity.
    pub fn next(&mut self, is_due: impl Fn(f64, u32) -> bool) -> f64 {
        while let Some(Reverse((end, slot))) = self.ends.peek() {
            let end = f64::from_bits(*end);
            if is_due(end, *slot) {
                return end;
            }
            self.ends.pop();
        }
        f64::INFINITY
    }

    /// Removes the entry that [`CompletionQueue::next`] returned, and returns its slot.
    pub fn take(&mut self) -> Option<u32> {
        self.ends.pop().map(|Reverse((_, slot))| slot)
    }

    /// Removes the stale entries if there are more of them than running jobs.
    pub fn tidy(&mut self, running: u64, is_due: impl Fn(f64, u32) -> bool) {
        if self.ends.len() as u64 > 64 + 2 * running {
            let stays = |Reverse((end, slot)): &_| is_due(f64::from_bits(*end), *slot);
            self.ends.retain(stays);
        }
    }

    /// Returns all entries in arbitrary order, including stale ones and duplicates.
    pub fn ends(&self) -> impl Iterator<Item = (f64, u32)> {
        let ends = self.ends.iter();
        ends.map(|Reverse((end, slot))| (f64::from_bits(*end), *slot))
    }
}

/// A tournament tree, which finds the earliest of several times with updates in `O(log n)`.
pub struct Tournament {
    times: Vec<f64>,
    /// The index of the earliest time below each node: 1 is the root, and the leaves are the times.
    winners: Vec<u32>,
}

impl Tournament {
    /// Creates a tree of infinite times.
    pub fn new(players: usize) -> Self {
        let leaves = players.next_power_of_two().max(2);
        let mut winners = vec![0; 2 * leaves];
        for (n, winner) in (0..).zip(&mut winners[leaves..]) {
            *winner = n;
        }
        let mut tournament = Tournament {
            times: vec![f64::INFINITY; leaves],
            winners,
        };
        (1..leaves).rev().for_each(|node| tournament.play(node));
        tournament
    }

    /// Sets the n-th time.
    pub fn set(&mut self, n: usize, time: f64) {
        self.times[n] = time;
        let mut node = (self.times.len() + n) / 2;
        while node > 0 {
            self.play(node);
            node /= 2;
        }
    }

    /// Returns the index and the value of the earliest time; of equal times, the lowest index.
    pub fn first(&self) -> (usize, f64) {
        let n = self.winners[1] as usize;
        (n, self.times[n])
    }

    fn play(&mut self, node: usize) {
        let [a, b] = [self.winners[2 * node], self.winners[2 * node + 1]];
        let later = self.times[b as usize] < self.times[a as usize];
        self.winners[node] = if later { b } else { a };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_scan() {
        for players in [1, 2, 3, 48] {
            let mut tournament = Tournament::new(players);
            let mut times = vec![f64::INFINITY; players];
            let mut state = 1_u64;
            for _ in 0..1000 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let (n, time) = (state as usize >> 33, (state >> 60) as f64);
                times[n % players] = time;
                tournament.set(n % players, time);
                let least = times.iter().copied().fold(f64::INFINITY, f64::min);
                let scanned = times.iter().position(|t| *t == least);
                assert_eq!(Some(tournament.first().0), scanned);
                assert_eq!(tournament.first().1, least);
            }
        }
    }
}
