use fixedbitset::FixedBitSet;

use super::set_of;

/// The intervals of the future, each with the servers that are not reserved (`node_space` in
/// backfill.c). A reservation always contains whole servers.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    parts: Vec<Part>,
    /// The number of intervals that were created, even if they were merged. Slurm limits it.
    pub count: usize,
    /// Each reservation begins and ends at a multiple of this time \[s\].
    resolution: f64,
}

#[derive(Clone, Debug)]
struct Part {
    begin: f64,
    end: f64,
    left: FixedBitSet,
}

impl Plan {
    pub(super) fn new(now: f64, window: f64, resolution: f64, servers: usize) -> Self {
        let step = |time: f64| (time / resolution).floor() * resolution;
        Plan {
            parts: vec![Part {
                begin: step(now),
                end: step(now + window).max(step(now) + resolution),
                left: set_of(servers, 0..servers),
            }],
            count: 1,
            resolution,
        }
    }

    /// Returns the servers of `among` that are not reserved between `from` and `to`, and the end of
    /// the first interval that is followed by an interval with additional free servers.
    pub(super) fn left(
        &self,
        from: f64,
        to: f64,
        among: &FixedBitSet,
    ) -> (FixedBitSet, Option<f64>) {
        let mut left = among.clone();
        let mut later = None;
        let first = self.parts.partition_point(|part| part.end <= from);
        for (n, part) in self.parts.iter().enumerate().skip(first) {
            if let Some(next) = self.parts.get(n + 1)
                && later.is_none()
            {
                let is_new = |n: usize| !left.contains(n) || !part.left.contains(n);
                if next.left.intersection(among).any(is_new) {
                    later = Some(part.end);
                }
            }
            if part.begin > to {
                break;
            }
            left.intersect_with(&part.left);
        }
        (left, later)
    }

    pub(super) fn overlaps(&self, from: f64, to: f64, servers: &FixedBitSet) -> bool {
        let [from, to] = [from, to].map(|time| self.step(time));
        let within = |part: &&Part| part.end > from && part.begin < to;
        let mut parts = self.parts.iter().filter(within);
        parts.any(|part| !servers.is_subset(&part.left))
    }

    pub(super) fn reserve(&mut self, from: f64, to: f64, servers: &FixedBitSet) {
        let from = self.step(from).max(self.parts[0].begin);
        let to = self.step(to).max(from + self.resolution);
        let Some(first) = self.cut(from) else {
            return;
        };
        let last = self.cut(to).unwrap_or(self.parts.len());
        for part in &mut self.parts[first..last] {
            part.left.difference_with(servers);
        }
        for place in [last, first] {
            let alike = place > 0
                && place < self.parts.len()
                && self.parts[place - 1].left == self.parts[place].left;
            if alike {
                self.parts[place - 1].end = self.parts[place].end;
                self.parts.remove(place);
            }
        }
    }

    fn step(&self, time: f64) -> f64 {
        (time / self.resolution).floor() * self.resolution
    }

    /// Returns the interval that begins at this time, which may be split off, or `None` after the
    /// end of the window.
    fn cut(&mut self, time: f64) -> Option<usize> {
        let place = self.parts.partition_point(|part| part.end <= time);
        let part = self.parts.get_mut(place)?;
        if part.begin >= time {
            return Some(place);
        }
        let behind = Part {
            begin: time,
            ..part.clone()
        };
        part.end = time;
        self.parts.insert(place + 1, behind);
        self.count += 1;
        Some(place + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(members: &[usize]) -> FixedBitSet {
        set_of(4, members.iter().copied())
    }

    #[test]
    fn reserves_whole_servers_in_whole_steps() {
        let mut plan = Plan::new(30.0, 3600.0, 60.0, 4);
        plan.reserve(130.0, 310.0, &servers(&[0, 1]));
        assert_eq!(plan.parts.len(), 3);
        let all = servers(&[0, 1, 2, 3]);
        assert_eq!(
            plan.left(30.0, 100.0, &all),
            (all.clone(), Some(300.0)),
            "more servers are free after the reservation"
        );
        assert_eq!(plan.left(30.0, 121.0, &all).0, servers(&[2, 3]));
        assert_eq!(
            plan.left(130.0, 200.0, &all),
            (servers(&[2, 3]), Some(300.0))
        );
        assert!(plan.overlaps(0.0, 180.0, &servers(&[1])));
        assert!(!plan.overlaps(0.0, 120.0, &servers(&[1])));
        assert!(!plan.overlaps(300.0, 999.0, &servers(&[1])));
        plan.reserve(300.0, 420.0, &servers(&[0, 1]));
        assert_eq!(plan.parts.len(), 3, "equal intervals are merged");
        plan.reserve(9999.0, 99_999.0, &servers(&[0]));
        assert_eq!(plan.parts.len(), 3, "nothing beyond the window");
    }
}
