//! The cells of a comparison dealt to shards: one process each, on machines that share nothing.

use std::fmt;
use std::str::FromStr;

use super::Header;
use crate::replication::FIRST_LOOK;

/// More shards than this are a slip of the finger.
const MOST: usize = 100_000;

/// One of several shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub(super) number: usize,
    pub(super) of: usize,
}

impl Shard {
    /// The n-th of so many, from 1; none where there is no such shard.
    #[must_use]
    pub fn new(number: usize, of: usize) -> Option<Self> {
        ((1..=of).contains(&number) && of <= MOST).then_some(Shard { number, of })
    }

    /// Whether each cell is this shard's, in the order of [`Header::cells`].
    pub(super) fn mine(self, header: &Header) -> Vec<bool> {
        let dealt = deal(header, self.of).into_iter();
        dealt.map(|shard| shard == self.number).collect()
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| {
            Shard::new(number.trim().parse().ok()?, of.trim().parse().ok()?)
        });
        numbers.ok_or_else(|| {
            format!("`{text}` is no shard: give its number from 1 and how many there are, at most {MOST}, such as 3/8")
        })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// The shard of each cell, from 1, in the order of [`Header::cells`]: the cell with the most work
/// first, each to the shard that has the least so far (R. L. Graham, SIAM Journal on Applied
/// Mathematics 17, 1969: at most 4/3 of the least possible makespan). Work is counted in whole
/// events, so that every machine deals alike.
#[must_use]
pub fn deal(header: &Header, shards: usize) -> Vec<usize> {
    let work: Vec<u64> = header.cells().map(|(_, load)| header.work(load)).collect();
    let mut order: Vec<usize> = (0..work.len()).collect();
    order.sort_by_key(|&cell| (std::cmp::Reverse(work[cell]), cell));
    let mut loaded = vec![0; shards];
    let mut dealt = vec![1; work.len()];
    for cell in order {
        let least = (0..shards).min_by_key(|&shard| (loaded[shard], shard));
        let shard = least.unwrap_or(0);
        loaded[shard] += work[cell];
        dealt[cell] = shard + 1;
    }
    dealt
}

impl Header {
    /// Names of policies and loads of all cells, in the order in which one process runs them.
    pub fn cells(&self) -> impl Iterator<Item = (&str, f64)> {
        let policies = &self.policies;
        let of = |&load: &f64| policies.iter().map(move |p| (p.name.as_str(), load));
        self.loads.iter().flat_map(of)
    }

    /// Events that a cell at this load is taken to need: as many as give an M/M/1 queue's mean
    /// number in system its precision, `4 z² (1+ρ) / ((1−ρ)² ε²)` with z = 1.96, from the asymptotic
    /// variance `2ρ(1+ρ)/(1−ρ)⁴` (W. Whitt, Management Science 35(11), 1989); up to the next look at
    /// the precision, and at most as many as may be spent.
    #[must_use]
    pub fn work(&self, load: f64) -> u64 {
        const Z: f64 = 1.96;
        let (precision, idle) = (self.settings.precision, 1.0 - load);
        let needed = 4.0 * Z * Z * (1.0 + load) / (idle * idle * precision * precision);
        let mut look = FIRST_LOOK;
        while (look as f64) < needed && look < self.settings.events {
            look *= 2;
        }
        look.min(self.settings.events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(policies: usize, loads: &[f64]) -> Header {
        let names: Vec<String> = (0..policies).map(|n| format!("p{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut header = Header::sample(&names);
        header.loads = loads.to_vec();
        header.settings.events = 20_000_000;
        header
    }

    #[test]
    fn what_is_no_shard_is_refused() {
        for text in [
            "0/4",
            "5/4",
            "a/b",
            "1/0",
            "0/0",
            "3",
            "-1/4",
            "1/2/3",
            "",
            "1/1000000",
            "1.5/4",
        ] {
            let refused = text.parse::<Shard>();
            assert!(
                refused.is_err_and(|why| why.contains("such as 3/8")),
                "{text}"
            );
        }
        let shard: Result<Shard, String> = "3/8".parse();
        assert_eq!(shard.map(|shard| shard.to_string()), Ok("3/8".into()));
    }

    /// Each cell has one shard, and no two shards differ by more than the greatest cell.
    #[test]
    fn shards_have_about_the_same_work() {
        for (policies, loads) in [
            (1, &[0.5][..]),
            (4, &[0.3, 0.5, 0.7, 0.9]),
            (7, &[0.5, 0.9, 0.95, 0.99]),
        ] {
            let header = header(policies, loads);
            for shards in 1..=12 {
                let dealt = deal(&header, shards);
                let mut work = vec![0; shards];
                for ((_, load), shard) in header.cells().zip(&dealt) {
                    work[shard - 1] += header.work(load);
                }
                let most = header.cells().map(|(_, load)| header.work(load)).max();
                let spread = work.iter().max().zip(work.iter().min());
                let spread = spread.map(|(most, least)| most - least);
                assert!(spread <= most, "{policies} {loads:?} {shards}: {work:?}");
            }
        }
    }

    /// Higher loads need more events, and never more than may be spent.
    #[test]
    fn work_grows_with_the_load_up_to_the_budget() {
        let header = header(1, &[]);
        let work = [0.1, 0.5, 0.7, 0.9, 0.99].map(|load| header.work(load));
        assert_eq!(
            work,
            [1_000_000, 1_000_000, 4_000_000, 20_000_000, 20_000_000]
        );
    }
}
