mod kinds;
mod target;

use super::drain::Drains;
use super::room::{Packed, Words};
use super::{Event, Policy, System};
use crate::multiresource::artifact::{TdcKnobs, TdcPolicy};
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Workload;
use kinds::Kinds;
use target::{Lead, Making, Scene, Target};

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
pub struct Tdc(Width);

/// The rule, for servers whose room is one word and for others.
#[derive(Clone, Debug)]
enum Width {
    One(Box<Rule<[u64; 1]>>),
    Any(Box<Rule<Vec<u64>>>),
}

impl Tdc {
    /// The rule of a policy for this workload.
    pub fn new(policy: &TdcPolicy, workload: &Workload) -> Self {
        let packed = Packed::new(&Packing::new(workload));
        Tdc(match packed.words() {
            1 => Width::One(Box::new(Rule::new(policy, workload))),
            _ => Width::Any(Box::new(Rule::new(policy, workload))),
        })
    }
}

impl Policy for Tdc {
    fn react(&mut self, event: Event, system: &mut System) {
        match &mut self.0 {
            Width::One(rule) => rule.react(event, system),
            Width::Any(rule) => rule.react(event, system),
        }
    }
}

#[derive(Clone, Debug)]
struct Rule<U> {
    knobs: TdcKnobs,
    kinds: Kinds<U>,
    scene: Scene<U>,
    /// Whom room is made for, and the type that leads.
    lead: Lead,
    leads: Option<usize>,
    /// What is to run.
    target: Target<U>,
    /// Another target that is looked at.
    other: Target<U>,
    drains: Drains,
}

impl<U: Words> Rule<U> {
    fn new(policy: &TdcPolicy, workload: &Workload) -> Self {
        let kinds = Kinds::new(policy, workload);
        Rule {
            knobs: policy.knobs,
            scene: Scene::new(&kinds),
            lead: Lead::Nobody,
            leads: None,
            target: Target::new(&kinds),
            other: Target::new(&kinds),
            drains: Drains::new(workload),
            kinds,
        }
    }

    fn react(&mut self, event: Event, system: &mut System) {
        // One more that waits behind others of its type changes little: all is weighed at the next
        // completion.
        let weighed = match event {
            Event::Arrival(i) => system.waiting(i) == 1,
            _ => true,
        };
        if weighed {
            self.scene.look(&self.kinds, system);
            let before = self.lead;
            self.choose(system);
            if before != self.lead && self.lead != Lead::Nobody {
                system.count_switch();
            }
            self.start(system);
        }
    }

    /// The target that earns most a time.
    fn choose(&mut self, system: &System) {
        let (kinds, scene) = (&self.kinds, &self.scene);
        let last = self.lead;
        self.target.stay(kinds, scene);
        let all_run = self.target.jobs == scene.there;
        let mut most = self.target.worth;
        if last == Lead::Nobody {
            most *= 1.0 + self.knobs.margin;
        }
        (self.lead, self.leads) = (Lead::Nobody, None);
        if all_run {
            return;
        }
        // The last first: the greater what is to beat, the fewer targets have to be priced.
        self.consider(last, 1.0 + self.knobs.margin, &mut most, system);
        for n in 0..self.scene.waiting.len() {
            let i = self.scene.waiting[n];
            for way in Making::WAYS {
                self.consider_new(Lead::Type(i, way), last, &mut most, system);
            }
        }
        for s in 0..self.kinds.schedules.len() {
            self.consider_new(Lead::Schedule(s), last, &mut most, system);
        }
    }

    fn consider_new(&mut self, lead: Lead, last: Lead, most: &mut f64, system: &System) {
        if lead != last {
            self.consider(lead, 1.0, most, system);
        }
    }

    /// Takes a lead if its target earns more than `most`.
    fn consider(&mut self, lead: Lead, bonus: f64, most: &mut f64, system: &System) {
        let Some(leads) = self.other.aim(lead, &self.kinds, &self.scene) else {
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
        let (kinds, scene) = (&self.kinds, &self.scene);
        let drain = self.drains.wait(leads, &target.jobs, 0.0, system);
        if drain <= 0.0 {
            return target.worth;
        }
        let lets_in = self.knobs.let_in * drain;
        let mut earned = 0.0;
        for &k in &scene.long {
            let own = &kinds.types[k];
            let stay = scene.running[k].min(target.jobs[k]);
            let leave = f64::from(scene.running[k] - stay);
            let time = if own.mean <= lets_in {
                drain
            } else {
                self.drains.works(k, drain)
            };
            earned += scene.value[k] * (f64::from(stay) * drain + leave * time);
        }
        let backlog = system.present(leads) as f64 * kinds.types[leads].mean;
        let lasts = self.knobs.patience * backlog / f64::from(target.jobs[leads]);
        (earned + lasts * target.worth) / (drain + lasts)
    }

    /// Starts what fits of the target, and during a drain what is gone before it ends.
    fn start(&mut self, system: &mut System) {
        let jobs = &self.target.jobs;
        let start = |i: usize, system: &mut System| {
            let more = jobs[i].saturating_sub(system.running(i));
            for _ in 0..more.min(system.waiting(i)) {
                if !system.fits(i) {
                    break;
                }
                system.start(i);
            }
        };
        let lead = self.leads;
        if let Some(lead) = lead {
            start(lead, system);
        }
        for &i in &self.scene.waiting {
            start(i, system);
        }
        let Some(lead) = lead.filter(|i| jobs[*i] > system.running(*i)) else {
            return;
        };
        for &i in &self.scene.waiting {
            if i == lead || system.waiting(i) == 0 || !system.fits(i) {
                continue;
            }
            let mean = self.kinds.types[i].mean;
            let left = self.drains.wait(lead, jobs, mean, system);
            if mean <= self.knobs.let_in * left {
                while system.waiting(i) > 0 && system.fits(i) {
                    system.start(i);
                }
            }
        }
    }
}
