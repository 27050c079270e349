//! What the theory says of a policy, and the policies.
use synth::ctmc::RelativeCompletions;
use synth::multiresource::analysis::{PaperBounds, TypeQueue, erlang_c};
use synth::multiresource::artifact::{Backfill, EmptySlots, MsrPolicy, Preemption, Route};
use synth::multiresource::modulation::Modulation;
use synth::multiresource::synthesis::{Options, Outcome, Outlook, PHASE_LIMIT, synthesize};
use synth::multiresource::workload::Workload;

use crate::Result;

/// Mean numbers \[jobs\] under one policy: of one type, or a weighted sum over types.
#[derive(Clone, Copy, Default)]
pub struct Theory {
    pub lower: f64,
    pub exact: f64,
    pub approximation: f64,
    pub upper: f64,
    /// Lower bound, approximation and upper bound as the paper prints them.
    pub printed: [f64; 3],
}

impl Theory {
    pub fn of_type(queue: &TypeQueue<'_>) -> Result<Self> {
        let bounds = queue.bounds();
        Ok(Theory {
            lower: bounds.lower,
            exact: queue.mean_number(f64::INFINITY)?,
            approximation: bounds.approximation,
            upper: bounds.upper,
            printed: printed(queue, &bounds),
        })
    }

    pub fn plus(self, weight: f64, other: &Theory) -> Theory {
        let add = |n: usize| self.printed[n] + weight * other.printed[n];
        Theory {
            lower: self.lower + weight * other.lower,
            exact: self.exact + weight * other.exact,
            approximation: self.approximation + weight * other.approximation,
            upper: self.upper + weight * other.upper,
            printed: [add(0), add(1), add(2)],
        }
    }
}

/// Theorem 8 and section 6.4 to the letter: the law v weighs the states by their completions, and
/// Δ is taken in the state *before* the completion.
pub fn printed(queue: &TypeQueue<'_>, bounds: &PaperBounds) -> [f64; 3] {
    let queue = queue.queue();
    let ahead = RelativeCompletions::new(queue).ahead;
    let served = queue.environment().law().iter().zip(queue.servers());
    let flow = served.map(|(p, servers)| p * f64::from(*servers) * queue.service_rate());
    let before = flow.zip(&ahead).map(|(f, a)| f * a).sum::<f64>() / queue.capacity();
    let (load, offered) = (bounds.load, queue.arrival_rate() / queue.service_rate());
    let primary = (load + before) / (1.0 - load);
    let (least, most) = bounds.range_ahead;
    let (lower, upper) = (
        primary - most,
        primary - least + f64::from(queue.most_servers()),
    );
    let waits = erlang_c(offered / load, offered);
    let guess = waits * load * (1.0 + before) / (1.0 - load) + offered;
    [lower, guess.min(upper).max(lower), upper]
}

pub fn by_type(workload: &Workload, policy: &MsrPolicy) -> Result<Vec<Theory>> {
    let modulation = Modulation::new(workload, policy, PHASE_LIMIT)?;
    let queue = |i| TypeQueue::new(workload, &modulation, policy.preemption, i);
    (0..workload.types().len())
        .map(|i| Theory::of_type(&queue(i)))
        .collect()
}

/// Of all jobs: what Little's law turns into the mean response time.
pub fn total(workload: &Workload, policy: &MsrPolicy) -> Result<Theory> {
    let types = by_type(workload, policy)?;
    Ok(types.iter().fold(Theory::default(), |t, k| t.plus(1.0, k)))
}

/// The paper's E[Q] (section 3.6): Σ λ_i E[Q_i] / Λ.
pub fn weighted(workload: &Workload, policy: &MsrPolicy) -> Result<Theory> {
    let rate = |i: usize| workload.types()[i].arrival_rate() / workload.total_arrival_rate();
    let types = by_type(workload, policy)?.into_iter().enumerate();
    Ok(types.fold(Theory::default(), |t, (i, k)| t.plus(rate(i), &k)))
}

/// The model's workload at another load; the document's own is .9 exactly.
pub fn at_load(workload: &Workload, load: f64) -> Result<Workload> {
    Ok(workload.scaled(load / 0.9)?)
}

/// What the analysis is exact for: no backfilling, empty slots keep their clocks.
pub fn plain(preemption: Preemption, route: Option<Route>) -> Options {
    Options {
        route,
        backfill: Backfill::None,
        empty_slots: EmptySlots::Phantom,
        // Means and rates; no percentiles, which take most of the work.
        effort: 0.01,
        ..Options::new(preemption)
    }
}

/// The policy at its best switching rate (pMSR: at 2), and what was found on the way.
pub fn tuned(workload: &Workload, options: &Options) -> Result<(MsrPolicy, Outlook)> {
    let Outcome::Policy(made) = synthesize(workload, options)? else {
        return Err("no policy can stabilize this workload".into());
    };
    let policy = made.policy;
    let taken = made.routes.into_iter().find(|r| r.route == policy.route);
    let outlook = taken.and_then(|r| r.outlook).ok_or("no route was listed")?;
    Ok((policy, outlook))
}

pub fn nmsr(workload: &Workload, route: Option<Route>) -> Result<(MsrPolicy, Outlook)> {
    tuned(workload, &plain(Preemption::None, route))
}

pub fn pmsr(workload: &Workload) -> Result<MsrPolicy> {
    Ok(tuned(workload, &plain(Preemption::Full, None))?.0)
}

pub fn smsr(workload: &Workload, gamma: f64, route: Option<Route>) -> Result<MsrPolicy> {
    let options = Options {
        setup_rate: Some(gamma),
        ..plain(Preemption::Setup, route)
    };
    Ok(tuned(workload, &options)?.0)
}

pub fn at_rate(policy: &MsrPolicy, switching_rate: f64) -> MsrPolicy {
    MsrPolicy {
        switching_rate,
        ..policy.clone()
    }
}

pub fn with_backfilling(policy: &MsrPolicy) -> MsrPolicy {
    MsrPolicy {
        backfill: Backfill::FirstFit,
        empty_slots: EmptySlots::Release,
        ..policy.clone()
    }
}

/// `count` numbers from low to high, equally spaced on a logarithmic scale.
pub fn spread(low: f64, high: f64, count: usize) -> Vec<f64> {
    let step = (high / low).ln() / (count - 1) as f64;
    (0..count).map(|k| low * (step * k as f64).exp()).collect()
}
