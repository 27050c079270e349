use std::collections::HashMap;

/// The different demand vectors (R each) with the number of servers. After [`DemandTable::MOST`]
/// vectors, new ones are rounded up to three digits, so that the table stays small.
#[derive(Clone, Debug, Default)]
pub struct DemandTable {
    /// The vectors, by index.
    pub vectors: Vec<Box<[f64]>>,
    /// The number of servers used at once, by index.
    pub nodes: Vec<u32>,
    numbers: HashMap<Box<[u64]>, u32>,
    key: Vec<u64>,
    /// The number of times that a rounded demand was used.
    pub rounded: u64,
}

impl DemandTable {
    /// The maximum number of vectors stored without rounding.
    pub const MOST: usize = 2000;

    /// Returns the index of a vector (R) of finite values ≥ 0 on each of `nodes` servers. If the
    /// table is full, it is rounded if the result `fits`.
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

    fn set_key(&mut self, demand: &[f64], nodes: u32) {
        self.key.clear();
        self.key.extend(demand.iter().map(|d| d.to_bits()));
        self.key.push(u64::from(nodes));
    }
}

fn up_to_three_digits(demand: f64) -> f64 {
    if demand == 0.0 {
        return 0.0;
    }
    let unit = demand.log10().floor() as i32 - 2;
    let mut hundreds = (demand / 10_f64.powi(unit)).ceil() as u64;
    // Parsing gives the double closest to a short decimal, which may be too small.
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
    fn equal_vectors_share_an_index() {
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
    fn demands_are_rounded_up_by_at_most_one_percent() {
        for value in [1.0, 999.0, 999.1, 0.001_234, 1e-9, 123_456.0, 1.001, 0.0] {
            let rounded = up_to_three_digits(value);
            let is_near = (value..=value * 1.01).contains(&rounded);
            assert!(is_near, "{value} {rounded}");
        }
        assert_eq!(up_to_three_digits(999.1), 1000.0);
        assert_eq!(up_to_three_digits(1.231), 1.24);
    }

    #[test]
    fn table_of_many_vectors_stays_small() {
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
