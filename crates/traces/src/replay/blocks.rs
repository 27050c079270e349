use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ReplayJob, early};
use synth_simulation::Streams;

/// A confidence interval of 95 % for a mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The 0.025 quantile of the values that were drawn.
    pub low: f64,
    /// The 0.975 quantile.
    pub high: f64,
}

/// Bootstrap samples of blocks that start at random times, which preserves the dependence within a
/// block (Künsch, 1989). Two policies can use the same draws for their ratio.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// The range of jobs in each block. There are `count` blocks for each draw.
    jobs: Vec<[u32; 2]>,
    pub(super) count: usize,
}

const DRAWS: usize = 1000;

/// The maximum number of blocks in a draw. In a longer window, the blocks are longer.
const MAX_BLOCKS: f64 = 4000.0;

impl Blocks {
    /// With fewer blocks, the variation of the draws does not show the error of the mean.
    pub const FEWEST: f64 = 10.0;

    /// Returns the length of a block \[s\] for a mean wait \[s\]: ten waits, but at least a day.
    pub fn length(mean_wait: f64) -> f64 {
        (10.0 * mean_wait).max(86_400.0)
    }

    /// Draws blocks of at least this length from a window. `submits` must be in ascending order and
    /// have the same unit. `None` without jobs, or if fewer than ten blocks fit into the window.
    pub fn draw(submits: &[f64], window: [f64; 2], length: f64, seed: u64) -> Option<Self> {
        let [from, to] = window;
        let length = length.max((to - from) / MAX_BLOCKS);
        let count = ((to - from) / length).floor();
        if count < Blocks::FEWEST || submits.is_empty() || submits.len() > u32::MAX as usize {
            return None;
        }
        let count = count as usize;
        let mut stream = Streams::new(seed, 0).routing;
        let place = |time: f64| submits.partition_point(|submit| *submit < time) as u32;
        let block = |_| {
            let begin = from + stream.uniform() * (to - from - length);
            [place(begin), place(begin + length)]
        };
        let jobs = (0..DRAWS * count).map(block).collect();
        Some(Blocks { jobs, count })
    }

    /// Returns the mean of these values (one per job) for each draw, or `None` if it has no jobs.
    pub fn means(&self, values: impl Iterator<Item = f64>) -> Vec<Option<f64>> {
        let mut sum = 0.0;
        let sums = values.map(|value| {
            sum += value;
            sum
        });
        let sums: Vec<f64> = std::iter::once(0.0).chain(sums).collect();
        let mean = |blocks: &[[u32; 2]]| {
            let (mut count, mut sum) = (0_u64, 0.0);
            for [first, last] in blocks {
                count += u64::from(last - first);
                sum += sums[*last as usize] - sums[*first as usize];
            }
            (count > 0).then(|| sum / count as f64)
        };
        self.jobs.chunks(self.count).map(mean).collect()
    }
}

impl Interval {
    /// Returns the interval of these draws; `None` if there are none.
    pub fn of(draws: impl Iterator<Item = f64>) -> Option<Self> {
        let mut draws: Vec<f64> = draws.filter(|draw| draw.is_finite()).collect();
        draws.sort_unstable_by(f64::total_cmp);
        let last = draws.len().checked_sub(1)?;
        let at = |p: f64| draws[(p * last as f64).round() as usize];
        let [low, high] = [0.025, 0.975].map(at);
        Some(Interval { low, high })
    }

    /// Returns the interval of the ratio of two means that use the same draws.
    pub fn of_ratio(means: &[Option<f64>], others: &[Option<f64>]) -> Option<Self> {
        let pairs = means.iter().zip(others);
        Interval::of(pairs.filter_map(|(a, b)| Some((*a)? / (*b)?)))
    }
}

/// Concatenates random parts of this length \[ticks\], as many as there are in the span (Zakay and
/// Feitelson, 2013), drawn with replacement from the arrivals. `None` for fewer than two parts.
pub fn resampled(
    jobs: &[ReplayJob],
    part: f64,
    seed: u64,
    replication: u32,
) -> Option<Vec<ReplayJob>> {
    let jobs = &jobs[early(jobs)..];
    let span = jobs.last()?.submit;
    let count = (span / part).floor();
    if count < 2.0 {
        return None;
    }
    let mut stream = Streams::new(seed, replication).arrivals;
    let place = |time: f64| jobs.partition_point(|job| job.submit < time);
    let mut drawn = Vec::with_capacity(jobs.len());
    for n in 0..count as u64 {
        let from = (stream.uniform() * count).floor() * part;
        let own = &jobs[place(from)..place(from + part)];
        let moved = n as f64 * part - from;
        drawn.extend(own.iter().map(|job| ReplayJob {
            submit: job.submit + moved,
            ..*job
        }));
    }
    (!drawn.is_empty()).then_some(drawn)
}
