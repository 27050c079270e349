use std::collections::BTreeMap;

use itertools::Itertools;

use super::choice::{Basis, Chosen};
use super::proof::solved;
use super::{SynthesisError, SynthesisOptions, SynthesisOutcome, claims, proof};
use crate::analysis::one_or_all::{MsfqError, MsfqMeans, MsfqQueue, OneOrAllType};
use crate::analysis::weights;
use crate::program::Solution;
use synth_multiresource::artifact::{Family, Method, Objective, StaticQuickswapConfig};
use synth_multiresource::policy::{OneOrAll, Unsuitable};
use synth_multiresource::workload::{Fleet, Workload};

/// The analysis of MSFQ for a one-or-all system with Poisson arrivals and exponential sizes.
#[derive(Clone, Debug)]
pub struct MsfqAnalysis {
    /// The system.
    pub system: OneOrAll,
    light: OneOrAllType,
    heavy: OneOrAllType,
    weights: [f64; 2],
}

/// The results of MSFQ for each threshold.
#[derive(Clone, Debug)]
pub struct MsfqTable {
    /// The least and the largest threshold, powers of 2 between them, and the best one ℓ*.
    pub rows: Vec<MsfqRow>,
    /// Whether the results of all thresholds have been computed.
    pub is_complete: bool,
    /// The different reasons why there is no mean for some of the thresholds.
    pub unknown: Vec<MsfqError>,
}

/// The results of MSFQ for a single threshold.
#[derive(Clone, Debug)]
pub struct MsfqRow {
    /// The threshold ℓ.
    pub threshold: usize,
    /// Whether it is the best threshold ℓ*.
    pub is_best: bool,
    /// The exact mean response times of the light jobs and of the heavy jobs \[time\], or `None` if
    /// they are not accurate.
    pub response: Option<[f64; 2]>,
    /// The objective for the approximation of the Quickswap paper \[time\], or `None` if not valid.
    pub approximation: Option<f64>,
}

type Looked = BTreeMap<usize, Result<MsfqMeans, MsfqError>>;

impl MsfqAnalysis {
    /// Returns `None` if the workload is no such system.
    pub fn new(workload: &Workload, objective: Objective) -> Option<Self> {
        let system = OneOrAll::new(workload).ok()?;
        let stream = |i: usize| {
            let kind = &workload.types()[i];
            (kind.is_poisson() && kind.holding_time().is_exponential()).then(|| OneOrAllType {
                arrival_rate: kind.arrival_rate(),
                service_rate: kind.service_rate(),
            })
        };
        let (light, heavy) = (stream(system.light)?, stream(system.heavy)?);
        let weights = weights(workload, objective);
        Some(MsfqAnalysis {
            weights: [system.light, system.heavy].map(|i| weights[i]),
            system,
            light,
            heavy,
        })
    }

    /// Returns the queue with threshold ℓ.
    ///
    /// # Errors
    /// Returns an error if ℓ ≥ k or no policy is stable.
    pub fn queue(&self, threshold: usize) -> Result<MsfqQueue, MsfqError> {
        let servers = self.system.servers as usize;
        MsfqQueue::new(servers, threshold, self.light, self.heavy)
    }

    /// Returns the objective for the mean response times of the light and the heavy jobs \[time\].
    pub fn value(&self, response: [f64; 2]) -> f64 {
        self.weights[0] * response[0] + self.weights[1] * response[1]
    }

    /// Returns the best threshold ℓ* with accurate means. For more than 64 servers, only powers of
    /// 2 and some values close to the best of them are tried.
    pub fn best(&self) -> Option<usize> {
        self.best_of(&self.look())
    }

