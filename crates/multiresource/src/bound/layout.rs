use std::collections::HashMap;
use std::ops::Neg;

use num_bigint::BigInt;
use num_traits::{FromPrimitive, NumRef};

use crate::schedule::Schedule;

/// A constraint on V in a state, which is either (drift) or (start) of the [module](super).
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Q, the number of jobs of each type in the system (K).
    pub jobs: Vec<i64>,
    /// The index of s, the running schedule, in the list of schedules.
    pub schedule: usize,
    /// `None` for (drift). For (start), the index of the schedule with one more job.
    pub started: Option<usize>,
    /// If set, then the cost plus the drift, or the change of V in (start), must not decrease as
    /// jobs of this type are added.
    pub growing_type: Option<usize>,
}

/// The rates of each type (K) \[1/time\].
#[derive(Clone, Debug)]
pub struct TypeRates<N> {
    /// λ.
    pub arrivals: Vec<N>,
    /// μ.
    pub service: Vec<N>,
}

/// The type of coefficients: doubles for the linear program, integers for the check.
pub trait Number: Clone + NumRef + Neg<Output = Self> + FromPrimitive {
    fn whole(value: i64) -> Self {
        Self::from_i64(value).expect("both types can represent it")
    }
}

impl Number for f64 {}
impl Number for BigInt {}

/// The unknowns of V, and the constraints on them.
///
/// The unknowns are the K(K+1)/2 coefficients of the quadratic form, row by row starting at the
/// diagonal (off-diagonal terms count twice), then the 1 + K coefficients of an affine function for
/// each cell and, without preemption, schedule. The coefficients of the exact counts are not used.
#[derive(Clone, Debug)]
pub struct Layout {
    schedules: Vec<Schedule>,
    places: HashMap<Schedule, usize>,
    exact: Vec<u32>,
    preempts: bool,
}

impl Layout {
    /// Creates the layout for all schedules (N × K); counts of type i below `exact[i]` are exact.
    pub fn new(schedules: Vec<Schedule>, exact: Vec<u32>, preempts: bool) -> Self {
        let places = schedules.iter().cloned().zip(0..).collect();
        Layout {
            schedules,
            places,
            exact,
            preempts,
        }
    }

    /// Returns the number of jobs of each type from which on counts share a cell (K).
    pub fn exact(&self) -> &[u32] {
        &self.exact
    }

    /// Returns the number of unknowns.
    pub fn unknowns(&self) -> usize {
        let sides = self.exact.iter().map(|e| *e as usize + 1);
        let cells = sides.fold(1, usize::saturating_mul);
        let affine = cells.saturating_mul(self.pieces() * (1 + self.exact.len()));
        affine.saturating_add(self.quadratic())
    }

    fn quadratic(&self) -> usize {
        self.exact.len() * (self.exact.len() + 1) / 2
    }

    fn pieces(&self) -> usize {
        if self.preempts {
            1
        } else {
            self.schedules.len()
        }
    }

    /// Calls `visit` with each constraint, until it returns `false`.
    pub fn each_row(&self, mut visit: impl FnMut(Constraint) -> bool) {
        let k = self.exact.len();
        let kinds = [Some(false), (!self.preempts).then_some(true)];
        for starts in kinds.into_iter().flatten() {
            // There is one more corner for (drift) than there are cells, because removing a job
            // moves the first state of the last cell into the previous cell.
            let last = |j: usize| match self.exact[j] {
                exact if starts || exact == 0 => i64::from(exact),
                exact => i64::from(exact) + 1,
            };
            for corner in self.corners(last) {
                let open = |j: &usize| corner[*j] == last(*j);
                for (place, running) in self.schedules.iter().enumerate() {
                    // The smallest state in which this schedule can run.
                    let jobs = corner.iter().zip(running).enumerate();
                    let jobs = jobs.map(|(j, (&c, &s))| {
                        (open(&j) || i64::from(s) <= c).then_some(c.max(s.into()))
                    });
                    let Some(jobs) = jobs.collect::<Option<Vec<i64>>>() else {
                        continue;
                    };
                    let before: Vec<usize> = match starts {
                        true => (0..k).filter_map(|i| self.without(place, i)).collect(),
                        false => vec![place],
                    };
                    for schedule in before {
                        let row = |growing_type| Constraint {
                            jobs: jobs.clone(),
                            schedule,
                            started: starts.then_some(place),
                            growing_type,
                        };
                        let growing = (0..k).filter(open).map(Some);
                        if !growing.chain([None]).map(row).all(&mut visit) {
                            return;
                        }
                    }
                }
            }
        }
    }

