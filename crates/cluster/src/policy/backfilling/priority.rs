//! The order of the queue by what each job promises: its estimate, its share of the servers, and its age.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use synth_core::artifact::Findings;

/// The largest number that an exponent can be.
const MOST: f64 = 100.0;

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

    /// Says who is next, in words; times are in this unit.
    pub fn words(&self, unit: &str) -> String {
        let Priority {
            size,
            share,
            age,
            offset,
        } = *self;
        match (size, share, age) {
            (0.0, 0.0, _) => "first come, first served".into(),
            (1.0, 0.0, 0.0) => "the shortest job first".into(),
            (1.0, 1.0, 0.0) => "the smallest area (size times share) first".into(),
            (_, _, 0.0) => format!("least size^{size} × share^{share} first"),
            _ => format!(
                "largest (wait + {offset} {unit})^{age} / (size^{size} × share^{share}) first"
            ),
        }
    }

    /// Checks that its numbers are in range.
    pub(super) fn check(&self, findings: &mut Findings) {
        let all = [
            ("size", self.size),
            ("share", self.share),
            ("age", self.age),
        ];
        for (name, value) in all {
            if !(value.abs() <= MOST) {
                findings.add(
                    "order",
                    format!("{name} is {value}, from {} to {MOST}", -MOST),
                );
            }
        }
        if self.age < 0.0 {
            findings.add("order", format!("age is {}, ≥ 0", self.age));
        }
        if !(self.offset >= 0.0 && self.offset.is_finite()) || self.moves() && self.offset == 0.0 {
            let offset = self.offset;
            findings.add(
                "order",
                format!("offset is {offset}, a time > 0 where age is"),
            );
        }
    }

    /// Whether the order of two waiting jobs may change with time.
    pub fn moves(&self) -> bool {
        self.age > 0.0
    }

    /// Returns what of a job's key does not change with time, for its estimate \[time\] and its share, both > 0.
    pub(super) fn scale(&self, estimate: f64, share: f64) -> f64 {
        let scale = estimate.powf(self.size) * share.powf(self.share);
        if self.moves() {
            scale.powf(1.0 / self.age)
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
