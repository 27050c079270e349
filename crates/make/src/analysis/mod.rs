//! This module computes the exact mean number of jobs and the mean response time of each type under
//! an MSR policy, and the bounds of the MSR paper. MSFQ on one-or-all systems has an analysis of
//! its own (see [`one_or_all`]).
//!
//! If empty slots keep their clocks and there is no backfilling, then the number of jobs of type i
//! and the phase of the modulating chain form a quasi-birth-death process (the MSR paper, §6.1,
//! where it is not solved). Its stationary distribution gives `E[Q_i]` and `P(Q_i > x)`. It also
//! gives the response times, because each type is served in the order of arrival. The analysis is
//! exact if the arrivals are Poisson and the sizes are exponential or, with preemption, of phase
//! type. All other arrivals are analysed as Poisson and all other sizes as exponential, with the
//! same mean, and the claims state this.
//!
//! A queue is solved either with matrices ([`synth_queues::ctmc::Qbd`]) or with vectors of levels
//! ([`synth_queues::ctmc::rounds`]), depending on which of the two is cheaper. If both exceed the
//! budget, there are only the bounds ([`PaperBounds`]). The checker solves the same queues with
//! [`synth_queues::ctmc::cycle`].

pub mod one_or_all;
mod paper;

pub use paper::{PaperBounds, erlang_c};

use rayon::prelude::*;

use crate::modulation::Modulation;
use synth_multiresource::artifact::{Objective, Preemption};
use synth_multiresource::workload::{JobType, Workload};
use synth_queues::ctmc::{
    MEMORY_LIMIT, ModulatedQueue, PhaseType, Qbd, ResponseTimes, SolverError, Stationary,
    matrix_numbers, matrix_work, rounds, rounds::StationaryDistribution, staged_phases, staged_qbd,
};

/// The mean number of jobs of each type. The mean response times can be computed from these.
#[derive(Clone, Debug)]
pub struct Cost {
    /// `E[Q_i]` (K).
    pub numbers: Vec<f64>,
}

impl Cost {
    /// Returns `E[T] = Σ E[Q_i] / Σ λ_i` \[time\].
    pub fn mean_response(&self, workload: &Workload) -> f64 {
        self.numbers.iter().sum::<f64>() / workload.total_arrival_rate()
    }

    /// Returns `Σ w_i E[T_i]` \[time\], where the weight `w_i` is the share of type i in the load.
    pub fn weighted_response(&self, workload: &Workload) -> f64 {
        let pairs = self.numbers.iter().zip(workload.types());
        let responses = pairs.map(|(number, job_type)| number / job_type.arrival_rate());
        let shares = workload.load_shares();
        shares.iter().zip(responses).map(|(w, t)| w * t).sum()
    }

    /// Returns the objective \[time\]. For [`Objective::P99`], it is the mean response time.
    pub fn value(&self, workload: &Workload, objective: Objective) -> f64 {
        match objective {
            Objective::Mean | Objective::P99 => self.mean_response(workload),
            Objective::Weighted => self.weighted_response(workload),
        }
    }
}

/// Returns the weights `w` (K), whose sum is 1, for which the [analysed](Objective::analysed)
/// objective is `Σ w_i E[T_i]`.
pub fn weights(workload: &Workload, objective: Objective) -> Vec<f64> {
    match objective {
        Objective::Mean | Objective::P99 => {
            let (types, all) = (workload.types().iter(), workload.total_arrival_rate());
            types.map(|t| t.arrival_rate() / all).collect()
        }
        Objective::Weighted => workload.load_shares(),
    }
}

/// Reasons why there is no exact result.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// The analysis of the chain exceeds the budget. The message contains the size of the chain.
    #[error("{0}")]
    TooLarge(String),
    /// A type is unstable under the policy.
    #[error("{0}")]
    Unstable(String),
    /// The solver did not find an accurate solution.
    #[error("{0}")]
    Solver(String),
}

fn counted(about: &str, number: f64) -> String {
    if number < 1e15 {
        format!("{about}{number:.0}")
    } else {
        "too many".into()
    }
}

/// If the matrix solution needs less work than this, it is used and the methods are not compared.
const SMALL: f64 = 3e5;

/// The maximum number of operations to list the levels of a distribution that was solved with
/// matrices.
const MOST_STEPS: usize = 200_000_000;

const MEAN_ERROR: f64 = 1e-6;

/// The maximum error of a tail probability, relative to the probability.
const TAIL_ERROR: f64 = 1e-8;

/// The maximum error of a distribution that is used for percentiles.
const LAW_ERROR: f64 = 1e-10;

/// Without a budget, the number of levels is only computed (for the message) if there are fewer
/// phases than this.
const FEW_PHASES: f64 = 1e3;

/// A lower bound on the work for each phase of a chain.
const LEAST: f64 = 100.0;

