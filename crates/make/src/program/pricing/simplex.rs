//! This module solves the linear relaxation of a bounded knapsack problem with a dual simplex
//! method that starts from the previous basis, so that a node of a search needs only a few pivots.
//! The basis has R columns, and its inverse is computed again in each pivot. [`Simplex::bound`] is
//! valid for all prices `w ≥ 0`, despite rounding errors:
//!
//! ```text
//! Σ v_i x_i  =  Σ (v_i − w·a_i) x_i + w·Σ a_i x_i  ≤  Σ (v_i − w·a_i)⁺ most_i + w·room
//! ```
//!
//! The ratio test can move a variable to its other bound if this improves the dual (Maros,
//! Computational Techniques of the Simplex Method, 2003, §10.2.1).

/// `max Σ v_i x_i` over `0 ≤ x ≤ most`, `Σ_i x_i a_i ≤ room`, for n types.
pub(super) struct Simplex {
    /// The fraction of the capacity of each resource that is used by one job (R × n).
    shares: Vec<Vec<f64>>,
    values: Vec<f64>,
    /// The indices of R columns: types below `n`, then slacks.
    basis: Vec<usize>,
    is_basic: Vec<bool>,
    /// Whether a nonbasic column is at its upper bound.
    is_at_most: Vec<bool>,
    inverse: Vec<Vec<f64>>,
    /// The price of the total capacity of each resource, `w ≥ 0` (R).
    pub prices: Vec<f64>,
    /// Reduced values: `v_i − w·a_i` (n), then `−w`.
    pub reduced: Vec<f64>,
    counts: Vec<f64>,
    row: Vec<f64>,
}

/// The maximum number of pivots in a solve, after which the present prices are still a bound.
const PIVOTS: usize = 200;

/// The maximum bound violation, and the minimum size of a pivot.
const TOLERANCE: f64 = 1e-9;

const NO_SIGN: f64 = 1e-12;

/// An upper bound on slacks that never binds.
const FAR: f64 = 1e3;

impl Simplex {
    pub(super) fn new(shares: Vec<Vec<f64>>, values: Vec<f64>) -> Self {
        let (resources, types) = (shares.len(), values.len());
        let all = types + resources;
        Simplex {
            shares,
            values,
            basis: (types..all).collect(),
            is_basic: (0..all).map(|i| i >= types).collect(),
            is_at_most: vec![false; all],
            inverse: vec![vec![0.0; resources]; resources],
            prices: vec![0.0; resources],
            reduced: vec![0.0; all],
            counts: vec![0.0; resources],
            row: vec![0.0; all],
        }
    }

    /// Solves the problem for the upper bounds `most` (n) and the free fractions `room` (R).
    pub(super) fn solve(&mut self, most: &[f64], room: &[f64]) {
        for _ in 0..PIVOTS {
            if !self.invert() {
                self.reset();
                self.invert();
            }
            self.price_by_basis();
            self.count(most, room);
            let leaving = self.leaving(most);
            if !leaving.is_some_and(|leaving| self.pivot(leaving, most)) {
                break;
            }
        }
        let prices = std::mem::take(&mut self.prices);
        self.take_prices(prices.into_iter().map(|w| w.max(0.0)).collect());
    }

    pub(super) fn take_prices(&mut self, prices: Vec<f64>) {
        self.prices = prices;
        self.reduce();
    }

    pub(super) fn bound(&self, most: &[f64], room: &[f64]) -> f64 {
        let priced = self.prices.iter().zip(room).map(|(w, r)| w * r);
        let types = self.reduced.iter().zip(most);
        priced.sum::<f64>() + types.map(|(d, m)| d.max(0.0) * m).sum::<f64>()
    }

    pub(super) fn count_of(&self, i: usize, most: &[f64]) -> f64 {
        match self.basis.iter().position(|&b| b == i) {
            Some(place) => self.counts[place].clamp(0.0, most[i]),
            None if self.is_at_most[i] => most[i],
            None => 0.0,
        }
    }

    fn reset(&mut self) {
        let (types, all) = (self.values.len(), self.is_basic.len());
        self.basis = (types..all).collect();
        self.is_basic = (0..all).map(|i| i >= types).collect();
    }

    fn share(&self, j: usize, i: usize) -> f64 {
        match i.checked_sub(self.values.len()) {
            None => self.shares[j][i],
            Some(slack) => f64::from(u8::from(slack == j)),
        }
    }

    fn most(&self, i: usize, most: &[f64]) -> f64 {
        most.get(i).copied().unwrap_or(FAR)
    }

    /// Inverts the basis by Gauss-Jordan elimination. Returns `false` if the basis is singular.
    fn invert(&mut self) -> bool {
        let n = self.basis.len();
        let row = |j: usize| self.basis.iter().map(|&i| self.share(j, i)).collect();
        let mut work: Vec<Vec<f64>> = (0..n).map(row).collect();
        for (j, row) in self.inverse.iter_mut().enumerate() {
            row.fill(0.0);
            row[j] = 1.0;
        }
        for c in 0..n {
            let largest = (c..n).max_by(|&a, &b| work[a][c].abs().total_cmp(&work[b][c].abs()));
            let Some(p) = largest.filter(|&p| work[p][c].abs() > 1e-11) else {
                return false;
            };
            for matrix in [&mut work, &mut self.inverse] {
                matrix.swap(c, p);
            }
            let scale = 1.0 / work[c][c];
            let factors: Vec<f64> = work.iter().map(|row| row[c] * scale).collect();
            for matrix in [&mut work, &mut self.inverse] {
                let pivot = matrix[c].clone();
                for (r, row) in matrix.iter_mut().enumerate() {
                    for (x, p) in row.iter_mut().zip(&pivot) {
                        *x = match r == c {
                            true => p * scale,
                            false => *x - factors[r] * p,
                        };
                    }
                }
            }
        }
        true
    }

