use std::cmp::Ordering;
use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

/// A job that has completed, and the estimate of its size.
#[derive(Clone, Copy, Debug)]
pub struct EstimatedCompletion {
    /// The hash of the user name, or 0 if the user is unknown.
    pub user: u32,
    /// Estimated size \[time\].
    pub estimate: f64,
    /// Actual size \[time\].
    pub size: f64,
}

/// A group of jobs. Users are divided into groups by the number of their jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UserGroup {
    /// The jobs of all users.
    All,
    /// The jobs of users that have many jobs.
    Many,
    /// The jobs of users that have only a few jobs.
    Few,
}

/// The quality of the estimates of a group of jobs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EstimateQuality {
    /// The group.
    pub users: UserGroup,
    /// Number of jobs.
    pub jobs: usize,
    /// The fraction of pairs that are in the right order, among pairs of jobs that have different
    /// sizes and arrived shortly after each other. A random order has a value of 0.5. `None` if
    /// there are no such pairs.
    pub in_order: Option<f64>,
    /// The 5, 25, 50, 75 and 95 % quantiles of estimate/size. `None` if there are no jobs.
    pub ratios: Option<[f64; 5]>,
}

const MANY_JOBS: usize = 30;

const COMPARED_JOBS: usize = 20;

/// Returns the quality of estimates, in arrival order, by [`UserGroup`].
pub fn estimate_quality(jobs: &[EstimatedCompletion]) -> [EstimateQuality; 3] {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for job in jobs {
        *counts.entry(job.user).or_default() += 1;
    }
    [UserGroup::All, UserGroup::Many, UserGroup::Few].map(|users| {
        let among = |job: &EstimatedCompletion| match users {
            UserGroup::All => true,
            UserGroup::Many => job.user != 0 && counts[&job.user] >= MANY_JOBS,
            UserGroup::Few => job.user != 0 && counts[&job.user] < MANY_JOBS,
        };
        let (mut right, mut pairs) = (0.0, 0);
        let mut ratios = Vec::new();
        for (n, job) in jobs.iter().enumerate().filter(|(_, job)| among(job)) {
            ratios.push(job.estimate / job.size);
            for other in jobs[n + 1..].iter().take(COMPARED_JOBS) {
                let sizes = job.size.total_cmp(&other.size);
                let estimates = job.estimate.total_cmp(&other.estimate);
                if sizes.is_ne() {
                    pairs += 1;
                    right += match estimates {
                        Ordering::Equal => 0.5,
                        _ => f64::from(u8::from(estimates == sizes)),
                    };
                }
            }
        }
        ratios.retain(|ratio| ratio.is_finite());
        ratios.sort_unstable_by(f64::total_cmp);
        let quantile = |q: f64| ratios[((ratios.len() - 1) as f64 * q).round() as usize];
        EstimateQuality {
            users,
            jobs: jobs.iter().filter(|job| among(job)).count(),
            in_order: (pairs > 0).then(|| right / f64::from(pairs)),
            ratios: (!ratios.is_empty()).then(|| [0.05, 0.25, 0.5, 0.75, 0.95].map(quantile)),
        }
    })
}
