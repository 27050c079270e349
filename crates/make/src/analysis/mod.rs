//! Exact mean numbers of jobs and response times under a policy, and the MSR paper's bounds.
//!
//! Under an MSR policy without backfilling whose empty slots keep their clocks, the number of
//! type-i jobs and the phase of the modulating chain form a quasi-birth-death process (the MSR
//! paper, §6.1, which does not solve it). Its stationary distribution gives `E[Q_i]`, `P(Q_i > x)`
//! and, since each type is served in order of arrival, the response time distribution. By Little's
//! law `E[T_i] = E[Q_i]/λ_i`. This is exact for Poisson arrivals and sizes that are exponential or,
//! with preemption, of phase type; other distributions are replaced by Poisson and exponential ones
//! with the same means, which claims of such results state.
//!
//! Each queue is solved by the cheaper of two methods: [`synth_queues::ctmc::Qbd`] uses matrices of
//! phases × phases, [`synth_queues::ctmc::rounds`] uses vectors of levels, which suits routes of
//! hundreds of phases. The checker uses a third, [`synth_queues::ctmc::cycle`].

pub mod one_or_all;
mod paper;

pub use paper::{PaperBounds, erlang_c};

use rayon::prelude::*;

use crate::modulation::Modulation;
use synth_multiresource::artifact::{Objective, Preemption};
use synth_multiresource::workload::{JobType, Workload};
use synth_queues::ctmc::{
    MEMORY, ModulatedQueue, PhaseType, Qbd, QbdError, Stationary, Survival, matrix_numbers,
    matrix_work, rounds, rounds::RoundLaw, staged_phases, staged_qbd,
};

/// Mean numbers of jobs, from which mean response times follow.
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

    /// Returns `Σ w_i E[T_i]` \[time\], where the weights w are the shares of the load.
    pub fn weighted_response(&self, workload: &Workload) -> f64 {
        let pairs = self.numbers.iter().zip(workload.types());
        let responses = pairs.map(|(number, job_type)| number / job_type.arrival_rate());
        let shares = workload.load_shares();
        shares.iter().zip(responses).map(|(w, t)| w * t).sum()
    }

    /// Returns the value of the objective \[time\]; for [`Objective::P99`] the mean response time,
    /// as explained at [`Objective::analysed`].
    pub fn value(&self, workload: &Workload, objective: Objective) -> f64 {
        match objective {
            Objective::Mean | Objective::P99 => self.mean_response(workload),
            Objective::Weighted => self.weighted_response(workload),
        }
    }
}

/// Returns the weights w (K) of sum 1 for which the objective is `Σ w_i E[T_i]`; for
/// [`Objective::P99`] the weights of the mean.
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
    /// The chain exceeds the budget.
    #[error("{0}")]
    TooLarge(String),
    /// A type is unstable under the policy.
    #[error("{0}")]
    Unstable(String),
    /// The solver found no reliable solution.
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

/// Matrix solutions that need less work than this are used without comparing the methods.
const SMALL: f64 = 3e5;

/// Maximum number of operations for listing the levels of one matrix solution.
const MOST_STEPS: usize = 200_000_000;

/// The largest relative error of a mean that is reported.
const MEAN_ERROR: f64 = 1e-6;

/// The largest relative error of a tail probability that is reported.
const TAIL_ERROR: f64 = 1e-8;

/// The largest error of a distribution from which percentiles are taken.
const LAW_ERROR: f64 = 1e-10;

/// For chains with fewer phases, the error message includes the number of levels.
const FEW_PHASES: f64 = 1e3;

/// A lower bound on the work per phase.
const LEAST: f64 = 100.0;

/// From this total number of phases on, types are approximated in parallel.
const SIDE_BY_SIDE: usize = 20_000;

pub struct TypeQueue<'a> {
    job_type: &'a JobType,
    queue: ModulatedQueue<'a>,
    /// The stages of the size distribution, if it is not exponential and the policy preempts.
    stages: Option<PhaseType>,
}

impl<'a> TypeQueue<'a> {
    /// Returns the queue of type i under the policy of this chain.
    ///
    /// Arrivals are treated as Poisson. Sizes are treated as exponential, unless they are of phase
    /// type and the policy preempts.
    pub fn new(
        workload: &'a Workload,
        modulation: &'a Modulation,
        preemption: Preemption,
        i: usize,
    ) -> Self {
        let job_type = &workload.types()[i];
        let has_stages = preemption != Preemption::None && !job_type.holding().is_exponential();
        TypeQueue {
            job_type,
            queue: modulation.queue(workload, i),
            stages: has_stages.then(|| job_type.holding().phases()).flatten(),
        }
    }

