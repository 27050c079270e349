//! What hosts can do at most, and whether that is enough.

use super::{Batch, Campaign, Processor, Quality, Supply};
use crate::law::Size;

/// What all hosts together can do for a set of applications, in the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Capacity {
    /// With hosts on as often as they are, and results not counted that are wrong or never returned
    /// \[work/time\].
    pub usual: f64,
    /// With all hosts on at all times, and all results right \[work/time\].
    pub most: f64,
}

/// Work that cannot be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Shortage {
    /// No job of a batch can ever be done.
    Never {
        /// The batch.
        batch: String,
        /// Why.
        why: &'static str,
    },
    /// A batch has more work than all hosts can do until its deadline, or the end of the campaign.
    TooMuch {
        /// The batch.
        batch: String,
        /// Jobs times quorum times mean size \[work\].
        work: f64,
        /// What can be done \[work/time\].
        rate: f64,
        /// Until when \[time\].
        time: f64,
    },
    /// A job takes longer than that on the fastest processor.
    TooLong {
        /// The batch.
        batch: String,
        /// Mean size; of a stream the least one \[work\].
        size: f64,
        /// The fastest processor \[work/time\].
        speed: f64,
        /// The deadline, the bound, or the rest of the campaign \[time\].
        time: f64,
    },
    /// All batches and streams together have more work than hosts can do in the whole campaign.
    Campaign {
        /// What there is to do \[work\].
        work: f64,
        /// What can be done \[work/time\].
        rate: f64,
        /// In which time \[time\].
        time: f64,
    },
}

impl Campaign {
    /// What all hosts can do for these applications in the mean: each processor with the version
    /// that is fastest on it.
    #[must_use]
    pub fn capacity(&self, applications: &[usize]) -> Capacity {
        let mut sum = Capacity::default();
        for processor in Processor::ALL {
            let factor = self.efficiency(applications, processor);
            for hosts in &self.record.hosts {
                let Some(speed) = hosts.speed_of(processor) else {
                    continue;
                };
                let count = f64::from(hosts.count) * f64::from(hosts.processors(processor));
                let rate = count * speed.mean() * factor;
                let right = (1.0 - hosts.error.value()) * (1.0 - hosts.vanish.value());
                sum.most += rate;
                sum.usual += rate * hosts.on_fraction() * right;
            }
        }
        sum
    }

    /// The greatest efficiency of any version of these applications on a type of processor; 0
    /// where there is none.
    fn efficiency(&self, applications: &[usize], processor: Processor) -> f64 {
        let own = self.versions.iter().filter(|version| {
            version.processor == processor
                && version.released < self.horizon()
                && applications.contains(&version.application)
        });
        own.map(|version| version.efficiency).fold(0.0, f64::max)
    }

    /// The greatest speed that a processor can have for an application; none where the law of
    /// speeds has no end.
    fn fastest(&self, application: usize) -> Option<f64> {
        let mut fastest = 0.0_f64;
        for processor in Processor::ALL {
            let factor = self.efficiency(&[application], processor);
            for speed in self
                .record
                .hosts
                .iter()
                .filter_map(|h| h.speed_of(processor))
            {
                fastest = fastest.max(greatest(speed)? * factor);
            }
        }
        Some(fastest)
    }

    /// Why the campaign can never be done, if that can be seen from the means alone.
    #[must_use]
    pub fn shortage(&self) -> Option<Shortage> {
        let (mut together, mut streams) = (0.0, 0.0);
        let mut needed: Vec<usize> = Vec::new();
        for batch in &self.batches {
            let capacity = self.capacity(&[batch.application]);
            let quorum = u64::from(self.quorum(batch.application));
            for (never, why) in [
                (
                    capacity.most <= 0.0,
                    "no host has a processor for any version of its application that is released in the campaign",
                ),
                (
                    self.able(batch.application) < quorum,
                    "more results have to agree on a job than hosts can run its application, and a host does a job once",
                ),
                (
                    capacity.usual <= 0.0,
                    "of every host that could do it, each result is wrong (error 1) or never returned (vanish 1)",
                ),
            ] {
                if never {
                    let batch = batch.name.clone();
                    return Some(Shortage::Never { batch, why });
                }
            }
            if let Some(found) = self.misses(batch, capacity) {
                return Some(found);
            }
            together += self.work(batch);
            if let Supply::Rate(_) = batch.supply {
                streams += self.work(batch);
            }
            if !needed.contains(&batch.application) {
                needed.push(batch.application);
            }
        }
        let (capacity, time) = (self.capacity(&needed), self.horizon());
        // Streams go on and on, and have to be kept up with; of all else hosts may do more for once.
        let short = [(streams, capacity.usual), (together, capacity.most)];
        let short = short.into_iter().find(|(work, rate)| *work > rate * time);
        short.map(|(work, rate)| Shortage::Campaign { work, rate, time })
    }

    /// Hosts that can run an application.
    fn able(&self, application: usize) -> u64 {
        let able = |hosts: &&super::HostsRecord| {
            Processor::ALL.iter().any(|processor| {
                hosts.processors(*processor) > 0
                    && self.efficiency(&[application], *processor) > 0.0
            })
        };
        let own = self.record.hosts.iter().filter(able);
        own.map(|hosts| u64::from(hosts.count)).sum()
    }

    /// Why a batch cannot be done in time, if that can be seen.
    fn misses(&self, batch: &Batch, capacity: Capacity) -> Option<Shortage> {
        let (work, size, time) = match batch.quality {
            Quality::Short(time) | Quality::Long(time) => {
                (self.work(batch), batch.size.mean(), time)
            }
            Quality::Afap => {
                let left = self.horizon() - batch.submitted();
                (self.work(batch), batch.size.mean(), left)
            }
            // A stream goes on; but no job of it may be too long for any host.
            Quality::Throughput(bound) => (0.0, batch.size.least().value(), bound),
        };
        if work > capacity.most * time {
            return Some(Shortage::TooMuch {
                batch: batch.name.clone(),
                work,
                rate: capacity.most,
                time,
            });
        }
        let speed = self.fastest(batch.application)?;
        (size > speed * time).then(|| Shortage::TooLong {
            batch: batch.name.clone(),
            size,
            speed,
            time,
        })
    }

    /// What a batch has to be done at least, or a stream in the whole campaign \[work\]; an endless
    /// one nothing.
    #[must_use]
    pub fn work(&self, batch: &Batch) -> f64 {
        let jobs = match batch.supply {
            Supply::Jobs { count, .. } => f64::from(count),
            Supply::Rate(rate) => rate * self.horizon(),
            Supply::Endless => 0.0,
        };
        jobs * f64::from(self.quorum(batch.application)) * batch.size.mean()
    }
}

/// The greatest value of a law; none where it has no end.
fn greatest(law: &Size) -> Option<f64> {
    match law {
        Size::Deterministic { mean } => Some(mean.value()),
        Size::Uniform { high, .. } | Size::Pareto { high, .. } => Some(high.value()),
        Size::Empirical { values, .. } => {
            Some(values.iter().map(|value| value.value()).fold(0.0, f64::max))
        }
        _ => None,
    }
}
