//! Arrivals of all classes in the order of time, a block of them at once.

use super::random::{Alias, Stream};
use super::sizes::Sampler;

/// A job arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Arrival {
    /// When \[time\].
    pub time: f64,
    /// Of which class.
    pub class: u32,
}

impl Arrival {
    /// What stands behind the last arrival of a record.
    pub(crate) const NEVER: Arrival = Arrival {
        time: f64::INFINITY,
        class: 0,
    };
}

/// Where arrivals come from: laws, or a record such as a trace.
pub trait ArrivalSource: Send {
    /// Whether this is a record: it ends, and may tell the sizes of its jobs. What has neither is
    /// endless, and sizes are drawn from the laws of the classes.
    const RECORDED: bool;

    /// The next arrivals from time 0 on, in the order of time, as many as `arrivals` holds. Returns
    /// how many these were; fewer at the end of a record.
    ///
    /// A record also sets their sizes \[time\], > 0, in `sizes`, which is as long, and filled with
    /// NaN: a size that is left NaN is drawn from the law of the job's class. Else `sizes` is empty.
    fn fill(&mut self, arrivals: &mut [Arrival], sizes: &mut [f64]) -> usize;
}

/// Arrivals by law. They depend on laws and stream alone, and not on the blocks in which they are
/// asked for; of classes that arrive at once the first one comes first.
pub(crate) enum LawDriven {
    /// All classes are Poisson: so is their sum, and which class arrives does not depend on the past.
    Poisson(Poisson),
    /// Each class has a process and a stream of its own, so that its arrivals do not depend on the
    /// other classes.
    Mixed(Mixed),
}

impl LawDriven {
    /// Poisson processes of these rates \[1/time\].
    pub fn poisson(rates: &[f64], stream: Stream) -> Self {
        let mut classes = stream.clone();
        classes.leap();
        LawDriven::Poisson(Poisson {
            times: stream,
            classes,
            which: Alias::new(rates),
            gap: 1.0 / rates.iter().sum::<f64>(),
            now: 0.0,
        })
    }

    /// A process for each class.
    pub fn mixed(processes: impl Iterator<Item = Process>, mut stream: Stream) -> Self {
        let of_class = |process: Process| {
            stream.leap();
            Source::new(process, stream.clone())
        };
        let mut sources: Vec<Source> = processes.map(of_class).collect();
        let next = sources.iter_mut().map(Source::gap).collect();
        LawDriven::Mixed(Mixed { sources, next })
    }
}

impl ArrivalSource for LawDriven {
    const RECORDED: bool = false;

    fn fill(&mut self, arrivals: &mut [Arrival], _: &mut [f64]) -> usize {
        match self {
            LawDriven::Poisson(flow) => flow.fill(arrivals),
            LawDriven::Mixed(flow) => flow.fill(arrivals),
        }
        arrivals.len()
    }
}

pub(crate) struct Poisson {
    times: Stream,
    /// Apart from the times, so that either is drawn in a loop of its own, whatever the block.
    classes: Stream,
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

pub(crate) struct Mixed {
    sources: Vec<Source>,
    /// When each class arrives next.
    next: Vec<f64>,
}

impl Mixed {
    fn fill(&mut self, block: &mut [Arrival]) {
        for arrival in block {
            let mut first = (self.next[0], 0);
            for (class, time) in self.next.iter().enumerate().skip(1) {
                if *time < first.0 {
                    first = (*time, class);
                }
            }
            let (time, class) = first;
            self.next[class] = time + self.sources[class].gap();
            let class = class as u32;
            *arrival = Arrival { time, class };
        }
    }
}

/// How the jobs of one class arrive.
pub(crate) enum Process {
    /// Independent times of one law; Poisson included.
    Renewal(Sampler),
    /// Poisson at a rate that depends on the state of a chain.
    Modulated(Modulated),
    /// A Poisson process of batches.
    Batches(Batches),
}

impl Process {
    /// Modulated by a chain: the arrival rate in each state, the rates between states, and the law
    /// of the state at time 0.
    pub fn modulated(rates: Vec<f64>, switching: &[Vec<f64>], initial: &[f64]) -> Self {
        let leave = switching.iter().map(|row| row.iter().sum::<f64>());
        Process::Modulated(Modulated {
            state: 0,
            initial: Alias::new(initial),
            totals: leave.zip(&rates).map(|(l, r)| l + r).collect(),
            onward: switching.iter().map(|row| Alias::new(row)).collect(),
            rates,
        })
    }

    /// Batches at this rate, of these numbers of jobs, each drawn by its weight.
    pub fn batches(rate: f64, sizes: Vec<u32>, weights: &[f64]) -> Self {
        Process::Batches(Batches {
            gap: 1.0 / rate,
            sizes,
            which: Alias::new(weights),
            left: 0,
        })
    }
}

/// A chain that is in a state, where jobs arrive at the state's rate.
pub(crate) struct Modulated {
    state: usize,
    initial: Alias,
    /// Arrival rate in each state.
    rates: Vec<f64>,
    /// Rate of arrivals and of leaving the state, together.
    totals: Vec<f64>,
    onward: Vec<Alias>,
}

impl Modulated {
    fn gap(&mut self, stream: &mut Stream) -> f64 {
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

pub(crate) struct Batches {
    /// Mean time between batches.
    gap: f64,
    sizes: Vec<u32>,
    which: Alias,
    /// Jobs of the present batch that are still to come.
    left: u32,
}

impl Batches {
    /// Time to the next job; 0 within a batch.
    fn gap(&mut self, stream: &mut Stream) -> f64 {
        if self.left > 0 {
            self.left -= 1;
            return 0.0;
        }
        self.left = self.sizes[self.which.draw(stream)] - 1;
        stream.exponential() * self.gap
    }
}

/// The arrivals of one class.
struct Source {
    stream: Stream,
    process: Process,
}

impl Source {
    fn new(mut process: Process, mut stream: Stream) -> Self {
        if let Process::Modulated(modulated) = &mut process {
            modulated.state = modulated.initial.draw(&mut stream);
        }
        Source { stream, process }
    }

    /// Time from one arrival to the next.
    fn gap(&mut self) -> f64 {
        match &mut self.process {
            Process::Renewal(sampler) => sampler.draw(&mut self.stream),
            Process::Modulated(modulated) => modulated.gap(&mut self.stream),
            Process::Batches(batches) => batches.gap(&mut self.stream),
        }
    }
}
