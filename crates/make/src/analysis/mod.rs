//! The exact mean number of jobs and mean response time of each type under an MSR policy, and the
//! bounds of the MSR paper. [`one_or_all`] has a separate analysis of MSFQ.
//!
//! If empty slots keep their clocks and there is no backfilling, then the number of jobs of type i
//! and the phase of the modulating chain form a quasi-birth-death process (the MSR paper, §6.1,
//! where it is not solved). Its stationary distribution gives `E[Q_i]`, `P(Q_i > x)` and, because
//! each type is served in the order of arrival, the response times. The analysis is exact for
//! Poisson arrivals and sizes that are exponential or, with preemption, of phase type. Others are
//! analysed as Poisson and exponential with the same mean, and the claims state this.
//!
//! A queue is solved with matrices ([`synth_queues::ctmc::Qbd`]) or vectors of levels
//! ([`synth_queues::ctmc::rounds`]), whichever is cheaper. Beyond the budget, there are only bounds
//! ([`PaperBounds`]). The checker solves the same queues with [`synth_queues::ctmc::cycle`].

pub mod one_or_all;
mod paper;

pub use paper::PaperBounds;
#[cfg(test)]
pub(crate) use paper::erlang_c;

use rayon::prelude::*;

use crate::modulation::Modulation;
use synth_multiresource::artifact::{Objective, Preemption};
use synth_multiresource::workload::{JobType, Workload};
use synth_queues::ctmc::{
    MEMORY_LIMIT, ModulatedQueue, PhaseType, ResponseTimes, SolverError, Stationary,
    matrix_numbers, matrix_work, rounds, rounds::StationaryDistribution, staged_phases, staged_qbd,
};

/// Returns `E[T] = Σ E[Q_i] / Σ λ_i` \[time\] for the mean number of jobs of each type.
pub(crate) fn mean_response(numbers: &[f64], workload: &Workload) -> f64 {
    numbers.iter().sum::<f64>() / workload.total_arrival_rate()
}

/// Returns `Σ w_i E[T_i]` \[time\], where the weight `w_i` is the share of type i in the load.
pub(crate) fn weighted_response(numbers: &[f64], workload: &Workload) -> f64 {
    let pairs = numbers.iter().zip(workload.types());
    let responses = pairs.map(|(number, job_type)| number / job_type.arrival_rate());
    let shares = workload.load_shares();
    shares.iter().zip(responses).map(|(w, t)| w * t).sum()
}

/// Returns the [analysed](Objective::analysed) objective \[time\] for these numbers of jobs (K).
pub(crate) fn value(numbers: &[f64], workload: &Workload, objective: Objective) -> f64 {
    match objective {
        Objective::Mean | Objective::P99 => mean_response(numbers, workload),
        Objective::Weighted => weighted_response(numbers, workload),
    }
}

/// Returns the weights `w` (K, sum 1) with which [`value`] is `Σ w_i E[T_i]`.
pub(crate) fn weights(workload: &Workload, objective: Objective) -> Vec<f64> {
    match objective {
        Objective::Mean | Objective::P99 => {
            let (types, all) = (workload.types().iter(), workload.total_arrival_rate());
            types.map(|t| t.arrival_rate() / all).collect()
        }
        Objective::Weighted => workload.load_shares(),
    }
}

/// The reason why there is no exact result.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// A type is unstable under the policy.
    #[error("{0}")]
    Unstable(String),
    /// The analysis exceeds the budget, or the solver did not find an accurate solution.
    #[error("{0}")]
    OutOfReach(String),
}

fn counted(about: &str, number: f64) -> String {
    match number < 1e15 {
        true => format!("{about}{number:.0}"),
        false => "too many".into(),
    }
}

/// If matrices need less work than this, they are used and the methods are not compared.
const SMALL: f64 = 3e5;

/// The maximum number of operations to list the levels of a distribution from matrices.
const MOST_STEPS: usize = 200_000_000;

const MEAN_ERROR: f64 = 1e-6;

const TAIL_ERROR: f64 = 1e-8;

/// The maximum error of a distribution that is used for percentiles.
const DISTRIBUTION_ERROR: f64 = 1e-10;

/// Without a budget, levels are only counted (for the message) if there are fewer phases than this.
const FEW_PHASES: f64 = 1e3;

/// A lower bound on the work for each phase of a chain.
const LEAST: f64 = 100.0;

/// Above this total number of phases of all types, the types are computed in parallel.
const SIDE_BY_SIDE: usize = 20_000;

/// The queue of one type under a policy.
pub struct TypeQueue<'a> {
    job_type: &'a JobType,
    /// The queue for exponential sizes.
    pub queue: ModulatedQueue<'a>,
    stages: Option<PhaseType>,
}

impl<'a> TypeQueue<'a> {
    /// Returns the queue of type i. Its results are approximations unless the arrivals are Poisson
    /// and the sizes are exponential or, with preemption, of phase type.
    pub fn new(
        workload: &'a Workload,
        modulation: &'a Modulation,
        preemption: Preemption,
        i: usize,
    ) -> Self {
        let job_type = &workload.types()[i];
        let time = job_type.holding_time();
        let has_stages = preemption != Preemption::None && !time.is_exponential();
        TypeQueue {
            job_type,
            queue: modulation.queue(workload, i),
            stages: has_stages.then(|| time.phases()).flatten(),
        }
    }

