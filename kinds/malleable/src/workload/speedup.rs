use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use synth_core::document::{Fault, Place, place};
use synth_core::number::Decimal;

/// A speedup, as it is written in a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SpeedupRecord {
    /// `s(k) = k^p`.
    Power {
        /// The exponent, which must be in (0, 1].
        p: Decimal,
    },
    /// `s(k) = 1/(1 − f + f/k)`, where the fraction `1 − f` of the work is sequential.
    Amdahl {
        /// The fraction f, which must be in (0, 1].
        parallel_fraction: Decimal,
    },
    /// `s(k) = ln(1 + αk)/ln(1 + α)`.
    Logarithm {
        /// The scale α, which must be greater than 0.
        scale: Decimal,
    },
    /// A list of points `[k, s(k)]`. The function is linear between two points, starting at (0, 0),
    /// and constant after the last point.
    Table(Vec<[Decimal; 2]>),
}

/// A speedup that has been checked. It is concave.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Speedup {
    Power(f64),
    Amdahl(f64),
    Logarithm(f64),
    /// Points `(k, s)` from (0, 0) with decreasing slopes, constant after the last one.
    Table(Vec<(f64, f64)>),
}

impl SpeedupRecord {
    /// Returns the speedup. If a table is not concave, this is its hull, and a warning is added.
    pub(super) fn check(&self, warnings: &mut Vec<Fault>) -> Result<Speedup, Fault> {
        let (key, value, speedup) = match self {
            SpeedupRecord::Power { p } => ("p", p, Speedup::Power as fn(f64) -> _),
            SpeedupRecord::Amdahl {
                parallel_fraction: f,
            } => ("parallel_fraction", f, Speedup::Amdahl as fn(_) -> _),
            SpeedupRecord::Logarithm { scale: a } => ("scale", a, Speedup::Logarithm as fn(_) -> _),
            SpeedupRecord::Table(points) => return table(points, warnings),
        };
        let number = value.value();
        if number > 0.0 && (number <= 1.0 || key == "scale") {
            return Ok(speedup(number));
        }
        let help = match key {
            "p" => {
                "a job with k servers is k^p times as fast as with one server: if p = 1, the speedup is perfect, and if p is close to 0, there is no speedup"
            }
            "scale" => "the speedup is ln(1 + scale·k)/ln(1 + scale)",
            _ => "write the fraction of a job's work that can run in parallel",
        };
        let most = if key == "scale" {
            "> 0"
        } else {
            "above 0 and at most 1"
        };
        let message = format!("{key} is {value}, expected a number {most}");
        Err(Fault::new(place!(key), message, help))
    }
}

fn table(points: &[[Decimal; 2]], warnings: &mut Vec<Fault>) -> Result<Speedup, Fault> {
    let help = "write a list of points as [servers, speedup], for example `table: [[1, 1], [2, 1.8], [4, 3]]`";
    let refuse = |message: &str| Err(Fault::new(Place::DOCUMENT, message, help));
    if points.is_empty() {
        return refuse("the table has no points");
    }
    let mut all: Vec<(f64, f64)> = Vec::new();
    for (i, [servers, speed]) in points.iter().enumerate() {
        let (k, s) = (servers.value(), speed.value());
        let (least, top) = all.last().copied().unwrap_or_default();
        let message = match (k, s) {
            (0.0, 0.0) if i == 0 => continue,
            (0.0, _) if i == 0 => format!("s(0) is {s}, but a job without servers does not run"),
            _ if k <= least => format!("the point for {k} servers is after the point for {least}"),
            _ if s < top => {
                format!("the speedup falls from {top} on {least} servers to {s} on {k}")
            }
            _ if s <= 0.0 => format!("the speedup on {k} servers is {s}, expected a number > 0"),
            _ => {
                all.push((k, s));
                continue;
            }
        };
        let help = match k {
            0.0 => "remove this point, because every table starts at [0, 0]",
            _ => {
                "sort the points by the number of servers, and remove all points that are slower than a point with fewer servers"
            }
        };
        return Err(Fault::new(place!(i), message, help));
    }
    if all.is_empty() {
        return refuse("the table has no speedup > 0");
    }
    let hull = Speedup::Table(hull(&all));
    let gap = |&(k, s): &(f64, f64)| (hull.at(k) - s) / hull.at(k);
    let worst = all.iter().max_by(|a, b| gap(a).total_cmp(&gap(b)));
    if let Some(&(k, s)) = worst.filter(|point| gap(point) > 1e-12) {
        let (percent, above) = (100.0 * gap(&(k, s)), hull.at(k));
        let message = format!(
            "the table is not concave: its hull is up to {percent:.2} % above it ({above:.6} instead of {s} on {k} servers)"
        );
        let help = "the plan uses the hull, since a job can switch between the two closest numbers of servers";
        warnings.push(Fault::new(Place::DOCUMENT, message, help));
    }
    Ok(hull)
}

