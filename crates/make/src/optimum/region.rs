/// Numbers of jobs of each type in a box.
#[derive(Clone, Debug)]
pub(super) struct Region {
    /// The most of each type.
    pub limits: Vec<usize>,
    /// Places between neighbours in each type; the last type's are next to each other.
    pub strides: Vec<usize>,
    pub states: usize,
}

impl Region {
    pub fn new(limits: Vec<usize>) -> Self {
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

    /// Returns a box that is half as large again in each type.
    pub fn grown(&self) -> Self {
        Region::new(self.limits.iter().map(|b| b + b.div_ceil(2)).collect())
    }

    /// Jobs of type i in a state.
    pub fn count(&self, i: usize, state: usize) -> usize {
        state / self.strides[i] % (self.limits[i] + 1)
    }

    /// Calls with pairs of ranges of states, one job of type i fewer and as many more, until all are
    /// through.
    pub fn pairs(
        &self,
        i: usize,
        mut of: impl FnMut(std::ops::Range<usize>, std::ops::Range<usize>),
    ) {
        let (stride, block) = (self.strides[i], self.strides[i] * (self.limits[i] + 1));
        for start in (0..self.states).step_by(block) {
            of(start..start + block - stride, start + stride..start + block);
        }
    }

    /// Calls with ranges of states that have as many jobs of type i as the box has, until all are through.
    pub fn edges(&self, i: usize, mut of: impl FnMut(std::ops::Range<usize>)) {
        let (stride, block) = (self.strides[i], self.strides[i] * (self.limits[i] + 1));
        for end in (block..=self.states).step_by(block) {
            of(end - stride..end);
        }
    }

    /// The values of this box on a larger one: beyond four fifths, where the losses at its edge have an effect, as
    /// the parabola through three points within, type by type.
    pub fn extended(&self, larger: &Region, values: &[f64]) -> Vec<f64> {
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

/// Returns what the values at three points weigh in those of the parabola through them at n.
fn lagrange(points: [usize; 3], n: usize) -> [f64; 3] {
    let [a, b, c] = points.map(|p| p as f64);
    let x = n as f64;
    let weight = |a: f64, b: f64, c: f64| (x - b) * (x - c) / ((a - b) * (a - c));
    [weight(a, b, c), weight(b, a, c), weight(c, a, b)]
}
