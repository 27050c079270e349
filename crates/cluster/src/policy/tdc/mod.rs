mod target;

use super::drain::Drains;
use super::room::{Packed, Words};
use super::{Event, Policy, System};
use crate::artifact::TdcPolicy;
use crate::schedule::Packing;
use crate::workload::Workload;
use target::{DecisionState, Kinds, Lead, Making, Target};

/// Targets, drain, commitment (TDC), without preemption: of all that might run together what earns
/// most a time, the way there included.
///
/// With Q_i jobs of type i in the system, one in service is worth `v_i = p_i g_i Q_i^a`, where
/// `g_i = (p_i E[S_i] / their geometric mean)^−β`.
/// - *Commitment.* A job starts of itself only if it, and the jobs in service that are as long or longer by their types'
///   means, leave room for what shorter types bring while it runs:
///   `ζ Σ_k (1 − E[S_k]/E[S_i]) λ_k E[S_k] d_k` over these, of each resource.
/// - *Targets.* What runs, filled with waiting jobs; for each waiting type, which then leads, three sets of jobs
///   with more of it (`Making`); and the schedules of the program, led by what they lack most. Each is filled with
///   running jobs, the longest first, then with waiting ones that may start of themselves.
/// - *Drain.* If room for one more of the lead takes D, a target u earns what runs on and what leaves works
///   meanwhile, and then `Σ v_i u_i` for `F = η Q_j E[S_j] / u_j`: all that over D + F. The last choice counts 1 + δ
///   times. During the drain other jobs start that are no longer than κ times what would be left of it if
///   all running jobs no longer than they had left.
///
/// All is weighed at each completion, and where a type comes to wait: O((K + N) K) with N schedules. Ours;
/// it has no proof of stability.
#[derive(Clone, Debug)]
struct Tdc<U> {
    kinds: Kinds<U>,
    state: DecisionState<U>,
    /// Whom room is made for, and the type that leads.
    lead: Lead,
    leads: Option<usize>,
    /// What is to run.
    target: Target<U>,
    /// Another target that is looked at.
    other: Target<U>,
    drains: Drains,
}

/// The rule of a policy for this workload: for servers whose room is one word, or more.
pub(super) fn rule(policy: &TdcPolicy, workload: &Workload) -> Box<dyn Policy> {
    match Packed::new(&Packing::new(workload)).words() {
        1 => Box::new(Tdc::<[u64; 1]>::new(policy, workload)),
        _ => Box::new(Tdc::<Vec<u64>>::new(policy, workload)),
    }
}

impl<U: Words> Policy for Tdc<U> {
    fn react(&mut self, event: Event, system: &mut System) {
        // One more that waits behind others of its type changes little: all is weighed at the next
        // completion.
        if !matches!(event, Event::Arrival(i) if system.waiting(i) > 1) {
            self.state.look(&self.kinds, system);
            let before = self.lead;
            self.choose(system);
            if before != self.lead && self.lead != Lead::None {
                system.count_switch();
            }
            self.start(system);
        }
    }
}

impl<U: Words> Tdc<U> {
    fn new(policy: &TdcPolicy, workload: &Workload) -> Self {
        let kinds = Kinds::new(policy, workload);
        Tdc {
            state: DecisionState::new(&kinds),
            lead: Lead::None,
            leads: None,
            target: Target::new(&kinds),
            other: Target::new(&kinds),
            drains: Drains::new(workload),
            kinds,
        }
    }

    /// The target that earns most a time.
    fn choose(&mut self, system: &System) {
        let (kinds, state) = (&self.kinds, &self.state);
        let last = self.lead;
        self.target.stay(kinds, state);
        let all_run = self.target.jobs == state.there;
        let mut most = self.target.worth;
        if last == Lead::None {
            most *= 1.0 + self.kinds.knobs.margin;
        }
        (self.lead, self.leads) = (Lead::None, None);
        if all_run {
            return;
        }
        // The last first: the greater what is to beat, the fewer targets have to be priced.
        self.consider(last, 1.0 + self.kinds.knobs.margin, &mut most, system);
        let mut consider = |lead: Lead, rule: &mut Self| {
            if lead != last {
                rule.consider(lead, 1.0, &mut most, system);
            }
        };
        for n in 0..self.state.waiting.len() {
            for way in Making::WAYS {
                consider(Lead::Type(self.state.waiting[n], way), self);
            }
        }
        (0..self.kinds.schedules.len()).for_each(|s| consider(Lead::Schedule(s), self));
    }

    /// Takes a lead if its target earns more than `most`.
    fn consider(&mut self, lead: Lead, bonus: f64, most: &mut f64, system: &System) {
        let Some(leads) = self.other.aim(lead, &self.kinds, &self.state) else {
            return;
        };
        // A drain earns no more than what runs, and that no more than what is to beat.
        if self.other.worth * bonus <= *most {
            return;
        }
        let earns = bonus * self.earns(leads, system);
        if earns > *most {
            *most = earns;
            (self.lead, self.leads) = (lead, Some(leads));
            std::mem::swap(&mut self.target, &mut self.other);
        }
    }

    /// What the other target earns a time, the drain included, until what waits of its lead is done.
    fn earns(&mut self, leads: usize, system: &System) -> f64 {
        let target = &self.other;
        let (kinds, state) = (&self.kinds, &self.state);
        let drain = self.drains.wait(leads, &target.jobs, 0.0, system);
        if drain <= 0.0 {
            return target.worth;
        }
        let lets_in = self.kinds.knobs.let_in * drain;
        let mut earned = 0.0;
        for &k in &state.long {
            let own = &kinds.types[k];
            let stay = state.running[k].min(target.jobs[k]);
            let leave = f64::from(state.running[k] - stay);
            let time = if own.mean <= lets_in {
                drain
            } else {
                self.drains.works(k, drain)
            };
            earned += state.value[k] * (f64::from(stay) * drain + leave * time);
        }
        let backlog = system.present(leads) as f64 * kinds.types[leads].mean;
        let lasts = self.kinds.knobs.patience * backlog / f64::from(target.jobs[leads]);
        (earned + lasts * target.worth) / (drain + lasts)
    }

    /// Starts what fits of the target, and during a drain what is gone before it ends.
    fn start(&mut self, system: &mut System) {
        let jobs = &self.target.jobs;
        for &i in self.leads.iter().chain(&self.state.waiting) {
            while jobs[i] > system.running(i) && system.waiting(i) > 0 && system.fits(i) {
                system.start(i);
            }
        }
        let Some(lead) = self.leads.filter(|i| jobs[*i] > system.running(*i)) else {
            return;
        };
        for &i in &self.state.waiting {
            if i == lead || system.waiting(i) == 0 || !system.fits(i) {
                continue;
            }
            let mean = self.kinds.types[i].mean;
            let left = self.drains.wait(lead, jobs, mean, system);
            if mean <= self.kinds.knobs.let_in * left {
                while system.waiting(i) > 0 && system.fits(i) {
                    system.start(i);
                }
            }
        }
    }
}
