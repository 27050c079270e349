//! This module splits types by the time limits of jobs. Each split explains as much as possible of
//! the variance of `ln size`, as in a regression tree (Breiman, Friedman, Olshen, Stone,
//! Classification and Regression Trees, 1984, section 8.4).

use std::collections::BTreeMap;

use super::jobs::Jobs;

#[derive(Clone, Debug)]
pub(crate) struct Cut {
    pub by_demand: usize,
    /// The classes of the limits of its jobs, at least one, in ascending order.
    pub classes: Vec<u8>,
}

/// The sums over all jobs of 1, of `ln size`, and of `(ln size)²`.
type Logs = [f64; 3];

fn plus(own: Logs, other: Logs) -> Logs {
    [0, 1, 2].map(|n| own[n] + other[n])
}

/// Returns the sum of `(ln x − mean)²`.
fn variation([count, sum, squares]: Logs) -> f64 {
    // For an empty group, this also changes NaN to 0.
    (squares - sum * sum / count).max(0.0)
}

/// The share of the variation that a split must explain, and the jobs on each side.
const WORTH: f64 = 0.005;
const ENOUGH: f64 = 30.0;

/// Splits the types by demand into at most `most` types. `of_vector` is the type of each vector.
pub(crate) fn cut(
    jobs: &Jobs<'_>,
    of_vector: &[Option<usize>],
    types: usize,
    most: usize,
) -> Vec<Cut> {
    let mut logs: Vec<BTreeMap<u8, Logs>> = vec![BTreeMap::new(); types];
    for job in &jobs.all {
        if let Some(own) = of_vector[job.demand as usize] {
            let log = (job.size as f64).ln();
            let sums = logs[own].entry(jobs.class(job)).or_default();
            *sums = plus(*sums, [1.0, log, log * log]);
        }
    }
    let whole = logs.iter().enumerate().map(|(by_demand, classes)| Cut {
        by_demand,
        classes: classes.keys().copied().collect(),
    });
    let mut cuts: Vec<Cut> = whole.collect();
    let sum = |cut: &Cut, classes: &[u8]| {
        let own = classes.iter().map(|class| logs[cut.by_demand][class]);
        own.fold(Logs::default(), plus)
    };
    let whole = |cut: &Cut| variation(sum(cut, &cut.classes));
    let total: f64 = cuts.iter().map(whole).sum();
    while cuts.len() < most {
        let candidates = cuts.iter().enumerate().flat_map(|(n, cut)| {
            (1..cut.classes.len()).filter_map(move |at| {
                let (short, long) = cut.classes.split_at(at);
                let [short, long] = [short, long].map(|classes| sum(cut, classes));
                let gain = variation(plus(short, long)) - variation(short) - variation(long);
                (short[0] >= ENOUGH && long[0] >= ENOUGH).then_some((n, at, gain))
            })
        });
        let best = candidates.max_by(|a, b| a.2.total_cmp(&b.2));
        let Some((n, at, _)) = best.filter(|(_, _, gain)| *gain > WORTH * total) else {
            break;
        };
        let classes = cuts[n].classes.split_off(at);
        let by_demand = cuts[n].by_demand;
        cuts.insert(n + 1, Cut { by_demand, classes });
    }
    cuts
}
