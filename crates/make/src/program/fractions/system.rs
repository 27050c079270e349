//! This module solves systems of linear equations with integer coefficients exactly.
//!
//! Elimination modulo a prime number `p` finds independent rows and columns and an inverse. Then
//! `A x = b` is solved modulo p², p³, … (Dixon, Numerische Mathematik 40, 1982). The fractions are
//! computed by Euclid's algorithm (Wang, SYMSAC 1981) and verified with integers. There is no
//! result if `p` divides the determinant, which has a probability of `10⁻⁷` for 200 equations.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// The prime number. The product of two residues is less than 2⁶².
const P: u64 = (1 << 31) - 1;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fractions {
    pub numerators: Vec<BigInt>,
    pub denominator: BigInt,
}

impl Fractions {
    pub(super) fn spread(self, places: &[usize], all: usize) -> Self {
        let mut numerators = vec![BigInt::zero(); all];
        for (&place, x) in places.iter().zip(self.numerators) {
            numerators[place] = x;
        }
        Fractions { numerators, ..self }
    }
}

/// A set of rows that are independent modulo the prime number.
#[derive(Default)]
pub(super) struct Echelon {
    /// The pivot column, and the reduced row, which is 1 at its pivot and 0 at the previous pivots.
    rows: Vec<(usize, Vec<u64>)>,
}

impl Echelon {
    /// Adds a row if it is independent of the present ones.
    pub(super) fn admit(&mut self, row: &[u32]) -> bool {
        let mut row: Vec<u64> = row.iter().map(|x| u64::from(*x) % P).collect();
        for (pivot, known) in &self.rows {
            let factor = row[*pivot];
            if factor > 0 {
                subtract(&mut row, known, factor);
            }
        }
        let Some(pivot) = row.iter().position(|x| *x > 0) else {
            return false;
        };
        let inverse = reciprocal(row[pivot]);
        row.iter_mut().for_each(|x| *x = *x * inverse % P);
        self.rows.push((pivot, row));
        true
    }

    /// Returns one column per row on which the rows are independent.
    pub(super) fn columns(&self) -> Vec<usize> {
        self.rows.iter().map(|(pivot, _)| *pivot).collect()
    }
}

/// Solves `A x = b` for a square `A`. Returns `None` if it is singular modulo the prime number.
pub(super) fn solve(matrix: &[Vec<u32>], right: &[BigInt]) -> Option<Fractions> {
    let inverse = inverse(matrix)?;
    let mut lifted = vec![BigInt::zero(); right.len()];
    let mut residual = right.to_vec();
    let mut modulus = BigInt::one();
    let most = digits(matrix, right);
    let mut next = 2;
    for step in 1..=most {
        let digit = digit(&inverse, &residual);
        for (x, d) in lifted.iter_mut().zip(&digit) {
            *x += &modulus * d;
        }
        for (r, row) in residual.iter_mut().zip(matrix) {
            let pairs = row.iter().zip(&digit);
            let product: u128 = pairs.map(|(a, d)| u128::from(*a) * u128::from(*d)).sum();
            *r = (&*r - product) / P;
        }
        modulus *= P;
        // The distance between trials grows, so all together cost no more than the last one.
        if step == next || step == most {
            next = step + step.div_ceil(2);
            let found = reconstruct(&lifted, &modulus);
            if let Some(found) = found.filter(|found| is_solution(matrix, right, found)) {
                return Some(found);
            }
        }
    }
    None
}

fn subtract(row: &mut [u64], other: &[u64], factor: u64) {
    for (x, y) in row.iter_mut().zip(other) {
        *x = (*x + (P - factor) * y) % P;
    }
}

fn reciprocal(residue: u64) -> u64 {
    let (residue, p) = (residue as i64, P as i64);
    residue.extended_gcd(&p).x.rem_euclid(p) as u64
}

fn inverse(matrix: &[Vec<u32>]) -> Option<Vec<Vec<u64>>> {
    let n = matrix.len();
    let wide = |(i, row): (usize, &Vec<u32>)| -> Vec<u64> {
        let unit = (0..n).map(|j| u64::from(i == j));
        row.iter().map(|x| u64::from(*x) % P).chain(unit).collect()
    };
    let mut rows: Vec<Vec<u64>> = matrix.iter().enumerate().map(wide).collect();
    for k in 0..n {
        let pivot = (k..n).find(|&i| rows[i][k] > 0)?;
        rows.swap(k, pivot);
        let scale = reciprocal(rows[k][k]);
        rows[k].iter_mut().for_each(|x| *x = *x * scale % P);
        let pivot = rows[k].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = row[k];
            if i != k && factor > 0 {
                subtract(&mut row[k..], &pivot[k..], factor);
            }
        }
    }
    Some(rows.into_iter().map(|mut row| row.split_off(n)).collect())
}

/// Returns the next digit of the solution, `A⁻¹ r` modulo the prime number.
fn digit(inverse: &[Vec<u64>], residual: &[BigInt]) -> Vec<u64> {
    let p = BigInt::from(P);
    let residue = |r: &BigInt| r.mod_floor(&p).to_u64().expect("a residue is below p");
    let residual: Vec<u64> = residual.iter().map(residue).collect();
    let product = |row: &Vec<u64>| {
        let pairs = row.iter().zip(&residual);
        let sum: u128 = pairs.map(|(c, r)| u128::from(c * r)).sum();
        (sum % u128::from(P)) as u64
    };
    inverse.iter().map(product).collect()
}

