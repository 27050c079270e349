use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use synth_core::artifact::Findings;
use synth_core::number::{format_number, in_words};

const MOST_EXPONENT: f64 = 20.0;
/// The maximum ratio of the other exponents to the exponent of the age, to avoid overflow.
const MOST_OF_AGE: f64 = 50.0;

/// An order of the jobs by the value of `a ln ê + b ln p − g ln(w + c)`, where `ê` is the size
/// estimate, `p` is the share of the scarcest resource, and `w` is the waiting time. The job with
/// the smallest value is the first, and if two values are equal, the older job is the first.
///
/// The values `(1, 0, 0)` sort by size, with the shortest first, `(1, 1, 0)` by area, and
/// `(3, −1, 3)` is WFP3: Tang, Lan, Desai, Buettner, "Fault-aware, utility-based job scheduling on
/// Blue Gene/P systems", Cluster 2009.
///
/// If `g > 0`, the order is equivalent to `(w + c) / s` in descending order, where
/// `s = (ê^a p^b)^(1/g)`. This is a linear function of time, so no logarithm is needed to compute
/// it, and the order of two jobs changes at most once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Priority {
    /// The exponent `a` of the estimate.
    pub size: f64,
    /// The exponent `b` of the share.
    pub share: f64,
    /// The exponent `g` of the waiting time, which must be at least 0.
    #[serde(default)]
    pub age: f64,
    /// The offset `c` of the waiting time \[time\]. It must be positive if `g` is positive.
    #[serde(default)]
    pub offset: f64,
}

impl Priority {
    /// Shortest job first.
    pub const SHORTEST: Self = Priority::of(1.0, 0.0);

    /// First come, first served.
    pub const ARRIVAL: Self = Priority {
        age: 1.0,
        offset: 1.0,
        ..Priority::of(0.0, 0.0)
    };

    /// The job with the smallest area (estimate times share) is the first.
    pub const SMALLEST_AREA: Self = Priority::of(1.0, 1.0);

    /// The job with the largest share is the first. Without reservations, this is best-fit.
    pub const WIDEST: Self = Priority::of(0.0, -1.0);

    /// The named orders.
    pub const NAMED: [(&'static str, Self); 5] = [
        ("fcfs", Priority::ARRIVAL),
        ("sjf", Priority::SHORTEST),
        ("saf", Priority::SMALLEST_AREA),
        ("widest", Priority::WIDEST),
        ("wfp3", Priority::wfp3(1.0)),
    ];

    const fn of(size: f64, share: f64) -> Self {
        Priority {
            size,
            share,
            age: 0.0,
            offset: 0.0,
        }
    }

    /// Returns the order WFP3 with the given offset of the waiting time \[time\].
    pub const fn wfp3(offset: f64) -> Self {
        Priority {
            age: 3.0,
            offset,
            ..Priority::of(3.0, -1.0)
        }
    }

    /// Describes the order. The name of the size estimate is `size`, and `unit` is the time unit.
    pub fn describe(&self, size: &str, unit: &str) -> String {
        let power = |(what, exponent): (&str, f64)| match exponent {
            0.0 => None,
            1.0 => Some(what.to_owned()),
            _ => Some(format!("{what}^{exponent}")),
        };
        let of_job = [(size, self.size), ("share", self.share)];
        let of_job: Vec<String> = of_job.into_iter().filter_map(power).collect();
        let of_job = of_job.join(" × ");
        match (self.size, self.share, self.changes_with_time()) {
            (0.0, 0.0, _) => "first come, first served".into(),
            (1.0, 0.0, false) => format!("shortest {size} first"),
            (0.0, -1.0, false) => "largest share first".into(),
            (1.0, 1.0, false) => format!("smallest area ({of_job}) first"),
            (.., false) => format!("least {of_job} first"),
            (.., true) => {
                let wait = format!("(wait + {})", in_words(self.offset, unit));
                let aged = power((&wait, self.age)).unwrap_or_default();
                format!("largest {aged} / ({of_job}) first")
            }
        }
    }

    /// Adds a fault for each number that is out of range.
    pub fn check(&self, findings: &mut Findings) {
        let all = [
            ("order.size", self.size, -MOST_EXPONENT),
            ("order.share", self.share, -MOST_EXPONENT),
            ("order.age", self.age, 0.0),
        ];
        for (path, value, least) in all {
            if !(least..=MOST_EXPONENT).contains(&value) {
                let expected = format!("from {least} to {MOST_EXPONENT}");
                findings.differs(path, format_number(value), expected);
            }
        }
        let largest = self.size.abs().max(self.share.abs());
        if self.changes_with_time() && largest > MOST_OF_AGE * self.age {
            let expected = format!("0, or at least {}", largest / MOST_OF_AGE);
            findings.differs("order.age", self.age, expected);
        }
        let is_time = self.offset >= 0.0 && self.offset.is_finite();
        if !is_time || self.changes_with_time() && self.offset == 0.0 {
            let expected = "a time, positive if `age` is";
            findings.differs("order.offset", format_number(self.offset), expected);
        }
    }

    /// Returns `true` if the order of two waiting jobs may change over time.
    pub fn changes_with_time(&self) -> bool {
        self.age > 0.0
    }

    /// Returns the time-independent part of the key. The estimate \[time\] and share are positive.
    pub(super) fn scale(&self, estimate: f64, share: f64) -> f64 {
        // In this order, `max` and `min` also return a value in the range for NaN.
        let within = |x: f64, [least, most]: [f64; 2]| x.max(least).min(most);
        let scale = estimate.powf(self.size) * share.powf(self.share);
        let scale = within(scale, [f64::MIN_POSITIVE, f64::MAX]);
        if self.changes_with_time() {
            within(scale.powf(1.0 / self.age), [1e-280, 1e280])
        } else {
            scale
        }
    }

    #[inline]
    pub(super) fn key(&self, scale: f64, waited: f64) -> f64 {
        if self.changes_with_time() {
            -(waited + self.offset) / scale
        } else {
            scale
        }
    }
}