    /// Computes the prices and reduced values, and sets each nonbasic column to one of its bounds.
    fn price_by_basis(&mut self) {
        self.prices.fill(0.0);
        for (row, &i) in self.inverse.iter().zip(&self.basis) {
            let value = self.values.get(i).copied().unwrap_or(0.0);
            for (w, b) in self.prices.iter_mut().zip(row) {
                *w += value * b;
            }
        }
        self.reduce();
        for &i in &self.basis {
            self.reduced[i] = 0.0;
        }
        for (at, d) in self.is_at_most.iter_mut().zip(&self.reduced) {
            if d.abs() > NO_SIGN {
                *at = *d > 0.0;
            }
        }
    }

    fn reduce(&mut self) {
        let (types, rest) = self.reduced.split_at_mut(self.values.len());
        types.copy_from_slice(&self.values);
        for ((w, shares), rest) in self.prices.iter().zip(&self.shares).zip(rest) {
            *rest = -w;
            for (d, a) in types.iter_mut().zip(shares) {
                *d -= w * a;
            }
        }
    }

    fn count(&mut self, most: &[f64], room: &[f64]) {
        let n = self.values.len();
        let mut left = room.to_vec();
        for i in (0..self.is_at_most.len()).filter(|&i| self.is_at_most[i] && !self.is_basic[i]) {
            match i.checked_sub(n) {
                Some(j) => left[j] -= FAR,
                None => {
                    for (left, shares) in left.iter_mut().zip(&self.shares) {
                        *left -= shares[i] * most[i];
                    }
                }
            }
        }
        for (count, row) in self.counts.iter_mut().zip(&self.inverse) {
            *count = row.iter().zip(&left).map(|(b, l)| b * l).sum();
        }
    }

    /// Returns the position and size of the largest bound violation, and whether it is above.
    fn leaving(&self, most: &[f64]) -> Option<(usize, f64, bool)> {
        let mut worst = (0, TOLERANCE, false);
        for (place, (&i, count)) in self.basis.iter().zip(&self.counts).enumerate() {
            for (excess, above) in [(-count, false), (count - self.most(i, most), true)] {
                if excess > worst.1 {
                    worst = (place, excess, above);
                }
            }
        }
        (worst.1 > TOLERANCE).then_some(worst)
    }

    /// Replaces the leaving column and keeps dual feasibility, or returns `false`.
    fn pivot(&mut self, (place, mut slope, above): (usize, f64, bool), most: &[f64]) -> bool {
        let n = self.values.len();
        self.row.fill(0.0);
        let (types, rest) = self.row.split_at_mut(n);
        for ((b, shares), rest) in self.inverse[place].iter().zip(&self.shares).zip(rest) {
            *rest = *b;
            for (alpha, a) in types.iter_mut().zip(shares) {
                *alpha += b * a;
            }
        }
        let sign = if above { 1.0 } else { -1.0 };
        while let Some((entering, alpha)) = self.entering(sign) {
            slope -= alpha * self.most(entering, most);
            if slope <= 0.0 || entering >= n {
                let leaving = std::mem::replace(&mut self.basis[place], entering);
                self.is_basic[leaving] = false;
                self.is_at_most[leaving] = above;
                self.is_basic[entering] = true;
                return true;
            }
            // The whole range of the column is not sufficient.
            self.is_at_most[entering] = !self.is_at_most[entering];
            self.row[entering] = 0.0;
        }
        false
    }

    /// Returns the column with the smallest dual ratio (ties: the largest pivot), and its pivot.
    fn entering(&self, sign: f64) -> Option<(usize, f64)> {
        let mut best = (f64::INFINITY, 0.0, 0);
        for (i, entry) in self.row.iter().enumerate() {
            let alpha = if self.is_at_most[i] { -sign } else { sign } * entry;
            if alpha > TOLERANCE && !self.is_basic[i] {
                let ratio = self.reduced[i].abs() / alpha;
                if ratio < best.0 || (ratio == best.0 && alpha > best.1) {
                    best = (ratio, alpha, i);
                }
            }
        }
        best.0.is_finite().then_some((best.2, best.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn primal_equals_dual_from_any_starting_basis() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        for resources in [1, 2, 5] {
            let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| random.random()).collect() };
            let shares: Vec<Vec<f64>> = (0..resources).map(|_| draw(20)).collect();
            let values: Vec<f64> = draw(20);
            let mut simplex = Simplex::new(shares.clone(), values.clone());
            for _ in 0..200 {
                let most: Vec<f64> = draw(20).iter().map(|m| (m * 4.0).floor()).collect();
                let room = draw(resources);
                simplex.solve(&most, &room);
                let x: Vec<f64> = (0..20).map(|i| simplex.count_of(i, &most)).collect();
                for (shares, room) in shares.iter().zip(&room) {
                    let used: f64 = shares.iter().zip(&x).map(|(a, x)| a * x).sum();
                    assert!(used <= room + 1e-8, "{used} {room}");
                }
                let worth: f64 = values.iter().zip(&x).map(|(v, x)| v * x).sum();
                let bound = simplex.bound(&most, &room);
                assert!((worth - bound).abs() <= 1e-8, "{worth} {bound}");
            }
        }
    }
}
