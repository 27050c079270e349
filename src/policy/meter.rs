/// A quantity of time that jumps, its integral kept.
///
/// Kept is `Σ Δ t` over its jumps Δ at times t since an origin: at time T after it the integral
/// is `value·T − Σ Δ t`. So a jump costs one multiplication, and what does not move costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    value: f64,
    moment: f64,
}

impl Meter {
    /// It jumps by `by`, `at` after the origin.
    pub(super) fn add(&mut self, by: f64, at: f64) {
        self.value += by;
        self.moment += by * at;
    }

    /// It jumps to `value`, `at` after the origin.
    pub(crate) fn set(&mut self, value: f64, at: f64) {
        self.add(value - self.value, at);
    }

    /// The integral over the `length` since the origin, which moves to its end.
    pub(crate) fn collect(&mut self, length: f64) -> f64 {
        self.value * length - std::mem::take(&mut self.moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integral_of_a_staircase() {
        let mut meter = Meter::default();
        meter.add(2.0, 1.0);
        meter.set(5.0, 3.0);
        assert_eq!(meter.collect(4.0), 2.0 * 2.0 + 5.0);
        meter.add(-5.0, 0.5);
        assert_eq!(meter.collect(4.0), 2.5);
        assert_eq!(meter.collect(4.0), 0.0);
    }
}
