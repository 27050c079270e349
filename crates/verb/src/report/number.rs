use synth_core::number::seconds_in;
use synth_simulation::Estimate;

/// Formats a number with four significant digits, if possible without an exponent. NaN is a dash.
pub fn number(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 {
        "0".into()
    } else if value.is_nan() {
        "–".into()
    } else if value.is_infinite() {
        "∞".into()
    } else {
        let rounded = format!("{value:.3e}");
        if !(1e-4..1e7).contains(&magnitude) {
            return rounded;
        }
        let power = rounded
            .rsplit_once('e')
            .map(|(_, power)| power.parse::<i64>());
        let decimals = (3 - power.and_then(Result::ok).unwrap_or(0)).max(0) as usize;
        format!("{value:.decimals$}")
    }
}

/// Returns the name of a file without its directory.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the number of decimal places for an interval of this half-width, or `None` if it is 0.
pub fn decimals(width: f64) -> Option<usize> {
    (width > 0.0).then(|| (1 - width.log10().floor() as i64).clamp(0, 9) as usize)
}

/// Formats a lower bound with four digits. It is rounded down.
pub fn below(bound: f64) -> String {
    let power = bound.log10().floor() - 3.0;
    let power = if bound < 1e7 { power.min(0.0) } else { power };
    number((bound - 0.5 * 10_f64.powf(power)).max(0.0))
}

/// Formats an estimate as `mean ± half-width` with its significant digits.
pub fn estimate(estimate: Option<Estimate>) -> String {
    estimate.map_or("–".into(), |e| within(e.mean, e.half_width))
}

/// Formats a mean and the half-width of its interval.
pub fn within(mean: f64, half_width: f64) -> String {
    if !(1e-4..1e7).contains(&mean.abs()) && mean != 0.0 && half_width > 0.0 {
        let digits = (mean.abs() / half_width).log10().floor() + 1.0;
        let digits = digits.clamp(0.0, 9.0) as usize;
        return format!("{mean:.digits$e} ± {half_width:.1e}");
    }
    match decimals(half_width) {
        Some(decimals) => format!("{mean:.decimals$} ± {half_width:.decimals$}"),
        None => number(mean),
    }
}

/// Formats a load with up to 12 decimal places if it is close to 1, and 9 digits otherwise.
pub fn load(load: f64) -> String {
    let decimals = match load {
        _ if (load - 1.0).abs() < 1e-3 => 12,
        _ if !(1e-9..1e15).contains(&load) => return format!("{load:.3e}"),
        _ => (9 - load.log10().ceil().min(0.0) as i32) as usize,
    };
    let text = format!("{load:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// Formats a fraction as a percentage. If it is positive, it is not shown as 0.
pub fn percent(fraction: f64) -> String {
    percentage(fraction) + if fraction.is_nan() { "" } else { " %" }
}

/// Formats a [percentage](percent) without the `%` sign.
pub fn percentage(fraction: f64) -> String {
    let percentage = 100.0 * fraction;
    if percentage > 0.0 && percentage < 0.05 {
        "< 0.1".into()
    } else if percentage.is_nan() {
        "–".into()
    } else {
        format!("{percentage:.1}")
    }
}

/// Joins the items of a list as `a, b and c`.
pub fn list<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => items.join(""),
    }
}

/// Formats a ratio as a change in percent.
pub fn change(ratio: f64) -> String {
    match 100.0 * (ratio - 1.0) {
        small if small.abs() < 0.005 => "±0 %".into(),
        percent => format!("{percent:+.2} %"),
    }
}

/// Returns the plural of a name that may already be one, such as `gpu-nodes`.
pub fn plural(name: &str) -> String {
    name.trim_end_matches('s').to_owned() + "s"
}

