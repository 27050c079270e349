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

/// A stream of arrivals of all classes, ordered by time and then by class, in blocks of any size.
pub struct Arrivals {
    flow: Flow,
    /// For each class, the number of jobs yet to arrive at time 0, and its initial value.
    early: Vec<[u64; 2]>,
}

enum Flow {
    /// The sum of Poisson processes is a Poisson process, with independent classes.
    Poisson(Poisson),
    Mixed(Mixed),
    /// One chain modulates all classes; the class of an arrival does not depend on its state.
    Common(Common),
}

impl Arrivals {
    fn of(flow: Flow) -> Self {
        let early = Vec::new();
        Arrivals { flow, early }
    }

    /// Creates a Poisson process for each class with the given rates \[1/time\].
    pub fn poisson(rates: &[f64], stream: RandomStream) -> Self {
        let mut classes = stream.clone();
        classes.leap();
        Self::of(Flow::Poisson(Poisson {
            times: stream,
            classes,
            which: Alias::new(rates),
            gap: 1.0 / rates.iter().sum::<f64>(),
            now: 0.0,
        }))
    }

    /// Creates arrivals whose rates \[1/time\] are all modulated by the same Markov chain `flow`,
    /// which must have a mean of 1. Either single jobs or batches arrive at the rate of a class.
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
        Self::of(Flow::Common(Common {
            times: stream,
            kinds,
            which: Alias::new(&rates),
            flow,
            batches,
            now: 0.0,
            class: 0,
            left: 0,
        }))
    }

    /// Creates arrivals with an independent process for each class.
    pub fn mixed(processes: impl Iterator<Item = Process>, mut stream: RandomStream) -> Self {
        let of_class = |mut process: Process| {
            stream.leap();
            let mut stream = stream.clone();
            if let Process::Modulated(modulated) = &mut process {
                modulated.state = modulated.initial.draw(&mut stream);
            }
            (process, stream)
        };
        let mut sources: Vec<_> = processes.map(of_class).collect();
        let gaps = sources.iter_mut().map(|(own, stream)| own.gap(stream));
        let next = gaps.collect();
        Self::of(Flow::Mixed(Mixed { sources, next }))
    }

    /// Adds the given number of jobs of each class at time 0.
    pub fn begin_with(&mut self, jobs: &[u64]) {
        self.early = jobs.iter().map(|count| [*count; 2]).collect();
    }

    /// Returns `true` if sizes are drawn with the arrivals, because the jobs of a batch are alike.
    pub fn draws_sizes(&self) -> bool {
        let is_alike = |batches: &Batches| batches.alike.is_some();
        match &self.flow {
            Flow::Poisson(_) => false,
            Flow::Mixed(flow) => flow.sources.iter().any(
                |(process, _)| matches!(process, Process::Batches(batches, _) if is_alike(batches)),
            ),
            Flow::Common(flow) => flow.batches.iter().flatten().any(is_alike),
        }
    }

    /// Generates the next `arrivals.len()` arrivals in the order of time. Of the jobs that arrive
    /// at time 0, the next one is always taken from the class with the largest remaining share.
    ///
    /// If the stream [draws sizes](Arrivals::draws_sizes), `sizes` must be as long as `arrivals`
    /// and filled with NaN, and sizes \[time\] are written to it; others are drawn from the
    /// distribution of the class. Otherwise, `sizes` must be empty.
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

/// The next arrivals, which are generated in blocks because this is faster.
pub struct ArrivalBuffer {
    /// Must not be changed after the first [`ArrivalBuffer::peek`].
    pub arrivals: Arrivals,
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

    /// Consumes the peeked arrival and returns its size \[time\], or NaN if it was not drawn yet.
    #[inline(always)]
    pub fn pass(&mut self) -> f64 {
        let size = self.sizes.get(self.next).copied();
        self.next += 1;
        size.unwrap_or(f64::NAN)
    }
}

struct Poisson {
    times: RandomStream,
    /// Times and classes have separate streams, so that they can be drawn in separate loops.
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
    sources: Vec<(Process, RandomStream)>,
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
            let (process, stream) = &mut self.sources[class];
            if let Some(size) = sizes.get_mut(n) {
                *size = process.size();
            }
            self.next[class] = time + process.gap(stream);
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
                self.now += self.flow.gap(&mut self.times);
                self.class = self.which.draw(&mut self.kinds);
                let batches = self.batches[self.class].as_mut();
                self.left = batches.map_or(1, |batches| batches.begin(&mut self.kinds));
            }
            self.left -= 1;
            (arrival.time, arrival.class) = (self.now, self.class as u32);
            if let (Some(size), Some(batches)) = (sizes.get_mut(n), &self.batches[self.class]) {
                *size = batches.size;
            }
        }
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

impl Process {
    fn gap(&mut self, stream: &mut RandomStream) -> f64 {
        match self {
            Process::Renewal(sampler) => sampler.draw(stream),
            Process::Modulated(modulated) => modulated.gap(stream),
            Process::Batches(batches, gaps) => batches.gap(gaps, stream),
        }
    }

    /// Returns the size \[time\] of the job of the last gap, or NaN if it is not drawn yet.
    fn size(&self) -> f64 {
        match self {
            Process::Batches(batches, _) => batches.size,
            _ => f64::NAN,
        }
    }
}

/// A Markov chain that is used to modulate the arrival rate.
pub struct Modulated {
    state: usize,
    initial: Alias,
    rates: Vec<f64>,
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
    left: u32,
    /// The size of all jobs in the current batch \[time\], or NaN if their sizes differ.
    size: f64,
}

impl Batches {
    /// Creates batches of `counts` jobs with the given weights. `alike` is the fraction (> 0) of
    /// the batches whose jobs have the same size, and the distribution of that size.
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
        self.size = alike.map_or(f64::NAN, |(_, sizes)| sizes.draw(stream));
        count
    }

    fn gap(&mut self, gaps: &Sampler, stream: &mut RandomStream) -> f64 {
        if self.left > 0 {
            self.left -= 1;
            return 0.0;
        }
        self.left = self.begin(stream) - 1;
        gaps.draw(stream)
    }
}
