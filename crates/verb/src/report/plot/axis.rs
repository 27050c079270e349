/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A logarithmic scale. All values must be positive.
    Log,
    /// A linear scale.
    Linear,
}

/// An axis and its ticks.
#[derive(Clone, Debug)]
pub struct Axis {
    pub(super) title: String,
    /// The minimum value.
    pub low: f64,
    /// The maximum value.
    pub high: f64,
    scale: Scale,
    pub(super) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Creates an axis from `low` to `high` with round ticks. An empty range is made larger.
    pub fn new(title: &str, scale: Scale, low: f64, high: f64) -> Self {
        let (low, high) = match scale {
            Scale::Log if high < 1.5 * low => (low / 1.25, high * 1.25),
            Scale::Linear if high - low < 1e-9 => (low - 0.05, high + 0.05),
            _ => (low, high),
        };
        let ticks = match scale {
            Scale::Log => log_ticks(low, high),
            Scale::Linear => linear_ticks(low, high),
        };
        Axis {
            title: title.into(),
            scale,
            low,
            high,
            ticks: ticks.into_iter().map(|t| (t, short(t))).collect(),
        }
    }

    /// Creates an axis that contains the values. A logarithmic scale ignores all values ≤ 0.
    pub fn around(title: &str, scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let seen = values.filter(|v| v.is_finite() && (scale == Scale::Linear || *v > 0.0));
        let wider = |(low, high): (f64, f64), v: f64| (low.min(v), high.max(v));
        let (low, high) = seen.fold((f64::INFINITY, f64::NEG_INFINITY), wider);
        let margin = 0.06 * (high - low);
        let (low, high) = match scale {
            _ if low > high => (1.0, 10.0),
            Scale::Log => (low / 1.2, high * 1.2),
            Scale::Linear => (low - margin, high + margin),
        };
        Axis::new(title, scale, low, high)
    }

    pub(super) fn place(&self, value: f64, [first, last]: [f64; 2]) -> f64 {
        let values = [self.low, self.high, value.clamp(self.low, self.high)];
        let [low, high, here] = match self.scale {
            Scale::Log => values.map(f64::log10),
            Scale::Linear => values,
        };
        first + (here - low) / (high - low) * (last - first)
    }
}

const MOST: usize = 7;

fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let inside = |ticks: &[f64]| -> Vec<f64> {
        let powers = decades.clone().map(|d| 10_f64.powi(d));
        let all = powers.flat_map(|power| ticks.iter().map(move |t| t * power));
        all.filter(|t| (low..=high).contains(t)).collect()
    };
    let (fine, powers) = (inside(&[1.0, 2.0, 5.0]), inside(&[1.0]));
    if fine.len() < 3 {
        linear_ticks(low, high)
    } else if fine.len() <= MOST {
        fine
    } else {
        let every = powers.len().div_ceil(MOST / 2 + 1);
        powers.into_iter().step_by(every.max(1)).collect()
    }
}

fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / (MOST - 1) as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|s| s * power);
    let step = steps.into_iter().find(|s| *s >= rough).unwrap_or(rough);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|n| n as f64 * step).collect()
}

/// Formats a number for an axis, without trailing zeros.
pub fn short(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude >= 1e6 || (magnitude > 0.0 && magnitude < 1e-3) {
        format!("{value:e}")
    } else {
        ((value * 1e6).round() / 1e6).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| &**label).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        let log = |low, high| Axis::new("", Scale::Log, low, high);
        assert_eq!(labels(&log(0.9, 30.0)), ["1", "2", "5", "10", "20"]);
        assert_eq!(labels(&log(0.1, 1e7)), ["0.1", "100", "100000"]);
        assert_eq!(labels(&log(1.2, 1.9)), ["1.2", "1.4", "1.6", "1.8"]);
        let linear = Axis::new("", Scale::Linear, 0.0, 1.0);
        assert_eq!(labels(&linear), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
    }

    #[test]
    fn every_range_has_an_axis() {
        for values in [vec![], vec![1.0], vec![0.0, -1.0], vec![f64::NAN, 2.0, 2.0]] {
            for scale in [Scale::Log, Scale::Linear] {
                let axis = Axis::around("", scale, values.iter().copied());
                assert!(axis.high > axis.low, "{values:?} {axis:?}");
                let place = |value: f64| axis.place(value, [200.0, 0.0]);
                let places = [f64::MAX, f64::MIN, axis.low].map(place);
                assert_eq!(places, [0.0, 200.0, 200.0]);
            }
        }
    }
}
