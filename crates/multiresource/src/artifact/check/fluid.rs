//! What a server is worth if jobs could be cut into arbitrarily small pieces: the linear program behind
//! the prices of the resources, by a simplex of the checker's own.
//!
//! `max v·x` over `x ≥ 0` with `Σ_i x_i D_ij ≤ P_j` has the dual `min P·w` over `w ≥ 0` with
//! `D_i·w ≥ v_i`: prices that cover the values are dearer than needed where `P·w` is above it. What the
//! simplex ends with proves itself: a solution of each, of one value.

use crate::schedule::Packing;

/// Pivots at most; with R resources some R steps are the rule.
const PIVOTS: usize = 2_000;

/// Below this a number of the tableau, whose entries are at most 1, is rounding.
const ZERO: f64 = 1e-12;

/// How far the two sides of the proof may be apart, relatively.
const ROUNDING: f64 = 1e-9;

/// Returns the worth at values (K) of running jobs; `None` where it cannot be distinguished from rounding.
pub(super) fn worth(packing: &Packing, values: &[f64]) -> Option<f64> {
    // A job in units of its largest share, and values in units of the largest.
    let largest: Vec<f64> = (0..values.len())
        .map(|i| packing.largest_share(i))
        .collect();
    let worths: Vec<f64> = values.iter().zip(&largest).map(|(v, l)| v / l).collect();
    let unit = worths.iter().copied().fold(0.0, f64::max);
    if !(unit > 0.0 && unit.is_finite()) {
        return None;
    }
    let row = |j: usize| -> Vec<f64> {
        let jobs = largest.iter().enumerate();
        jobs.map(|(i, all)| packing.share(i, j) / all).collect()
    };
    let rows: Vec<Vec<f64>> = (0..packing.capacity().len()).map(row).collect();
    let gains: Vec<f64> = worths.iter().map(|worth| worth / unit).collect();
    Some(unit * Tableau::new(&rows, &gains).solved(&rows, &gains)?)
}

/// The simplex tableau: rows of resources, columns of jobs and of what is left of each resource.
struct Tableau {
    /// Each row ends with its right side.
    rows: Vec<Vec<f64>>,
    /// What one more of each column gains; ends with what is gained so far, negative.
    gains: Vec<f64>,
    /// The column that stands in each row.
    basis: Vec<usize>,
}

impl Tableau {
    fn new(rows: &[Vec<f64>], gains: &[f64]) -> Self {
        let (jobs, resources) = (gains.len(), rows.len());
        let wide = |row: &Vec<f64>, slack: Option<usize>, right: f64| {
            let mut wide = row.clone();
            wide.extend((0..resources).map(|j| f64::from(u8::from(slack == Some(j)))));
            wide.push(right);
            wide
        };
        let rows = rows.iter().enumerate();
        Tableau {
            rows: rows.map(|(j, row)| wide(row, Some(j), 1.0)).collect(),
            gains: wide(&gains.to_vec(), None, 0.0),
            basis: (jobs..jobs + resources).collect(),
        }
    }

    /// Returns the optimum of `gains·x` over `rows·x ≤ 1`, proved by the solutions of both programs.
    fn solved(mut self, rows: &[Vec<f64>], gains: &[f64]) -> Option<f64> {
        for _ in 0..PIVOTS {
            // Bland's rule: the first column that gains, so that no basis comes again.
            let last = self.gains.len() - 1;
            let Some(enters) = (0..last).find(|c| self.gains[*c] > ZERO) else {
                return self.proved(rows, gains);
            };
            self.pivot(self.leaving(enters)?, enters);
        }
        None
    }

    /// Returns the row whose column reaches 0 first as this one grows; of equals the first column.
    fn leaving(&self, enters: usize) -> Option<usize> {
        let last = self.gains.len() - 1;
        let rows = (0..self.rows.len()).filter(|r| self.rows[*r][enters] > ZERO);
        let limit = |r: &usize| self.rows[*r][last] / self.rows[*r][enters];
        rows.min_by(|a, b| {
            let by_limit = limit(a).total_cmp(&limit(b));
            by_limit.then(self.basis[*a].cmp(&self.basis[*b]))
        })
    }

    fn pivot(&mut self, r: usize, enters: usize) {
        let by = self.rows[r][enters];
        self.rows[r].iter_mut().for_each(|x| *x /= by);
        let row = self.rows[r].clone();
        let others = self.rows.iter_mut().enumerate().filter(|(s, _)| *s != r);
        for line in others.map(|(_, line)| line).chain([&mut self.gains]) {
            let times = line[enters];
            line.iter_mut().zip(&row).for_each(|(x, y)| *x -= times * y);
        }
        self.basis[r] = enters;
    }

    /// Returns the value, if the solution of the program and that of its dual are ones, and of one value.
    fn proved(&self, rows: &[Vec<f64>], gains: &[f64]) -> Option<f64> {
        let (jobs, last) = (gains.len(), self.gains.len() - 1);
        let mut x = vec![0.0; jobs];
        for (row, column) in self.rows.iter().zip(&self.basis) {
            if let Some(count) = x.get_mut(*column) {
                *count = row[last].max(0.0);
            }
        }
        let prices: Vec<f64> = (jobs..last).map(|c| (-self.gains[c]).max(0.0)).collect();
        let used = |row: &Vec<f64>| -> f64 { row.iter().zip(&x).map(|(a, x)| a * x).sum() };
        let cost = |i: usize| -> f64 { rows.iter().zip(&prices).map(|(row, w)| row[i] * w).sum() };
        let fits = rows.iter().all(|row| used(row) <= 1.0 + ROUNDING);
        let covers = (0..jobs).all(|i| cost(i) >= gains[i] - ROUNDING);
        let value: f64 = gains.iter().zip(&x).map(|(v, x)| v * x).sum();
        let bound: f64 = prices.iter().sum();
        (fits && covers && (bound - value).abs() <= ROUNDING * value).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::workload::Workload;

    fn packing(capacity: &str, demands: &[&str]) -> Packing {
        let mut text = format!(
            "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{{capacity}}}}}\njobs:\n"
        );
        for (i, demand) in demands.iter().enumerate() {
            text += &format!(
                "  - {{name: t{i}, demand: {{{demand}}}, arrival_rate: .01, mean_size: 1}}\n"
            );
        }
        Packing::new(&Workload::parse(&text, "fluid").unwrap().workload)
    }

    /// By hand. One resource: the most value for a unit. Two: half of each of two jobs that need 2 and
    /// 1 the other way round, at equal prices of 1/3.
    #[test]
    fn small_programs_by_hand() {
        let one = packing("cpu: 10", &["cpu: 3", "cpu: 5"]);
        assert!((worth(&one, &[1.0, 2.0]).unwrap() - 4.0).abs() < 1e-12);
        assert!((worth(&one, &[1.0, 1.0]).unwrap() - 10.0 / 3.0).abs() < 1e-12);
        let two = packing("a: 3, b: 3", &["a: 2, b: 1", "a: 1, b: 2"]);
        assert!((worth(&two, &[1.0, 1.0]).unwrap() - 2.0).abs() < 1e-12);
        assert!((worth(&two, &[1.0, 0.0]).unwrap() - 1.5).abs() < 1e-12);
        assert_eq!(worth(&two, &[0.0, 0.0]), None);
    }
}
