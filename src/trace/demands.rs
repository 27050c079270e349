//! Vectors of demands, each with a number; and the servers that they have to fit on.

use std::collections::HashMap;

use crate::number::Decimal;

/// What the trace's jobs ran on, as it is told with `--capacity` or `--servers`, or by the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Servers {
    /// Names of the R ≥ 1 resources that are looked at, each once.
    pub resources: Vec<String>,
    /// The H ≥ 1 shapes of servers.
    pub shapes: Vec<Shape>,
}

/// Servers that are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// How many there are, ≥ 1.
    pub count: u32,
    /// Capacity of one of them (R), ≥ 0.
    pub capacity: Vec<Decimal>,
}

impl Servers {
    /// One server with these capacities.
    #[must_use]
    pub fn one(capacity: Vec<(String, Decimal)>) -> Self {
        let (resources, capacity) = capacity.into_iter().unzip();
        let shapes = vec![Shape { count: 1, capacity }];
        Servers { resources, shapes }
    }

    /// Whether a job with these demands (R) fits on an empty server of some shape.
    #[must_use]
    pub fn hold(&self, demand: &[Decimal]) -> bool {
        let fits = |shape: &Shape| {
            let mut pairs = demand.iter().zip(&shape.capacity);
            pairs.all(|(demand, capacity)| demand.value() <= capacity.value())
        };
        self.shapes.iter().any(fits)
    }

    /// Capacity of all servers together (R).
    #[must_use]
    pub fn total(&self) -> Vec<f64> {
        let of = |j: usize| {
            let shapes = self.shapes.iter();
            shapes
                .map(|shape| f64::from(shape.count) * shape.capacity[j].value())
                .sum()
        };
        (0..self.resources.len()).map(of).collect()
    }
}

/// The distinct vectors of demands (R each), in the order in which they were first seen.
///
/// A trace has some tens of them. From [`Demands::MOST`] on, demands are rounded up to three significant
/// digits as they come, so that the table stays small; [`Demands::rounded`] tells.
#[derive(Clone, Debug, Default)]
pub struct Demands {
    vectors: Vec<Box<[Decimal]>>,
    numbers: HashMap<Box<[u64]>, u32>,
    key: Vec<u64>,
    rounded: u64,
}

impl Demands {
    /// The most vectors that stand as they were written.
    pub const MOST: usize = 2000;

    /// The number of this vector.
    pub fn number(&mut self, demand: &[Decimal]) -> u32 {
        if let Some(known) = self.known(demand) {
            return known;
        }
        if self.vectors.len() < Self::MOST {
            return self.add(demand);
        }
        self.rounded += 1;
        let rounded: Vec<Decimal> = demand.iter().map(|d| up_to_three_digits(*d)).collect();
        match self.known(&rounded) {
            Some(known) => known,
            None => self.add(&rounded),
        }
    }

    fn known(&mut self, demand: &[Decimal]) -> Option<u32> {
        self.key.clear();
        let bits = demand.iter().map(|d| d.value().to_bits());
        self.key.extend(bits);
        self.numbers.get(self.key.as_slice()).copied()
    }

    fn add(&mut self, demand: &[Decimal]) -> u32 {
        let number = self.vectors.len() as u32;
        let key: Vec<u64> = demand.iter().map(|d| d.value().to_bits()).collect();
        self.numbers.insert(key.into(), number);
        self.vectors.push(demand.into());
        number
    }

    /// The vectors, by number.
    #[must_use]
    pub fn vectors(&self) -> &[Box<[Decimal]>] {
        &self.vectors
    }

    /// How many times a demand was looked up rounded.
    #[must_use]
    pub fn rounded(&self) -> u64 {
        self.rounded
    }
}

/// The least number of three significant digits that is not below this one, ≥ 0.
fn up_to_three_digits(demand: Decimal) -> Decimal {
    let text = format!("{:.2e}", demand.value());
    let rounded = Decimal::parse(&text).unwrap_or(demand);
    if rounded.value() >= demand.value() {
        return rounded;
    }
    // The next one up: a unit of the third digit more.
    let exponent: i32 = text
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0);
    let (digits, _) = text.split_once('e').unwrap_or((&text, ""));
    let hundreds: u32 = digits.replace('.', "").parse().unwrap_or(0);
    let next = format!("{}e{}", hundreds + 1, exponent - 2);
    Decimal::parse(&next).unwrap_or(demand)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn decimal(value: f64) -> Decimal {
        Decimal::new(value).unwrap()
    }

    #[test]
    fn equal_vectors_have_one_number() {
        let mut demands = Demands::default();
        let wide = [decimal(4.0), decimal(0.5)];
        assert_eq!(demands.number(&wide), 0);
        assert_eq!(demands.number(&[decimal(4.0), decimal(0.25)]), 1);
        assert_eq!(demands.number(&wide), 0);
        assert_eq!(demands.vectors().len(), 2);
    }

    #[test]
    fn demands_are_rounded_up_and_never_by_more_than_a_hundredth() {
        for value in [1.0, 999.0, 999.1, 0.001_234, 1e-9, 123_456.0, 1.001, 0.0] {
            let rounded = up_to_three_digits(decimal(value)).value();
            assert!(
                rounded >= value && rounded <= value * 1.01,
                "{value} {rounded}"
            );
        }
        assert_eq!(up_to_three_digits(decimal(999.1)).value(), 1000.0);
        assert_eq!(up_to_three_digits(decimal(1.231)).value(), 1.24);
    }

    #[test]
    fn a_table_of_many_vectors_stays_small() {
        let mut demands = Demands::default();
        let numbers = (0..1_000_000_u32).map(|n| demands.number(&[decimal(f64::from(n) + 0.5)]));
        let last = numbers.last().unwrap();
        assert!(demands.vectors().len() < Demands::MOST + 9 * 900);
        assert!(demands.rounded() > 0);
        let held = demands.vectors()[last as usize][0].value();
        assert!((999_999.5..=1_010_000.0).contains(&held));
    }
}
