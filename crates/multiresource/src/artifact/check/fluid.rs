//! The value of a server with divisible jobs, by a simplex method of the checker's own. `max v·x`
//! over `x ≥ 0` with `Σ_i x_i D_ij ≤ P_j` has the dual `min P·w` over `w ≥ 0` with `D_i·w ≥ v_i`,
//! so the prices are too high if `P·w` exceeds the optimum, which both solutions verify.

use crate::schedule::Packing;

const PIVOTS: usize = 2_000;

const ZERO: f64 = 1e-12;

const ROUNDING: f64 = 1e-9;

/// Returns the value of the server at values (K) of jobs; `None` if rounding prevents the proof.
pub(super) fn worth(packing: &Packing, values: &[f64]) -> Option<f64> {
    // Jobs are measured in units of their largest share, and values in units of the largest value.
    let largest = (0..values.len()).map(|i| packing.dominant_share(i));
    let largest: Vec<f64> = largest.collect();
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

struct Tableau {
    /// The rows of the resources, with the right-hand side at the end.
    rows: Vec<Vec<f64>>,
    /// The gains of the columns, then the negative value of the present solution.
    gains: Vec<f64>,
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

    fn solved(mut self, rows: &[Vec<f64>], gains: &[f64]) -> Option<f64> {
        for _ in 0..PIVOTS {
            // Bland's rule, which prevents cycling: the first column that gains.
            let last = self.gains.len() - 1;
            let Some(enters) = (0..last).find(|c| self.gains[*c] > ZERO) else {
                return self.proved(rows, gains);
            };
            self.pivot(self.leaving(enters)?, enters);
        }
        None
    }

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
