//! How long jobs that come again hold their room before they run.

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use super::speed::{Clock, Speed};
use crate::number::Decimal;

/// The start latency of each job, in the policy's time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartLatency {
    /// That of every job where none are drawn; else their mean, which rules that plan by limits add to these.
    pub mean: f64,
    /// That of each job, by submission; empty where all have the same.
    pub drawn: Vec<f64>,
}

impl StartLatency {
    /// The same for each job.
    #[must_use]
    pub fn same(time: f64) -> Self {
        StartLatency {
            mean: time,
            drawn: Vec::new(),
        }
    }

    /// That of the n-th job.
    #[must_use]
    pub fn of(&self, n: usize) -> f64 {
        self.drawn.get(n).copied().unwrap_or(self.mean)
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
    /// None of it.
    pub const NONE: WholeParts = WholeParts {
        count: 0.0,
        parts: 1,
    };

    /// A time in seconds, of which each has so many ticks; `None` where a tick would have more than a million parts.
    #[must_use]
    pub fn of_seconds(time: Decimal, per_second: u64) -> Option<Self> {
        let ticks = time.exact() * BigInt::from(per_second);
        let parts = ticks.denom().to_u64().filter(|n| *n <= MOST_PARTS)?;
        let count = ticks.numer().to_f64()?;
        Some(WholeParts { count, parts })
    }

    /// A clock of these parts.
    #[must_use]
    pub fn clock(self, speed: Speed) -> Clock {
        Clock::whole(speed).finer(self.parts)
    }

    /// The time in ticks.
    #[must_use]
    pub fn ticks(self) -> f64 {
        self.count / self.parts as f64
    }

    /// The time as a policy is told it by such a clock.
    #[must_use]
    pub fn told(self, speed: Speed) -> f64 {
        self.count * speed.numerator as f64
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

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
        assert_eq!((tenths.told(faster), clock.ticks(45.0)), (45.0, 0.9));
        assert_eq!(of(".57", 1000).unwrap().told(Speed::ONE), 570.0);
        assert_eq!(of("0", 1), Some(WholeParts::NONE));
        assert_eq!(of("1e-9", 1), None);
    }
}
