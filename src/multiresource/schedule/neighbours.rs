use std::collections::HashMap;

use super::Schedule;

/// Schedules, and which of them have one job more or one less: where a job can start or end.
#[derive(Clone, Debug)]
pub struct Neighbours {
    /// The schedules, as they were given.
    pub schedules: Vec<Schedule>,
    /// By schedule and type: the place of that with one job more, if it is among them.
    pub more: Vec<Vec<Option<usize>>>,
    /// By schedule and type: the place of that with one job less.
    pub fewer: Vec<Vec<Option<usize>>>,
}

impl Neighbours {
    /// Of these schedules, each of which stands there once.
    pub fn new(schedules: Vec<Schedule>) -> Self {
        let places = schedules.iter().enumerate();
        let places: HashMap<&Schedule, usize> = places.map(|(n, s)| (s, n)).collect();
        let step = |schedule: &Schedule, i: usize, up: bool| {
            let mut next = schedule.clone();
            next[i] = match up {
                true => next[i] + 1,
                false => next[i].checked_sub(1)?,
            };
            places.get(&next).copied()
        };
        let all = |up: bool| -> Vec<Vec<Option<usize>>> {
            let of = |s: &Schedule| (0..s.len()).map(|i| step(s, i, up)).collect();
            schedules.iter().map(of).collect()
        };
        Neighbours {
            more: all(true),
            fewer: all(false),
            schedules,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_differ_by_one_job() {
        let found = Neighbours::new(vec![vec![0, 0], vec![0, 1], vec![1, 0], vec![2, 0]]);
        assert_eq!(found.more[0], [Some(2), Some(1)]);
        assert_eq!(found.more[1], [None, None]);
        assert_eq!(found.fewer[3], [Some(2), None]);
        assert_eq!(found.fewer[0], [None, None]);
    }
}
