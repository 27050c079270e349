use std::collections::BTreeMap;

use synth_multiresource::workload::Fleet;
use synth_operator::protocol::Started;
use synth_operator::{Places, Round};

#[derive(Default)]
pub(super) struct OpenJob {
    job_type: String,
    /// The time at which the job was first seen in the queue \[time\].
    pub arrival: f64,
    start: Option<f64>,
    began: Option<f64>,
}

pub(super) struct EndedJob {
    pub id: String,
    pub job_type: String,
    /// The arrival, the run time, the wait, and the delay until the first process \[time\].
    pub times: [f64; 4],
}

/// The jobs that have arrived and not ended, by id, without jobs that were running at the start. If
/// a job was withdrawn and arrives again, perhaps with another type, its first arrival is used.
pub(super) type OpenJobs = BTreeMap<String, OpenJob>;

pub(super) fn follow(jobs: &mut OpenJobs, now: f64, round: &Round) -> Vec<EndedJob> {
    let mut ended = Vec::new();
    for line in &round.told {
        if let (Some(job_type), Some(id)) = (&line.arrive, &line.job) {
            let new = || OpenJob {
                arrival: now,
                ..OpenJob::default()
            };
            let job = jobs.entry(id.clone()).or_insert_with(new);
            job.job_type.clone_from(job_type);
        }
        if let Some(job) = line.put_back.as_ref().and_then(|id| jobs.get_mut(id)) {
            (job.start, job.began) = (None, None);
        }
        if let Some(id) = &line.leave
            && let Some(job) = jobs.remove(id)
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
        let job = jobs.get_mut(id);
        job.into_iter().for_each(|job| job.start = Some(now));
    }
    for id in &round.began {
        let job = jobs.get_mut(id);
        job.into_iter().for_each(|job| job.began = Some(now));
    }
    ended
}

pub(super) struct Measured {
    since: f64,
    jobs: OpenJobs,
    types: Vec<OfType>,
    /// The number of delays between the release and the first process, and their sum \[time\].
    latency: (u64, f64),
}

#[derive(Clone, Default)]
struct OfType {
    arrivals: u64,
    /// The number of jobs that have ended, and the sums of their run times and of the squares.
    ended: u64,
    sum: f64,
    squares: f64,
}

/// A larger relative difference is reported, if it also exceeds [`MIN_STANDARD_ERRORS`].
const MIN_RELATIVE_DIFFERENCE: f64 = 0.1;
const MIN_STANDARD_ERRORS: f64 = 3.0;

impl Measured {
    pub(crate) fn new(places: &Places, since: f64) -> Self {
        Measured {
            since,
            jobs: OpenJobs::default(),
            types: vec![OfType::default(); places.types().len()],
            latency: (0, 0.0),
        }
    }

    /// Counts a round. The jobs that are waiting in the first round are not counted as arrivals.
    pub(crate) fn count(&mut self, round: &Round, is_first: bool, places: &Places) {
        for line in &round.told {
            if let Some(id) = &line.withdraw {
                self.jobs.remove(id);
            }
            let arrived = line.arrive.as_ref().filter(|_| !is_first);
            if let Some(i) = arrived.and_then(|name| places.job_type(name)) {
                self.types[i].arrivals += 1;
            }
        }
        for job in follow(&mut self.jobs, round.t, round) {
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

    /// Returns a line for each type, and whether a value deviates from the workload of the policy.
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
                let apart =
                    off > MIN_RELATIVE_DIFFERENCE * expected && off > MIN_STANDARD_ERRORS * error;
                is_apart |= apart;
                if apart { " (!)" } else { "" }
            };
            let rate_mark = mark(rate, of.arrival_rate(), n.max(1.0).sqrt() / time);
            let mut runs = "no jobs have ended".to_owned();
            if own.ended > 0 {
                let expected = of.size().mean();
                let ended = own.ended as f64;
                let mean = own.sum / ended;
                // If there are few samples, we assume an exponential distribution.
                let spread = match own.ended {
                    ..10 => mean.max(expected),
                    _ => (own.squares / ended - mean * mean).max(0.0).sqrt(),
                };
                let mark = mark(mean, expected, spread / ended.sqrt());
                runs = format!("mean run time {mean:.3} {unit} (expected {expected:.3}){mark}");
            }
            lines.push(format!(
                "{}: {} arrivals, {rate:.4} per {unit} (expected {:.4}){rate_mark}; {runs}",
                of.name(),
                own.arrivals,
                of.arrival_rate()
            ));
        }
        let (starts, sum) = self.latency;
        if starts > 0 {
            let mean = sum / starts as f64;
            lines.push(format!(
                "mean delay between the release and the first process: {mean:.3} {unit} ({starts} starts)"
            ));
        }
        (lines, is_apart)
    }
}
