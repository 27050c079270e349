/// Returns a number for a message that names it: computed, and maybe beyond the range of doubles.
pub(crate) fn told(value: f64) -> String {
    match value {
        _ if value.is_nan() => "no number".into(),
        _ if value.is_infinite() => "more than a double can hold".into(),
        _ if value == 0.0 || (1e-4..1e15).contains(&value.abs()) => value.to_string(),
        _ => format!("{value:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn numbers_out_of_range_are_told_in_words() {
        let shown = [0.0, -2.5, 3e-9, 7e300, f64::INFINITY, f64::NAN].map(told);
        let beyond = "more than a double can hold";
        assert_eq!(shown, ["0", "-2.5", "3e-9", "7e300", beyond, "no number"]);
    }
}