    /// Returns the bounds and the approximation of the MSR paper, for exponential sizes.
    pub fn bounds(&self) -> PaperBounds {
        PaperBounds::new(&self.queue)
    }

    fn load(&self) -> f64 {
        self.queue.arrival_rate() / self.queue.capacity()
    }

    /// Returns whether rounds are possible and cheaper than matrices, and the work.
    fn plan(&self) -> (bool, f64) {
        let matrices = matrix_work(self.phases(), f64::from(self.queue.max_servers()));
        if matrices < SMALL || self.stages.is_some() {
            return (false, matrices);
        }
        let rounds = rounds::work(&self.queue);
        (rounds < matrices, rounds.min(matrices))
    }

    /// Returns an upper bound on the numbers that the distribution stores.
    pub fn numbers(&self) -> f64 {
        match self.plan().0 {
            true => rounds::memory(&self.queue),
            false => matrix_numbers(self.phases(), f64::from(self.queue.max_servers())),
        }
    }

    /// Estimates the work for the mean, very roughly \[ns\].
    pub fn work(&self) -> f64 {
        self.plan().1
    }

    fn phases(&self) -> f64 {
        match &self.stages {
            Some(stages) => staged_phases(&self.queue, stages),
            None => self.queue.servers().len() as f64,
        }
    }

    fn failed(&self, source: impl std::error::Error) -> AnalysisError {
        let (name, load) = (self.job_type.name(), self.load());
        AnalysisError::OutOfReach(format!(
            "the queue of type `{name}` (load {load}) could not be solved accurately: {source}"
        ))
    }

    fn check(&self, budget: f64) -> Result<(), AnalysisError> {
        let load = self.load();
        if load >= 1.0 || load.is_nan() {
            let name = self.job_type.name();
            return Err(AnalysisError::Unstable(format!(
                "type `{name}` has load {load} under this policy, but the load of a stable type must be less than 1"
            )));
        }
        // The work is infinite if the memory is not sufficient.
        let is_within = |work: f64| work <= budget && work.is_finite();
        if budget > 0.0 && is_within(self.work()) {
            return Ok(());
        }
        // For many types with long chains, this count would take most of the time.
        let is_counted = budget > 0.0 || self.phases() < FEW_PHASES;
        let levels = is_counted.then(|| rounds::levels(&self.queue)).flatten();
        Err(AnalysisError::OutOfReach(format!(
            "the chain of type `{}` has {} phases and {} levels, which exceeds the budget of the exact analysis",
            self.job_type.name(),
            counted("", self.phases()),
            counted("about ", levels.unwrap_or(f64::INFINITY))
        )))
    }

    /// Returns `E[Q_i]` \[jobs\].
    ///
    /// # Errors
    /// Returns an error if the type is unstable or the budget or accuracy is not sufficient.
    pub fn mean_number(&self, budget: f64) -> Result<f64, AnalysisError> {
        self.check(budget)?;
        match self.by_rounds(budget, rounds::mean)? {
            Some(mean) => self.sound(mean),
            None => Ok(self.by_matrices()?.mean()),
        }
    }

    /// Returns an error if the mean is not accurate. Near a load of 1, the rounding of the rates
    /// alone changes the mean, so a larger error is accepted there.
    fn by_matrices(&self) -> Result<Stationary, AnalysisError> {
        let process = match &self.stages {
            Some(stages) => staged_qbd(&self.queue, stages),
            None => self.queue.qbd(),
        };
        let solved = process.solve().map_err(|e| self.failed(e))?;
        self.sound(solved.mean())?;
        let inherent = 200.0 * f64::EPSILON / (1.0 - self.load());
        match solved.error() {
            error if error <= MEAN_ERROR.max(inherent) => Ok(solved),
            error => Err(self.failed(SolverError::deep(error))),
        }
    }

    /// A mean that is less than the mean number in service has no correct digits.
    fn sound(&self, mean: f64) -> Result<f64, AnalysisError> {
        let offered = self.queue.arrival_rate() * self.job_type.mean_size();
        match mean >= offered * (1.0 - 1e-9) && mean.is_finite() {
            true => Ok(mean),
            false => Err(self.failed(SolverError::no_digit(mean))),
        }
    }

    /// Returns the distribution of the number of jobs, or only its mean if sizes have stages.
    ///
    /// # Errors
    /// Same as [`TypeQueue::mean_number`].
    pub fn distribution(&self, budget: f64) -> Result<TypeDistribution, AnalysisError> {
        if self.stages.is_some() {
            return Ok(TypeDistribution::Mean(self.mean_number(budget)?));
        }
        self.check(budget)?;
        let solved = match self.by_rounds(budget, rounds::stationary_distribution)? {
            Some(solved) => TypeDistribution::Rounds(solved),
            None => TypeDistribution::Matrices(Box::new(self.by_matrices()?)),
        };
        self.sound(solved.mean_number())?;
        Ok(solved)
    }