fn hull(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut corners = vec![(0.0, 0.0)];
    for &point in points {
        while let [.., a, b] = corners[..]
            && slope(a, b) <= slope(b, point)
        {
            corners.pop();
        }
        corners.push(point);
    }
    while let [.., a, b] = corners[..]
        && slope(a, b) <= 0.0
    {
        corners.pop();
    }
    corners
}

fn slope(a: (f64, f64), b: (f64, f64)) -> f64 {
    (b.1 - a.1) / (b.0 - a.0)
}

impl Speedup {
    /// Returns `s(k)` for k ≥ 0, where k can also be ∞.
    fn at(&self, k: f64) -> f64 {
        match self {
            Speedup::Power(p) => k.powf(*p),
            Speedup::Amdahl(f) if k.is_finite() => k / ((1.0 - f) * k + f),
            Speedup::Amdahl(f) => 1.0 / (1.0 - f),
            Speedup::Logarithm(scale) => (scale * k).ln_1p() / scale.ln_1p(),
            Speedup::Table(corners) => {
                let n = corners.partition_point(|corner| corner.0 <= k);
                let (k0, s0) = corners[n - 1];
                let after = corners.get(n);
                after.map_or(s0, |(k1, s1)| s0 + (s1 - s0) * ((k - k0) / (k1 - k0)))
            }
        }
    }

    fn demand(&self, y: f64) -> (f64, f64) {
        let alone = |k: f64| (k, k);
        let linear = |slope: f64| match y.total_cmp(&slope) {
            std::cmp::Ordering::Less => alone(f64::INFINITY),
            std::cmp::Ordering::Equal => (0.0, f64::INFINITY),
            std::cmp::Ordering::Greater => alone(0.0),
        };
        match self {
            Speedup::Power(1.0) | Speedup::Amdahl(1.0) => linear(1.0),
            Speedup::Power(p) => alone((p / y).powf(1.0 / (1.0 - p))),
            Speedup::Amdahl(f) => alone((((f / y).sqrt() - f) / (1.0 - f)).max(0.0)),
            Speedup::Logarithm(scale) => alone((1.0 / (y * scale.ln_1p()) - 1.0 / scale).max(0.0)),
            Speedup::Table(corners) => {
                let slopes = corners.windows(2).map(|c| slope(c[0], c[1]));
                let above = slopes.clone().take_while(|slope| *slope > y).count();
                let least = slopes.take_while(|slope| *slope >= y).count();
                let last = corners[least].0;
                let most = if y > 0.0 { last } else { f64::INFINITY };
                (corners[above].0, most)
            }
        }
    }

    /// Returns the left derivative `s'(k)`. If k = 0, it is the right derivative, which can be ∞.
    fn slope(&self, k: f64) -> f64 {
        match self {
            Speedup::Power(p) => p * k.powf(p - 1.0),
            Speedup::Amdahl(f) => f / ((1.0 - f) * k + f).powi(2),
            Speedup::Logarithm(scale) => scale / ((1.0 + scale * k) * scale.ln_1p()),
            Speedup::Table(corners) => {
                let n = corners.partition_point(|corner| corner.0 < k).max(1);
                let next = corners.get(n);
                next.map_or(0.0, |next| slope(corners[n - 1], *next))
            }
        }
    }

    fn servers_for(&self, rate: f64) -> Option<f64> {
        let servers = match self {
            Speedup::Power(p) => rate.powf(1.0 / p),
            Speedup::Amdahl(f) if rate * (1.0 - f) < 1.0 => f * rate / (1.0 - (1.0 - f) * rate),
            Speedup::Amdahl(_) => return None,
            Speedup::Logarithm(scale) => (rate * scale.ln_1p()).exp_m1() / scale,
            Speedup::Table(corners) => {
                let n = corners.partition_point(|corner| corner.1 < rate);
                match (n.checked_sub(1).map(|n| corners[n]), corners.get(n)?) {
                    (None, _) => 0.0,
                    (Some((k0, s0)), (k1, s1)) => k0 + (rate - s0) / (s1 - s0) * (k1 - k0),
                }
            }
        };
        Some(servers)
    }
}

/// The speedup of a job, together with its limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pub(crate) speedup: Speedup,
    /// The maximum number of servers that the job can use, or ∞ if there is no limit.
    pub(crate) cap: f64,
    /// Whether the job can only use a whole number of servers. Between two numbers, the speed is
    /// interpolated, because the job can alternate between them.
    pub(crate) whole: bool,
}

impl Curve {
    /// Returns the exponent p < 1 if the curve is `k^p` up to this number of servers.
    pub(crate) fn smooth_power(&self, servers: f64) -> Option<f64> {
        match self.speedup {
            Speedup::Power(p) if p < 1.0 && !self.whole && self.cap >= servers => Some(p),
            _ => None,
        }
    }

