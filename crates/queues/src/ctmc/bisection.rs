/// Bisects the interval `[low, high]`, where the condition holds at `low` but not at `high`, until
/// its width is at most `within` or its ends are adjacent numbers. It then contains one change.
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
