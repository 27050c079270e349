//! Arrivals that are split at random.
//!
//! Each arrival is kept with the same probability p, independently of all else. A Poisson process
//! stays one (Kingman, Poisson Processes, 1993, section 5.1), and so a modulated one in each of its
//! states; of a batch of b jobs a binomial number is kept, and where that is 0 there is no batch.
//! Whether its jobs are alike does not depend on how many are kept. The index of dispersion becomes 1 + p (I − 1). A renewal process is one no more, but for
//! exceptions.

use std::collections::BTreeMap;

use super::ArrivalProcess;
use super::check_process::MOST_SIZES;
use crate::number::Decimal;

/// Probabilities of batches are multiples of one over this: of 15 digits, so that their decimals
/// are exact, and sum to 1.
const GRAINS: f64 = 1e15;

/// What is less than this part of the most probable number is left out before rounding.
const NEGLIGIBLE: f64 = 1e-20;

/// Why what is left of a process has no law here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsplit {
    /// A part of a renewal process is in general no renewal process.
    Renewal,
    /// Batches would have more than the numbers of jobs that are allowed.
    Sizes,
    /// A rate leaves the range of doubles.
    Range,
}

impl ArrivalProcess {
    /// What arrives at one of `among` ≥ 1 servers, if of these arrivals the fraction `part`, in
    /// \[0, 1\], is sent to these servers, to each alike. Of `part` 0 Poisson arrivals of rate 0.
    pub(crate) fn split(&self, part: f64, among: u32) -> Result<Self, Unsplit> {
        let thinned = |rate: f64| Decimal::new(rate * part / f64::from(among));
        if self.is_poisson() || part == 0.0 {
            let rate = thinned(self.rate()).ok_or(Unsplit::Range)?;
            return Ok(Self::Poisson { rate });
        }
        if part == 1.0 && among == 1 {
            return Ok(self.clone());
        }
        match self {
            Self::Poisson { .. } | Self::Renewal { .. } => Err(Unsplit::Renewal),
            Self::MarkovModulated { rates, switching } => {
                let thinned = |rate: &Decimal| {
                    let found = thinned(rate.value())?;
                    ((found > Decimal::ZERO) == (*rate > Decimal::ZERO)).then_some(found)
                };
                let rates: Option<Vec<Decimal>> = rates.iter().map(thinned).collect();
                Ok(Self::MarkovModulated {
                    rates: rates.ok_or(Unsplit::Range)?,
                    switching: switching.clone(),
                })
            }
            Self::Batches {
                rate,
                sizes,
                probabilities,
                alike,
            } => {
                let equal = 1.0 / sizes.len() as f64;
                let weight = |n: usize| probabilities.as_ref().map_or(equal, |p| p[n].value());
                let weighted = sizes.iter().enumerate().map(|(n, size)| (*size, weight(n)));
                thinned_batches(rate.value(), weighted, part / f64::from(among), *alike)
            }
        }
    }
}

/// Batches of these numbers of jobs, each with its probability, of which each job is kept with
/// probability p in (0, 1); in this part of the batches all jobs have one size.
fn thinned_batches(
    rate: f64,
    sizes: impl Iterator<Item = (u32, f64)>,
    p: f64,
    alike: Decimal,
) -> Result<ArrivalProcess, Unsplit> {
    let mut kept: BTreeMap<u32, f64> = BTreeMap::new();
    for (size, weight) in sizes {
        for (k, probability) in binomial(size, p) {
            *kept.entry(k).or_default() += weight * probability;
        }
    }
    kept.remove(&0);
    let some: f64 = kept.values().sum();
    let grains = kept
        .iter()
        .map(|(k, q)| (*k, (q / some * GRAINS).round()))
        .filter(|(_, grains)| *grains > 0.0);
    let (sizes, mut grains): (Vec<u32>, Vec<f64>) = grains.unzip();
    if sizes.len() > MOST_SIZES {
        return Err(Unsplit::Sizes);
    }
    // Whole numbers below 2^53: sums are exact.
    let missing = GRAINS - grains.iter().sum::<f64>();
    let largest = grains.iter_mut().max_by(|a, b| a.total_cmp(b));
    *largest.ok_or(Unsplit::Range)? += missing;
    let probabilities = grains.iter().map(|grains| Decimal::new(grains / GRAINS));
    let rate = Decimal::new(rate * some).filter(|rate| *rate > Decimal::ZERO);
    Ok(ArrivalProcess::Batches {
        rate: rate.ok_or(Unsplit::Range)?,
        sizes,
        probabilities: Some(probabilities.collect::<Option<_>>().ok_or(Unsplit::Range)?),
        alike,
    })
}

