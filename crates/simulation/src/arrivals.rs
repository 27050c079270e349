use super::random::{Alias, RandomStream};
use super::sizes::Sampler;

/// The arrival of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Arrival {
    /// The time at which the job arrives \[time\].
    pub time: f64,
    /// The class of the job.
    pub class: u32,
}

/// A stream of arrivals of all classes, which does not depend on the block sizes requested. If
/// several jobs arrive at the same time, they are ordered by class.
pub struct Arrivals {
    flow: Flow,
    /// For each class, the number of jobs that still have to arrive at time 0, and its initial
    /// value.
    early: Vec<[u64; 2]>,
}

enum Flow {
    /// All classes are Poisson, so their sum is too, and the class does not depend on the past.
    Poisson(Poisson),
    /// Each class has its own process and its own stream, so that it does not depend on the others.
    Mixed(Mixed),
    /// One chain modulates all classes; the class of an arrival does not depend on its state.
    Common(Common),
}

impl From<Flow> for Arrivals {
    fn from(flow: Flow) -> Self {
        let early = Vec::new();
        Arrivals { flow, early }
    }
}

impl Arrivals {
    /// Creates a Poisson process for each class with the given rates \[1/time\].
    pub fn poisson(rates: &[f64], stream: RandomStream) -> Self {
        let mut classes = stream.clone();
        classes.leap();
        let flow = Flow::Poisson(Poisson {
            times: stream,
            classes,
            which: Alias::new(rates),
            gap: 1.0 / rates.iter().sum::<f64>(),
            now: 0.0,
        });
        flow.into()
    }

    /// Creates arrivals whose rates \[1/time\] are all modulated by the same Markov chain `flow`,
    /// which must have a mean of 1. For each class, either single jobs or batches arrive at its
    /// rate.
    pub fn common(
        classes: Vec<(f64, Option<Batches>)>,
        flow: Modulated,
        mut stream: RandomStream,
    ) -> Self {
        let mut kinds = stream.clone();
        kinds.leap();
        let (rates, batches): (Vec<f64>, Vec<_>) = classes.into_iter().unzip();
        let mut flow = flow.times(rates.iter().sum());
        flow.state = flow.initial.draw(&mut stream);
        let flow = Flow::Common(Common {
            times: stream,
            kinds,
            which: Alias::new(&rates),
            flow,
            batches,
            now: 0.0,
            class: 0,
            left: 0,
        });
        flow.into()
    }

    /// Creates arrivals with an independent process for each class.
    pub fn mixed(processes: impl Iterator<Item = Process>, mut stream: RandomStream) -> Self {
        let of_class = |mut process: Process| {
            stream.leap();
            let mut stream = stream.clone();
            if let Process::Modulated(modulated) = &mut process {
                modulated.state = modulated.initial.draw(&mut stream);
            }
            Source { stream, process }
        };
        let mut sources: Vec<Source> = processes.map(of_class).collect();
        let next = sources.iter_mut().map(Source::gap).collect();
        Flow::Mixed(Mixed { sources, next }).into()
    }

    /// Adds the given number of jobs of each class at time 0.
    pub fn begin_with(&mut self, jobs: &[u64]) {
        self.early = jobs.iter().map(|count| [*count; 2]).collect();
    }

    /// Returns `true` if the sizes must be drawn together with the arrivals. This is the case if
    /// there are batches in which all jobs have the same size.
    pub fn draws_sizes(&self) -> bool {
        let is_alike = |batches: &Batches| batches.alike.is_some();
        match &self.flow {
            Flow::Poisson(_) => false,
            Flow::Mixed(flow) => flow.sources.iter().any(|source| {
                matches!(&source.process, Process::Batches(batches, _) if is_alike(batches))
            }),
            Flow::Common(flow) => flow.batches.iter().flatten().any(is_alike),
        }
    }

