use nalgebra::{DMatrix, DVector, RowDVector};

/// Up to this number of states, the states are eliminated one by one.
const SMALL: usize = 24;

/// Returns the mean time that a process which starts in state `s` spends in state `t` before it
/// leaves a transient class: the inverse (n × n) of the M-matrix `diag(rates·1 + exits) − rates`.
///
/// `rates` (n × n, ≥ 0) are within the class and `exits` (n, ≥ 0) lead out of it. The diagonal is
/// ignored. An exit must be reachable from every state.
///
/// As in the elimination of Grassmann, Taksar and Heyman, the diagonal is a sum and never a
/// difference (see also A. S. Alfa, J. Xue, Q. Ye, Mathematics of Computation 71, 2002), so each
/// entry is as accurate as the rates. A large matrix is split into halves, so that most of the work
/// (2n³) is done by matrix products.
pub(super) fn sojourns(rates: &DMatrix<f64>, exits: &DVector<f64>) -> DMatrix<f64> {
    let n = exits.len();
    if n <= SMALL {
        return one_by_one(rates.clone(), exits.clone());
    }
    let (a, b) = (n / 2, n - n / 2);
    let to_b = rates.view((0, a), (a, b)).clone_owned();
    let to_a = rates.view((a, 0), (b, a));
    let exits_a = exits.rows(0, a);
    let on_a = rates.view((0, 0), (a, a)).clone_owned();
    let inside_a = sojourns(&on_a, &(exits_a + to_b.column_sum()));
    let excursion = to_a * &inside_a;
    let on_b = rates.view((a, a), (b, b)) + &excursion * &to_b;
    let inside_b = sojourns(&on_b, &(exits.rows(a, b) + &excursion * exits_a));
    let entry = &inside_a * to_b;
    let back = &inside_b * &excursion;
    let mut all = DMatrix::zeros(n, n);
    let around = inside_a + &entry * &back;
    all.view_mut((0, 0), (a, a)).copy_from(&around);
    all.view_mut((0, a), (a, b)).copy_from(&(entry * &inside_b));
    all.view_mut((a, 0), (b, a)).copy_from(&back);
    all.view_mut((a, a), (b, b)).copy_from(&inside_b);
    all
}

fn one_by_one(mut rates: DMatrix<f64>, mut exits: DVector<f64>) -> DMatrix<f64> {
    let n = exits.len();
    let mut stay = vec![0.0; n];
    for k in 0..n {
        let leaving: f64 = exits[k] + (k + 1..n).map(|t| rates[(k, t)]).sum::<f64>();
        stay[k] = 1.0 / leaving;
        for t in k + 1..n {
            let onward = stay[k] * rates[(k, t)];
            if onward > 0.0 {
                for s in (k + 1..n).filter(|s| *s != t) {
                    rates[(s, t)] += rates[(s, k)] * onward;
                }
            }
        }
        let out = stay[k] * exits[k];
        for s in k + 1..n {
            exits[s] += rates[(s, k)] * out;
        }
    }
    let mut all = DMatrix::zeros(n, n);
    for k in (0..n).rev() {
        let later = || k + 1..n;
        for s in later() {
            let enters: f64 = later().map(|t| all[(s, t)] * rates[(t, k)]).sum();
            all[(s, k)] = enters * stay[k];
        }
        for t in later() {
            let onward: f64 = later().map(|s| rates[(k, s)] * all[(s, t)]).sum();
            all[(k, t)] = onward * stay[k];
        }
        let returns: f64 = later().map(|t| rates[(k, t)] * all[(t, k)]).sum();
        all[(k, k)] = stay[k] * (1.0 + returns);
    }
    all
}

/// The stationary distribution of an irreducible chain (rates n × n, the diagonal is ignored), and
/// the time in each other state before the last one, to solve equations without subtractions.
pub(super) struct Excursions {
    pub law: RowDVector<f64>,
    sojourns: DMatrix<f64>,
}

impl Excursions {
    pub(super) fn new(rates: &DMatrix<f64>) -> Self {
        let others = rates.nrows() - 1;
        let inside = rates.view((0, 0), (others, others)).clone_owned();
        let exits = rates.view((0, others), (others, 1)).column(0).clone_owned();
        let sojourns = sojourns(&inside, &exits);
        let visits = rates.view((others, 0), (1, others)) * &sojourns;
        let mut law = RowDVector::from_element(others + 1, 1.0);
        law.columns_mut(0, others).copy_from(&visits);
        let total = law.sum();
        Excursions {
            law: law / total,
            sojourns,
        }
    }

    /// Returns the time in each state until the last is reached, from the weights `h ≥ 0`.
    pub(super) fn sojourns_of(&self, h: &RowDVector<f64>) -> RowDVector<f64> {
        let others = h.len() - 1;
        let mut spent = RowDVector::zeros(others + 1);
        let inside = h.columns(0, others) * &self.sojourns;
        spent.columns_mut(0, others).copy_from(&inside);
        spent
    }

    /// Returns the solution of `z G = h` and `z·1 = 0` for `h·1 = 0`, by the group inverse of `G`.
    pub(super) fn solve(&self, h: &RowDVector<f64>) -> RowDVector<f64> {
        let z = -self.sojourns_of(h);
        let excess = z.sum();
        z - &self.law * excess
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    fn random(n: usize, seed: u64) -> (DMatrix<f64>, DVector<f64>) {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut draw = |scale: f64| scale * random.random::<f64>();
        let rates = DMatrix::from_fn(n, n, |s, t| if s == t { 7.0 } else { draw(1.0) });
        (rates, DVector::from_fn(n, |_, _| draw(0.1)))
    }

    fn m_matrix(rates: &DMatrix<f64>, exits: &DVector<f64>) -> DMatrix<f64> {
        let mut matrix = -rates.clone();
        matrix.fill_diagonal(0.0);
        let diagonal = exits - matrix.column_sum();
        matrix.set_diagonal(&diagonal);
        matrix
    }

    #[test]
    fn sojourns_invert_the_matrix() {
        for n in [1, 2, 5, 24, 25, 60, 101] {
            let (rates, exits) = random(n, n as u64);
            let product = m_matrix(&rates, &exits) * sojourns(&rates, &exits);
            let error = (product - DMatrix::identity(n, n)).amax();
            assert!(error < 1e-12, "{n}: {error}");
        }
    }

    /// The states are left once in `10^20` visits, so an LU decomposition has no correct digits.
    #[test]
    fn sojourns_are_accurate_in_a_class_that_is_rarely_left() {
        let rates = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, 1.0, 0.0]);
        let all = sojourns(&rates, &DVector::from_row_slice(&[1e-20, 1e-20]));
        assert!(all.iter().all(|t| (t / 5e19 - 1.0).abs() < 1e-15), "{all}");
    }

    #[test]
    fn group_inverse_solves_its_equation() {
        let (rates, _) = random(40, 3);
        let excursions = Excursions::new(&rates);
        let generator = -m_matrix(&rates, &DVector::zeros(40));
        assert!((&excursions.law * &generator).amax() < 1e-14);
        let mut h = RowDVector::from_fn(40, |_, t| (t as f64).sin());
        h[7] -= h.sum();
        let z = excursions.solve(&h);
        assert!((&z * &generator - h).amax() < 1e-12);
        assert!(z.sum().abs() < 1e-13);
    }
}
