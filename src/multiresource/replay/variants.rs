//! Other sequences of jobs, made of those of a trace.

use super::Job;
use crate::simulation::Streams;

/// Whole parts of the span, each this long \[ticks\], drawn with replacement and put one after the other: as many as
/// there are (Zakay and Feitelson, 2013). What comes in a part stays together. `None` where there are fewer than two.
#[must_use]
pub fn resampled(jobs: &[Job], part: f64, seed: u64, replication: u32) -> Option<Vec<Job>> {
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
        drawn.extend(own.iter().map(|job| Job {
            submit: job.submit + moved,
            ..*job
        }));
    }
    (!drawn.is_empty()).then_some(drawn)
}

/// Each job comes later by a whole number of ticks from 0 to `most`, each as likely.
#[must_use]
pub fn jittered(jobs: &[Job], most: u32, seed: u64, replication: u32) -> Vec<Job> {
    let mut stream = Streams::new(seed, replication).arrivals;
    let choices = f64::from(most) + 1.0;
    let later = |job: &Job| Job {
        submit: job.submit + (stream.uniform() * choices).floor(),
        ..*job
    };
    in_order(jobs.iter().map(later).collect())
}

/// Limits are sizes.
#[must_use]
pub fn with_known_sizes(jobs: &[Job]) -> Vec<Job> {
    let known = |job: &Job| Job {
        limit: job.size,
        ..*job
    };
    jobs.iter().map(known).collect()
}

/// The sizes, with their limits, of the jobs of each kind in another order: what comes when is kept, and how large
/// the jobs of a kind are, but not which is.
#[must_use]
pub fn with_shuffled_sizes(jobs: &[Job], seed: u64, replication: u32) -> Vec<Job> {
    let mut stream = Streams::new(seed, replication).sizes;
    let mut shuffled = jobs.to_vec();
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|n| jobs[*n].kind);
    for own in order.chunk_by(|a, b| jobs[*a].kind == jobs[*b].kind) {
        // Fisher and Yates.
        for last in (1..own.len()).rev() {
            let other = (stream.uniform() * (last + 1) as f64) as usize;
            let (a, b) = (own[last], own[other]);
            let (first, second) = (shuffled[a], shuffled[b]);
            shuffled[a] = Job {
                submit: first.submit,
                ..second
            };
            shuffled[b] = Job {
                submit: second.submit,
                ..first
            };
        }
    }
    shuffled
}

/// Each job comes at an instant of its own, drawn uniformly from the span: so do Poisson arrivals, given how many.
#[must_use]
pub fn with_uniform_arrivals(jobs: &[Job], seed: u64, replication: u32) -> Vec<Job> {
    let mut stream = Streams::new(seed, replication).arrivals;
    let span = jobs.last().map_or(0.0, |job| job.submit);
    let anew = |job: &Job| Job {
        submit: (stream.uniform() * (span + 1.0)).floor(),
        ..*job
    };
    in_order(jobs.iter().map(anew).collect())
}

/// By submission, those of one instant as they stand.
fn in_order(mut jobs: Vec<Job>) -> Vec<Job> {
    jobs.sort_by(|a, b| a.submit.total_cmp(&b.submit));
    jobs
}
