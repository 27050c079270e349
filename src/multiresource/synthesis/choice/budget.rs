use std::fmt;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::multiresource::synthesis::left;

/// How much may be simulated to tune and to choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// So many events (arrivals, completions, clocks): the same seed gives the same policy, unless they take more than
    /// twice as long as usual, and a minute of a core.
    Events(u64),
    /// For so long on this machine: what comes out depends on how fast it is.
    Time(Duration),
}

/// Events that a second of a budget of time counts for where runs are planned: those of simple rules
/// on two cores. Rules that take longer are charged for what they took.
const PACE: f64 = 1.5e7;

/// Events a second of one core, half of the usual, below which a budget of events is ended by time; unless it
/// is shorter than this.
const SLOWEST: f64 = 5e6;
const LEAST: Duration = Duration::from_secs(60);

/// The time that cores have worked for this process: what else the machine does is not in it.
pub(super) fn worked() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

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
        let left = left(end);
        match self.units() as f64 > PACE * left.as_secs_f64() {
            true => Budget::Time(left),
            false => self,
        }
    }

    /// How long cores may work for it: twice as long as usually, where events are counted.
    pub(super) fn most(self) -> Duration {
        match self {
            Budget::Events(events) => LEAST.max(Duration::from_secs_f64(events as f64 / SLOWEST)),
            Budget::Time(_) => Duration::MAX,
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
