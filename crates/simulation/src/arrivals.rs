//! Arrivals of all classes in the order of time, a block of them at once.

use super::random::{Alias, RandomStream};
use super::sizes::Sampler;

/// A job arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Arrival {
    /// When \[time\].
    pub time: f64,
    /// Of which class.
    pub class: u32,
}

/// Arrivals of all classes, some of which may be there at time 0. They depend on the processes and the stream alone, and
/// not on the blocks in which they are requested; of classes that arrive at the same time the first one comes first.
pub struct Arrivals {
    flow: Flow,
    /// By class: how many more arrive at time 0, before those of the flow; and how many did in all.
    early: Vec<[u64; 2]>,
}

enum Flow {
    /// All classes are Poisson: so is their sum, and which class arrives does not depend on the past.
    Poisson(Poisson),
    /// Each class has a process and a stream of its own, so that its arrivals do not depend on the
    /// other classes.
    Mixed(Mixed),
    /// One chain modulates all classes; which class arrives does not depend on its state.
    Common(Common),
}

impl From<Flow> for Arrivals {
    fn from(flow: Flow) -> Self {
        let early = Vec::new();
        Arrivals { flow, early }
    }
}

impl Arrivals {
    /// Returns Poisson processes of these rates \[1/time\].
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

    /// Returns batches or single jobs of each class at its rate \[1/time\], all multiplied by what stands in
    /// the present state of `flow`, which has the rate 1 on average.
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

    /// Returns arrivals with a process for each class.
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

    /// Adds this many jobs of each class at time 0.
    pub fn begin_with(&mut self, jobs: &[u64]) {
        self.early = jobs.iter().map(|count| [*count; 2]).collect();
    }

    /// Returns whether the jobs of some batches have one size, which depends on no policy: it comes with them.
    pub fn tells_sizes(&self) -> bool {
        let is_alike = |batches: &Batches| batches.alike.is_some();
        match &self.flow {
            Flow::Poisson(_) => false,
            Flow::Mixed(flow) => flow.sources.iter().any(|source| {
                matches!(&source.process, Process::Batches(batches, _) if is_alike(batches))
            }),
            Flow::Common(flow) => flow.batches.iter().flatten().any(is_alike),
        }
    }

    /// Draws the next arrivals from time 0 on, in the order of time, as many as `arrivals` holds. Jobs that are there at
    /// time 0 are mixed: the next class is the one of which the largest part is left.
    ///
    /// If it [tells sizes](Arrivals::tells_sizes), it sets these \[time\], > 0, in `sizes`, which is as long, and
    /// filled with NaN: a size that is left NaN is drawn from the law of the job's class. Else `sizes` is empty.
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

/// The arrivals that are still to come. They are drawn in blocks, which is faster than one by one.
pub struct Coming {
    arrivals: Arrivals,
    block: Box<[Arrival]>,
    /// The sizes of the arrivals of the block; empty if sizes do not come with arrivals.
    sizes: Box<[f64]>,
    /// The place in the block of the next arrival.
    next: usize,
}

/// The number of arrivals that are drawn at a time.
const BLOCK: usize = 256;

impl Coming {
    /// Returns these arrivals, beginning with the first.
    pub fn new(arrivals: Arrivals) -> Self {
        let sizes = if arrivals.tells_sizes() { BLOCK } else { 0 };
        Coming {
            arrivals,
            block: vec![Arrival::default(); BLOCK].into(),
            sizes: vec![f64::NAN; sizes].into(),
            next: BLOCK,
        }
    }

    /// Adds this many jobs of each class at time 0. It must be called before [`Coming::peek`].
    pub fn begin_with(&mut self, jobs: &[u64]) {
        self.arrivals.begin_with(jobs);
    }

    /// Returns the next arrival without passing it.
    #[inline(always)]
    pub fn peek(&mut self) -> Arrival {
        if self.next == BLOCK {
            self.sizes.fill(f64::NAN);
            self.arrivals.fill(&mut self.block, &mut self.sizes);
            self.next = 0;
        }
        self.block[self.next]
    }