/// Formats a number of things, such as `one server` or `3 servers`.
pub fn counted(count: f64, noun: &str) -> String {
    if count == 1.0 {
        format!("one {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

fn long_unit(seconds: f64) -> Option<(&'static str, f64)> {
    let mut units = [("d", 86_400.0), ("h", 3600.0), ("min", 60.0)].into_iter();
    units.find(|(_, own)| seconds >= 1.95 * own)
}

/// Formats a duration \[s\] in a readable unit.
pub fn length(seconds: f64) -> String {
    let Some((name, own)) = long_unit(seconds) else {
        return format!("{seconds:.0} s");
    };
    let count = seconds / own;
    let digits = usize::from(count < 9.95);
    format!("{count:.digits$} {name}")
}

/// Returns a readable unit for a time in `unit`, and the factor to convert it.
pub fn readable_unit(time: f64, unit: &str) -> (&str, f64) {
    let Some(second) = seconds_in(unit).filter(|_| time > 0.0) else {
        return (unit, 1.0);
    };
    let seconds = time * second;
    let (name, own) = match long_unit(seconds) {
        Some(unit) => unit,
        None if seconds >= 0.5 => ("s", 1.0),
        None => ("ms", 1e-3),
    };
    (name, second / own)
}

/// Returns a readable unit for the median of the times, and the factor to convert them. The unit is
/// kept if its length is not known, or if the longest time has one to four digits before the point.
pub fn readable(own: &str, times: impl Iterator<Item = f64>) -> (String, f64) {
    let positive = times.filter(|time| time.is_finite() && *time > 0.0);
    let mut times: Vec<f64> = positive.collect();
    times.sort_by(f64::total_cmp);
    let is_kept = times.last().is_none_or(|most| (0.1..9999.5).contains(most));
    let (unit, factor) = match is_kept {
        true => (own, 1.0),
        false => readable_unit(times[times.len() / 2], own),
    };
    (unit.to_owned(), factor)
}

/// Formats a time and the half-width of its interval (or 0) in a readable unit, such as `3.1 h`.
pub fn span((mean, half_width): (f64, f64), unit: &str) -> String {
    let (name, factor) = readable_unit(mean, unit);
    let is_plain = seconds_in(unit).is_none() || mean.is_nan() || mean <= 0.0;
    let [mean, half_width] = [mean, half_width].map(|time| time * factor);
    if is_plain || half_width > 0.0 {
        return format!("{} {name}", within(mean, half_width));
    }
    let digits = if mean < 9.95 { 2 } else { 1 };
    format!("{mean:.digits$} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_in_a_unit_that_fits() {
        assert_eq!(span((0.25, 0.01), "h"), "15.00 ± 0.60 min");
        assert_eq!(span((225_391.0, 77_710.0), "s"), "2.61 ± 0.90 d");
        assert_eq!(span((1.5, 0.0), "s"), "1.50 s");
        assert_eq!(span((0.02, 0.001), "s"), "20.0 ± 1.0 ms");
        assert_eq!(span((3.0, 0.0), "slot"), "3.000 slot");
        assert_eq!(span((0.0, 0.0), "h"), "0 h");
    }

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
            let found = (&*unit, number(factor * times[0]));
            assert_eq!(found, (expected, first.into()), "{times:?}");
        }
    }

    #[test]
    fn loads_have_enough_digits() {
        for (value, shown) in [
            (0.9, "0.9"),
            (2.0 / 3.0, "0.666666667"),
            (1.0 - 1e-11, "0.99999999999"),
            (1.0, "1"),
            (0.0008, "0.0008"),
            (1.234_567_890_123e-5, "0.0000123456789"),
            (2e-11, "2.000e-11"),
            (1e-300, "1.000e-300"),
            (12_345.5, "12345.5"),
            (4e20, "4.000e20"),
        ] {
            assert_eq!(load(value), shown);
        }
    }

    #[test]
    fn numbers_keep_four_digits() {
        let shown = [
            0.0,
            0.655,
            168.471,
            9.99999,
            999.96,
            12345.6,
            1.5e-7,
            2e9,
            f64::NAN,
            f64::INFINITY,
        ];
        assert_eq!(
            shown.map(number),
            [
                "0", "0.6550", "168.5", "10.00", "1000", "12346", "1.500e-7", "2.000e9", "–", "∞"
            ]
        );
    }

    #[test]
    fn percentages_distinguish_small_values_from_zero() {
        let shown = [0.0, 1e-30, 4e-4, 0.0006, 0.5, 1.0, 12.0, -0.25].map(percent);
        let expected = [
            "0.0 %", "< 0.1 %", "< 0.1 %", "0.1 %", "50.0 %", "100.0 %", "1200.0 %", "-25.0 %",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn estimates_show_significant_digits() {
        let shown = |mean, half_width| {
            let exact = Estimate::exact(mean);
            estimate(Some(Estimate {
                half_width,
                ..exact
            }))
        };
        assert_eq!(shown(36.8107, 0.156), "36.81 ± 0.16");
        assert_eq!(shown(168.4, 3.27), "168.4 ± 3.3");
        assert_eq!(shown(1.2345e-12, 1.3e-14), "1.23e-12 ± 1.3e-14");
        assert_eq!(shown(1.2345e15, 1.3e13), "1.23e15 ± 1.3e13");
        assert_eq!(estimate(None), "–");
    }

    #[test]
    fn lower_bounds_are_not_rounded_up() {
        let shown = [2.7779, 0.001_999_9, 123_456.7, 9.9999, 0.0].map(below);
        assert_eq!(shown, ["2.777", "0.001999", "123456", "9.999", "0"]);
    }
}