    fn best_of(&self, looked: &Looked) -> Option<usize> {
        let known = looked
            .iter()
            .filter_map(|(l, means)| Some((l, means.as_ref().ok()?)));
        let values = known.map(|(l, means)| (*l, self.value(means.response)));
        values.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(l, _)| l)
    }

    fn means(&self, threshold: usize) -> Result<MsfqMeans, MsfqError> {
        self.queue(threshold).and_then(|queue| queue.means())
    }

    fn look(&self) -> Looked {
        let most = self.system.servers as usize - 1;
        let means = |l: usize| self.means(l);
        if most < 64 {
            return (0..=most).map(|l| (l, means(l))).collect();
        }
        let mut looked: Looked = shown(most).map(|l| (l, means(l))).collect();
        let mut step = self.best_of(&looked).map_or(0, |l| l / 4);
        while let Some(l) = self.best_of(&looked).filter(|_| step > 0) {
            for at in [l - step, (l + step).min(most)] {
                looked.entry(at).or_insert_with(|| means(at));
            }
            step /= 2;
        }
        looked
    }

    /// Returns the results by threshold, including `own`.
    pub fn table(&self, own: Option<usize>) -> MsfqTable {
        let (mut looked, most) = (self.look(), self.system.servers as usize - 1);
        if let Some(l) = own {
            looked.entry(l).or_insert_with(|| self.means(l));
        }
        let best = self.best_of(&looked);
        let response = |l: &usize| Some(looked.get(l)?.as_ref().ok()?.response);
        let approximation = |l: usize| self.queue(l).ok()?.approximation();
        let row = |threshold: usize| MsfqRow {
            threshold,
            is_best: Some(threshold) == best,
            response: response(&threshold),
            approximation: approximation(threshold).map(|own| self.value(own.response)),
        };
        let thresholds = shown(most).chain(best).chain(own).sorted_unstable().dedup();
        let unknown = looked.values().filter_map(|means| means.as_ref().err());
        MsfqTable {
            rows: thresholds.map(row).collect(),
            is_complete: looked.len() == most + 1 && looked.values().all(Result::is_ok),
            unknown: unknown.unique_by(|why| why.to_string()).cloned().collect(),
        }
    }
}

/// Returns a strict MSFQ policy with this threshold, or else with ℓ*, and claims of its means.
///
/// # Errors
/// Returns an error if the workload is unsuitable, the means are inaccurate, or the solver fails.
pub fn strict_msfq(
    workload: &Workload,
    options: &SynthesisOptions,
    threshold: Option<u32>,
) -> Result<SynthesisOutcome<(Chosen, Solution)>, SynthesisError> {
    let why = |why: String| SynthesisError::InvalidOptions(format!("msfq-strict: {why}"));
    let unfit = |unfit: Unsuitable| why(unfit.to_string());
    OneOrAll::new(workload).map_err(unfit)?;
    let fleet = Fleet::from(workload.clone());
    solved(&fleet, options)?.and_then(|solution| {
        let outlook = MsfqAnalysis::new(workload, options.objective.analysed());
        let outlook = outlook.ok_or_else(|| why(UNKNOWN.into()))?;
        let best = threshold.map(|l| l as usize).or_else(|| outlook.best());
        let Some(threshold) = best else {
            let reasons = outlook.table(None).unknown.iter().join("; ");
            return Err(why(format!("no exact means: {reasons}")));
        };
        let means = outlook.means(threshold);
        let [light, heavy] = means.map_err(|error| why(error.to_string()))?.number;
        let mut numbers = vec![0.0; 2];
        (numbers[outlook.system.light], numbers[outlook.system.heavy]) = (light, heavy);
        let policy = StaticQuickswapConfig::strict_msfq(workload, Some(threshold as f64));
        let policy = Family::from(policy.map_err(unfit)?);
        let own = claims::of_numbers(workload, Method::ExactRenewalReward, &numbers);
        let artifact = proof::artifact(&fleet, &solution, policy, own);
        Ok((Chosen::new(artifact, Basis::Given), solution))
    })
}

const UNKNOWN: &str = "the mean values are only known for Poisson arrivals and exponential sizes. Use --family quickswap, which is selected by simulation";

fn shown(most: usize) -> impl Iterator<Item = usize> {
    let powers = (0..usize::BITS).map(|p| 1 << p);
    let between = powers.take_while(move |l| *l < most);
    [0, most].into_iter().chain(between)
}
