//! Upper bounds on the work that the hosts can do, to check if it is enough.

use super::{Batch, Campaign, HostsRecord, Processor, Quality, Version};
use synth_queues::distribution::SizeDistribution;

/// The mean capacity of all hosts for a set of applications.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Capacity {
    /// The capacity with the given availability, without wrong and lost results \[work/time\].
    pub usual: f64,
    /// The maximum capacity, if all hosts are always on and all results are correct \[work/time\].
    pub most: f64,
}

/// The reason why some of the work cannot be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Shortage {
    /// No job of a batch can ever be completed.
    Never {
        /// The name of the batch.
        batch: String,
        /// The reason.
        why: &'static str,
    },
    /// There is more work than the hosts can do until a deadline or until the end of the campaign.
    TooMuch {
        /// The name of the batch, or `None` if this is the sum of all batches and streams.
        batch: Option<String>,
        /// The number of jobs times the quorum times the mean size \[work\].
        work: f64,
        /// The maximum amount of work that the hosts can do in this time \[work\].
        most: f64,
        /// The time until the deadline or until the end of the campaign \[time\].
        time: f64,
    },
    /// A job takes too long, even on the fastest hosts that are needed for its quorum.
    TooLong {
        /// The name of the batch.
        batch: String,
        /// The mean size, or the least size of a stream \[work\].
        size: f64,
        /// The minimum time that is needed on these hosts.
        parts: LeastTime,
        /// The time until the deadline, the bound, or the end of the campaign \[time\].
        time: f64,
    },
}

/// A minimum time until a report \[time\]: until the release, on the processor, off, and reporting.
pub type LeastTime = [f64; 4];

const NO_PROCESSOR: &str = "no host has a processor for any version of its application that is released before the end of the campaign";
const TOO_FEW: &str = "its quorum is larger than the number of hosts that can run its application, and a host can only run a job once";
const ALL_WRONG: &str =
    "all hosts that can run it always return wrong results (error 1) or no results (vanish 1)";

impl Campaign {
    /// Returns the mean capacity for these applications, with the fastest version per processor.
    pub fn capacity(&self, applications: &[usize]) -> Capacity {
        let mut sum = Capacity::default();
        for (hosts, count, speed, efficiency) in self.usable(applications) {
            let rate = count * speed.mean() * efficiency;
            let right = (1.0 - hosts.error.value()) * (1.0 - hosts.vanish.value());
            sum.most += rate;
            sum.usual += rate * hosts.on_fraction() * right;
        }
        sum
    }

    /// Returns each group of hosts that can run one of these applications on a type of processor,
    /// with the number of processors, their speed, and the best efficiency of a version in time.
    fn usable(
        &self,
        of: &[usize],
    ) -> impl Iterator<Item = (&HostsRecord, f64, &SizeDistribution, f64)> {
        let types = Processor::ALL.into_iter().filter_map(|processor| {
            let usable = self.versions.iter().filter(|version| {
                version.processor == processor
                    && version.released < self.horizon()
                    && of.contains(&version.application)
            });
            let best = usable.map(|version| version.efficiency);
            Some((processor, best.reduce(f64::max).filter(|best| *best > 0.0)?))
        });
        let types: Vec<_> = types.collect();
        types.into_iter().flat_map(|(processor, best)| {
            self.record.hosts.iter().filter_map(move |hosts| {
                let count = f64::from(hosts.count) * f64::from(hosts.processors(processor));
                Some((hosts, count, hosts.speed_of(processor)?, best))
            })
        })
    }

    /// Returns the reason why the campaign cannot be done, if it follows from the means.
    pub fn shortage(&self) -> Option<Shortage> {
        if let Some(found) = self.batches.iter().find_map(|own| self.shortage_of(own)) {
            return Some(found);
        }
        let together: f64 = self.batches.iter().map(|own| self.work(own)).sum();
        let streams = self.batches.iter().filter(|own| own.is_stream());
        let streams: f64 = streams.map(|own| self.work(own)).sum();
        let (capacity, time) = (self.capacity(&self.applications()), self.horizon());
        // The hosts must be able to do the streams on average, and all of the work at their best.
        let short = [(streams, capacity.usual), (together, capacity.most)];
        let short = short.into_iter().find(|(work, rate)| *work > rate * time);
        short.map(|(work, rate)| Shortage::TooMuch {
            batch: None,
            work,
            most: rate * time,
            time,
        })
    }

