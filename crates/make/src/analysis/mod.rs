//! What a policy will cost: mean numbers and response times, exactly; and the MSR paper's bounds
//! and approximation.
//!
//! # Theory
//! Under an MSR policy without backfilling whose empty slots keep their clocks, the number of
//! type-i jobs and the phase of the modulating chain are a quasi-birth-death process of their
//! own (the MSR paper, §6.1, which decouples the types but does not solve for them). Its law gives
//! `E[Q_i]`, `P(Q_i > x)` and, since jobs of a type are served in their order of arrival, the
//! law of the response time; `E[T_i] = E[Q_i]/λ_i` by Little, `E[T] = Σ E[Q_i] / Σ λ_i`. All of
//! that for Poisson arrivals and sizes that are exponential or, with preemption, of phase type;
//! others are analysed as Poisson and exponential with the same means, and claims of such results
//! state that.
//!
//! # Practice
//! Two solvers, and each queue goes to the one with less work: [`synth_queues::ctmc::Qbd`] works with
//! matrices of phases × phases, [`synth_queues::ctmc::rounds`] with vectors of levels, which suits
//! routes of hundreds of phases. What neither can solve within the budget is refused with its size,
//! and the bounds remain ([`PaperBounds`]). The checker solves the same queues by [`synth_queues::ctmc::cycle`], which says what
//! of it is shared. MSFQ on one-or-all systems has a theory of its own ([`one_or_all`]).

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

/// Mean numbers of jobs (K), and the mean responses that follow.
#[derive(Clone, Debug)]
pub struct Cost {
    /// `E[Q_i]` (K).
    pub numbers: Vec<f64>,
}

impl Cost {
    /// `E[T] = Σ E[Q_i] / Σ λ_i` \[time\].
    pub fn mean_response(&self, workload: &Workload) -> f64 {
        self.numbers.iter().sum::<f64>() / workload.total_arrival_rate()
    }

    /// `Σ w_i E[T_i]` \[time\], w of sum 1.
    pub fn weighted_response(&self, workload: &Workload) -> f64 {
        let pairs = self.numbers.iter().zip(workload.types());
        let responses = pairs.map(|(number, job_type)| number / job_type.arrival_rate());
        let shares = workload.load_shares();
        shares.iter().zip(responses).map(|(w, t)| w * t).sum()
    }

    /// Returns the objective's value \[time\]; of [`Objective::P99`] the mean: see [`Objective::analysed`].
    pub fn value(&self, workload: &Workload, objective: Objective) -> f64 {
        match objective {
            Objective::Mean | Objective::P99 => self.mean_response(workload),
            Objective::Weighted => self.weighted_response(workload),
        }
    }
}

/// Returns the weights w of the types (K), of sum 1, with which `Σ w_i E[T_i]` is the objective; of [`Objective::P99`] those
/// of the mean.
pub fn weights(workload: &Workload, objective: Objective) -> Vec<f64> {
    match objective {
        Objective::Mean | Objective::P99 => {
            let (types, all) = (workload.types().iter(), workload.total_arrival_rate());
            types.map(|t| t.arrival_rate() / all).collect()
        }
        Objective::Weighted => workload.load_shares(),
    }
}

/// Why there is no exact answer.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// Beyond the budget, with the size of the chain.
    #[error("{0}")]
    TooLarge(String),
    /// A type is unstable under the policy.
    #[error("{0}")]
    Unstable(String),
    /// The solver found no reliable answer.
    #[error("{0}")]
    Solver(String),
}

/// Returns a number of states; beyond what is worth telling, none.
fn counted(about: &str, number: f64) -> String {
    if number < 1e15 {
        format!("{about}{number:.0}")
    } else {
        "too many".into()
    }
}

/// Matrices that take less work are used without a comparison.
const SMALL: f64 = 3e5;

/// The most operations for the levels of one law by matrices.
const MOST_STEPS: usize = 200_000_000;

/// The largest relative error of a mean that is claimed.
const MEAN_ERROR: f64 = 1e-6;

/// Errors, relative to a probability, with which it is still claimed.
const TAIL_ERROR: f64 = 1e-8;

/// The error of a law from which percentiles are taken.
const LAW_ERROR: f64 = 1e-10;

/// Of chains with fewer phases the number of levels is computed for the message.
const FEW_PHASES: f64 = 1e3;

/// No phase of a chain takes less work.
const LEAST: f64 = 100.0;

/// From so many phases of all types together on, types are taken side by side.
const SIDE_BY_SIDE: usize = 20_000;

/// The queue of one type under a policy.
pub struct TypeQueue<'a> {
    job_type: &'a JobType,
    queue: ModulatedQueue<'a>,
    /// The stages of its sizes, where these have to be added.
    stages: Option<PhaseType>,
}

impl<'a> TypeQueue<'a> {
    /// Type i under the policy of this chain. Without preemption, and where they are not of phase
    /// type, sizes are taken as exponential, and arrivals as Poisson in any case: for others the
    /// result is an approximation.
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

