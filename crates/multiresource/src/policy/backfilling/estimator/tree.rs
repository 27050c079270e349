//! Gradient boosting on the residuals of the history (Friedman, Annals of Statistics 29(5), 2001).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rounded;

/// The number of features of a job. The last one is the mean of similar jobs.
pub(super) const FEATURES: usize = 4;

const TREES: usize = 8;

const RATE: f64 = 0.2;

/// The minimum number of jobs in a leaf, and the number of zeros that are added to its values.
const LEAST: usize = 30;
const MORE: f64 = 3.0;

const BINS: usize = 32;

/// A test that checks if a feature is greater than a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Split(u32, f64);

impl Split {
    fn side(&self, features: &[f64; FEATURES]) -> usize {
        let Split(feature, threshold) = self;
        let value = features.get(*feature as usize);
        usize::from(value.is_some_and(|value| value > threshold))
    }
}

/// A tree with four leaves: the root split, the splits of its children, and the leaf values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Tree {
    root: Split,
    sides: [Split; 2],
    leaves: [f64; 4],
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Trees(Vec<Tree>);

impl Tree {
    fn leaf(&self, features: &[f64; FEATURES]) -> usize {
        let side = self.root.side(features);
        2 * side + self.sides[side].side(features)
    }
}

impl Trees {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn predict(&self, features: &[f64; FEATURES]) -> f64 {
        let added = self.0.iter().map(|tree| tree.leaves[tree.leaf(features)]);
        features[FEATURES - 1] + added.sum::<f64>()
    }

    pub(super) fn fit(jobs: &[([f64; FEATURES], f64)]) -> Self {
        let mut fitting = Fitting::new(jobs);
        let all: Vec<usize> = (0..jobs.len()).collect();
        let mut trees = Vec::with_capacity(TREES);
        for _ in 0..TREES {
            let root = fitting.split(&all);
            let (above, below) = all.iter().partition(|job| root.side(&jobs[**job].0) == 1);
            let halves: [Vec<usize>; 2] = [below, above];
            let mut tree = Tree {
                root,
                sides: halves.each_ref().map(|half| fitting.split(half)),
                leaves: [0.0; 4],
            };
            let mut sums = [(0.0, MORE); 4];
            for (job, left) in jobs.iter().zip(&fitting.left) {
                let (sum, count) = &mut sums[tree.leaf(&job.0)];
                *sum += left;
                *count += 1.0;
            }
            tree.leaves = sums.map(|(sum, count)| rounded(RATE * sum / count));
            for (job, left) in jobs.iter().zip(&mut fitting.left) {
                *left -= tree.leaves[tree.leaf(&job.0)];
            }
            trees.push(tree);
        }
        Trees(trees)
    }
}

struct Fitting {
    thresholds: [Vec<f64>; FEATURES],
    bins: Vec<[u8; FEATURES]>,
    left: Vec<f64>,
}

impl Fitting {
    fn new(jobs: &[([f64; FEATURES], f64)]) -> Self {
        let thresholds: [Vec<f64>; FEATURES] = std::array::from_fn(|feature| {
            let mut values: Vec<f64> = jobs.iter().map(|(features, _)| features[feature]).collect();
            values.sort_unstable_by(f64::total_cmp);
            let quantiles = (1..BINS).map(|k| rounded(values[k * values.len() / BINS]));
            let mut thresholds: Vec<f64> = quantiles.collect();
            thresholds.dedup();
            thresholds
        });
        let bins = jobs.iter().map(|(features, _)| {
            std::array::from_fn(|i| thresholds[i].partition_point(|t| *t < features[i]) as u8)
        });
        let left = jobs.iter().map(|(known, part)| part - known[FEATURES - 1]);
        Fitting {
            bins: bins.collect(),
            left: left.collect(),
            thresholds,
        }
    }

    /// Returns the split that explains most of the residuals of these jobs, or one without effect.
    fn split(&self, jobs: &[usize]) -> Split {
        let all: f64 = jobs.iter().map(|job| self.left[*job]).sum();
        let explained = |sum: f64, count: usize| sum * sum / (count as f64 + MORE);
        let mut best = (explained(all, jobs.len()) + 1e-9, Split(0, f64::MAX));
        for (feature, thresholds) in self.thresholds.iter().enumerate() {
            let mut bins = [(0.0, 0); BINS];
            for job in jobs {
                let (sum, count) = &mut bins[usize::from(self.bins[*job][feature])];
                *sum += self.left[*job];
                *count += 1;
            }
            let (mut sum, mut count) = (0.0, 0);
            for (bin, threshold) in bins.iter().zip(thresholds) {
                sum += bin.0;
                count += bin.1;
                let above = jobs.len() - count;
                let both = explained(sum, count) + explained(all - sum, above);
                if count.min(above) >= LEAST && both > best.0 {
                    best = (both, Split(feature as u32, *threshold));
                }
            }
        }
        best.1
    }
}
