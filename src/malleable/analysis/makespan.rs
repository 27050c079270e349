//! The plan that ends first.

use crate::malleable::workload::{Curve, Job, Pool};

/// The least time at which all jobs can have ended, and servers of each job with which all of them end then.
///
/// No rate that changes does better than its mean, as speedups are concave: with servers for the rate `x_i/T` each, T is
/// reached just if they are enough. For powers `T = ‖x‖_{1/p}/s(N)` (the heSRPT paper, theorem 2, which leaves out `s(N)`).
#[must_use]
pub fn makespan(pool: &Pool) -> (f64, Vec<f64>) {
    let curve = |i: usize| -> &Curve { &pool.curves()[pool.jobs()[i].curve] };
    let jobs = || pool.jobs().iter().enumerate();
    let servers = |time: f64| -> Option<Vec<f64>> {
        let needs = |(i, job): (usize, &Job)| curve(i).servers_for(job.size / time);
        let needs = jobs().map(needs).collect::<Option<Vec<f64>>>()?;
        (needs.iter().sum::<f64>() <= pool.servers()).then_some(needs)
    };
    // Alone each job needs this long; one after the other they surely end.
    let alone = |(i, job): (usize, &Job)| job.size / curve(i).at(pool.servers());
    let mut early = jobs().map(alone).fold(0.0, f64::max) * (1.0 - 1e-9);
    let mut late = jobs().map(alone).sum::<f64>() * (1.0 + 1e-9);
    loop {
        let middle = early + (late - early) / 2.0;
        if middle <= early || middle >= late {
            break;
        }
        match servers(middle) {
            Some(_) => late = middle,
            None => early = middle,
        }
    }
    (late, servers(late).unwrap_or_default())
}
