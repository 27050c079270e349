//! The load over the span of a trace, and over the hours of a day and the days of a week.

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
    /// A course whose parts are a second long at first.
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

    /// The load \[of all servers\] between these fractions of a span of this length \[ticks\].
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

/// Work by hour of day and day of week, in the time of the clock.
#[derive(Clone, Debug, Default)]
pub struct Calendar {
    hours: [f64; 24],
    days: [f64; 7],
}

/// Loads relative to the mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rhythm {
    /// By hour of the day, from the clock's midnight (24).
    pub hours: Vec<f64>,
    /// By day of the week, from the clock's first day (7); from Thursday on where the clock counts from 1970.
    pub days: Vec<f64>,
}

impl Calendar {
    /// So much work arrives at this second of the clock.
    pub fn add(&mut self, second: i64, work: f64) {
        self.hours[second.div_euclid(3600).rem_euclid(24) as usize] += work;
        self.days[second.div_euclid(86_400).rem_euclid(7) as usize] += work;
    }

    /// The loads of hours and days in a span between these seconds of the clock; none of a span of less than two days,
    /// and none by days of less than two weeks.
    pub fn rhythm(&self, first: i64, last: i64) -> Option<Rhythm> {
        let length = last - first;
        if length < 2 * 86_400 {
            return None;
        }
        let days = if length < 14 * 86_400 {
            Vec::new()
        } else {
            relative(&self.days, 86_400, first, last)
        };
        Some(Rhythm {
            hours: relative(&self.hours, 3600, first, last),
            days,
        })
    }
}

/// The load of each part of a period in turn, over the mean load.
fn relative(work: &[f64], width: i64, first: i64, last: i64) -> Vec<f64> {
    let total: f64 = work.iter().sum();
    let period = width * work.len() as i64;
    // How many seconds up to this one are in part n.
    let until = |second: i64, n: i64| {
        let since = second - n * width;
        since.div_euclid(period) * width + since.rem_euclid(period).min(width)
    };
    let parts = work.iter().zip(0..).map(|(work, n)| {
        let seen = (until(last, n) - until(first, n)).max(1) as f64;
        work / total * (last - first) as f64 / seen
    });
    parts.collect()
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
    fn hours_that_were_seen_more_often_have_no_more_load() {
        let mut calendar = Calendar::default();
        // Two days and six hours from 22:00 on: every hour the same.
        let (first, last) = (22 * 3600, 22 * 3600 + 54 * 3600);
        (first..last)
            .step_by(60)
            .for_each(|second| calendar.add(second, 1.0));
        let rhythm = calendar.rhythm(first, last).unwrap();
        assert!(
            rhythm.hours.iter().all(|load| (load - 1.0).abs() < 1e-9),
            "{rhythm:?}"
        );
        assert!(rhythm.days.is_empty());
        assert_eq!(calendar.rhythm(0, 3600), None);
    }
}
