/// Returns the last point where a condition holds and the next double, where it does not, or two points no further apart
/// than `within`: by bisection between a point where it holds and a larger one where it does not. Of a condition that
/// changes more than once, one of the changes.
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
