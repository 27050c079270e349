/// Which of several times is first, known in O(log n) after one of them has changed: each node of a
/// binary tree holds the earlier of the two below it.
pub(crate) struct Tournament {
    times: Vec<f64>,
    /// The first of those below each node, from the root at 1 on; the leaves are the times.
    winners: Vec<u32>,
}

impl Tournament {
    /// So many times, all of them infinite.
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

    /// The n-th time is now this one.
    pub fn set(&mut self, n: usize, time: f64) {
        self.times[n] = time;
        let mut node = (self.times.len() + n) / 2;
        while node > 0 {
            self.play(node);
            node /= 2;
        }
    }

    /// The number and the time of the first; of equals the one with the lower number.
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

    /// The first of all, as a scan finds it, whatever changes.
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