/// The binomial law of n ≥ 1 trials of probability p in (0, 1), without what is negligible: from the
/// most probable number up and down by the ratio of neighbours, and then scaled to sum 1.
fn binomial(n: u32, p: f64) -> Vec<(u32, f64)> {
    let mode = ((f64::from(n) + 1.0) * p).floor().min(f64::from(n)) as u32;
    let up = |k: u32| f64::from(n - k) / f64::from(k + 1) * (p / (1.0 - p));
    let mut law = vec![(mode, 1.0)];
    let mut weight = 1.0;
    for k in mode..n {
        weight *= up(k);
        if weight < NEGLIGIBLE {
            break;
        }
        law.push((k + 1, weight));
    }
    weight = 1.0;
    for k in (0..mode).rev() {
        weight /= up(k);
        if weight < NEGLIGIBLE {
            break;
        }
        law.push((k, weight));
    }
    let sum: f64 = law.iter().map(|(_, weight)| weight).sum();
    law.iter_mut().for_each(|(_, weight)| *weight /= sum);
    law
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::law::Size;

    fn decimals(texts: &[&str]) -> Vec<Decimal> {
        texts.iter().map(|t| Decimal::parse(t).unwrap()).collect()
    }

    fn batches(sizes: &[u32], probabilities: Option<&[&str]>) -> ArrivalProcess {
        ArrivalProcess::Batches {
            rate: Decimal::parse("2").unwrap(),
            sizes: sizes.to_vec(),
            probabilities: probabilities.map(decimals),
            alike: Decimal::parse(".85").unwrap(),
        }
    }

    fn bursts() -> ArrivalProcess {
        ArrivalProcess::MarkovModulated {
            rates: decimals(&["1", "10"]),
            switching: vec![decimals(&["0", ".1"]), decimals(&[".2", "0"])],
        }
    }

    /// Thinning multiplies the rate by p, and the excess of the dispersion over 1.
    #[test]
    fn rates_and_dispersions_of_the_parts() {
        let processes = [
            bursts(),
            batches(&[3], None),
            batches(&[1, 5, 90], Some(&[".6", ".3", ".1"])),
            batches(&[90], None),
        ];
        for process in processes {
            for (part, among) in [(1.0, 2), (0.3, 1), (0.7, 40), (1e-6, 3)] {
                let found = process.split(part, among).unwrap();
                let p = part / f64::from(among);
                if found.faults("type `a`", "s").is_empty() {
                    let (rate, excess) = (p * process.rate(), p * (process.dispersion() - 1.0));
                    assert!((found.rate() / rate - 1.0).abs() < 1e-11, "{found:?}");
                    assert!(
                        (found.dispersion() - 1.0 - excess).abs() < 1e-11 * (1.0 + excess),
                        "{found:?}"
                    );
                } else {
                    // So few arrivals that the state changes too often between them.
                    assert!(matches!(found, ArrivalProcess::MarkovModulated { .. }));
                    assert!(p < 1e-4);
                }
            }
        }
    }

    /// Of two jobs none, one or both, 1/4, 1/2 and 1/4 of the time.
    #[test]
    fn batches_of_two_by_hand() {
        let found = batches(&[2], None).split(1.0, 2).unwrap();
        let ArrivalProcess::Batches {
            rate,
            sizes,
            probabilities,
            alike,
        } = &found
        else {
            panic!("{found:?}");
        };
        assert_eq!((rate.value(), &sizes[..]), (1.5, &[1, 2][..]));
        assert_eq!(alike.value(), 0.85);
        let probabilities = probabilities.as_ref().unwrap();
        assert!((probabilities[0].value() - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!(found.faults("type `a`", "s"), []);
    }

    #[test]
    fn what_has_no_law_is_told() {
        let regular = ArrivalProcess::Renewal {
            interarrival: Size::Erlang {
                stages: 4,
                mean: Decimal::parse(".25").unwrap(),
            },
        };
        assert_eq!(regular.split(0.5, 1), Err(Unsplit::Renewal));
        assert_eq!(regular.split(1.0, 2), Err(Unsplit::Renewal));
        assert_eq!(regular.split(1.0, 1), Ok(regular.clone()));
        assert_eq!(regular.split(0.0, 1).unwrap().rate(), 0.0);
        assert_eq!(batches(&[100_000], None).split(0.5, 1), Err(Unsplit::Sizes));
        assert!(batches(&[100_000], None).split(1e-5, 1).is_ok());
        assert_eq!(bursts().split(1.0, 1), Ok(bursts()));
    }
}
