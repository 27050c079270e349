//! Vectors of demands, each with a number.

use std::collections::HashMap;

/// The distinct vectors of demands (R each) and numbers of servers, in the order in which they were first seen.
///
/// A trace has some tens of them. From [`DemandTable::MOST`] on, demands are rounded up to three significant
/// digits as they come, so that the table stays small; `rounded` tells.
#[derive(Clone, Debug, Default)]
pub struct DemandTable {
    /// The vectors, by number.
    pub vectors: Vec<Box<[f64]>>,
    /// On how many servers at once jobs hold them, by number.
    pub nodes: Vec<u32>,
    numbers: HashMap<Box<[u64]>, u32>,
    key: Vec<u64>,
    /// How many times a demand was looked up rounded.
    pub rounded: u64,
}

impl DemandTable {
    /// The most vectors that stand as they were written.
    pub const MOST: usize = 2000;

    /// The number of this vector (R), each entry finite and ≥ 0, on each of so many servers at once; it is not rounded
    /// where the rounded one does not fit on any server.
    pub fn number(&mut self, demand: &[f64], nodes: u32, fits: impl Fn(&[f64]) -> bool) -> u32 {
        self.set_key(demand, nodes);
        if let Some(known) = self.numbers.get(self.key.as_slice()) {
            return *known;
        }
        let is_full = self.vectors.len() >= Self::MOST;
        let rounded = is_full.then(|| demand.iter().map(|d| up_to_three_digits(*d)).collect());
        let rounded = rounded.filter(|own: &Vec<f64>| fits(own));
        self.rounded += u64::from(rounded.is_some());
        let demand = rounded.as_deref().unwrap_or(demand);
        self.set_key(demand, nodes);
        let next = self.vectors.len() as u32;
        let known = self.numbers.entry(self.key.as_slice().into());
        let number = *known.or_insert(next);
        if number == next {
            self.vectors.push(demand.into());
            self.nodes.push(nodes);
        }
        number
    }

    /// Writes the key of a vector to `key`, which is kept so that nothing is allocated a line.
    fn set_key(&mut self, demand: &[f64], nodes: u32) {
        self.key.clear();
        self.key.extend(demand.iter().map(|d| d.to_bits()));
        self.key.push(u64::from(nodes));
    }
}

/// Returns the least number of three significant digits that is not below this one, ≥ 0.
fn up_to_three_digits(demand: f64) -> f64 {
    if demand == 0.0 {
        return 0.0;
    }
    let unit = demand.log10().floor() as i32 - 2;
    let mut hundreds = (demand / 10_f64.powi(unit)).ceil() as u64;
    // Read from its digits, it is the double nearest to a short decimal; rounding may have left one too few.
    loop {
        let read = format!("{hundreds}e{unit}").parse();
        match read {
            Ok(rounded) if rounded >= demand => return rounded,
            Ok(_) => hundreds += 1,
            Err(_) => return demand,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn equal_vectors_have_one_number() {
        let mut demands = DemandTable::default();
        let wide = [4.0, 0.5];
        assert_eq!(demands.number(&wide, 1, |_| true), 0);
        assert_eq!(demands.number(&[4.0, 0.25], 1, |_| true), 1);
        assert_eq!(demands.number(&wide, 1, |_| true), 0);
        assert_eq!(demands.number(&wide, 2, |_| true), 2);
        assert_eq!(
            (demands.vectors.len(), &demands.nodes[..]),
            (3, &[1, 1, 2][..])
        );
    }

    #[test]
    fn demands_are_rounded_up_and_never_by_more_than_a_hundredth() {
        for value in [1.0, 999.0, 999.1, 0.001_234, 1e-9, 123_456.0, 1.001, 0.0] {
            let rounded = up_to_three_digits(value);
            assert!(
                rounded >= value && rounded <= value * 1.01,
                "{value} {rounded}"
            );
        }
        assert_eq!(up_to_three_digits(999.1), 1000.0);
        assert_eq!(up_to_three_digits(1.231), 1.24);
    }

    #[test]
    fn a_table_of_many_vectors_stays_small() {
        let mut demands = DemandTable::default();
        let numbers =
            (0..1_000_000_u32).map(|n| demands.number(&[f64::from(n) + 0.5], 1, |_| true));
        let last = numbers.last().unwrap();
        assert!(demands.vectors.len() < DemandTable::MOST + 9 * 900);
        assert!(demands.rounded > 0);
        let held = demands.vectors[last as usize][0];
        assert!((999_999.5..=1_010_000.0).contains(&held));
    }
}
