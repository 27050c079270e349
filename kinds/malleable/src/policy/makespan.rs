use super::{Phase, Rule};
use crate::workload::{Curve, Pool};

/// Returns the minimum makespan, and a plan for it.
///
/// If jobs can only use whole servers, each job has its number of servers, rounded down, and one
/// more for the remaining fraction of the time (the wrap-around rule: R. McNaughton, Management
/// Science 6(1), 1959).
pub(crate) fn makespan(pool: &Pool) -> (f64, Rule) {
    let jobs = pool.jobs().iter().enumerate();
    let jobs = jobs.map(|(i, job)| (job.size, pool.curve(i)));
    let (until, servers) = all_at_once(&jobs.collect::<Vec<_>>(), pool.servers());
    let whole = pool.record.whole_servers;
    let phases = match whole && servers.iter().any(|k| k.fract() != 0.0) {
        true => in_turns(&servers, until),
        false => vec![Phase { until, servers }],
    };
    (until, Rule::Phases(phases))
}

/// Returns the minimum time for this work of each job, and the servers of each job.
///
/// Constant rates are optimal, because the speedups are concave. If they are powers, the time is
/// `T = ‖x‖_{1/p}/s(N)` (see theorem 2 of the heSRPT paper, where `s(N)` is missing).
pub(crate) fn all_at_once(jobs: &[(f64, &Curve)], servers: f64) -> (f64, Vec<f64>) {
    let needed = |time: f64| -> Option<Vec<f64>> {
        let servers = |(left, curve): &(f64, &Curve)| curve.servers_for(left / time);
        jobs.iter().map(servers).collect()
    };
    // The logarithm of the excess demand, which is almost linear in the logarithm of the time.
    let over = |time: f64| {
        let all = needed(time).map(|needs| needs.iter().sum::<f64>());
        all.map_or(f64::INFINITY, |all| (all / servers).ln())
    };
    // The time is at least that of each job alone, and at most the sum of these times.
    let alone = || jobs.iter().map(|(left, curve)| left / curve.at(servers));
    let mut early = alone().fold(0.0, f64::max) * (1.0 - 1e-9);
    let mut late = alone().sum::<f64>() * (1.0 + 1e-9);
    let (mut above, mut below) = (over(early), over(late));
    for turn in 0..400 {
        let part = above / (above - below);
        let chord = turn % 3 != 2 && part > 0.0 && part < 1.0;
        let guess = match chord {
            true => early * ((late / early).ln() * part).exp(),
            false => early + (late - early) / 2.0,
        };
        if guess <= early || guess >= late {
            if chord { continue } else { break }
        }
        let found = over(guess);
        if found <= 0.0 {
            (late, below, above) = (guess, found, 0.5 * above)
        } else {
            (early, above, below) = (guess, found, 0.5 * below)
        }
    }
    (late, needed(late).unwrap_or_default())
}

/// Returns phases with whole numbers of servers, whose means over the time are `servers`.
fn in_turns(servers: &[f64], time: f64) -> Vec<Phase> {
    // The fractions are placed on a line one after the other, where each unit is one server for the
    // whole time. They are a little shorter, so that rounding never adds a server, and the phases
    // are longer by the same factor.
    let slack = 4.0 * f64::EPSILON * servers.len() as f64;
    let mut line = 0.0;
    let parts = servers.iter().map(|k| {
        let from = line;
        line += k.fract() * (1.0 - slack);
        (from, line)
    });
    let parts: Vec<(f64, f64)> = parts.collect();
    let mut cuts: Vec<f64> = parts.iter().map(|part| part.1.fract()).collect();
    cuts.push(1.0);
    cuts.retain(|cut| *cut > 0.0);
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let mut before = 0.0;
    let phases = cuts.into_iter().map(|cut| {
        let middle = f64::midpoint(before, cut);
        let has = |(from, to): (f64, f64)| {
            let at = from.floor() + middle;
            (at >= from && at < to) || (at + 1.0 >= from && at + 1.0 < to)
        };
        let each = servers.iter().zip(&parts);
        let each = each.map(|(k, part)| k.floor() + f64::from(u8::from(has(*part))));
        before = cut;
        Phase {
            until: cut * time * (1.0 + 2.0 * slack),
            servers: each.collect(),
        }
    });
    phases.collect()
}