/// Returns the number of digits that determine the solution. The modulus must be greater than twice
/// the square of the product of the norms of the rows, which bounds the numerators and the
/// denominator by Cramer's rule and Hadamard's inequality.
fn digits(matrix: &[Vec<u32>], right: &[BigInt]) -> usize {
    let largest = right.iter().map(BigInt::bits).max().unwrap_or(0) as f64;
    let n = matrix.len() as f64;
    let square = |row: &Vec<u32>| row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
    let norms = matrix.iter().map(|row| square(row).sqrt());
    let bits: f64 = norms.map(|norm| norm.max(1.0).log2()).sum();
    (2.0 * (bits + largest + n.log2() + 1.0) / 30.9).ceil() as usize + 1
}

/// Returns the fractions that have these residues and whose numerators and denominator are small.
fn reconstruct(residues: &[BigInt], modulus: &BigInt) -> Option<Fractions> {
    let most = (modulus / 2_u32).sqrt();
    let mut denominator = BigInt::one();
    let mut numerators = Vec::with_capacity(residues.len());
    for residue in residues {
        // Once the common denominator is known, this is already small.
        let mut numerator = symmetric(&(residue * &denominator), modulus);
        if numerator.abs() > most {
            let further = small_denominator(&numerator.mod_floor(modulus), modulus, &most);
            denominator *= &further;
            if denominator > most {
                return None;
            }
            numerators.iter_mut().for_each(|x| *x *= &further);
            numerator = symmetric(&(residue * &denominator), modulus);
        }
        numerators.push(numerator);
    }
    Some(Fractions {
        numerators,
        denominator,
    })
}

fn symmetric(value: &BigInt, modulus: &BigInt) -> BigInt {
    let rest = value.mod_floor(modulus);
    match &rest * 2_u32 > *modulus {
        true => rest - modulus,
        false => rest,
    }
}

/// Returns the denominator of a fraction with this residue and a numerator of at most `most`.
fn small_denominator(residue: &BigInt, modulus: &BigInt, most: &BigInt) -> BigInt {
    let mut r = (modulus.clone(), residue.clone());
    let mut s = (BigInt::zero(), BigInt::one());
    while r.1 > *most {
        let (quotient, rest) = r.0.div_rem(&r.1);
        let next = s.0 - quotient * &s.1;
        (r, s) = ((r.1, rest), (s.1, next));
    }
    s.1.abs()
}

fn is_solution(matrix: &[Vec<u32>], right: &[BigInt], x: &Fractions) -> bool {
    let holds = |(row, b): (&Vec<u32>, &BigInt)| dot(row, &x.numerators) == b * &x.denominator;
    matrix.iter().zip(right).all(holds)
}

pub(super) fn dot(row: &[u32], x: &[BigInt]) -> BigInt {
    let terms = row.iter().zip(x).filter(|(u, _)| **u > 0);
    terms.map(|(u, x)| x * *u).sum()
}
#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use num_rational::BigRational;
    use rand::{RngExt, SeedableRng};

    fn eliminated(matrix: &[Vec<u32>], right: &[BigInt]) -> Option<Vec<BigRational>> {
        let n = matrix.len();
        let fraction = |x: BigInt| BigRational::from_integer(x);
        let wide = |(row, b): (&Vec<u32>, &BigInt)| -> Vec<BigRational> {
            let all = row.iter().map(|x| BigInt::from(*x)).chain([b.clone()]);
            all.map(fraction).collect()
        };
        let mut rows: Vec<_> = matrix.iter().zip(right).map(wide).collect();
        for k in 0..n {
            let found = (k..n).find(|&i| !rows[i][k].is_zero())?;
            rows.swap(k, found);
            let pivot: Vec<BigRational> = rows[k].iter().map(|x| x / &rows[k][k]).collect();
            for (i, row) in rows.iter_mut().enumerate() {
                let factor = row[k].clone();
                for (x, y) in row.iter_mut().zip(&pivot) {
                    match i == k {
                        true => *x = y.clone(),
                        false => *x -= &factor * y,
                    }
                }
            }
        }
        Some(rows.into_iter().map(|mut row| row.remove(n)).collect())
    }

    #[test]
    fn lifting_agrees_with_rational_elimination() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        let mut singular = 0;
        for round in 0..300 {
            let n = random.random_range(1..=7);
            let most = [1, 3, 50, u32::MAX][round % 4];
            let matrix: Vec<Vec<u32>> = (0..n)
                .map(|_| (0..n).map(|_| random.random_range(0..=most)).collect())
                .collect();
            let digits = random.random_range(0..60);
            let right: Vec<BigInt> = (0..n)
                .map(|_| {
                    BigInt::from(random.random_range(-1000..1000)) * BigInt::from(10).pow(digits)
                })
                .collect();
            let found = solve(&matrix, &right);
            let mut echelon = Echelon::default();
            let rank = matrix.iter().filter(|row| echelon.admit(row)).count();
            assert_eq!(rank == n, found.is_some(), "{matrix:?}");
            singular += u32::from(found.is_none());
            let found = found.map(|x| {
                let fraction = |n: BigInt| BigRational::new(n, x.denominator.clone());
                x.numerators.into_iter().map(fraction).collect::<Vec<_>>()
            });
            assert_eq!(found, eliminated(&matrix, &right), "{matrix:?} {right:?}");
        }
        assert!(singular > 20);
    }

    #[test]
    fn finds_independent_rows_and_columns() {
        let mut echelon = Echelon::default();
        let admitted = [[0, 1, 1], [0, 2, 2], [0, 0, 3]].map(|row| echelon.admit(&row));
        assert_eq!(admitted, [true, false, true]);
        assert_eq!(echelon.columns(), [1, 2]);
    }
}