    fn shortage_of(&self, batch: &Batch) -> Option<Shortage> {
        let (name, application) = (|| batch.name.clone(), [batch.application]);
        let rate = self.capacity(&application);
        let able = |own: &&HostsRecord| self.usable(&application).any(|(hosts, ..)| hosts == *own);
        let able = self.record.hosts.iter().filter(able);
        let able: u64 = able.map(|hosts| u64::from(hosts.count)).sum();
        let reasons = [
            (rate.most <= 0.0, NO_PROCESSOR),
            (able < u64::from(self.quorum(batch.application)), TOO_FEW),
            (rate.usual <= 0.0, ALL_WRONG),
        ];
        if let Some((_, why)) = reasons.into_iter().find(|(is_never, _)| *is_never) {
            return Some(Shortage::Never { batch: name(), why });
        }
        let (work, mean) = (self.work(batch), batch.size.mean());
        let least = batch.size.minimum().value();
        let (work, size, time) = match batch.quality {
            // A stream never ends, but its smallest job must not be too long for the fastest hosts.
            Quality::Throughput => (0.0, least, batch.limit),
            Quality::Afap => (work, mean, self.horizon() - batch.submitted),
            Quality::Short | Quality::Long => (work, mean, batch.limit),
        };
        let rounded = 1.0 + 1e-9;
        let parts = self.least_time(batch, size);
        if parts.iter().sum::<f64>() > time * rounded {
            return Some(Shortage::TooLong {
                batch: name(),
                size,
                parts,
                time,
            });
        }
        let groups = self.usable(&application);
        let most = groups.map(|(hosts, count, speed, efficiency)| {
            let done = efficiency * hosts.most_on(time - hosts.least_delay());
            // A job that is not finished in time does not count.
            let [fastest, usual] = [greatest(speed), speed.mean()].map(|own| own * done * rounded);
            if least == mean && fastest == usual {
                count * (usual / mean).floor() * mean
            } else if least > fastest {
                0.0
            } else {
                count * usual
            }
        });
        let most: f64 = most.sum();
        (work > most * rounded).then(|| Shortage::TooMuch {
            batch: Some(name()),
            work,
            most,
            time,
        })
    }

    /// Returns the minimum time for a job of this size on the fastest hosts that are needed.
    pub(crate) fn least_time(&self, batch: &Batch, size: f64) -> LeastTime {
        // The jobs of a stream can be created after the release.
        let has_end = batch.quality != Quality::Throughput;
        let own = self.versions.iter();
        let own = own.filter(|v| v.application == batch.application && v.released < self.horizon());
        let on = |hosts: &HostsRecord, version: &Version| {
            let speed = greatest(hosts.speed_of(version.processor)?) * version.efficiency;
            let (run, wait) = (size / speed, version.released - batch.submitted);
            let wait = if has_end { wait.max(0.0) } else { 0.0 };
            Some([wait, run, hosts.least_off(run), hosts.least_delay()])
        };
        let by_sum = |a: &LeastTime, b: &LeastTime| {
            let [a, b] = [a, b].map(|parts| parts.iter().sum::<f64>());
            a.total_cmp(&b)
        };
        let groups = self.record.hosts.iter().filter_map(|hosts| {
            let times = own.clone().filter_map(|version| on(hosts, version));
            Some((times.min_by(by_sum)?, hosts.count))
        });
        let mut groups: Vec<(LeastTime, u32)> = groups.collect();
        groups.sort_by(|(a, _), (b, _)| by_sum(a, b));
        let mut missing = self.quorum(batch.application);
        let needed = groups.into_iter().find(|(_, count)| {
            missing = missing.saturating_sub(*count);
            missing == 0
        });
        needed.map_or([0.0; 4], |(parts, _)| parts)
    }

    /// Returns the amount of work of a batch, or of a stream in the campaign (0 if it never ends).
    pub(crate) fn work(&self, batch: &Batch) -> f64 {
        let coming = batch.arrival_rate.unwrap_or(0.0) * self.horizon();
        let jobs = batch.jobs.map_or(coming, f64::from);
        jobs * f64::from(self.quorum(batch.application)) * batch.size.mean()
    }
}

impl HostsRecord {
    pub(crate) fn least_delay(&self) -> f64 {
        self.delay.as_ref().map_or(0.0, |law| law.minimum().value())
    }

    fn best_turn(&self) -> (f64, f64) {
        let turns = self.availability.as_ref();
        turns.map_or((f64::INFINITY, 0.0), |own| {
            (greatest(&own.on), own.off.minimum().value())
        })
    }

    /// Returns the minimum time off during a job that takes the time `run` while the host is on.
    fn least_off(&self, run: f64) -> f64 {
        let (on, off) = self.best_turn();
        ((run / on * (1.0 - 1e-9)).ceil() - 1.0).max(0.0) * off
    }

    /// Returns the maximum time on within `time` \[time\], or 0 if it is negative.
    fn most_on(&self, time: f64) -> f64 {
        let ((on, off), time) = (self.best_turn(), time.max(0.0));
        if on.is_infinite() {
            return time;
        }
        let turns = (time / (on + off)).floor();
        turns * on + (time - turns * (on + off)).min(on)
    }
}

/// Returns the largest possible value, or ∞ if there is no limit.
fn greatest(law: &SizeDistribution) -> f64 {
    match law {
        SizeDistribution::Deterministic { mean } => mean.value(),
        SizeDistribution::Uniform { high, .. } | SizeDistribution::Pareto { high, .. } => {
            high.value()
        }
        SizeDistribution::Empirical { values, .. } => {
            values.iter().map(|value| value.value()).fold(0.0, f64::max)
        }
        _ => f64::INFINITY,
    }
}
