use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

/// A completed job with its estimate.
#[derive(Clone, Copy, Debug)]
pub struct JudgedJob {
    /// Hashed user name, 0 if unknown.
    pub user: u32,
    /// Estimated size \[time\].
    pub estimate: f64,
    /// Actual size \[time\].
    pub size: f64,
}

/// A group of jobs by user activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Users {
    /// Jobs of all users.
    All,
    /// Jobs of users with many jobs.
    Many,
    /// Jobs of users with few jobs.
    Few,
}

/// The quality of the estimates of a group of jobs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Worth {
    /// The group.
    pub users: Users,
    /// Number of jobs.
    pub jobs: usize,
    /// Fraction of close pairs of different size in the right order; 0.5 by chance, `None` if no
    /// pairs.
    pub in_order: Option<f64>,
    /// The 5, 25, 50, 75 and 95 % quantiles of estimate/size. `None` if there are no jobs.
    pub ratios: Option<[f64; 5]>,
}

/// Number of jobs from which on a user counts as having many.
const MANY: usize = 30;

/// Number of following jobs compared with each job, about as many as compete in a queue.
const NEAR: usize = 20;

/// Returns the quality of the estimates of all users, and of users with many and few jobs.
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
