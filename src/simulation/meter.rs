/// The first moment of the jumps of a quantity, for its integral over time: `Σ Δ t` over its jumps Δ
/// at times t since an origin. At time T after it the integral is `value·T − Σ Δ t`; so a constant
/// quantity costs no work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moment(f64);

impl Moment {
    /// The quantity goes up by 1, `at` after the origin.
    #[inline(always)]
    pub fn rise(&mut self, at: f64) {
        self.0 += at;
    }

    /// The quantity goes down by 1, `at` after the origin.
    #[inline(always)]
    pub fn fall(&mut self, at: f64) {
        self.0 -= at;
    }

    /// The quantity jumps by `by`, `at` after the origin.
    pub fn jump(&mut self, by: f64, at: f64) {
        self.0 += by * at;
    }

    /// The integral over the `length` since the origin, which moves to its end, where the quantity
    /// has this value.
    pub fn collect(&mut self, value: f64, length: f64) -> f64 {
        value * length - std::mem::take(&mut self.0)
    }
}

/// A quantity that jumps, its integral kept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    value: f64,
    moment: Moment,
}

impl Meter {
    /// It jumps to `value`, `at` after the origin.
    pub fn set(&mut self, value: f64, at: f64) {
        self.moment.jump(value - self.value, at);
        self.value = value;
    }

    /// The integral over the `length` since the origin, which moves to its end.
    pub fn collect(&mut self, length: f64) -> f64 {
        self.moment.collect(self.value, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integral_of_a_staircase() {
        let mut meter = Meter::default();
        meter.set(2.0, 1.0);
        meter.set(5.0, 3.0);
        assert_eq!(meter.collect(4.0), 2.0 * 2.0 + 5.0);
        meter.set(0.0, 0.5);
        assert_eq!(meter.collect(4.0), 2.5);
        assert_eq!(meter.collect(4.0), 0.0);
    }
}