    /// Returns the underlying queue.
    pub fn queue(&self) -> &ModulatedQueue<'a> {
        &self.queue
    }

    /// Returns the MSR paper's bounds and approximation, for exponential sizes.
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
            _ => matrix_numbers(self.phases(), f64::from(self.queue.most_servers())),
        }
    }

    /// Returns a very rough estimate of the work for the mean, in nanoseconds.
    pub fn work(&self) -> f64 {
        match self.stages {
            Some(_) => matrix_work(self.phases(), f64::from(self.queue.most_servers())),
            None => self.plan().1,
        }
    }

    /// Returns the number of phases of the chain, including the stages of sizes.
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
                "type `{name}` has load {load} under this policy; a stable type needs a load below 1"
            )));
        }
        // The work is infinite if memory does not suffice.
        let is_within = |work: f64| work <= budget && work.is_finite();
        if budget > 0.0 && is_within(self.work()) {
            return Ok(());
        }
        // For many types with long chains, counting the levels would dominate the run time.
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
    /// Returns an error if the type is unstable, the chain exceeds `budget`, or the result is
    /// inaccurate.
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

    /// Solves the process by matrices, and rejects inaccurate results. Near a load of 1, rounding
    /// of the rates alone moves the mean.
    fn by_matrices(&self, process: &Qbd) -> Result<Stationary, AnalysisError> {
        let law = process.solve().map_err(|e| self.failed(e))?;
        self.sound(law.mean())?;
        let inherent = 200.0 * f64::EPSILON / (1.0 - self.load());
        if law.error() <= MEAN_ERROR.max(inherent) {
            Ok(law)
        } else {
            Err(self.failed(QbdError::deep(law.error())))
        }
    }

    /// Rejects a mean number below the mean number in service, which has lost all its digits.
    fn sound(&self, mean: f64) -> Result<f64, AnalysisError> {
        let offered = self.queue.arrival_rate() * self.job_type.mean_size();
        if mean >= offered * (1.0 - 1e-9) && mean.is_finite() {
            Ok(mean)
        } else {
            Err(self.failed(QbdError::no_digit(mean)))
        }
    }

    /// Returns the distribution of the number of jobs and the phase, or only its mean if sizes have
    /// stages.
    ///
    /// # Errors
    /// Same as [`TypeQueue::mean_number`].
    pub fn law(&self, budget: f64) -> Result<TypeLaw, AnalysisError> {
        if self.stages.is_some() {
            return Ok(TypeLaw::Mean(self.mean_number(budget)?));
        }
        self.check(budget)?;
        let law = match self.by_rounds(budget, rounds::law)? {
            Some(law) => TypeLaw::Rounds(law),
            None => TypeLaw::Matrices(Box::new(self.by_matrices(&self.queue.qbd())?)),
        };
        self.sound(law.mean_number())?;
        Ok(law)
    }

    /// Solves by rounds if that is cheaper; `None` if it is not, or if it fails and matrices fit
    /// the budget.
    fn by_rounds<T>(
        &self,
        budget: f64,
        solve: impl Fn(&ModulatedQueue<'_>) -> Result<T, rounds::RoundsError>,
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

    /// Returns the response time distribution; `None` if it would take more than the budget.
    pub fn survival(&self, law: TypeLaw, budget: f64) -> Option<Survival> {
        let law = match law {
            TypeLaw::Rounds(law) if law.error() > LAW_ERROR => return None,
            TypeLaw::Rounds(law) => law.law,
            TypeLaw::Matrices(law) => listed(&law)?,
            TypeLaw::Mean(_) => return None,
        };
        Survival::new(&self.queue, law, budget)
    }
}

/// The distribution of the number of jobs of one type.
pub enum TypeLaw {
    /// Computed by rounds.
    Rounds(RoundLaw),
    /// Computed by matrices.
    Matrices(Box<Stationary>),
    /// Only the mean is known, since sizes have stages.
    Mean(f64),
}

impl TypeLaw {
    /// Returns `E[Q_i]` \[jobs\].
    pub fn mean_number(&self) -> f64 {
        match self {
            TypeLaw::Rounds(law) => law.mean,
            TypeLaw::Matrices(law) => law.mean(),
            TypeLaw::Mean(mean) => *mean,
        }
    }

    /// Returns the least x with `P(Q_i > x) ≤ p`, and that probability; `None` if it is inaccurate.
    pub fn rarely_above(&self, p: f64) -> Option<(u64, f64)> {
        match self {
            TypeLaw::Rounds(law) => {
                let (x, above, error) = law.rarely_above(p);
                (error <= TAIL_ERROR * above).then_some((x, above))
            }
            TypeLaw::Matrices(law) => {
                let (x, above) = law.rarely_above(p);
                above.is_finite().then_some((x, above))
            }
            TypeLaw::Mean(_) => None,
        }
    }
}

/// Lists probabilities by phase and level until they are negligible; `None` if there are too many.
fn listed(law: &Stationary) -> Option<Vec<Vec<f64>>> {
    let mut levels = law.levels();
    let first = levels.next()?;
    let n = first.len();
    let most = (MOST_STEPS / (n * n)).min(MEMORY as usize / (4 * n));
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

/// Returns a lower bound on the work of [`exact`], roughly in nanoseconds.
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