/// If the total number of phases of all types is greater than this, the types are computed in
/// parallel.
const SIDE_BY_SIDE: usize = 20_000;

/// The queue of one type under a policy.
pub struct TypeQueue<'a> {
    job_type: &'a JobType,
    queue: ModulatedQueue<'a>,
    stages: Option<PhaseType>,
}

impl<'a> TypeQueue<'a> {
    /// Returns the queue of type i. The arrivals are assumed to be Poisson. The sizes are assumed
    /// to be exponential, unless they are of phase type and the policy is preemptive. For all other
    /// distributions, the result is an approximation.
    pub fn new(
        workload: &'a Workload,
        modulation: &'a Modulation,
        preemption: Preemption,
        i: usize,
    ) -> Self {
        let job_type = &workload.types()[i];
        let has_stages =
            preemption != Preemption::None && !job_type.holding_time().is_exponential();
        TypeQueue {
            job_type,
            queue: modulation.queue(workload, i),
            stages: has_stages
                .then(|| job_type.holding_time().phases())
                .flatten(),
        }
    }

    /// Returns the underlying queue.
    pub fn queue(&self) -> &ModulatedQueue<'a> {
        &self.queue
    }

    /// Returns the bounds and the approximation of the MSR paper, for exponential sizes.
    pub fn bounds(&self) -> PaperBounds {
        PaperBounds::new(&self.queue)
    }

    fn load(&self) -> f64 {
        self.queue.arrival_rate() / self.queue.capacity()
    }

    /// Returns whether rounds are cheaper than matrices, and the work of the cheaper method.
    fn plan(&self) -> (bool, f64) {
        let matrices = self.queue.matrix_work();
        if matrices < SMALL {
            return (false, matrices);
        }
        let rounds = rounds::work(&self.queue);
        (rounds < matrices, rounds.min(matrices))
    }

    /// Returns an upper bound on the numbers that the distribution stores.
    pub fn numbers(&self) -> f64 {
        match (&self.stages, self.plan().0) {
            (None, true) => rounds::memory(&self.queue),
            _ => matrix_numbers(self.phases(), f64::from(self.queue.max_servers())),
        }
    }

    /// Returns a very rough estimate of the work for the mean, in nanoseconds.
    pub fn work(&self) -> f64 {
        match self.stages {
            Some(_) => matrix_work(self.phases(), f64::from(self.queue.max_servers())),
            None => self.plan().1,
        }
    }

    fn phases(&self) -> f64 {
        match &self.stages {
            Some(stages) => staged_phases(&self.queue, stages),
            None => self.queue.servers().len() as f64,
        }
    }

    fn failed(&self, source: impl std::error::Error) -> AnalysisError {
        let (name, load) = (self.job_type.name(), self.load());
        AnalysisError::Solver(format!(
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
        // If there are many types with long chains, counting their levels would take most of the
        // time.
        let is_counted = budget > 0.0 || self.phases() < FEW_PHASES;
        let levels = is_counted.then(|| rounds::levels(&self.queue)).flatten();
        Err(AnalysisError::TooLarge(format!(
            "the chain of type `{}` has {} phases and {} levels, which exceeds the budget of the exact analysis",
            self.job_type.name(),
            counted("", self.phases()),
            counted("about ", levels.unwrap_or(f64::INFINITY))
        )))
    }

    /// Returns `E[Q_i]` \[jobs\].
    ///
    /// # Errors
    /// Returns an error if the type is unstable, the chain exceeds the `budget`, or the result is
    /// not accurate.
    pub fn mean_number(&self, budget: f64) -> Result<f64, AnalysisError> {
        self.check(budget)?;
        if let Some(stages) = &self.stages {
            return Ok(self.by_matrices(&staged_qbd(&self.queue, stages))?.mean());
        }
        if let Some(mean) = self.by_rounds(budget, rounds::mean)? {
            return self.sound(mean);
        }
        Ok(self.by_matrices(&self.queue.qbd())?.mean())
    }

    /// Solves the queue with matrices. Returns an error if the mean is not accurate. Near a load of
    /// 1, the rounding of the rates alone changes the mean, so a larger error is accepted there.
    fn by_matrices(&self, process: &Qbd) -> Result<Stationary, AnalysisError> {
        let law = process.solve().map_err(|e| self.failed(e))?;
        self.sound(law.mean())?;
        let inherent = 200.0 * f64::EPSILON / (1.0 - self.load());
        if law.error() <= MEAN_ERROR.max(inherent) {
            Ok(law)
        } else {
            Err(self.failed(SolverError::deep(law.error())))
        }
    }

    /// Returns the mean, or an error if it is less than the mean number in service. Such a mean has
    /// no correct digits.
    fn sound(&self, mean: f64) -> Result<f64, AnalysisError> {
        let offered = self.queue.arrival_rate() * self.job_type.mean_size();
        if mean >= offered * (1.0 - 1e-9) && mean.is_finite() {
            Ok(mean)
        } else {
            Err(self.failed(SolverError::no_digit(mean)))
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
        let law = match self.by_rounds(budget, rounds::stationary_distribution)? {
            Some(law) => TypeDistribution::Rounds(law),
            None => TypeDistribution::Matrices(Box::new(self.by_matrices(&self.queue.qbd())?)),
        };
        self.sound(law.mean_number())?;
        Ok(law)
    }

    /// Solves the queue by rounds. Returns `None` if matrices are cheaper, or if the rounds fail
    /// and the matrices are within the budget.
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

    /// Returns the response time distribution, or `None` if it is not accurate, if it would take
    /// more than the budget, or if the sizes have stages.
    pub fn survival(&self, law: TypeDistribution, budget: f64) -> Option<ResponseTimes> {
        let law = match law {
            TypeDistribution::Rounds(law) if law.error() > LAW_ERROR => return None,
            TypeDistribution::Rounds(law) => law.law,
            TypeDistribution::Matrices(law) => listed(&law)?,
            TypeDistribution::Mean(_) => return None,
        };
        ResponseTimes::new(&self.queue, law, budget)
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
            TypeDistribution::Rounds(law) => law.mean,
            TypeDistribution::Matrices(law) => law.mean(),
            TypeDistribution::Mean(mean) => *mean,
        }
    }

    /// Returns the least x with `P(Q_i > x) ≤ p`, and that probability; `None` if it is inaccurate.
    pub fn rarely_above(&self, p: f64) -> Option<(u64, f64)> {
        match self {
            TypeDistribution::Rounds(law) => {
                let (x, above, error) = law.rarely_above(p);
                (error <= TAIL_ERROR * above).then_some((x, above))
            }
            TypeDistribution::Matrices(law) => {
                let (x, above) = law.rarely_above(p);
                above.is_finite().then_some((x, above))
            }
            TypeDistribution::Mean(_) => None,
        }
    }
}

/// Lists the probabilities by phase and number of jobs until they are negligible. Returns `None` if
/// there are too many of them.
fn listed(law: &Stationary) -> Option<Vec<Vec<f64>>> {
    let mut levels = law.levels();
    let first = levels.next()?;
    let n = first.len();
    let most = (MOST_STEPS / (n * n)).min(MEMORY_LIMIT as usize / (4 * n));
    let mut listed: Vec<Vec<f64>> = first.iter().map(|p| vec![*p]).collect();
    for (q, level) in levels.enumerate().take(most) {
        let into = listed.iter_mut().zip(level.iter());
        into.for_each(|(of_phase, p)| of_phase.push(*p));
        if q as f64 > law.mean() && level.sum() < 1e-17 {
            return Some(listed);
        }
    }
    None
}

/// Returns the exact mean numbers of all types.
///
/// # Errors
/// Same as [`TypeQueue::mean_number`], for the first type that fails.
pub fn exact(
    workload: &Workload,
    modulation: &Modulation,
    preemption: Preemption,
    budget: f64,
) -> Result<Cost, AnalysisError> {
    let of_type = |i| TypeQueue::new(workload, modulation, preemption, i).mean_number(budget);
    let numbers: Result<_, _> = (0..workload.types().len()).map(of_type).collect();
    Ok(Cost { numbers: numbers? })
}

/// Returns the mean numbers by the approximation of section 6.4; infinite if a type is unstable.
pub fn approximate(workload: &Workload, modulation: &Modulation) -> Cost {
    let of_type = |i| PaperBounds::new(&modulation.queue(workload, i)).approximation;
    let types = 0..workload.types().len();
    let numbers = if types.len() * modulation.phases.len() > SIDE_BY_SIDE {
        types.into_par_iter().map(of_type).collect()
    } else {
        types.map(of_type).collect()
    };
    Cost { numbers }
}

/// Returns a lower bound on the work of [`exact`], roughly in nanoseconds. The function [`work`]
/// itself takes about this long.
pub fn least_work(workload: &Workload, modulation: &Modulation) -> f64 {
    (workload.types().len() * modulation.phases.len()) as f64 * LEAST
}

/// Returns the work of [`exact`], very roughly in nanoseconds; infinite if it exceeds `most`.
pub fn work(
    workload: &Workload,
    modulation: &Modulation,
    preemption: Preemption,
    most: f64,
) -> f64 {
    if least_work(workload, modulation) > most {
        return f64::INFINITY;
    }
    let mut all = 0.0;
    for i in 0..workload.types().len() {
        all += TypeQueue::new(workload, modulation, preemption, i).work();
        if all > most {
            return f64::INFINITY;
        }
    }
    all
}

#[cfg(test)]
mod tests;
