//! The unit of time of a table: one in which its numbers are easily read.

use super::number::UNITS;
use super::{estimate, number};
use synth_core::number::seconds_in;
use synth_simulation::Estimate;

/// The largest number of a table has four digits before the point at most.
const MOST: f64 = 9999.5;

/// The largest number of a table is no less than this in the unit of the workload, if the table keeps it.
const LEAST: f64 = 0.1;

/// A middle number of a table is no less than this in the unit that it takes, if that is another one.
const MIDDLE: f64 = 1.95;

/// The unit of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableUnit {
    /// Its name.
    pub name: String,
    /// How many of it one of the workload's unit is.
    factor: f64,
}

impl TableUnit {
    /// Returns the workload's own unit where the times, which are in it, have one to four digits before the point there, and
    /// else the one that suits the middle one of them. A unit of an unknown length stays.
    pub fn of(own: &str, times: impl IntoIterator<Item = f64>) -> Self {
        let is_time = |time: &f64| time.is_finite() && *time > 0.0;
        let mut times: Vec<f64> = times.into_iter().filter(is_time).collect();
        times.sort_by(f64::total_cmp);
        let kept = TableUnit::kept(own);
        let (Some(second), Some(most)) = (seconds_in(own), times.last()) else {
            return kept;
        };
        if (LEAST..MOST).contains(most) {
            return kept;
        }
        let middle = times[times.len() / 2];
        let suits = |(_, unit, _): &&(&str, f64, f64)| middle * second >= MIDDLE * unit;
        let has_room = |(_, unit, _): &&(&str, f64, f64)| most * second < MOST * unit;
        let by_middle = UNITS.iter().find(suits).unwrap_or(&UNITS[4]);
        let at_least = UNITS.iter().rev().find(has_room).unwrap_or(&UNITS[0]);
        let (name, unit, _) = if by_middle.1 > at_least.1 {
            by_middle
        } else {
            at_least
        };
        TableUnit {
            name: (*name).to_owned(),
            factor: second / unit,
        }
    }

    /// Returns the workload's own unit.
    pub fn kept(own: &str) -> Self {
        TableUnit {
            name: own.to_owned(),
            factor: 1.0,
        }
    }

    /// Returns a time in it.
    pub fn time(&self, time: f64) -> f64 {
        time * self.factor
    }

    /// Returns a time in it, as it is printed.
    pub fn number(&self, time: f64) -> String {
        number(self.time(time))
    }

    /// Returns an estimate of a time in it, as it is printed.
    pub fn estimate(&self, time: Option<Estimate>) -> String {
        estimate(time.map(|own| self.of_estimate(own)))
    }

    /// Returns an estimate of a time in it.
    pub fn of_estimate(&self, time: Estimate) -> Estimate {
        time.times(self.factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_table_have_one_to_four_digits_before_the_point() {
        for (own, times, expected, first) in [
            ("s", vec![225_391.0, 77_710.0], "d", "2.609"),
            ("s", vec![13_344.0, 120.0, 40_000.0], "h", "3.707"),
            ("s", vec![36.8, 9999.0], "s", "36.80"),
            ("h", vec![0.01, 0.02], "s", "36.00"),
            ("h", vec![0.5, 0.01], "h", "0.5000"),
            ("ms", vec![5.0, 3e4], "s", "0.005000"),
            ("s", vec![3.0, 4.0, 5e5], "min", "0.05000"),
            ("slot", vec![1e9], "slot", "1.000e9"),
            ("s", vec![0.0, f64::NAN], "s", "0"),
        ] {
            let unit = TableUnit::of(own, times.iter().copied());
            assert_eq!(
                (&*unit.name, unit.number(times[0])),
                (expected, first.into()),
                "{times:?}"
            );
        }
    }
}
