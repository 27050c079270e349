//! Each split of a type by time limits explains as much as possible of the variance of `ln size`,
//! as in a regression tree (Breiman et al., Classification and Regression Trees, 1984, §8.4).

use std::collections::BTreeMap;

use super::jobs::Jobs;

#[derive(Clone, Debug)]
pub(crate) struct LimitGroup {
    pub demand_type: usize,
    /// At least one class in ascending order: `c` for limits up to `2^c` ticks, 255 for no limit.
    pub classes: Vec<u8>,
}

/// The sums over all jobs of 1, of `ln size`, and of `(ln size)²`.
type LogSums = [f64; 3];

fn plus(own: LogSums, other: LogSums) -> LogSums {
    [0, 1, 2].map(|n| own[n] + other[n])
}

/// Returns the sum of `(ln x − mean)²`.
fn variation([count, sum, squares]: LogSums) -> f64 {
    // For an empty group, this also changes NaN to 0.
    (squares - sum * sum / count).max(0.0)
}

/// The minimum gain of a split, as a share of the variation of all types.
const MIN_GAIN: f64 = 0.005;
/// The minimum number of jobs on each side of a split.
const MIN_JOBS: f64 = 30.0;

/// Splits the demand types by time limit, until there are at least `most` types or no split is
/// worthwhile. The demand type of each demand vector is `of_vector` (`None` if it is left out).
pub(crate) fn split(
    jobs: &Jobs<'_>,
    of_vector: &[Option<usize>],
    demand_types: usize,
    most: usize,
) -> Vec<LimitGroup> {
    let mut logs: Vec<BTreeMap<u8, LogSums>> = vec![BTreeMap::new(); demand_types];
    for job in &jobs.all {
        if let Some(own) = of_vector[job.demand as usize] {
            let ln_size = (job.size as f64).ln();
            let sums = logs[own].entry(jobs.class(job)).or_default();
            *sums = plus(*sums, [1.0, ln_size, ln_size * ln_size]);
        }
    }
    let unsplit = logs.iter().enumerate().map(|(n, classes)| LimitGroup {
        demand_type: n,
        classes: classes.keys().copied().collect(),
    });
    let mut groups: Vec<LimitGroup> = unsplit.collect();
    let sums_of = |group: &LimitGroup, classes: &[u8]| {
        let own = classes.iter().map(|c| logs[group.demand_type][c]);
        own.fold(LogSums::default(), plus)
    };
    let variation_of = |group: &LimitGroup| variation(sums_of(group, &group.classes));
    let total: f64 = groups.iter().map(variation_of).sum();
    while groups.len() < most {
        let candidates = groups.iter().enumerate().flat_map(|(n, group)| {
            (1..group.classes.len()).filter_map(move |at| {
                let (short, long) = group.classes.split_at(at);
                let [short, long] = [short, long].map(|classes| sums_of(group, classes));
                let gain = variation(plus(short, long)) - variation(short) - variation(long);
                (short[0] >= MIN_JOBS && long[0] >= MIN_JOBS).then_some((n, at, gain))
            })
        });
        let best = candidates.max_by(|a, b| a.2.total_cmp(&b.2));
        let Some((n, at, _)) = best.filter(|(_, _, gain)| *gain > MIN_GAIN * total) else {
            break;
        };
        let mut long = groups[n].clone();
        long.classes = groups[n].classes.split_off(at);
        groups.insert(n + 1, long);
    }
    groups
}