    fn corners(&self, last: impl Fn(usize) -> i64) -> impl Iterator<Item = Vec<i64>> {
        let lasts = (0..self.exact.len()).map(last);
        let sides: Vec<usize> = lasts.map(|last| last as usize + 1).collect();
        (0..sides.iter().product()).map(move |mut place: usize| {
            let digits = sides.iter().map(|side| {
                let digit = place % side;
                place /= side;
                digit as i64
            });
            digits.collect()
        })
    }

    fn without(&self, place: usize, i: usize) -> Option<usize> {
        let mut fewer = self.schedules[place].clone();
        fewer[i] = fewer[i].checked_sub(1)?;
        self.places.get(&fewer).copied()
    }

    /// Passes the drift, the change of V in (start), or the growth of either, as a linear
    /// combination of the unknowns to `sink(unknown, coefficient)`; an unknown may be repeated. The
    /// cost is not included.
    pub fn form<N: Number>(
        &self,
        row: &Constraint,
        rates: &TypeRates<N>,
        sink: &mut impl FnMut(usize, N),
    ) {
        let mut change = |jobs: &[i64], scale: N| match row.started {
            None => self.drift(jobs, row.schedule, rates, &scale, sink),
            Some(after) => {
                self.affine(jobs, after, &scale, sink);
                self.affine(jobs, row.schedule, &-scale, sink);
            }
        };
        let Some(j) = row.growing_type else {
            return change(&row.jobs, N::whole(1));
        };
        let mut more = row.jobs.clone();
        more[j] += 1;
        change(&more, N::whole(1));
        change(&row.jobs, N::whole(-1));
    }

    fn drift<N: Number>(
        &self,
        jobs: &[i64],
        schedule: usize,
        rates: &TypeRates<N>,
        scale: &N,
        sink: &mut impl FnMut(usize, N),
    ) {
        let mut total = N::whole(0);
        let mut moved = jobs.to_vec();
        for i in 0..jobs.len() {
            let rate = rates.arrivals[i].clone() * scale;
            total = total + rate.clone();
            moved[i] += 1;
            self.value(&moved, schedule, &rate, sink);
            moved[i] -= 1;
            let Some(fewer) = self.without(schedule, i) else {
                continue;
            };
            let running = N::whole(self.schedules[schedule][i].into());
            let rate = rates.service[i].clone() * &running * scale;
            total = total + rate.clone();
            moved[i] -= 1;
            self.value(&moved, fewer, &rate, sink);
            moved[i] += 1;
        }
        self.value(jobs, schedule, &-total, sink);
    }

    fn value<N: Number>(
        &self,
        jobs: &[i64],
        schedule: usize,
        scale: &N,
        sink: &mut impl FnMut(usize, N),
    ) {
        let pairs = (0..jobs.len()).flat_map(|i| (i..jobs.len()).map(move |j| (i, j)));
        for (place, (i, j)) in pairs.enumerate() {
            let times = if i == j { 1 } else { 2 };
            if jobs[i] * jobs[j] != 0 {
                sink(place, scale.clone() * &N::whole(times * jobs[i] * jobs[j]));
            }
        }
        self.affine(jobs, schedule, scale, sink);
    }

    fn affine<N: Number>(
        &self,
        jobs: &[i64],
        schedule: usize,
        scale: &N,
        sink: &mut impl FnMut(usize, N),
    ) {
        let cells = jobs.iter().zip(&self.exact);
        let cell = cells.fold(0, |cell, (q, e)| {
            cell * (*e as usize + 1) + (*q).min((*e).into()) as usize
        });
        let piece = if self.preempts { 0 } else { schedule };
        let first = self.quadratic() + (cell * self.pieces() + piece) * (1 + jobs.len());
        sink(first, scale.clone());
        for (j, (q, e)) in jobs.iter().zip(&self.exact).enumerate() {
            if *q >= i64::from(*e) && *q != 0 {
                sink(first + 1 + j, scale.clone() * &N::whole(*q));
            }
        }
    }
}