    /// Returns `None` if matrices are cheaper, or are within the budget and rounds fail.
    fn by_rounds<T>(
        &self,
        budget: f64,
        solve: impl Fn(&ModulatedQueue<'_>) -> Result<T, SolverError>,
    ) -> Result<Option<T>, AnalysisError> {
        if !self.plan().0 {
            return Ok(None);
        }
        match solve(&self.queue) {
            Ok(found) => Ok(Some(found)),
            Err(_) if self.queue.matrix_work() <= budget.min(1e12) => Ok(None),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Returns the response times; `None` if inaccurate, too costly, or if the sizes have stages.
    pub fn survival(&self, numbers: TypeDistribution, budget: f64) -> Option<ResponseTimes> {
        let levels = match numbers {
            TypeDistribution::Rounds(own) if own.error() <= DISTRIBUTION_ERROR => own.law,
            TypeDistribution::Matrices(own) => listed(&own)?,
            TypeDistribution::Rounds(_) | TypeDistribution::Mean(_) => return None,
        };
        ResponseTimes::new(&self.queue, levels, budget)
    }
}

/// The distribution of the number of jobs of one type.
pub enum TypeDistribution {
    /// Computed by rounds.
    Rounds(StationaryDistribution),
    /// Computed by matrices.
    Matrices(Box<Stationary>),
    /// The mean only, because the sizes have stages.
    Mean(f64),
}

impl TypeDistribution {
    /// Returns `E[Q_i]` \[jobs\].
    pub fn mean_number(&self) -> f64 {
        match self {
            TypeDistribution::Rounds(own) => own.mean,
            TypeDistribution::Matrices(own) => own.mean(),
            TypeDistribution::Mean(mean) => *mean,
        }
    }

    /// Returns the least x with `P(Q_i > x) ≤ p`, and that probability; `None` if it is inaccurate.
    pub fn rarely_above(&self, p: f64) -> Option<(u64, f64)> {
        match self {
            TypeDistribution::Rounds(own) => {
                let (x, above, error) = own.rarely_above(p);
                (error <= TAIL_ERROR * above).then_some((x, above))
            }
            TypeDistribution::Matrices(own) => {
                Some(own.rarely_above(p)).filter(|(_, above)| above.is_finite())
            }
            TypeDistribution::Mean(_) => None,
        }
    }
}

/// Lists all probabilities by phase and number of jobs that are not negligible, if possible.
fn listed(solved: &Stationary) -> Option<Vec<Vec<f64>>> {
    let mut levels = solved.levels();
    let first = levels.next()?;
    let n = first.len();
    let most = (MOST_STEPS / (n * n)).min(MEMORY_LIMIT as usize / (4 * n));
    let mut listed: Vec<Vec<f64>> = first.iter().map(|p| vec![*p]).collect();
    for (q, level) in levels.enumerate().take(most) {
        let into = listed.iter_mut().zip(level.iter());
        into.for_each(|(of_phase, p)| of_phase.push(*p));
        if q as f64 > solved.mean() && level.sum() < 1e-17 {
            return Some(listed);
        }
    }
    None
}

/// Returns the exact mean numbers of jobs (K).
///
/// # Errors
/// Same as [`TypeQueue::mean_number`], for the first type that fails.
pub fn exact(
    workload: &Workload,
    modulation: &Modulation,
    preemption: Preemption,
    budget: f64,
) -> Result<Vec<f64>, AnalysisError> {
    let of_type = |i| TypeQueue::new(workload, modulation, preemption, i).mean_number(budget);
    (0..workload.types().len()).map(of_type).collect()
}

/// Returns the bounds and the approximation for each type (K).
pub(crate) fn bounds(workload: &Workload, modulation: &Modulation) -> Vec<PaperBounds> {
    let of_type = |i| PaperBounds::new(&modulation.queue(workload, i));
    let types = 0..workload.types().len();
    match types.len() * modulation.phases.len() > SIDE_BY_SIDE {
        true => types.into_par_iter().map(of_type).collect(),
        false => types.map(of_type).collect(),
    }
}

/// Returns a lower bound on the work of [`exact`], which is about that of [`work`] itself \[ns\].
pub(crate) fn least_work(workload: &Workload, modulation: &Modulation) -> f64 {
    (workload.types().len() * modulation.phases.len()) as f64 * LEAST
}

/// Estimates the work of [`exact`], very roughly \[ns\]; infinite if it exceeds `most`.
pub(crate) fn work(
    workload: &Workload,
    modulation: &Modulation,
    preemption: Preemption,
    most: f64,
) -> f64 {
    if least_work(workload, modulation) > most {
        return f64::INFINITY;
    }
    let of_type = |i| TypeQueue::new(workload, modulation, preemption, i).work();
    let mut works = (0..workload.types().len()).map(of_type);
    let all = works.try_fold(0.0, |all, own| Some(all + own).filter(|all| *all <= most));
    all.unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests;
