use crate::workload::Curve;

const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// A job with its price \[cost/work\], which must be greater than 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asks<'a> {
    pub price: f64,
    pub curve: &'a Curve,
}

impl Asks<'_> {
    fn demand(&self, rent: f64) -> (f64, f64) {
        self.curve.demand(rent / self.price)
    }
}

/// Divides the servers so that `Σ a_i s_i(θ_i)` is maximal, where `θ ≥ 0` and `Σ θ_i ≤ N`.
///
/// At the rent of a server where the demand is equal to N, several numbers of servers can be
/// optimal for a job. The job with the highest price is then served first, or the last of equals.
pub(crate) fn divide(jobs: &[Asks<'_>], servers: f64) -> Vec<f64> {
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

fn one_power(jobs: &[Asks<'_>], servers: f64) -> Option<f64> {
    let curve = jobs.first()?.curve;
    let same = |job: &Asks<'_>| std::ptr::eq(job.curve, curve) || job.curve == curve;
    let p = curve.smooth_power(servers)?;
    jobs.iter().all(same).then_some(p)
}

/// The marginal worth `a_i p θ_i^(p−1)` must be the same for all jobs, so the number of servers is
/// proportional to `a_i^(1/(1−p))`.
fn by_powers(jobs: &[Asks<'_>], servers: f64, p: f64) -> Vec<f64> {
    let dearest = jobs.iter().map(|job| job.price).fold(0.0, f64::max);
    let share = |job: &Asks<'_>| (job.price / dearest).powf(1.0 / (1.0 - p));
    let mut taken: Vec<f64> = jobs.iter().map(share).collect();
    let all: f64 = taken.iter().sum();
    taken.iter_mut().for_each(|k| *k *= servers / all);
    taken
}

/// Returns two rents that are equal up to rounding, with a demand of at least N and at most N.
fn rents(jobs: &[Asks<'_>], servers: f64) -> (f64, f64) {
    let least = |rent: f64| jobs.iter().map(|job| job.demand(rent).0).sum::<f64>();
    let (mut cheap, mut dear) = (1.0, 1.0);
    while least(dear) > servers {
        (cheap, dear) = (dear, 16.0 * dear);
    }
    while cheap > f64::MIN_POSITIVE && least(cheap) <= servers {
        (dear, cheap) = (cheap, cheap / 16.0);
    }
    // `ln(demand)` is almost linear in `ln(rent)` except for steps, so every second guess bisects.
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

/// Returns the prices `a_1, a_2, …` of the jobs. The first job in the list is the last one to end.
///
/// If the jobs end in this order at these prices, the cost of the plan is `Σ a_k x_k`. With only
/// one curve, descending sizes and ascending weights, they always do. Then the prices are
/// ascending, and the plan is optimal.
pub(crate) fn prices(curves: &[&Curve], weights: &[f64], servers: f64) -> Vec<f64> {
    let mut prices = Prices::new(servers);
    let jobs = curves.iter().zip(weights);
    jobs.map(|(curve, weight)| prices.push(curve, *weight))
        .collect()
}

/// Computes the prices of the jobs, one job at a time. The sum of their weights is `due`.
#[derive(Clone, Debug)]
pub(crate) struct Prices<'a> {
    servers: f64,
    jobs: Vec<Asks<'a>>,
    due: f64,
}

impl<'a> Prices<'a> {
    pub(crate) fn new(servers: f64) -> Self {
        Prices {
            servers,
            jobs: Vec::new(),
            due: 0.0,
        }
    }

    /// Adds a job that ends before all other jobs, and returns its price.
    pub(crate) fn push(&mut self, curve: &'a Curve, weight: f64) -> f64 {
        self.due += weight;
        // At this price, the job alone is worth `due` on all servers.
        let price = self.due / curve.at(self.servers);
        self.jobs.push(Asks { price, curve });
        lower_last(&mut self.jobs, self.due, self.servers)
    }
}

/// Adds prices to the known prices of the first jobs, where all jobs have the same curve.
pub(crate) fn extend_prices(known: &mut Vec<f64>, curve: &Curve, weights: &[f64], servers: f64) {
    if known.len() >= weights.len() {
        return;
    }
    let jobs = known.iter().map(|&price| Asks { price, curve });
    let mut prices = Prices {
        servers,
        jobs: jobs.collect(),
        due: weights[..known.len()].iter().sum(),
    };
    let more = &weights[known.len()..];
    known.extend(more.iter().map(|weight| prices.push(curve, *weight)));
}

/// Lowers the last price until the worth of the work is `due`. This is Newton's method from above,
/// which never goes too far, because the worth is a convex, increasing function of the price.
fn lower_last(jobs: &mut [Asks<'_>], due: f64, servers: f64) -> f64 {
    let last = jobs.len() - 1;
    loop {
        let (mut worth, mut speed) = (0.0, 0.0);
        for (k, job) in divide(jobs, servers).into_iter().zip(&*jobs) {
            speed = job.curve.at(k);
            worth += speed * job.price;
        }
        let price = jobs[last].price;
        let next = price - (worth - due) / speed;
        let lower = price - next > 2.0 * f64::EPSILON * price && next > 0.0;
        if !lower {
            return price;
        }
        jobs[last].price = next;
    }
}

/// Returns the prices for `s(k) = k^p`, which are `a_k s(N) = (W_k^c − W_{k−1}^c)^{1/c}` with
/// `c = 1/(1 − p)` (see theorem 8 of the heSRPT paper, where all weights are 1).
pub(crate) fn power_prices(p: f64, weights: &[f64], servers: f64) -> Vec<f64> {
    let c = 1.0 / (1.0 - p);
    let mut before = 0.0;
    let price = |weight: &f64| {
        let due: f64 = before + weight;
        // `W^c` would overflow if there are many jobs and p is close to 1.
        let below = -(c * (-weight / due).ln_1p()).exp_m1();
        let part = if before > 0.0 { below } else { 1.0 };
        before = due;
        due * part.powf(1.0 - p) / servers.powf(p)
    };
    weights.iter().map(price).collect()
}

/// Corrects rounding errors in the order of the prices, so that no smaller job gets fewer servers.
pub(crate) fn ascending(prices: &mut [f64]) {
    let mut most = 0.0;
    for price in prices {
        *price = f64::max(*price, most);
        most = *price;
    }
}
