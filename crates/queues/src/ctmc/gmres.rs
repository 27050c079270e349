//! This module implements the generalized minimal residual method (Saad, Schultz, SIAM Journal on
//! Scientific and Statistical Computing 7, 1986).

use nalgebra::{DMatrix, DVector};

/// The maximum number of steps. With the preconditioner of [`super::rounds`], 5 to 30 are needed.
pub(super) const STEPS: usize = 60;

const REDUCTION: f64 = 1e-8;

/// Solves `operator(x) = right` from 0, until the residual is reduced by [`REDUCTION`]. Vectors are
/// orthogonalized twice in order to reduce rounding errors.
pub(super) fn gmres(right: &[f64], operator: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let right = DVector::from_column_slice(right);
    let norm = right.norm();
    let tolerance = REDUCTION * norm;
    let mut basis = vec![right / norm];
    let mut hessenberg = DMatrix::<f64>::zeros(STEPS + 1, STEPS);
    let mut rotations: Vec<(f64, f64)> = Vec::new();
    let mut target = DVector::zeros(STEPS + 1);
    target[0] = norm;
    for k in 0..STEPS {
        let mut next = DVector::from_vec(operator(basis[k].as_slice()));
        for _ in 0..2 {
            for (j, v) in basis.iter().enumerate() {
                let along = v.dot(&next);
                hessenberg[(j, k)] += along;
                next.axpy(-along, v, 1.0);
            }
        }
        let length = next.norm();
        for (j, (c, s)) in rotations.iter().enumerate() {
            let (a, b) = (hessenberg[(j, k)], hessenberg[(j + 1, k)]);
            hessenberg[(j, k)] = c * a + s * b;
            hessenberg[(j + 1, k)] = c * b - s * a;
        }
        let a = hessenberg[(k, k)];
        let radius = a.hypot(length);
        let (c, s) = match radius > 0.0 {
            true => (a / radius, length / radius),
            false => (1.0, 0.0),
        };
        rotations.push((c, s));
        hessenberg[(k, k)] = radius;
        target[k + 1] = -s * target[k];
        target[k] *= c;
        if target[k + 1].abs() <= tolerance || length <= f64::EPSILON * norm {
            break;
        }
        basis.push(next / length);
    }
    let size = rotations.len();
    let mut weights = vec![0.0; size];
    for k in (0..size).rev() {
        let known: f64 = (k + 1..size).map(|j| hessenberg[(k, j)] * weights[j]).sum();
        let pivot = hessenberg[(k, k)];
        if pivot != 0.0 {
            weights[k] = (target[k] - known) / pivot;
        }
    }
    let mut sum = DVector::zeros(basis[0].len());
    for (v, w) in basis.iter().zip(&weights) {
        sum.axpy(*w, v, 1.0);
    }
    sum.as_slice().to_vec()
}
