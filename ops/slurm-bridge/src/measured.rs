//! What jobs did, from the rounds of a bridge or of its journal; beside what the policy is for.

use std::collections::BTreeMap;

use synth_multiresource::workload::Fleet;
use synth_operator::protocol::Started;
use synth_operator::{Places, Round};

/// A job that came and has not ended.
#[derive(Default)]
pub(super) struct OpenJob {
    job_type: String,
    /// When it was first seen to wait \[time\].
    pub arrival: f64,
    start: Option<f64>,
    began: Option<f64>,
}

/// A job that came and ended.
pub(super) struct EndedJob {
    pub id: String,
    pub job_type: String,
    /// When it was first seen to wait, how long it ran, how long it waited to be released, and how long it took from there
    /// until its first process was seen \[time\].
    pub times: [f64; 4],
}

/// By id, jobs that came and have not ended. What was found running is not followed. One that is withdrawn may come again
/// as another type, and has waited since it came first.
#[derive(Default)]
pub(super) struct OpenJobs(pub BTreeMap<String, OpenJob>);

impl OpenJobs {
    /// Follows jobs through a round at this time; returns those that ended.
    pub(crate) fn follow(&mut self, now: f64, round: &Round) -> Vec<EndedJob> {
        let mut ended = Vec::new();
        for line in &round.told {
            if let (Some(job_type), Some(id)) = (&line.arrive, &line.job) {
                let new = || OpenJob {
                    arrival: now,
                    ..OpenJob::default()
                };
                let job = self.0.entry(id.clone()).or_insert_with(new);
                job.job_type.clone_from(job_type);
            }
            if let Some(job) = line.put_back.as_ref().and_then(|id| self.0.get_mut(id)) {
                (job.start, job.began) = (None, None);
            }
            if let Some(id) = &line.leave
                && let Some(job) = self.0.remove(id)
                && let (Some(start), Some(began)) = (job.start, job.began)
            {
                ended.push(EndedJob {
                    id: id.clone(),
                    job_type: job.job_type,
                    times: [job.arrival, now - began, start - job.arrival, began - start],
                });
            }
        }
        for id in round.start.iter().map(Started::id) {
            let job = self.0.get_mut(id);
            job.into_iter().for_each(|job| job.start = Some(now));
        }
        for id in &round.began {
            let job = self.0.get_mut(id);
            job.into_iter().for_each(|job| job.began = Some(now));
        }
        ended
    }
}

/// By type what has come and run since the bridge began.
pub(super) struct Measured {
    /// From when on it is counted \[time\].
    since: f64,
    jobs: OpenJobs,
    types: Vec<OfType>,
    /// Dead times: how many, and their sum \[time\].
    latency: (u64, f64),
}

#[derive(Clone, Default)]
struct OfType {
    arrivals: u64,
    /// Ended jobs, the sum of their run times and of the squares.
    ended: u64,
    sum: f64,
    squares: f64,
}

/// Further apart than this part is worth a warning, if it is also more than so many standard errors.
const APART: f64 = 0.1;
const ERRORS: f64 = 3.0;

impl Measured {
    pub(crate) fn new(places: &Places, since: f64) -> Self {
        Measured {
            since,
            jobs: OpenJobs::default(),
            types: vec![OfType::default(); places.types().len()],
            latency: (0, 0.0),
        }
    }

    /// Counts a round; jobs that the first one finds waiting came before.
    pub(crate) fn count(&mut self, round: &Round, is_first: bool, places: &Places) {
        for line in &round.told {
            if let Some(id) = &line.withdraw {
                self.jobs.0.remove(id);
            }
            let arrived = line.arrive.as_ref().filter(|_| !is_first);
            if let Some(i) = arrived.and_then(|name| places.job_type(name)) {
                self.types[i].arrivals += 1;
            }
        }
        for job in self.jobs.follow(round.t, round) {
            let [_, ran, _, latency] = job.times;
            if let Some(i) = places.job_type(&job.job_type) {
                let own = &mut self.types[i];
                own.ended += 1;
                own.sum += ran;
                own.squares += ran * ran;
            }
            self.latency.0 += 1;
            self.latency.1 += latency;
        }
    }

    /// Returns a line a type, and whether something is not as the policy takes it.
    pub(crate) fn lines(&self, fleet: &Fleet, now: f64) -> (Vec<String>, bool) {
        let unit = fleet.time_unit();
        let time = (now - self.since).max(f64::MIN_POSITIVE);
        let mut is_apart = false;
        let mut lines: Vec<String> = Vec::new();
        for (own, of) in self.types.iter().zip(fleet.types()) {
            let n = own.arrivals as f64;
            let rate = n / time;
            let mut mark = |found: f64, expected: f64, error: f64| {
                let off = (found - expected).abs();
                let apart = off > APART * expected && off > ERRORS * error;
                is_apart |= apart;
                if apart { " (!)" } else { "" }
            };
            let rate_mark = mark(rate, of.arrival_rate(), n.max(1.0).sqrt() / time);
            let mut runs = "none has ended".to_owned();
            if own.ended > 0 {
                // Without the dead time before it.
                let expected = of.size().mean();
                let ended = own.ended as f64;
                let mean = own.sum / ended;
                // Of a few jobs the spread says little: that of the policy's own sizes is taken.
                let spread = match own.ended {
                    ..10 => mean.max(expected),
                    _ => (own.squares / ended - mean * mean).max(0.0).sqrt(),
                };
                let mark = mark(mean, expected, spread / ended.sqrt());
                runs = format!("run {mean:.3} {unit} of {expected:.3}{mark}");
            }
            lines.push(format!(
                "{}: {} came, {rate:.4} per {unit} of {:.4}{rate_mark}; {runs}",
                of.name(),
                own.arrivals,
                of.arrival_rate()
            ));
        }
        if self.latency.0 > 0 {
            let mean = self.latency.1 / self.latency.0 as f64;
            lines.push(format!(
                "from release to the first process: {mean:.3} {unit} in the mean of {} starts",
                self.latency.0
            ));
        }
        (lines, is_apart)
    }
}
