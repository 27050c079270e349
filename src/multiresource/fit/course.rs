//! The load over the span of a trace, and whether that of the last week is one that weeks before had, too.

use std::collections::BTreeMap;

use serde::Serialize;

/// Work by equal parts of the span so far; when the span outgrows them, two become one.
#[derive(Clone, Debug)]
pub struct Course {
    width: u64,
    parts: Vec<f64>,
}

/// How many parts there are at most.
const PARTS: usize = 720;

impl Course {
    /// Returns a course whose parts are a second long at first.
    pub fn new(per_second: u64) -> Self {
        Course {
            width: per_second,
            parts: Vec::new(),
        }
    }

    /// So much work arrives so many ticks after the first.
    pub fn add(&mut self, at: u64, work: f64) {
        while at / self.width >= PARTS as u64 {
            self.parts = self.parts.chunks(2).map(|two| two.iter().sum()).collect();
            self.width *= 2;
        }
        let part = (at / self.width) as usize;
        if self.parts.len() <= part {
            self.parts.resize(part + 1, 0.0);
        }
        self.parts[part] += work;
    }

    /// Returns the load \[of all servers\] between these fractions of a span of this length \[ticks\].
    pub fn load(&self, from: f64, to: f64, length: u64) -> f64 {
        let (from, to) = (from * length as f64, to * length as f64);
        let width = self.width as f64;
        let parts = self.parts.iter().enumerate().map(|(n, work)| {
            let (begin, end) = (n as f64 * width, (n as f64 + 1.0) * width);
            work * (to.min(end) - from.max(begin)).max(0.0) / width
        });
        parts.sum::<f64>() / (to - from)
    }
}

/// The load of the last seven days beside that of all weeks before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// Mean share of all servers that the jobs of the last seven whole days take.
    pub last_week: f64,
    /// Between which 95 % of all spans of seven days before lie.
    pub usual: [f64; 2],
}

impl Drift {
    /// Fewer days before the last week than this say nothing of weeks.
    const FEWEST: u64 = 28;
    /// A longer trace is none of days.
    const MOST: u64 = 100_000;

    /// From work by day \[ticks of all servers\] of a trace of so many whole days, each of so many ticks.
    pub fn of(work: &BTreeMap<u64, f64>, days: u64, ticks: f64) -> Option<Self> {
        if !(Self::FEWEST + 7..Self::MOST).contains(&days) {
            return None;
        }
        let daily: Vec<f64> = (0..days)
            .map(|day| work.get(&day).map_or(0.0, |w| w / ticks))
            .collect();
        let mean = |week: &[f64]| week.iter().sum::<f64>() / week.len() as f64;
        let (before, last) = daily.split_at(daily.len() - 7);
        let mut weeks: Vec<f64> = before.windows(7).map(mean).collect();
        weeks.sort_by(f64::total_cmp);
        let at = |share: f64| weeks[(share * (weeks.len() - 1) as f64).round() as usize];
        Some(Drift {
            last_week: mean(last),
            usual: [at(0.025), at(0.975)],
        })
    }

    /// Returns whether it is time to make the policy anew.
    #[must_use]
    pub fn is_unusual(&self) -> bool {
        !(self.usual[0]..=self.usual[1]).contains(&self.last_week)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_course_keeps_its_work_as_it_grows() {
        let mut course = Course::new(1);
        (0..10_000).for_each(|second| course.add(second, if second < 5000 { 1.0 } else { 3.0 }));
        assert!((course.load(0.0, 1.0, 10_000) - 2.0).abs() < 1e-9);
        assert!((course.load(0.0, 0.4, 10_000) - 1.0).abs() < 1e-2);
        assert!((course.load(0.6, 1.0, 10_000) - 3.0).abs() < 1e-2);
    }

    #[test]
    fn a_week_beyond_all_others_is_seen() {
        let mut work: BTreeMap<u64, f64> =
            (0..60).map(|day| (day, 4.0 + (day % 7) as f64)).collect();
        let drift = Drift::of(&work, 60, 10.0).unwrap();
        assert!(
            !drift.is_unusual() && (drift.last_week - 0.7).abs() < 1e-12,
            "{drift:?}"
        );
        (53..60).for_each(|day| _ = work.insert(day, 9.0));
        assert!(Drift::of(&work, 60, 10.0).unwrap().is_unusual());
        assert_eq!(Drift::of(&work, 34, 10.0), None);
    }
}