    /// Passes the arrival that [`Coming::peek`] returned, and returns its size \[time\]; NaN if sizes do not come with arrivals.
    #[inline(always)]
    pub fn pass(&mut self) -> f64 {
        let size = self.sizes.get(self.next).copied();
        self.next += 1;
        size.unwrap_or(f64::NAN)
    }
}

struct Poisson {
    times: RandomStream,
    /// Apart from the times, so that either is drawn in a loop of its own, whatever the block.
    classes: RandomStream,
    which: Alias,
    /// Mean time between arrivals.
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
    /// When each class arrives next.
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

/// Batches of all classes, of which single jobs are such of one.
struct Common {
    times: RandomStream,
    /// Of which class the batches are, and what is in them.
    kinds: RandomStream,
    which: Alias,
    flow: Modulated,
    /// By class; none where single jobs arrive.
    batches: Vec<Option<Batches>>,
    now: f64,
    /// Of the present batch.
    class: usize,
    /// Its jobs that are still to come.
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

    /// Begins the next batch.
    fn begin(&mut self) {
        self.now += self.flow.gap(&mut self.times);
        self.class = self.which.draw(&mut self.kinds);
        let batches = self.batches[self.class].as_mut();
        self.left = batches.map_or(1, |batches| batches.begin(&mut self.kinds));
    }
}

/// How the jobs of one class arrive.
pub enum Process {
    /// Independent times of one law; Poisson included.
    Renewal(Sampler),
    /// Poisson at a rate that depends on the state of a chain.
    Modulated(Modulated),
    /// Batches, with times between them of this law.
    Batches(Batches, Sampler),
}

/// A chain that is in a state, where jobs arrive at the state's rate.
pub struct Modulated {
    state: usize,
    initial: Alias,
    /// Arrival rate in each state.
    rates: Vec<f64>,
    /// Rate of arrivals and of leaving the state, together.
    totals: Vec<f64>,
    onward: Vec<Alias>,
}

impl Modulated {
    /// Returns a chain with the arrival rate in each state, the rates between states, and the law of the state at time 0.
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

    /// Returns it with so many times the arrivals; the chain is the same.
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

/// How many jobs come at once, and what they have in common.
pub struct Batches {
    counts: Vec<u32>,
    which: Alias,
    /// The part of the batches whose jobs all have one size, and its law.
    alike: Option<(f64, Sampler)>,
    /// Jobs of the present batch that are still to come.
    left: u32,
    /// The size \[time\] that they all have, or NaN.
    size: f64,
}

impl Batches {
    /// Returns batches of these numbers of jobs, each drawn by its weight; the jobs of this part of the batches, > 0, all have one size
    /// of this law.
    pub fn new(counts: Vec<u32>, weights: &[f64], alike: Option<(f64, Sampler)>) -> Self {
        Batches {
            counts,
            which: Alias::new(weights),
            alike,
            left: 0,
            size: f64::NAN,
        }
    }

    /// Draws a batch: how many jobs it has.
    fn begin(&mut self, stream: &mut RandomStream) -> u32 {
        let count = self.counts[self.which.draw(stream)];
        // One job is like itself.
        let alike = self.alike.as_ref().filter(|_| count > 1);
        let alike = alike.filter(|(part, _)| *part == 1.0 || stream.uniform() < *part);
        self.size = alike.map_or(f64::NAN, |(_, law)| law.draw(stream));
        count
    }

    /// Returns the time to the next job, if that between batches has this law; 0 within a batch.
    fn gap(&mut self, law: &Sampler, stream: &mut RandomStream) -> f64 {
        if self.left > 0 {
            self.left -= 1;
            return 0.0;
        }
        self.left = self.begin(stream) - 1;
        law.draw(stream)
    }
}

/// The arrivals of one class.
struct Source {
    stream: RandomStream,
    process: Process,
}

impl Source {
    /// Returns the time from one arrival to the next.
    fn gap(&mut self) -> f64 {
        match &mut self.process {
            Process::Renewal(sampler) => sampler.draw(&mut self.stream),
            Process::Modulated(modulated) => modulated.gap(&mut self.stream),
            Process::Batches(batches, law) => batches.gap(law, &mut self.stream),
        }
    }

    /// Returns the size \[time\] of the job up to which [`Source::gap`] was returned last; NaN where it is not known.
    fn size(&self) -> f64 {
        match &self.process {
            Process::Batches(batches, _) => batches.size,
            _ => f64::NAN,
        }
    }
}
