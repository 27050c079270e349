//! What estimates are worth: whether they sort jobs as their sizes do.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

/// A job that was estimated, and has ended.
#[derive(Clone, Copy, Debug)]
pub struct JudgedJob {
    /// Who sent it; 0 where that is not known.
    pub user: u32,
    /// What it was taken to last \[time\].
    pub estimate: f64,
    /// How long it ran \[time\].
    pub size: f64,
}

/// Whose jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Users {
    /// Of all.
    All,
    /// Of users with many jobs.
    Many,
    /// Of users with few jobs.
    Few,
}

/// What estimates of these jobs are worth.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Worth {
    /// Whose jobs.
    pub users: Users,
    /// How many.
    pub jobs: usize,
    /// Of pairs with jobs that came soon after: the share in the right order of sizes; one half is by chance. Nothing
    /// where there is no pair of different sizes.
    pub in_order: Option<f64>,
    /// Quantiles of estimate/size: 5, 25, 50, 75 and 95 %. Nothing where there is no job.
    pub ratios: Option<[f64; 5]>,
}

/// Users with so many jobs have many.
const MANY: usize = 30;

/// Each job is compared with so many that came next: about as many as compete in a queue.
const NEAR: usize = 20;

/// Returns what estimates are worth, of all jobs in the order in which they came, and by users with many and few jobs.
pub fn worth(jobs: &[JudgedJob]) -> [Worth; 3] {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for job in jobs {
        *counts.entry(job.user).or_default() += 1;
    }
    [Users::All, Users::Many, Users::Few].map(|users| {
        let among = |job: &JudgedJob| match users {
            Users::All => true,
            Users::Many => job.user != 0 && counts[&job.user] >= MANY,
            Users::Few => job.user != 0 && counts[&job.user] < MANY,
        };
        worth_of(users, jobs, among)
    })
}

fn worth_of(users: Users, jobs: &[JudgedJob], among: impl Fn(&JudgedJob) -> bool) -> Worth {
    let (mut right, mut pairs) = (0.0, 0);
    let mut ratios = Vec::new();
    for (n, job) in jobs.iter().enumerate().filter(|(_, job)| among(job)) {
        ratios.push(job.estimate / job.size);
        for other in jobs[n + 1..].iter().take(NEAR) {
            let (sizes, estimates) = (
                job.size.total_cmp(&other.size),
                job.estimate.total_cmp(&other.estimate),
            );
            if sizes.is_ne() {
                pairs += 1;
                right += f64::from(u8::from(estimates == sizes))
                    + 0.5 * f64::from(u8::from(estimates.is_eq()));
            }
        }
    }
    ratios.retain(|ratio| ratio.is_finite());
    ratios.sort_unstable_by(f64::total_cmp);
    let quantile = |q: f64| ratios[((ratios.len() - 1) as f64 * q).round() as usize];
    Worth {
        users,
        jobs: jobs.iter().filter(|job| among(job)).count(),
        in_order: (pairs > 0).then(|| right / f64::from(pairs)),
        ratios: (!ratios.is_empty()).then(|| [0.05, 0.25, 0.5, 0.75, 0.95].map(quantile)),
    }
}