    /// Generates the next `arrivals.len()` arrivals in the order of time. If there are jobs that
    /// arrive at time 0, the next one is always taken from the class with the largest remaining
    /// share.
    ///
    /// If the stream [draws sizes](Arrivals::draws_sizes), `sizes` must be as long as `arrivals`
    /// and filled with NaN, and the sizes \[time\] are written to it. If a value is still NaN
    /// afterwards, the size must be drawn from the distribution of the class. If the stream does
    /// not draw sizes, `sizes` must be empty.
    pub fn fill(&mut self, arrivals: &mut [Arrival], sizes: &mut [f64]) {
        let mut count = 0;
        let part = |[left, all]: &[u64; 2]| *left as f64 / (*all).max(1) as f64;
        while count < arrivals.len()
            && let Some((class, own)) = (self.early.iter_mut().enumerate())
                .max_by(|(_, a), (_, b)| part(a).total_cmp(&part(b)))
            && own[0] > 0
        {
            own[0] -= 1;
            arrivals[count] = Arrival {
                time: 0.0,
                class: class as u32,
            };
            count += 1;
        }
        let arrivals = &mut arrivals[count..];
        let sizes = sizes.get_mut(count..).unwrap_or_default();
        match &mut self.flow {
            Flow::Poisson(flow) => flow.fill(arrivals),
            Flow::Mixed(flow) => flow.fill(arrivals, sizes),
            Flow::Common(flow) => flow.fill(arrivals, sizes),
        }
    }
}

/// The arrivals that are next, which are generated in blocks because this is faster.
pub struct ArrivalBuffer {
    arrivals: Arrivals,
    block: Box<[Arrival]>,
    sizes: Box<[f64]>,
    next: usize,
}

const BLOCK: usize = 256;

impl ArrivalBuffer {
    /// Creates the buffer.
    pub fn new(arrivals: Arrivals) -> Self {
        let sizes = if arrivals.draws_sizes() { BLOCK } else { 0 };
        ArrivalBuffer {
            arrivals,
            block: vec![Arrival::default(); BLOCK].into(),
            sizes: vec![f64::NAN; sizes].into(),
            next: BLOCK,
        }
    }

    /// Adds the given number of jobs of each class at time 0. Call this before
    /// [`ArrivalBuffer::peek`].
    pub fn begin_with(&mut self, jobs: &[u64]) {
        self.arrivals.begin_with(jobs);
    }

    /// Returns the next arrival without consuming it.
    #[inline(always)]
    pub fn peek(&mut self) -> Arrival {
        if self.next == BLOCK {
            self.sizes.fill(f64::NAN);
            self.arrivals.fill(&mut self.block, &mut self.sizes);
            self.next = 0;
        }
        self.block[self.next]
    }

    /// Consumes the arrival returned by [`ArrivalBuffer::peek`] and returns its size \[time\], or
    /// NaN if the size was not drawn with the arrival.
    #[inline(always)]
    pub fn pass(&mut self) -> f64 {
        let size = self.sizes.get(self.next).copied();
        self.next += 1;
        size.unwrap_or(f64::NAN)
    }
}

struct Poisson {
    times: RandomStream,
    /// A separate stream, so that times and classes are drawn in separate loops.
    classes: RandomStream,
    which: Alias,
    gap: f64,
    now: f64,
}

impl Poisson {
    fn fill(&mut self, block: &mut [Arrival]) {
        for arrival in block.iter_mut() {
            self.now += self.times.exponential() * self.gap;
            arrival.time = self.now;
        }
        for arrival in block {
            arrival.class = self.which.draw(&mut self.classes) as u32;
        }
    }
}

struct Mixed {
    sources: Vec<Source>,
    next: Vec<f64>,
}

impl Mixed {
    fn fill(&mut self, block: &mut [Arrival], sizes: &mut [f64]) {
        for (n, arrival) in block.iter_mut().enumerate() {
            let (mut time, mut class) = (self.next[0], 0);
            for (other, next) in self.next.iter().enumerate().skip(1) {
                if *next < time {
                    (time, class) = (*next, other);
                }
            }
            if let Some(size) = sizes.get_mut(n) {
                *size = self.sources[class].size();
            }
            self.next[class] = time + self.sources[class].gap();
            let class = class as u32;
            *arrival = Arrival { time, class };
        }
    }
}

struct Common {
    times: RandomStream,
    kinds: RandomStream,
    which: Alias,
    flow: Modulated,
    batches: Vec<Option<Batches>>,
    now: f64,
    class: usize,
    left: u32,
}

impl Common {
    fn fill(&mut self, block: &mut [Arrival], sizes: &mut [f64]) {
        for (n, arrival) in block.iter_mut().enumerate() {
            if self.left == 0 {
                self.begin();
            }
            self.left -= 1;
            (arrival.time, arrival.class) = (self.now, self.class as u32);
            if let (Some(size), Some(batches)) = (sizes.get_mut(n), &self.batches[self.class]) {
                *size = batches.size;
            }
        }
    }

