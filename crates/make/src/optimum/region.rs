use synth_multiresource::schedule::{Schedule, schedule_value};
use synth_multiresource::workload::Workload;

pub(super) struct Region {
    pub limits: Vec<usize>,
    pub strides: Vec<usize>,
    pub states: usize,
}

impl Region {
    pub(super) fn new(limits: Vec<usize>) -> Self {
        let mut strides = vec![1; limits.len()];
        for i in (1..limits.len()).rev() {
            strides[i - 1] = strides[i] * (limits[i] + 1);
        }
        Region {
            states: strides[0] * (limits[0] + 1),
            strides,
            limits,
        }
    }

    pub(super) fn count(&self, i: usize, state: usize) -> usize {
        state / self.strides[i] % (self.limits[i] + 1)
    }

    /// Calls `of` with pairs of index ranges, the second of which has one more job of type i.
    pub(super) fn pairs(
        &self,
        i: usize,
        mut of: impl FnMut(std::ops::Range<usize>, std::ops::Range<usize>),
    ) {
        let (stride, block) = (self.strides[i], self.strides[i] * (self.limits[i] + 1));
        for start in (0..self.states).step_by(block) {
            of(start..start + block - stride, start + stride..start + block);
        }
    }

    /// Calls `of` with the index range of each block of states at the upper edge of type i.
    pub(super) fn edges(&self, i: usize, mut of: impl FnMut(std::ops::Range<usize>)) {
        let (stride, block) = (self.strides[i], self.strides[i] * (self.limits[i] + 1));
        for end in (block..=self.states).step_by(block) {
            of(end - stride..end);
        }
    }

    /// Extends the values to a larger box. Arrivals are lost at the edge, so a parabola through
    /// three inner points replaces the values beyond four fifths of each side.
    pub(super) fn extended(&self, larger: &Region, values: &[f64]) -> Vec<f64> {
        let mut sides: Vec<usize> = self.limits.iter().map(|b| b + 1).collect();
        let mut values = values.to_vec();
        for i in 0..sides.len() {
            let (before, after) = (sides[i], larger.limits[i] + 1);
            let inner: usize = sides[i + 1..].iter().product();
            let outer: usize = sides[..i].iter().product();
            let points = [2, 3, 4].map(|fifths| (before - 1) * fifths / 5);
            let mut grown = Vec::with_capacity(outer * after * inner);
            for block in values.chunks_exact(before * inner) {
                for n in 0..after {
                    if n <= points[2] {
                        grown.extend_from_slice(&block[n * inner..(n + 1) * inner]);
                        continue;
                    }
                    let weights = lagrange(points, n);
                    grown.extend((0..inner).map(|at| {
                        let pairs = points.iter().zip(weights);
                        pairs.map(|(p, w)| w * block[p * inner + at]).sum::<f64>()
                    }));
                }
            }
            sides[i] = after;
            values = grown;
        }
        values
    }
}

fn lagrange(points: [usize; 3], n: usize) -> [f64; 3] {
    let [a, b, c] = points.map(|p| p as f64);
    let x = n as f64;
    let weight = |a: f64, b: f64, c: f64| (x - b) * (x - c) / ((a - b) * (a - c));
    [weight(a, b, c), weight(b, a, c), weight(c, a, b)]
}

/// The rates and the costs, divided by the uniformization rate.
pub(super) struct Uniform {
    pub arrivals: Vec<f64>,
    /// The service rates μ, then γ for each type if there are setups.
    pub services: Vec<f64>,
    pub costs: Vec<f64>,
    pub rate: f64,
}

impl Uniform {
    pub(super) fn new(
        workload: &Workload,
        services: &[f64],
        schedules: &[Schedule],
        costs: &[f64],
    ) -> Self {
        let served = schedules.iter().map(|s| schedule_value(s, services));
        let rate = workload.total_arrival_rate() + served.fold(0.0, f64::max);
        let types = workload.types().iter();
        Uniform {
            arrivals: types.map(|t| t.arrival_rate() / rate).collect(),
            services: services.iter().map(|mu| mu / rate).collect(),
            costs: costs.iter().map(|c| c / rate).collect(),
            rate,
        }
    }

    /// Adds the values after an arrival to a row. Returns `cost` plus that of the other types.
    pub(super) fn arrive(
        &self,
        region: &Region,
        start: usize,
        values: &[f64],
        row: &mut [f64],
        mut cost: f64,
    ) -> f64 {
        let (last, length) = (self.arrivals.len() - 1, row.len());
        for i in 0..last {
            let count = region.count(i, start);
            cost += count as f64 * self.costs[i];
            let is_in = count < region.limits[i];
            let more = start + if is_in { region.strides[i] } else { 0 };
            add(row, self.arrivals[i], &values[more..more + length]);
        }
        let here = &values[start..start + length];
        add(row, self.arrivals[last], &here[1..]);
        row[length - 1] += self.arrivals[last] * here[length - 1];
        cost
    }
}

pub(super) const NO_BOUNDS: [f64; 2] = [f64::INFINITY, f64::NEG_INFINITY];

pub(super) fn widest(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0].min(b[0]), a[1].max(b[1])]
}

pub(super) fn add(row: &mut [f64], rate: f64, values: &[f64]) {
    row.iter_mut().zip(values).for_each(|(v, u)| *v += rate * u);
}

pub(super) trait ValueIteration {
    /// Returns the present box, and the number of states per index.
    fn region(&self) -> (&Region, usize);

    /// Returns bounds on the average cost in the box, and the number of sweeps done.
    fn sweep(&mut self) -> ([f64; 2], usize);

    fn grow(&mut self, larger: Region);
}
