//! Servers where work is worth most.

use crate::workload::Curve;

/// A share of the servers that is lost to rounding, at most.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// A job that asks for servers.
#[derive(Clone, Copy, Debug)]
pub struct Asks<'a> {
    /// What a unit of its work is worth \[cost/work\], > 0.
    pub price: f64,
    /// Its speed on so many servers.
    pub curve: &'a Curve,
}

impl Asks<'_> {
    /// The least and the greatest number of servers that it takes where a server costs `rent`.
    fn demand(&self, rent: f64) -> (f64, f64) {
        self.curve.demand(rent / self.price)
    }
}

/// Servers of each job, such that no others of at most `servers` do work that is worth more: the largest
/// `Σ a_i s_i(θ_i)` over θ ≥ 0, `Σ θ_i ≤ N`.
///
/// By the rent of a server at which all of them are just taken. Where jobs are indifferent at that rent the dearer
/// work is served first, and of equally dear work that of the last job.
pub fn divide(jobs: &[Asks<'_>], servers: f64) -> Vec<f64> {
    let most: Vec<f64> = jobs.iter().map(|job| job.curve.cap).collect();
    if most.iter().sum::<f64>() <= servers {
        return most;
    }
    if let Some(p) = one_power(jobs, servers) {
        return by_powers(jobs, servers, p);
    }
    let (cheap, dear) = rents(jobs, servers);
    let mut taken: Vec<f64> = jobs.iter().map(|job| job.demand(dear).0).collect();
    let mut left = servers - taken.iter().sum::<f64>();
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by(|&i, &j| jobs[j].price.total_cmp(&jobs[i].price).then(j.cmp(&i)));
    for i in order {
        if left <= ROUNDING * servers {
            break;
        }
        let more = (jobs[i].demand(cheap).1 - taken[i]).clamp(0.0, left);
        taken[i] += more;
        left -= more;
    }
    taken
}

/// The exponent below 1 of the speedup that all share, if it is a power without limits.
fn one_power(jobs: &[Asks<'_>], servers: f64) -> Option<f64> {
    let curve = jobs.first()?.curve;
    let same = |job: &Asks<'_>| std::ptr::eq(job.curve, curve) || job.curve == curve;
    let p = curve.smooth_power(servers)?;
    jobs.iter().all(same).then_some(p)
}

/// `a_i p θ_i^(p−1)` is the same for all: shares are as `a_i^(1/(1−p))`.
fn by_powers(jobs: &[Asks<'_>], servers: f64, p: f64) -> Vec<f64> {
    let dearest = jobs.iter().map(|job| job.price).fold(0.0, f64::max);
    let share = |job: &Asks<'_>| (job.price / dearest).powf(1.0 / (1.0 - p));
    let mut taken: Vec<f64> = jobs.iter().map(share).collect();
    let all: f64 = taken.iter().sum();
    taken.iter_mut().for_each(|k| *k *= servers / all);
    taken
}

/// Two rents as near as numbers are: at the first at least all servers are taken, at the second at most all.
fn rents(jobs: &[Asks<'_>], servers: f64) -> (f64, f64) {
    let least = |rent: f64| jobs.iter().map(|job| job.demand(rent).0).sum::<f64>();
    let (mut cheap, mut dear) = (1.0, 1.0);
    while least(dear) > servers {
        (cheap, dear) = (dear, 16.0 * dear);
    }
    while cheap > f64::MIN_POSITIVE && least(cheap) <= servers {
        (dear, cheap) = (cheap, cheap / 16.0);
    }
    // ln of what is taken is nearly linear in ln of the rent, and for powers exactly so; steps are not, so that every
    // second guess halves the bracket.
    let excess = |rent: f64| (least(rent) / servers).ln();
    let (mut above, mut below) = (excess(cheap), excess(dear));
    for turn in 0.. {
        let width = (dear / cheap).ln();
        if width <= ROUNDING {
            break;
        }
        let part = above / (above - below);
        let halve = turn % 2 == 1 || !(part > 0.0 && part < 1.0);
        let guess = cheap * (width * if halve { 0.5 } else { part }).exp();
        if guess <= cheap || guess >= dear {
            if halve { break } else { continue }
        }
        let over = excess(guess);
        match over {
            _ if over.abs() <= ROUNDING => return (guess, guess),
            _ if over > 0.0 => (cheap, above) = (guess, over),
            _ => (dear, below) = (guess, over),
        }
    }
    (cheap, dear)
}