    fn begin(&mut self) {
        self.now += self.flow.gap(&mut self.times);
        self.class = self.which.draw(&mut self.kinds);
        let batches = self.batches[self.class].as_mut();
        self.left = batches.map_or(1, |batches| batches.begin(&mut self.kinds));
    }
}

/// The process that generates the arrivals of a class.
pub enum Process {
    /// A process in which the times between arrivals are independent and have this distribution.
    Renewal(Sampler),
    /// A Poisson process whose rate depends on the state of a Markov chain.
    Modulated(Modulated),
    /// Batches, with interarrival times of this distribution.
    Batches(Batches, Sampler),
}

/// A Markov chain that is used to modulate the arrival rate.
pub struct Modulated {
    state: usize,
    initial: Alias,
    rates: Vec<f64>,
    /// The rate of arrivals plus the rate of leaving each state.
    totals: Vec<f64>,
    onward: Vec<Alias>,
}

impl Modulated {
    /// Creates a chain from the arrival rates, the transition rates, and the initial distribution.
    pub fn new(rates: Vec<f64>, switching: &[Vec<f64>], initial: &[f64]) -> Self {
        let leave = switching.iter().map(|row| row.iter().sum::<f64>());
        Modulated {
            state: 0,
            initial: Alias::new(initial),
            totals: leave.zip(&rates).map(|(l, r)| l + r).collect(),
            onward: switching.iter().map(|row| Alias::new(row)).collect(),
            rates,
        }
    }

    /// Multiplies the arrival rates by `factor` and leaves the chain unchanged.
    fn times(mut self, factor: f64) -> Self {
        for (rate, total) in self.rates.iter_mut().zip(&mut self.totals) {
            let leave = *total - *rate;
            *rate *= factor;
            *total = leave + *rate;
        }
        self
    }

    fn gap(&mut self, stream: &mut RandomStream) -> f64 {
        let mut gap = 0.0;
        loop {
            let total = self.totals[self.state];
            gap += stream.exponential() / total;
            if stream.uniform() * total < self.rates[self.state] {
                return gap;
            }
            self.state = self.onward[self.state].draw(stream);
        }
    }
}

/// The number of jobs in batches and the correlation of their sizes.
pub struct Batches {
    counts: Vec<u32>,
    which: Alias,
    alike: Option<(f64, Sampler)>,
    /// The number of jobs of the current batch that have not arrived yet.
    left: u32,
    /// The size of all jobs in the current batch \[time\], or NaN if their sizes differ.
    size: f64,
}

impl Batches {
    /// Creates batches whose number of jobs is drawn from `counts` with the given weights. If
    /// `alike` is given, it contains the fraction of batches in which all jobs have the same size,
    /// which must be > 0, and the distribution of that size.
    pub fn new(counts: Vec<u32>, weights: &[f64], alike: Option<(f64, Sampler)>) -> Self {
        Batches {
            counts,
            which: Alias::new(weights),
            alike,
            left: 0,
            size: f64::NAN,
        }
    }

    fn begin(&mut self, stream: &mut RandomStream) -> u32 {
        let count = self.counts[self.which.draw(stream)];
        let alike = self.alike.as_ref().filter(|_| count > 1);
        let alike = alike.filter(|(part, _)| *part == 1.0 || stream.uniform() < *part);
        self.size = alike.map_or(f64::NAN, |(_, law)| law.draw(stream));
        count
    }

    fn gap(&mut self, law: &Sampler, stream: &mut RandomStream) -> f64 {
        if self.left > 0 {
            self.left -= 1;
            return 0.0;
        }
        self.left = self.begin(stream) - 1;
        law.draw(stream)
    }
}

struct Source {
    stream: RandomStream,
    process: Process,
}

impl Source {
    fn gap(&mut self) -> f64 {
        match &mut self.process {
            Process::Renewal(sampler) => sampler.draw(&mut self.stream),
            Process::Modulated(modulated) => modulated.gap(&mut self.stream),
            Process::Batches(batches, law) => batches.gap(law, &mut self.stream),
        }
    }

    /// Returns the size of the job for which [`Source::gap`] was last called \[time\], or NaN if it
    /// is unknown.
    fn size(&self) -> f64 {
        match &self.process {
            Process::Batches(batches, _) => batches.size,
            _ => f64::NAN,
        }
    }
}
