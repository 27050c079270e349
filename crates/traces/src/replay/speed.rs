use num_bigint::BigInt;
use num_traits::{ToPrimitive as _, Zero as _};
use schemars::JsonSchema;
use serde::Serialize;

use synth_core::number::Decimal;

/// The factor `a/b` by which the submissions are made faster. The sizes do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Speed {
    /// The numerator `a`, which is at least 1. All sizes are multiples of `1/a` of a tick.
    pub numerator: u64,
    /// The denominator `b`, which is at least 1.
    pub denominator: u64,
}

/// The maximum relative error of [`Speed::near`].
const NEAR: f64 = 1e-4;

const MAX_TERM: u64 = 1_000_000;

impl Speed {
    /// The recorded speed.
    pub const ONE: Speed = Speed::new(1, 1);

    const fn new(numerator: u64, denominator: u64) -> Self {
        Speed {
            numerator,
            denominator,
        }
    }

    /// Parses `5/4`, `2` or `1.25`; the error has the expected syntax.
    pub fn parse(text: &str) -> Result<Self, String> {
        let part = |text: &str| Decimal::parse(text.trim()).ok().map(Decimal::exact);
        let whole = |n: &BigInt| n.to_u64().filter(|n| (1..=MAX_TERM).contains(n));
        let speed = || {
            let (a, b) = text.split_once('/').unwrap_or((text, "1"));
            let ratio = part(a)? / part(b).filter(|b| !b.is_zero())?;
            Some(Speed::new(whole(ratio.numer())?, whole(ratio.denom())?))
        };
        speed().ok_or_else(|| format!(
            "`{text}` is not a valid speed: write a fraction of whole numbers up to {MAX_TERM}, such as 5/4, or a number such as 1.25"
        ))
    }

    /// Returns the fraction with the smallest denominator whose relative difference from the ratio
    /// is at most `1e-4` (continued fractions); `None` for ratios outside `1e-6` to `1e6`.
    pub fn near(ratio: f64) -> Option<Self> {
        if !(1.0 / MAX_TERM as f64..=MAX_TERM as f64).contains(&ratio) {
            return None;
        }
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

/// A conversion from the ticks of a trace to the time of a policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Submissions and sizes are multiplied by these integers and divided by `per`.
    submit: f64,
    size: f64,
    per: f64,
    /// The units of the policy's time in a tick.
    unit: f64,
    whole: bool,
}

impl Clock {
    /// Creates a clock that counts whole fractions of a tick, so that it is exact.
    pub fn whole(speed: Speed) -> Self {
        Clock {
            submit: speed.denominator as f64,
            size: speed.numerator as f64,
            per: 1.0,
            unit: speed.numerator as f64,
            whole: true,
        }
    }

    /// Creates a clock for the unit of a workload, which has this number of ticks. Unless it times
    /// the numerator of the speed is 1, rounding may separate simultaneous events.
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

    /// Creates a clock that leaves times as they are.
    pub fn as_written() -> Self {
        Clock {
            whole: false,
            ..Clock::whole(Speed::ONE)
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Converts the time of a submission \[ticks\] to the time of the policy.
    pub fn submit(&self, ticks: f64) -> f64 {
        ticks * self.submit / self.per
    }

    /// Converts a size or a limit \[ticks\] to the time of the policy.
    pub fn size(&self, ticks: f64) -> f64 {
        ticks * self.size / self.per
    }

    /// Converts a duration in the policy's time to ticks.
    pub fn ticks(&self, time: f64) -> f64 {
        time / self.unit
    }

    /// Returns `true` if this time \[ticks\] is still exact when scaled.
    pub fn holds(&self, ticks: f64) -> bool {
        ticks * self.submit.max(self.size) < 9_007_199_254_740_992.0
    }
}

/// A duration in exact fractions of a tick. If a tick is a second, 0.9 s is equal to 9 tenths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactDuration {
    count: f64,
    parts: u64,
}

const MOST_PARTS: u64 = 1_000_000;

impl ExactDuration {
    /// Converts seconds; `None` if a tick would need more than a million parts.
    pub fn of_seconds(time: Decimal, per_second: u64) -> Option<Self> {
        let ticks = time.exact() * BigInt::from(per_second);
        let parts = ticks.denom().to_u64().filter(|n| *n <= MOST_PARTS)?;
        let count = ticks.numer().to_f64()?;
        Some(ExactDuration { count, parts })
    }

    /// Returns a clock that uses these fractions as its unit.
    pub fn clock(self, speed: Speed) -> Clock {
        let (whole, parts) = (Clock::whole(speed), self.parts as f64);
        Clock {
            submit: whole.submit * parts,
            size: whole.size * parts,
            unit: whole.unit * parts,
            ..whole
        }
    }

    /// Returns the duration in ticks.
    pub fn ticks(self) -> f64 {
        self.count / self.parts as f64
    }

    /// Returns the duration in the policy's time, for [`ExactDuration::clock`].
    pub fn in_policy_time(self, speed: Speed) -> f64 {
        self.count * speed.numerator as f64
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn parses_speeds_as_fractions() {
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
    fn approximates_ratios_by_small_fractions() {
        for ratio in [1.0, 1.25, 0.9 / 0.653_667_029, 1e-6, 123.456, 0.333, 1e6] {
            let speed = Speed::near(ratio).unwrap();
            let is_near = (speed.ratio() / ratio - 1.0).abs() <= NEAR;
            assert!(is_near, "{ratio} {speed}");
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
    fn fractions_of_a_tick_are_exact() {
        let of = |text: &str, per_second| {
            ExactDuration::of_seconds(Decimal::parse(text).unwrap(), per_second)
        };
        let tenths = of(".9", 1).unwrap();
        assert_eq!((tenths.count, tenths.parts, tenths.ticks()), (9.0, 10, 0.9));
        let faster = Speed::parse("5/4").unwrap();
        let clock = tenths.clock(faster);
        // A tick has ten parts for the latency times five for the speed.
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
