/// Bisects `[low, high]`, where a condition holds at `low` and not at `high`, until the interval is
/// at most `within` wide or its ends are adjacent doubles. If the condition changes more than once,
/// one of the changes is found.
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
