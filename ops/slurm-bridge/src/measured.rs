//! What jobs did, beside what the policy is for.

use super::watch::Watch;
use synth_multiresource::workload::Fleet;

/// By type what has come and run since the bridge began.
pub(super) struct Measured {
    /// From when on it is counted \[time\].
    since: f64,
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
    pub fn new(watch: &Watch, since: f64) -> Self {
        Measured {
            since,
            types: vec![OfType::default(); watch.operator.fleet().types().len()],
            latency: (0, 0.0),
        }
    }

    pub fn arrived(&mut self, i: usize) {
        self.types[i].arrivals += 1;
    }

    /// A job has run for this time.
    pub fn ran(&mut self, i: usize, time: f64) {
        let own = &mut self.types[i];
        own.ended += 1;
        own.sum += time;
        own.squares += time * time;
    }

    /// A job's first process was seen so long after its release.
    pub fn began_after(&mut self, time: f64) {
        self.latency.0 += 1;
        self.latency.1 += time;
    }

    /// Returns a line a type, and whether something is not as the policy takes it.
    pub fn lines(&self, fleet: &Fleet, now: f64) -> (Vec<String>, bool) {
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
