//! The random logs of `bench-v1`. If any of the random numbers changes, this is a new version.

use std::ops::Range;

use super::systems::{Draw, Set, Tier, name, seed};
use synth::kind::VerbResult;
use synth::multiresource::judge::{LogWindows, QueueRule};
use synth::multiresource::replay::{Log, Speed};
use synth::trace::{ReadOptions, Servers, Source, Trace};

const HOUR: f64 = 3600.0;
const DAY: f64 = 24.0 * HOUR;
const WEEK: f64 = 7.0 * DAY;

const WEEKS: f64 = 8.0;

const JOBS: usize = 4000;

/// The time limits of the jobs, in hours.
const LIMITS: [f64; 9] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 12.0, 24.0, 72.0];

pub(super) struct LogDistribution {
    pub name: String,
    /// The approximate fluid load of each log.
    pub load: f64,
    seed: u64,
    law: Law,
}

enum Law {
    Site(Site),
    Continuous(Demand, &'static str),
}

struct Site {
    processors: u32,
    /// The programs of each user. The first users submit the most jobs.
    users: Vec<Vec<Program>>,
}

#[derive(Clone, Copy)]
struct Program {
    width: u32,
    /// The mean size in hours, before it is scaled to the load.
    mean: f64,
    spread: f64,
    /// The limit divided by the mean size, before it is rounded up.
    caution: f64,
}

/// The distribution of the demand for each resource, as a fraction of the capacity of a server.
#[derive(Clone, Copy)]
enum Demand {
    Uniform,
    /// The density is `2 (1 − x)`.
    Decreasing,
    /// This is a bounded Pareto distribution on `(0.01, 1)` with `α = 0.8`.
    Pareto,
    /// The first demand `x` is uniform, and the second demand is uniform on `(x/3, x/3 + 2/3)`.
    Two,
}

const DEMANDS: [(Demand, &str); 4] = [
    (Demand::Uniform, "uniform"),
    (Demand::Decreasing, "decreasing"),
    (Demand::Pareto, "bounded Pareto"),
    (Demand::Two, "two uniform"),
];

struct Sent {
    at: f64,
    user: usize,
    program: Program,
    /// The size without the limit, before it is scaled to the load.
    size: f64,
}

impl LogDistribution {
    pub(super) fn new(set: Set, n: u64) -> Self {
        let seed = seed(set, Tier::Logs, n);
        let mut draw = Draw::new(seed);
        let (load, law) = if n % 4 == 3 {
            let load = draw.pick(&[0.6, 0.7, 0.8]);
            let (demand, name) = DEMANDS[(n / 4 % 4) as usize];
            (load, Law::Continuous(demand, name))
        } else {
            let load = draw.pick(&[0.6, 0.7, 0.8, 0.9]);
            (load, Law::Site(Site::new(&mut draw)))
        };
        LogDistribution {
            name: name(Tier::Logs, n),
            load,
            seed,
            law,
        }
    }

    pub(super) fn about(&self) -> String {
        let what = match &self.law {
            Law::Site(site) => {
                format!("{} processors, {} users", site.processors, site.users.len())
            }
            Law::Continuous(_, name) => format!("{name} demands"),
        };
        format!("{what}, load {}", self.load)
    }

    pub(super) fn file(&self, r: u64) -> (String, String) {
        let mut draw = Draw::new(1000 * self.seed + r);
        let (text, kind) = match &self.law {
            Law::Site(site) => (site.log(self.load, &mut draw), "swf"),
            Law::Continuous(demand, _) => (demand.log(self.load, &mut draw), "csv"),
        };
        (format!("{}-{r}.{kind}", self.name), text)
    }

    pub(super) fn draw(&self, of: Range<u64>) -> VerbResult<(Vec<String>, Vec<Log>)> {
        let mut options = ReadOptions::default();
        if let Law::Continuous(demand, _) = self.law {
            let two = matches!(demand, Demand::Two);
            let shape = if two { "cpu=1,memory=1" } else { "cpu=1" };
            options.servers = Some(Servers::shapes(shape)?);
        }
        let drawn = of.map(|r| {
            let (name, text) = self.file(r);
            let source = Source::Text(name, text.clone().into_bytes());
            let log = Log::read(&mut Trace::open(&source, &options)?, |_| ())?;
            Ok((text, log))
        });
        drawn.collect()
    }

    pub(super) fn now(&self) -> QueueRule {
        match self.law {
            Law::Site(_) => QueueRule::EASY,
            Law::Continuous(..) => QueueRule::FIRST_FIT,
        }
    }

    pub(super) fn windows(&self, log: &Log) -> LogWindows {
        let span = log.span() / log.tick.per_second() as f64;
        LogWindows {
            past: 0.5,
            every: match self.law {
                Law::Site(_) => WEEK,
                Law::Continuous(..) => span / 8.0,
            },
            speed: Speed::ONE,
        }
    }
}

impl Site {
    fn new(draw: &mut Draw) -> Self {
        let processors: u32 = draw.pick(&[64, 128, 256, 512]);
        let doublings = f64::from(processors.ilog2());
        let count = draw.between(30, 60);
        let mut program = || {
            // Most jobs are narrow. The widest jobs are short, and need half of all processors.
            let width: u32 = 1 << (draw.uniform().powi(2) * doublings) as u32;
            Program {
                width,
                mean: draw.log_uniform(0.05, 10.0) / f64::from(width).powf(0.4),
                spread: 0.2 + 1.2 * draw.uniform(),
                caution: draw.log_uniform(1.2, 12.0),
            }
        };
        let users = (0..count).map(|n| (0..1 + n % 3).map(|_| program()).collect());
        let users = users.collect();
        Site { processors, users }
    }

