//! What a loop would cost with another route, switching rate or rate of arrivals: derived as the claims
//! about it are, as far as the work left for that goes.

use super::queues::Queues;
use super::round::Round;
use super::solved::Asked;
use super::{Budget, OneServer};
use crate::artifact::is_close;
use crate::multiresource::artifact::{Family, Method, MsrPolicy, Objective, Quantity};
use crate::multiresource::workload::Workload;

/// Relative difference allowed where nothing is claimed.
pub(super) const AGREEMENT: f64 = 1e-6;

/// Of a value where there is none.
pub(super) const UNSTABLE: &str = "expected none: the policy is unstable at this switching rate";

/// The work of one stage of a round and of its chain for each type, very roughly in nanoseconds.
const STAGE: f64 = 2e3;

/// A loop on a workload.
pub(super) struct Again<'a> {
    rule: Family,
    workload: &'a Workload,
    budget: &'a Budget,
}

/// What was found of a number that is said.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Second {
    /// The same.
    Same,
    /// Another.
    Other(f64),
    /// Too much work.
    TooLarge,
    /// The policy is unstable.
    Unstable,
    /// Its chain has no such number.
    Nothing,
}

/// Mean numbers of jobs of the types (K), with how well they can be known.
pub(super) struct Numbers {
    pub means: Vec<f64>,
    /// Relative difference allowed of what follows from them.
    pub slack: f64,
}

impl<'a> Again<'a> {
    pub(super) fn new(server: &OneServer<'a>, policy: MsrPolicy, workload: &'a Workload) -> Self {
        Again {
            rule: policy.into(),
            workload,
            budget: &server.budgets[1],
        }
    }

    /// Whether the objective is this number, by this method.
    pub(super) fn is(&self, found: f64, objective: Objective, method: Method) -> Second {
        let workload = self.workload;
        let Numbers { means, slack } = match self.numbers(method) {
            Ok(numbers) => numbers,
            Err(second) => return second,
        };
        let expected = match objective {
            Objective::P99 => return Second::Nothing,
            Objective::Mean => means.iter().sum::<f64>() / workload.total_arrival_rate(),
            Objective::Weighted => {
                let types = workload.load_shares().into_iter().zip(workload.types());
                let responses = types.zip(&means);
                responses.map(|((w, t), n)| w * n / t.arrival_rate()).sum()
            }
        };
        match is_close(found, expected, slack) {
            true => Second::Same,
            false => Second::Other(expected),
        }
    }

    /// The mean numbers of jobs of the types, by this method.
    pub(super) fn numbers(&self, method: Method) -> Result<Numbers, Second> {
        let policy = self.rule.msr().ok_or(Second::Nothing)?;
        let types = self.workload.types().len();
        let affords = |work: f64| match self.budget.affords(work) {
            true => Ok(()),
            false => Err(Second::TooLarge),
        };
        affords(STAGE)?;
        let round = Round::of(self.workload, policy).ok_or(Second::TooLarge)?;
        affords(STAGE * (round.serving.len() * types) as f64)?;
        let loads = round.loads(self.workload);
        let spare = loads
            .iter()
            .fold(1.0, |spare, load| f64::min(spare, 1.0 - load));
        if spare <= 0.0 {
            return Err(Second::Unstable);
        }
        let asked = vec![Asked::default(); types];
        let queues = Queues::new((&self.rule, &round), self.workload, asked, self.budget);
        let queues = queues.ok_or(Second::Nothing)?;
        let approximate = method == Method::ApproximationQueueLength;
        if !approximate && !queues.affords(None) {
            return Err(Second::TooLarge);
        }
        let mean = |i: usize| match approximate {
            true => Some(queues.bound(i, Quantity::MeanNumber)),
            false => queues.mean_number(i),
        };
        let means: Option<Vec<f64>> = (0..types).map(mean).collect();
        Ok(Numbers {
            means: means.ok_or(Second::Nothing)?,
            slack: AGREEMENT + 200.0 * f64::EPSILON / spare,
        })
    }
}
