//! How fast a trace is replayed, and how long its jobs hold their room before they run, in whole ticks.

use num_bigint::BigInt;
use num_traits::{ToPrimitive as _, Zero as _};
use schemars::JsonSchema;
use serde::Serialize;

use synth_core::number::Decimal;

/// By how much faster jobs come than they did: a/b. Sizes stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Speed {
    /// The numerator a ≥ 1: sizes are counted in a parts of a tick.
    pub numerator: u64,
    /// The denominator b ≥ 1.
    pub denominator: u64,
}

/// The largest relative error of a speed that brings a trace to a load.
const NEAR: f64 = 1e-4;

/// The largest numerator and denominator.
const LARGEST: u64 = 1_000_000;

impl Speed {
    /// As it was.
    pub const ONE: Speed = Speed::new(1, 1);

    const fn new(numerator: u64, denominator: u64) -> Self {
        Speed {
            numerator,
            denominator,
        }
    }

    /// Reads `5/4`, `2` or `1.25`.
    ///
    /// # Errors
    /// When it is no such fraction; says what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let part = |text: &str| Decimal::parse(text.trim()).ok().map(Decimal::exact);
        let whole = |n: &BigInt| n.to_u64().filter(|n| (1..=LARGEST).contains(n));
        let speed = || {
            let (a, b) = text.split_once('/').unwrap_or((text, "1"));
            let ratio = part(a)? / part(b).filter(|b| !b.is_zero())?;
            Some(Speed::new(whole(ratio.numer())?, whole(ratio.denom())?))
        };
        speed().ok_or_else(|| format!(
            "`{text}` is no speed: write a fraction of whole numbers up to {LARGEST}, such as 5/4, or 1.25"
        ))
    }

    /// The fraction with the least denominator within a ten-thousandth of this ratio, by continued fractions; `None`
    /// where the ratio is not within 1e-6 to 1e6.
    pub fn near(ratio: f64) -> Option<Self> {
        if !(1.0 / LARGEST as f64..=LARGEST as f64).contains(&ratio) {
            return None;
        }
        // Fractions of this kind are in lowest terms.
        let (mut before, mut last) = ([0, 1], [1, 0]);
        let mut rest = ratio;
        loop {
            let part = rest.floor();
            let next = [0, 1].map(|n| before[n] + part as u64 * last[n]);
            (before, last) = (last, next);
            let speed = Speed::new(next[0], next[1]);
            if next[0] > 0 && (speed.ratio() / ratio - 1.0).abs() <= NEAR {
                return Some(speed);
            }
            rest = 1.0 / (rest - part);
        }
    }

    /// Returns the ratio a/b.
    pub fn ratio(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

impl std::fmt::Display for Speed {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.denominator {
            1 => write!(to, "{}", self.numerator),
            b => write!(to, "{}/{b}", self.numerator),
        }
    }
}

/// How the ticks of a trace become times of a policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Submissions are multiplied by this whole number…
    submit: f64,
    /// …and sizes by this one…
    size: f64,
    /// …and both divided by this: 1 where times stay whole.
    per: f64,
    /// Units of a policy's time in a tick of the trace.
    unit: f64,
    /// Whether times are whole.
    whole: bool,
}

impl Clock {
    /// Times in whole parts of a tick.
    pub fn whole(speed: Speed) -> Self {
        Clock {
            submit: speed.denominator as f64,
            size: speed.numerator as f64,
            per: 1.0,
            unit: speed.numerator as f64,
            whole: true,
        }
    }

    /// Times in the unit of a workload that has so many ticks. They are whole only where the speed is, and the unit
    /// is a tick: elsewhere instants that coincide may fall apart by rounding.
    pub fn in_units(speed: Speed, ticks: f64) -> Self {
        let whole = Clock::whole(speed);
        let per = whole.size * ticks;
        Clock {
            per,
            unit: 1.0 / ticks,
            whole: per == 1.0,
            ..whole
        }
    }

    /// Times as they are, in the policy's unit.
    pub fn as_written() -> Self {
        Clock {
            whole: false,
            ..Clock::whole(Speed::ONE)
        }
    }

    /// Returns whether all times are whole.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// A time of submission \[ticks\], in the policy's time.
    pub fn submit(&self, ticks: f64) -> f64 {
        ticks * self.submit / self.per
    }

    /// A size or a limit \[ticks\], in the policy's time.
    pub fn size(&self, ticks: f64) -> f64 {
        ticks * self.size / self.per
    }