    /// Returns the queue.
    pub fn queue(&self) -> &ModulatedQueue<'a> {
        &self.queue
    }

    /// Returns the MSR paper's bounds and approximation (for exponential sizes).
    pub fn bounds(&self) -> PaperBounds {
        PaperBounds::new(&self.queue)
    }

    fn load(&self) -> f64 {
        self.queue.arrival_rate() / self.queue.capacity()
    }

    /// Returns whether going round is cheaper than matrices, and the work of the cheaper way.
    fn plan(&self) -> (bool, f64) {
        let matrices = self.queue.matrix_work();
        if matrices < SMALL {
            return (false, matrices);
        }
        let rounds = rounds::work(&self.queue);
        (rounds < matrices, rounds.min(matrices))
    }

    /// Returns how many numbers its law takes in memory, at most.
    pub fn numbers(&self) -> f64 {
        match (&self.stages, self.plan().0) {
            (None, true) => rounds::memory(&self.queue),
            _ => matrix_numbers(self.phases(), f64::from(self.queue.most_servers())),
        }
    }

    /// Returns how much work the mean takes, very roughly in nanoseconds.
    pub fn work(&self) -> f64 {
        match self.stages {
            Some(_) => matrix_work(self.phases(), f64::from(self.queue.most_servers())),
            None => self.plan().1,
        }
    }

    /// Phases of the chain, those for stages of sizes included.
    fn phases(&self) -> f64 {
        match &self.stages {
            Some(stages) => staged_phases(&self.queue, stages),
            None => self.queue.servers().len() as f64,
        }
    }

    fn failed(&self, source: impl std::error::Error) -> AnalysisError {
        let (name, load) = (self.job_type.name(), self.load());
        AnalysisError::Solver(format!(
            "the queue of type `{name}` (load {load}) has no answer with a digit left: {source}"
        ))
    }

    fn check(&self, budget: f64) -> Result<(), AnalysisError> {
        let load = self.load();
        if load >= 1.0 || load.is_nan() {
            let name = self.job_type.name();
            return Err(AnalysisError::Unstable(format!(
                "type `{name}` has load {load} under this policy, and must have less than 1"
            )));
        }
        // Infinite where memory does not suffice.
        let is_within = |work: f64| work <= budget && work.is_finite();
        if budget > 0.0 && is_within(self.work()) {
            return Ok(());
        }
        // Of many types with long chains the levels would take longer than all else.
        let is_counted = budget > 0.0 || self.phases() < FEW_PHASES;
        let levels = is_counted.then(|| rounds::levels(&self.queue)).flatten();
        Err(AnalysisError::TooLarge(format!(
            "the chain of type `{}` has {} phases and {} levels, more than the budget for exact analysis allows",
            self.job_type.name(),
            counted("", self.phases()),
            counted("about ", levels.unwrap_or(f64::INFINITY))
        )))
    }

    /// `E[Q_i]` \[jobs\].
    ///
    /// # Errors
    /// When the type is unstable, the chain larger than `budget` allows, or no answer is certain.
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

    /// Returns the law by matrices; refused where its mean has too few digits. Next to a load of 1 rounding of
    /// the rates alone moves the mean.
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

    /// Checks a mean number: one below the mean number in service has lost all its digits.
    fn sound(&self, mean: f64) -> Result<f64, AnalysisError> {
        let offered = self.queue.arrival_rate() * self.job_type.mean_size();
        if mean >= offered * (1.0 - 1e-9) && mean.is_finite() {
            Ok(mean)
        } else {
            Err(self.failed(QbdError::no_digit(mean)))
        }
    }

    /// Returns the law of the number of jobs and the phase, or its mean where the law of sizes has stages.
    ///
    /// # Errors
    /// As [`TypeQueue::mean_number`].
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

    /// Returns what comes of going round, where that is the cheaper way; `None` where it is not, or fails and
    /// matrices are within the budget.
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

    /// Returns the law of the response time; `None` where following it takes more than the budget.
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

/// The law of one type's number of jobs.
pub enum TypeLaw {
    /// By going round.
    Rounds(RoundLaw),
    /// By matrices.
    Matrices(Box<Stationary>),
    /// Of sizes with stages, of which only the mean is known.
    Mean(f64),
}

impl TypeLaw {
    /// `E[Q_i]` \[jobs\].
    pub fn mean_number(&self) -> f64 {
        match self {
            TypeLaw::Rounds(law) => law.mean,
            TypeLaw::Matrices(law) => law.mean(),
            TypeLaw::Mean(mean) => *mean,
        }
    }

    /// Returns the least x with `P(Q_i > x) ≤ p`, and that probability; `None` where it has too few digits.
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

/// By phase and number of jobs, until probabilities are negligible; `None` where these are too many.
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
/// As [`TypeQueue::mean_number`], of the first type that has none.
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

/// Section 6.4's approximation of the mean numbers; infinite where a type is unstable.
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

/// Less than [`exact`] takes, roughly in nanoseconds, and about as long as it takes to tell how much that is.
pub fn least_work(workload: &Workload, modulation: &Modulation) -> f64 {
    (workload.types().len() * modulation.phases.len()) as f64 * LEAST
}

/// The work that [`exact`] takes, very roughly in nanoseconds; infinite where it is seen to be more than `most`.
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