    fn log(&self, load: f64, draw: &mut Draw) -> String {
        let mut jobs = self.sent(draw);
        jobs.sort_by(|a, b| a.at.total_cmp(&b.at));
        let factor = self.factor(load, &jobs);
        let mut text = format!(
            "; Version: 2.2\n; Computer: none; drawn by synth bench\n; MaxProcs: {}\n",
            self.processors
        );
        for (n, job) in jobs.iter().enumerate() {
            let (runs, limit) = job.limited(factor);
            let [at, runs, limit] = [job.at, runs, limit].map(|h| (HOUR * h).ceil() as u64);
            let (width, user) = (job.program.width, job.user + 1);
            text += &format!(
                "{} {at} -1 {runs} {width} -1 -1 {width} {limit} -1 1 {user} 1 -1 1 1 -1 -1\n",
                n + 1
            );
        }
        text
    }

    fn sent(&self, draw: &mut Draw) -> Vec<Sent> {
        let hours = WEEKS * WEEK / HOUR;
        // Half of the users are always active. The other users are active for a part of the time.
        let stays = (0..self.users.len()).map(|user| {
            let from = 1.6 * draw.uniform() - 0.8;
            let until = from + 0.4 + 0.6 * draw.uniform();
            if user % 2 == 0 { 0.0..1.0 } else { from..until }
        });
        let stays: Vec<Range<f64>> = stays.collect();
        let mut jobs = Vec::with_capacity(JOBS);
        while jobs.len() < JOBS {
            let at = hours * draw.uniform();
            let user = (self.users.len() as f64 * draw.uniform().powi(2)) as usize;
            if draw.uniform() >= arrival_intensity(at) || !stays[user].contains(&(at / hours)) {
                continue;
            }
            let programs = &self.users[user];
            let program = programs[(programs.len() as f64 * draw.uniform()) as usize];
            let mut at = at;
            loop {
                let ends_early = draw.uniform() < 0.05;
                let part = if ends_early { draw.uniform() } else { 1.0 };
                let spread = (program.spread * draw.normal() - 0.5 * program.spread.powi(2)).exp();
                jobs.push(Sent {
                    at,
                    user,
                    program,
                    size: program.mean * part * spread,
                });
                at += 0.1 * draw.exponential();
                if draw.uniform() < 0.3 {
                    break;
                }
            }
        }
        jobs
    }

    fn factor(&self, load: f64, jobs: &[Sent]) -> f64 {
        let hours = jobs[jobs.len() - 1].at - jobs[0].at;
        let required = load * f64::from(self.processors) * hours;
        let mut factor = 1.0;
        for _ in 1..100 {
            let work = |job: &Sent| job.limited(factor).0 * f64::from(job.program.width);
            factor *= required / jobs.iter().map(work).sum::<f64>();
        }
        factor
    }
}

impl Sent {
    fn limited(&self, factor: f64) -> (f64, f64) {
        let promise = factor * self.program.mean * self.program.caution;
        let limit = LIMITS.into_iter().find(|limit| *limit >= promise);
        let limit = limit.unwrap_or(LIMITS[LIMITS.len() - 1]);
        ((factor * self.size).min(limit), limit)
    }
}

/// At noon, the arrival rate is four times as high as at midnight. On weekends, it is divided by 3.
fn arrival_intensity(hours: f64) -> f64 {
    let is_weekend = (hours / 24.0) as u64 % 7 >= 5;
    let hour = (hours / 24.0).fract() - 0.5;
    let day = 0.625 + 0.375 * (hour * std::f64::consts::TAU).cos();
    if is_weekend { day / 3.0 } else { day }
}

impl Demand {
    fn draw(self, draw: &mut Draw) -> Vec<f64> {
        let x = draw.uniform();
        let least: f64 = 0.01;
        match self {
            Demand::Uniform => vec![x],
            Demand::Decreasing => vec![1.0 - (1.0 - x).sqrt()],
            Demand::Pareto => vec![least / (1.0 - x * (1.0 - least.powf(0.8))).powf(1.0 / 0.8)],
            Demand::Two => vec![x, x / 3.0 + 2.0 / 3.0 * draw.uniform()],
        }
    }

    /// The arrivals are a Poisson process, and the sizes are exponential with a mean of 100 s.
    fn log(self, load: f64, draw: &mut Draw) -> String {
        let drawn = |draw: &mut Draw| (self.draw(draw), 100.0 * draw.exponential());
        let jobs: Vec<(Vec<f64>, f64)> = (0..JOBS).map(|_| drawn(draw)).collect();
        let names = ["cpu", "memory"];
        let resources = jobs[0].0.len();
        let work = |j: usize| jobs.iter().map(|(demand, size)| demand[j] * size).sum();
        let work: f64 = (0..resources).map(work).fold(0.0, f64::max);
        let gap = work / (load * JOBS as f64);
        let mut text = format!("submit,size,{}\n", names[..resources].join(","));
        let mut now = 0.0;
        for (demand, size) in jobs {
            now += gap * draw.exponential();
            text += &format!("{now:.3},{:.3}", size.max(0.001));
            for part in demand {
                text += &format!(",{:.3}", part.max(0.001));
            }
            text.push('\n');
        }
        text
    }
}
