use std::fmt;
use std::time::{Duration, Instant};

/// How much may be simulated to tune and to choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// So many events (arrivals, completions, clocks): the same seed gives the same policy.
    Events(u64),
    /// For so long on this machine: what comes out depends on how fast it is.
    Time(Duration),
}

/// Events that a second of a budget of time counts for where runs are planned: those of simple rules
/// on two cores. Rules that take longer are charged for what they took.
const PACE: f64 = 1.5e7;

/// Events a second, half of the usual, below which a budget of events is ended by time; unless it is shorter
/// than this.
const SLOWEST: f64 = 1.05e7;
const LEAST: Duration = Duration::from_secs(30);

impl Budget {
    /// The budget in events, or in what stands for them.
    pub(super) fn units(self) -> u64 {
        match self {
            Budget::Events(events) => events,
            Budget::Time(time) => (PACE * time.as_secs_f64()) as u64,
        }
    }

    /// Units a second, where time counts.
    pub(super) fn pace(self) -> Option<f64> {
        matches!(self, Budget::Time(_)).then_some(PACE)
    }

    /// It, or the time until then where that is shorter.
    #[must_use]
    pub fn until(self, end: Option<Instant>) -> Self {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        match left {
            Some(left) if (self.units() as f64) > PACE * left.as_secs_f64() => Budget::Time(left),
            _ => self,
        }
    }

    /// How long it may take: nearly twice what it takes usually, where events are counted; and as long as that is
    /// no matter.
    pub(super) fn most(self) -> Duration {
        match self {
            Budget::Events(events) => LEAST.max(Duration::from_secs_f64(events as f64 / SLOWEST)),
            Budget::Time(time) => time,
        }
    }

    /// A part of it.
    #[must_use]
    pub fn part(self, part: f64) -> Self {
        match self {
            Budget::Events(events) => Budget::Events((part * events as f64) as u64),
            Budget::Time(time) => Budget::Time(time.mul_f64(part)),
        }
    }
}

/// As it is typed.
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Budget::Events(events) => write!(f, "{:e}", *events as f64),
            Budget::Time(time) => write!(f, "{} s", time.as_secs_f64()),
        }
    }
}