    /// Returns `s(k)` for k ≥ 0.
    pub fn at(&self, k: f64) -> f64 {
        let k = k.min(self.cap);
        let below = k.floor();
        if !self.whole || k <= below {
            return self.speedup.at(k);
        }
        let low = self.speedup.at(below);
        low + (self.speedup.at(below + 1.0) - low) * (k - below)
    }

    /// Returns the numbers of servers, in ascending order and up to the most that the job can use,
    /// between which `s(k)²/k` is monotone.
    pub(crate) fn marks(&self, servers: f64) -> Vec<f64> {
        let most = self.cap.min(servers);
        let mut marks = match &self.speedup {
            _ if self.whole => (1..=most as u32).map(f64::from).collect(),
            Speedup::Power(_) => Vec::new(),
            Speedup::Amdahl(f) => vec![f / (1.0 - f)],
            // This is the solution of `ln(1 + u) = 2u/(1 + u)`.
            Speedup::Logarithm(scale) => vec![3.921_553_634_567_505 / scale],
            Speedup::Table(corners) => corners[1..].iter().map(|corner| corner.0).collect(),
        };
        marks.retain(|k| *k < most);
        marks.push(most);
        marks
    }

    /// Returns the largest k up to the last mark for which `s(k)²/k` is at least `least`, or 0.
    pub(crate) fn largest_with_ratio(&self, least: f64, marks: &[f64]) -> f64 {
        let ratio = |k: f64| self.at(k).powi(2) / k;
        let Some(n) = marks.iter().rposition(|k| ratio(*k) >= least) else {
            return 0.0;
        };
        let Some(next) = marks.get(n + 1) else {
            return marks[n];
        };
        if let (Speedup::Amdahl(f), false) = (&self.speedup, self.whole) {
            // This is the larger root of the equation `k = least ((1 − f)k + f)²`.
            let (g, half) = (1.0 - f, 1.0 / (2.0 * least) - f * (1.0 - f));
            let root = (half * half - (f * g).powi(2)).max(0.0).sqrt();
            return ((half + root) / (g * g)).clamp(marks[n], *next);
        }
        bisect(marks[n], *next, |k| ratio(k) >= least)
    }

    /// Returns the left derivative `s'(k)`, for k > 0.
    pub(crate) fn slope(&self, k: f64) -> f64 {
        match (k > self.cap, self.whole) {
            (true, _) => 0.0,
            (false, true) => self.speedup.at(k.ceil()) - self.speedup.at(k.ceil() - 1.0),
            (false, false) => self.speedup.slope(k),
        }
    }

    /// Returns the smallest and the largest `k` that maximize `s(k) − yk`, for a price `y ≥ 0`.
    pub(crate) fn demand(&self, y: f64) -> (f64, f64) {
        let (least, greatest) = self.speedup.demand(y);
        if !self.whole {
            return (least.min(self.cap), greatest.min(self.cap));
        }
        // The value of the last of `k` servers is between `s'(k)` and `s'(k − 1)`.
        let worth = |k: f64| self.speedup.at(k) - self.speedup.at(k - 1.0);
        let from = |smooth: f64| (smooth.floor() - 1.0).max(0.0).min(self.cap);
        let mut low = from(least);
        while low < self.cap && low < least + 2.0 && worth(low + 1.0) > y {
            low += 1.0;
        }
        if greatest == f64::INFINITY {
            return (low, self.cap);
        }
        let mut high = from(greatest).max(low);
        while high < self.cap && high < greatest + 2.0 && worth(high + 1.0) >= y {
            high += 1.0;
        }
        (low, high)
    }

    /// Returns the smallest number of servers for which the speed is `rate`, if there is one.
    pub(crate) fn servers_for(&self, rate: f64) -> Option<f64> {
        let smooth = self.speedup.servers_for(rate)?;
        let mut servers = smooth;
        if self.whole {
            let below = (smooth.floor() - 1.0).max(0.0);
            let enough = |k: &f64| self.speedup.at(*k) >= rate;
            let top = (0..4).map(|n| below + f64::from(n)).find(enough)?;
            let low = self.speedup.at((top - 1.0).max(0.0));
            let part = (rate - low) / (self.speedup.at(top) - low);
            servers = if top == 0.0 { 0.0 } else { top - 1.0 + part };
        }
        (servers <= self.cap * (1.0 + 1e-12)).then(|| servers.min(self.cap))
    }

    /// Returns `s'(0)`, the value of the first server.
    pub(crate) fn first_slope(&self) -> f64 {
        match self.whole {
            true => self.speedup.at(1.0),
            false => self.speedup.slope(0.0),
        }
    }
}

/// Returns the largest number for which a condition is true, by bisection. It must hold at `low`.
pub(crate) fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    while high - low > 2.0 * f64::EPSILON * high {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        let end = if holds(middle) { &mut low } else { &mut high };
        *end = middle;
    }
    low
}