    /// A length of the policy's time in ticks.
    pub fn ticks(&self, time: f64) -> f64 {
        time / self.unit
    }

    /// Returns whether this time \[ticks\] and its multiples can be counted exactly.
    pub fn holds(&self, ticks: f64) -> bool {
        ticks * self.submit.max(self.size) < 9_007_199_254_740_992.0
    }
}

/// A time that is a whole number of parts of a tick: .9 s of ticks of a second is 9 tenths. Where ticks are counted
/// in these parts, sums with it stay exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WholeParts {
    /// How many parts.
    count: f64,
    /// Parts in a tick.
    parts: u64,
}

/// The most parts of a tick.
const MOST_PARTS: u64 = 1_000_000;

impl WholeParts {
    /// A time in seconds, of which each has so many ticks; `None` where a tick would have more than a million parts.
    pub fn of_seconds(time: Decimal, per_second: u64) -> Option<Self> {
        let ticks = time.exact() * BigInt::from(per_second);
        let parts = ticks.denom().to_u64().filter(|n| *n <= MOST_PARTS)?;
        let count = ticks.numer().to_f64()?;
        Some(WholeParts { count, parts })
    }

    /// A clock of these parts.
    pub fn clock(self, speed: Speed) -> Clock {
        let (whole, parts) = (Clock::whole(speed), self.parts as f64);
        Clock {
            submit: whole.submit * parts,
            size: whole.size * parts,
            unit: whole.unit * parts,
            ..whole
        }
    }

    /// Returns the time in ticks.
    pub fn ticks(self) -> f64 {
        self.count / self.parts as f64
    }

    /// Returns the time in the policy's time, by such a clock.
    pub fn in_policy_time(self, speed: Speed) -> f64 {
        self.count * speed.numerator as f64
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn speeds_are_read_as_fractions() {
        let read = |text| Speed::parse(text).unwrap().to_string();
        assert_eq!(
            ["5/4", "10/8", "1.25", "2", ".5", "4/2"].map(read),
            ["5/4", "5/4", "5/4", "2", "1/2", "2"]
        );
        for wrong in ["", "0", "5/0", "-1", "a/b", "0.0000001", "9999999", "."] {
            assert!(Speed::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_ratio_is_met_by_a_small_fraction() {
        for ratio in [1.0, 1.25, 0.9 / 0.653_667_029, 1e-6, 123.456, 0.333, 1e6] {
            let speed = Speed::near(ratio).unwrap();
            assert!(
                (speed.ratio() / ratio - 1.0).abs() <= NEAR,
                "{ratio} {speed}"
            );
            assert!(ratio < 1e-3 || speed.denominator <= 1000, "{ratio} {speed}");
        }
        assert_eq!(Speed::near(f64::NAN), None);
        assert_eq!(Speed::near(0.0), None);
    }

    #[test]
    fn whole_times_stay_whole() {
        let clock = Clock::whole(Speed::parse("5/4").unwrap());
        assert_eq!((clock.submit(7.0), clock.size(7.0)), (28.0, 35.0));
        assert_eq!(clock.ticks(12.0), 2.4);
        assert!(clock.is_whole() && !clock.holds(2e15));
        let hours = Clock::in_units(Speed::ONE, 3600.0);
        assert_eq!((hours.submit(7200.0), hours.ticks(2.0)), (2.0, 7200.0));
    }

    #[test]
    fn parts_of_a_tick_are_whole() {
        let of = |text: &str, per_second| {
            WholeParts::of_seconds(Decimal::parse(text).unwrap(), per_second)
        };
        let tenths = of(".9", 1).unwrap();
        assert_eq!((tenths.count, tenths.parts, tenths.ticks()), (9.0, 10, 0.9));
        let faster = Speed::parse("5/4").unwrap();
        let clock = tenths.clock(faster);
        // A tick is fifty parts: ten times the five of the speed.
        assert_eq!((clock.size(1.0), clock.submit(1.0)), (50.0, 40.0));
        assert_eq!(
            (tenths.in_policy_time(faster), clock.ticks(45.0)),
            (45.0, 0.9)
        );
        assert_eq!(of(".57", 1000).unwrap().in_policy_time(Speed::ONE), 570.0);
        assert_eq!(of("0", 1).unwrap().ticks(), 0.0);
        assert_eq!(of("1e-9", 1), None);
    }
}
