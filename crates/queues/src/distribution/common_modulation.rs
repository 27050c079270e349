use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ArrivalProcess;
use super::check_size::{Faults, Part};
use synth_core::document::Fault;
use synth_core::number::Decimal;

/// A Markov chain with 2 to 20 states that changes the arrival rates of all types at the same time.
///
/// In state s, the rate of each type is its mean rate multiplied by `f_s / Σ_t π_t f_t`, where f
/// are the factors. The chain starts in its stationary distribution π, and it does not depend on
/// the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommonModulation {
    /// The relative arrival rate in each state. All must be ≥ 0, and at least one must be > 0.
    pub factors: Vec<Decimal>,
    /// The rate from the state of the row to the state of the column \[1/time\]. All values must be
    /// ≥ 0, and 0 on the diagonal. Every state must be reachable from every other state.
    pub switching: Vec<Vec<Decimal>>,
}

impl CommonModulation {
    /// Returns `true` if all factors are equal. In this case, Poisson arrivals are still Poisson.
    pub fn is_constant(&self) -> bool {
        self.factors.iter().all(|factor| *factor == self.factors[0])
    }

    /// Returns the stationary distribution `π` of the chain.
    pub fn stationary_distribution(&self) -> Vec<f64> {
        self.process().stationary_distribution()
    }

    /// Returns the arrival rate in each state divided by the mean rate. All values are ≥ 0.
    pub fn relative_factors(&self) -> Vec<f64> {
        let mean = self.process().rate();
        let factors = self.factors.iter();
        factors.map(|factor| factor.value() / mean).collect()
    }

    /// Returns `lim Var ∫ F / t` \[time\] of the relative factor `F`: the excess of the index of
    /// dispersion of counts, divided by the arrival rate. For two types with the arrival rates `λ`
    /// and `ν`, the covariance of the arrivals per unit of time is `λ ν` times this value.
    pub fn excess_dispersion(&self) -> f64 {
        let process = self.process();
        (process.dispersion() - 1.0) / process.rate()
    }

    fn process(&self) -> ArrivalProcess {
        ArrivalProcess::MarkovModulated {
            rates: self.factors.clone(),
            switching: self.switching.clone(),
        }
    }

    /// Returns the faults of the parameters, with places relative to the modulation.
    pub fn faults(&self, time_unit: &str) -> Vec<Fault> {
        let mut faults = named(time_unit);
        let help = [
            "write the arrival rate in that state relative to the other states",
            "give one state a factor > 0",
        ];
        if faults.check_states("factors", &self.factors, help) {
            faults.check_switching(&self.switching, self.factors.len());
        }
        faults.found
    }

    /// Returns a fault if the state changes much more often than `arrivals` \[1/time\].
    pub fn pace_faults(&self, arrivals: f64, time_unit: &str) -> Vec<Fault> {
        let mut faults = named(time_unit);
        let help = "omit `modulation`: with such fast switching only the mean rate matters";
        faults.check_pace(arrivals, self.process().switching_frequency(), help.into());
        faults.found
    }

    /// Returns `true` if all computed values are finite for this arrival rate \[1/time\].
    pub fn in_range(&self, arrivals: f64) -> bool {
        let fastest = self.relative_factors().into_iter().fold(0.0, f64::max);
        self.process().in_range()
            && (fastest * arrivals).is_finite()
            && self.excess_dispersion().is_finite()
    }
}

fn named(time_unit: &str) -> Faults<'_> {
    Faults::new(Part::Size, "the modulation", time_unit)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn modulation(factors: [&str; 2], switching: [&str; 2]) -> CommonModulation {
        let decimal = |text: &str| Decimal::parse(text).unwrap();
        CommonModulation {
            factors: factors.map(decimal).to_vec(),
            switching: vec![
                vec![Decimal::ZERO, decimal(switching[0])],
                vec![decimal(switching[1]), Decimal::ZERO],
            ],
        }
    }

    /// If the two states are left at the rates `r` and `s`, then `π = (s, r)/(r+s)` and
    /// `lim Var ∫ F / t` is equal to `2 π_0 π_1 (F_0 − F_1)² / (r+s)`.
    #[test]
    fn two_states_have_their_closed_forms() {
        let found = modulation([".4", "2.2"], [".1", ".3"]);
        let mean = 0.75 * 0.4 + 0.25 * 2.2;
        let relative = found.relative_factors();
        assert!((relative[0] - 0.4 / mean).abs() < 1e-15);
        assert!((relative[1] - 2.2 / mean).abs() < 1e-15);
        let excess = 2.0 * 0.75 * 0.25 * f64::powi(1.8 / mean, 2) / 0.4;
        assert!((found.excess_dispersion() / excess - 1.0).abs() < 1e-13);
        assert!(!found.is_constant() && found.in_range(1.0));
        assert!(!found.in_range(1e308));
        assert!(modulation(["2", "2"], ["1", "3"]).is_constant());
    }

    #[test]
    fn one_type_has_the_dispersion_of_a_modulated_process() {
        let decimal = |text: &str| Decimal::parse(text).unwrap();
        let alone = ArrivalProcess::MarkovModulated {
            rates: vec![decimal("1"), decimal("10")],
            switching: vec![
                vec![Decimal::ZERO, decimal(".1")],
                vec![decimal(".2"), Decimal::ZERO],
            ],
        };
        let common = modulation([".5", "5"], [".1", ".2"]);
        let found = 1.0 + alone.rate() * common.excess_dispersion();
        assert!((found / alone.dispersion() - 1.0).abs() < 1e-13);
    }
}
