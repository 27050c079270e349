/// Bisects `[low, high]`, where a condition holds at `low` only, to a width of at most `within`, or
/// to adjacent doubles.
pub fn bisected(
    within: f64,
    [mut low, mut high]: [f64; 2],
    holds: impl Fn(f64) -> bool,
) -> [f64; 2] {
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high || high - low <= within {
            return [low, high];
        }
        if holds(middle) {
            low = middle
        } else {
            high = middle
        }
    }
}
