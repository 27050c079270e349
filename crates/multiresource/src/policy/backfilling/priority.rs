//! The order of the queue by what each job promises: its estimate, its share of the servers, and its age.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use synth_core::artifact::Findings;
use synth_core::number::{in_words, shown};

/// The largest number that an exponent can be…
const MOST: f64 = 20.0;
/// …and the largest ratio of the others to that of the age: beyond it powers leave the range of doubles.
const MOST_OF_AGE: f64 = 50.0;

/// The order of jobs by `a ln ê + b ln p − g ln(w + c)`, least first: ê is what is taken for its size, p what it takes of
/// the scarcest resource, w how long it has waited. Of equals it is the older one.
///
/// (1, 0, 0) is shortest first, (1, 1, 0) smallest area first, and (3, −1, 3) is WFP3: Tang, Lan, Desai, Buettner,
/// "Fault-aware, utility-based job scheduling on Blue Gene/P systems", Cluster 2009.
///
/// Where g > 0 the order is that of (w + c) / s, largest first, with `s = (ê^a p^b)^(1/g)`: a straight line over time. So
/// no logarithm is taken as time goes on, and the order of two jobs changes once at most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Priority {
    /// a, of the estimate.
    pub size: f64,
    /// b, of the share.
    pub share: f64,
    /// g ≥ 0, of the wait.
    #[serde(default)]
    pub age: f64,
    /// c \[time\], > 0 where g is.
    #[serde(default)]
    pub offset: f64,
}

impl Priority {
    /// The shortest job first.
    pub const SHORTEST: Self = Priority::of(1.0, 0.0);

    /// The oldest job.
    pub const ARRIVAL: Self = Priority {
        age: 1.0,
        offset: 1.0,
        ..Priority::of(0.0, 0.0)
    };

    /// The one of the smallest area, estimate times share.
    pub const SMALLEST_AREA: Self = Priority::of(1.0, 1.0);

    /// The one that holds most: without reservations it is Best-Fit.
    pub const WIDEST: Self = Priority::of(0.0, -1.0);

    /// Those that have names.
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

    /// WFP3, with this offset of the wait \[time\].
    pub const fn wfp3(offset: f64) -> Self {
        Priority {
            age: 3.0,
            offset,
            ..Priority::of(3.0, -1.0)
        }
    }

    /// Says who is next, in words; `size` is what is taken for a job's size, and times are in this unit.
    pub fn words(&self, size: &str, unit: &str) -> String {
        let power = |(what, exponent): (&str, f64)| match exponent {
            0.0 => None,
            1.0 => Some(what.to_owned()),
            _ => Some(format!("{what}^{exponent}")),
        };
        let of_job = [(size, self.size), ("share", self.share)];
        let of_job: Vec<String> = of_job.into_iter().filter_map(power).collect();
        let of_job = of_job.join(" × ");
        match (self.size, self.share, self.moves()) {
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

    /// Checks that its numbers are in range.
    pub(super) fn check(&self, findings: &mut Findings) {
        let all = [
            ("order.size", self.size, -MOST),
            ("order.share", self.share, -MOST),
            ("order.age", self.age, 0.0),
        ];
        for (path, value, least) in all {
            if !(least..=MOST).contains(&value) {
                findings.differs(path, shown(value), format!("from {least} to {MOST}"));
            }
        }
        let largest = self.size.abs().max(self.share.abs());
        if self.moves() && largest > MOST_OF_AGE * self.age {
            let expected = format!("0, or at least {}", largest / MOST_OF_AGE);
            findings.differs("order.age", self.age, expected);
        }
        let is_time = self.offset >= 0.0 && self.offset.is_finite();
        if !is_time || self.moves() && self.offset == 0.0 {
            let expected = "a time, above 0 where the age counts";
            findings.differs("order.offset", shown(self.offset), expected);
        }
    }

    /// Whether the order of two waiting jobs may change with time.
    pub fn moves(&self) -> bool {
        self.age > 0.0
    }

    /// Returns what of a job's key does not change with time, for its estimate \[time\] and its share, both > 0.
    pub(super) fn scale(&self, estimate: f64, share: f64) -> f64 {
        // In this order what is no number is in range, too.
        let within = |x: f64, [least, most]: [f64; 2]| x.max(least).min(most);
        let scale = estimate.powf(self.size) * share.powf(self.share);
        let scale = within(scale, [f64::MIN_POSITIVE, f64::MAX]);
        if self.moves() {
            within(scale.powf(1.0 / self.age), [1e-280, 1e280])
        } else {
            scale
        }
    }

    /// Returns the key of a job of this scale that has waited so long \[time\].
    #[inline]
    pub(super) fn key(&self, scale: f64, waited: f64) -> f64 {
        if self.moves() {
            -(waited + self.offset) / scale
        } else {
            scale
        }
    }
}
