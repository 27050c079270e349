//! How the jobs of a type arrive.

use super::dispersion::Excess;
use super::short;
use crate::law::ArrivalProcess;
use crate::number::Decimal;

/// A two-state modulation of a Poisson process of rate λ \[1/s\] whose index of dispersion is `1 + κ`, and which forgets
/// at rate r.
///
/// The states are equally long, with rates `λ ± √(κrλ/2)`; where that is below 0, jobs come in one state alone.
pub fn modulated(rate: f64, kappa: f64, forgets: f64) -> ArrivalProcess {
    let half = (0.5 * kappa * forgets * rate).sqrt();
    let (rates, [up, down]) = if half <= rate {
        ([rate - half, rate + half], [0.5 * forgets; 2])
    } else {
        let busy = 2.0 * rate / (2.0 * rate + kappa * forgets);
        ([0.0, rate / busy], [forgets * busy, forgets * (1.0 - busy)])
    };
    let zero = Decimal::ZERO;
    ArrivalProcess::MarkovModulated {
        rates: rates.map(short).to_vec(),
        switching: vec![vec![zero, short(up)], vec![short(down), zero]],
    }
}

/// A type whose rate is modulated.
#[derive(Clone, Copy, Debug)]
pub struct Modulated {
    /// λ \[1/s\]
    pub rate: f64,
    /// Mean work of its jobs, and of its square, in any one unit.
    pub work: (f64, f64),
}

/// κ that gives independent types the dispersion of work that all jobs have together:
/// `κ = A Σ λ_i E[X_i²] / Σ λ_i E[X_i]²`.
pub fn kappa(types: &[Modulated], excess: Excess) -> f64 {
    let squares: f64 = types.iter().map(|t| t.rate * t.work.1).sum();
    let means: f64 = types.iter().map(|t| t.rate * t.work.0 * t.work.0).sum();
    excess.amount * squares / means
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The closed form of a two-state process: `IDC(∞) − 1 = 2 p(1 − p)(λ₁ − λ₀)²/(r λ)`.
    #[test]
    fn modulation_has_the_rate_and_dispersion_asked_for() {
        for (rate, kappa, forgets) in [(2.0, 3.0, 0.01), (0.001, 50.0, 0.3), (5.0, 0.2, 7.0)] {
            let process = modulated(rate, kappa, forgets);
            assert!((process.rate() / rate - 1.0).abs() < 1e-7, "{process:?}");
            assert!(
                (process.dispersion() / (1.0 + kappa) - 1.0).abs() < 1e-6,
                "{process:?}"
            );
            let ArrivalProcess::MarkovModulated { switching, .. } = &process else {
                continue;
            };
            let forgotten = switching[0][1].value() + switching[1][0].value();
            assert!((forgotten / forgets - 1.0).abs() < 1e-7);
        }
    }
}
