use super::readable_unit;
use synth_core::number::seconds_in;

/// Returns a readable unit for the times, and the factor to convert them. The unit is not changed
/// if its length is not known, or if the longest time has between one and four digits before the
/// decimal point. Otherwise, the unit is based on the median of the times.
pub fn readable(own: &str, times: impl Iterator<Item = f64>) -> (String, f64) {
    let mut times: Vec<f64> = times
        .filter(|time| time.is_finite() && *time > 0.0)
        .collect();
    times.sort_by(f64::total_cmp);
    let is_kept = times.last().is_none_or(|most| (0.1..9999.5).contains(most));
    if is_kept || seconds_in(own).is_none() {
        return (own.to_owned(), 1.0);
    }
    let (unit, factor) = readable_unit(times[times.len() / 2], own);
    (unit.to_owned(), factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::number;

    #[test]
    fn numbers_of_a_table_have_one_to_four_digits_before_the_point() {
        for (own, times, expected, first) in [
            ("s", vec![225_391.0, 77_710.0], "d", "2.609"),
            ("s", vec![13_344.0, 120.0, 40_000.0], "h", "3.707"),
            ("s", vec![36.8, 9999.0], "s", "36.80"),
            ("h", vec![0.01, 0.02], "s", "36.00"),
            ("h", vec![0.5, 0.01], "h", "0.5000"),
            ("slot", vec![1e9], "slot", "1.000e9"),
            ("s", vec![0.0, f64::NAN], "s", "0"),
        ] {
            let (unit, factor) = readable(own, times.iter().copied());
            assert_eq!(
                (&*unit, number(factor * times[0])),
                (expected, first.into()),
                "{times:?}"
            );
        }
    }
}
