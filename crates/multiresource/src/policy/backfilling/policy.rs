use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Backfilling, Estimates, LearnedRuntimes, Priority, QueueOrder, Reservations, RuntimeEstimate,
    TypeOrder, named::PRESETS,
};
use crate::policy::hosts::{Placement, Zone};
use crate::policy::pooled::{Pooled, RESERVES};
use crate::policy::rule::{PolicyConfig, TuningContext, describe_settings, is_zero, require_known};
use crate::policy::{Policy, Unsuitable};
use crate::workload::{Fleet, SizeInformation, Workload};
use synth_core::artifact::{Findings, nonnegative};
use synth_core::number::{format_number, in_words};

/// The settings of backfilling: order, reservations, size estimates and placement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackfillingConfig {
    /// The order of the queue.
    pub order: QueueOrder,
    /// The waiting jobs that must not be delayed by later jobs.
    pub reservations: Reservations,
    /// The method that is used to estimate the size of a job. The default is the mean of its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<RuntimeEstimate>,
    /// The initial state of the estimates that are learned.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub learned: LearnedRuntimes,
    /// A job that has waited longer than this \[time\] moves to the head of the queue, in order of
    /// arrival, and gets a reservation. Must be at least 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_wait: Option<f64>,
    /// The server of a fleet on which a job starts. Must not be set for a single server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// The factor `ζ`, which must be at least 0. A job may only start if it leaves capacity for `ζ`
    /// times the jobs of each shorter type that arrive while it runs and are served immediately.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reserve: f64,
    /// The servers that only accept jobs of some of the types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<Zone>,
}

fn is_nothing(learned: &LearnedRuntimes) -> bool {
    *learned == LearnedRuntimes::default()
}

impl BackfillingConfig {
    /// Returns the settings for one server or, with a placement, for a fleet.
    pub fn new(choices: Backfilling, is_one_server: bool) -> Self {
        let estimate = match choices.estimates {
            Estimates::Means => None,
            Estimates::Limits | Estimates::Inflated(_) => Some(choices.estimate),
        };
        BackfillingConfig {
            order: choices.order,
            reservations: choices.reservations,
            estimate,
            learned: LearnedRuntimes::default(),
            longest_wait: choices.longest_wait,
            placement: (!is_one_server).then_some(choices.placement),
            reserve: 0.0,
            zone: None,
        }
    }

    /// Returns the settings for the options that were selected by a user.
    ///
    /// # Errors
    /// Returns an error if the order uses sizes, or if the servers do not support the reservations.
    pub fn of(choices: Backfilling, fleet: &Fleet) -> Result<Self, Unsuitable> {
        if choices.estimates != Estimates::Limits {
            let why = "a policy file cannot use the size of a job, because it is not known when the job arrives; use limit, ratio, history or tree";
            return Err(Unsuitable(why.into()));
        }
        choices.reservations.suit(fleet)?;
        Ok(BackfillingConfig::new(choices, fleet.is_one_server()))
    }

    /// Returns the order of individual jobs, if it has one.
    pub fn priority(&self) -> Option<&Priority> {
        match &self.order {
            QueueOrder::Jobs(priority) => Some(priority),
            QueueOrder::Types(_) => None,
        }
    }

    fn keeps_capacity(&self) -> bool {
        self.reserve > 0.0 || self.zone.is_some()
    }

    fn is_greedy(&self) -> bool {
        matches!(self.reservations, Reservations::None | Reservations::Strict)
    }

    fn choices(&self) -> Backfilling {
        Backfilling {
            order: self.order,
            estimate: self.estimate.unwrap_or_default(),
            reservations: self.reservations,
            estimates: (self.estimate).map_or(Estimates::Means, |_| Estimates::Limits),
            placement: self.placement.unwrap_or_default(),
            longest_wait: self.longest_wait,
        }
    }
}

impl PolicyConfig for BackfillingConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        if self.keeps_capacity() {
            return Box::new(Pooled::new(self, fleet));
        }
        let mut choices = self.choices();
        let is_easy_over_fleet = self.priority().is_none() && self.is_for_fleet();
        if is_easy_over_fleet && self.estimate.is_some() && !fleet.envelope().has_limits() {
            // If there are no limits, the exact sizes are used as limits.
            choices.estimates = Estimates::Inflated(1.0);
        }
        choices.with_learned(fleet.envelope(), fleet.servers(), &self.learned)
    }

    fn describe(&self, workload: &Workload) -> String {
        let unit = workload.time_unit();
        let size = match self.estimate {
            None => "mean size of their types",
            Some(RuntimeEstimate::Limit) => "limit",
            Some(_) => "estimate",
        };
        let by_type = |order: TypeOrder| match order {
            TypeOrder::Arrival => "first come, first served",
            TypeOrder::Largest => "largest dominant share first",
            TypeOrder::Smallest => "smallest dominant share first",
            TypeOrder::Priority => "types with the highest priority first",
        };
        let order = match self.order {
            QueueOrder::Types(order) => by_type(order).into(),
            QueueOrder::Jobs(priority) => priority.describe(size, unit),
        };
        let overdue = self.longest_wait.map_or(String::new(), |time| {
            let time = in_words(time, unit);
            format!(" A job that has waited for {time} is moved to the head of the queue.")
        });
        let estimate = match self.estimate {
            None | Some(RuntimeEstimate::Limit) => "",
            Some(RuntimeEstimate::Ratio) => {
                " The estimate of a job is its limit times the usual ratio of size to limit."
            }
            Some(RuntimeEstimate::History) => {
                " The estimate of a job is learned from the last jobs of the same user, share and limit."
            }
            Some(RuntimeEstimate::Tree) => {
                " The estimate of a job is a regression on its request and on earlier jobs."
            }
        };
        let placement = match self.placement {
            None => "",
            Some(Placement::First) => " A job starts on the first server where it fits.",
            Some(Placement::Best) => {
                " A job starts on the server with the least free capacity on which it fits."
            }
        };
        let reserve = match self.reserve {
            0.0 => String::new(),
            zeta => format!(
                " Some capacity is kept for shorter jobs: a job of type i can only start on a server if, for each shorter type j, there is still enough capacity for at least {zeta} (1 − E[S_j]/E[S_i]) λ_j E[S_j] jobs of type j on all servers, next to the jobs that are longer than type j."
            ),
        };
        let zone = self.zone.as_ref().map(|zone| zone.words(workload));
        let zone = zone.unwrap_or_default();
        format!(
            "Backfilling without preemption: {}; order of the queue: {order}.{overdue}{estimate}{placement}{reserve}{zone}",
            self.reservations.words(self.estimate.is_some()),
        )
    }

    fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        if let Some(time) = self.longest_wait
            && !(time >= 0.0 && time.is_finite())
        {
            findings.differs("longest_wait", format_number(time), "a time ≥ 0");
        }
        if let Err(why) = self.reservations.suit(fleet) {
            findings.add("reservations", why.0);
        }
        nonnegative("reserve", self.reserve, findings);
        if let Some(zone) = &self.zone {
            zone.check(fleet, findings);
        }
        let mut only = |path: &'static str, is_absent: bool, place: &str| {
            if !is_absent {
                findings.add(path, format!("is possible only {place}"));
            }
        };
        if self.keeps_capacity() {
            let path = self.zone.as_ref().map_or("reserve", |_| "zone");
            only(path, self.is_for_fleet(), "over a fleet, with a placement");
            let is_known = match self.reservations {
                Reservations::None => self.priority().is_none(),
                Reservations::Strict => self.order == QueueOrder::Types(TypeOrder::Arrival),
                _ => false,
            };
            let place = "without reservations and in an order of types";
            only(path, is_known, place);
        }
        match self.order {
            QueueOrder::Jobs(priority) => {
                let has_estimate = self.estimate.is_some();
                only("order", has_estimate, "with an estimate of sizes");
                priority.check(findings);
            }
            QueueOrder::Types(_) => {
                let by_jobs = "with an order of jobs, such as {\"size\": 1, \"share\": 0}";
                let is_learned = !matches!(self.estimate, None | Some(RuntimeEstimate::Limit));
                only("estimate", !is_learned, by_jobs);
                only("learned", is_nothing(&self.learned), by_jobs);
                only("longest_wait", self.longest_wait.is_none(), by_jobs);
                let are_few = matches!(self.reservations, Reservations::Few(_));
                only("reservations", !are_few, by_jobs);
            }
        }
    }

    fn is_for_fleet(&self) -> bool {
        self.placement.is_some()
    }

    fn needs_limits(&self) -> bool {
        self.estimate == Some(RuntimeEstimate::Limit)
    }

    fn alias(&self) -> Option<&'static str> {
        if self.keeps_capacity() {
            return Some("pooled");
        }
        let is_one_server = self.placement.is_none();
        let is_own = |(_, preset): &&_| *self == Self::new(*preset, is_one_server);
        PRESETS.iter().find(is_own).map(|(name, _)| *name)
    }

    fn extra_work_per_event(&self, _: &Workload) -> f64 {
        match self.reservations {
            _ if self.priority().is_some() => 3.0,
            _ if self.is_for_fleet() || self.is_greedy() => 0.0,
            Reservations::All => 20.0,
            _ => 2.0,
        }
    }

    fn describe_parameters(&self, _: &Workload) -> Option<String> {
        let Some(order) = self.priority() else {
            return self.keeps_capacity().then(|| describe_settings(self))?;
        };
        let knobs = [order.size, order.share, order.age, order.offset];
        let knobs = ["size", "share", "age", "offset"].into_iter().zip(knobs);
        let knobs = knobs.filter(|(_, knob)| *knob != 0.0);
        let knobs: Vec<String> = knobs.map(|(name, x)| format!("{name} {x:.3}")).collect();
        let knobs = knobs.join(", ");
        Some(format!("{}, {knobs}", self.reservations.rule()))
    }

    fn grids(&mut self, _: &TuningContext<'_>) -> Vec<(&mut f64, &'static [f64])> {
        let is_greedy = self.is_greedy();
        match &mut self.order {
            QueueOrder::Jobs(order) => {
                let mut grids = vec![(&mut order.share, SHARES), (&mut order.size, SIZES)];
                // If the age is positive, an offset is required, so an age of 0 is not changed.
                if order.age > 0.0 {
                    grids.push((&mut order.age, AGES));
                }
                grids
            }
            QueueOrder::Types(_) if is_greedy && self.placement.is_some() => {
                let grid: &[f64] = if self.reserve > 0.0 { RESERVES } else { &[] };
                vec![(&mut self.reserve, grid)]
            }
            QueueOrder::Types(_) => Vec::new(),
        }
    }

    fn other_axes(&self, context: &TuningContext<'_>) -> usize {
        self.zone.as_ref().map_or(0, |_| context.servers.len())
    }

    fn step(&mut self, axis: usize, up: bool, context: &TuningContext<'_>) -> Option<()> {
        let zone = self.zone.as_mut()?;
        let (own, all) = (&mut zone.servers[axis], context.servers[axis]);
        let step = (all / 50).max(1);
        *own = if up {
            Some(*own + step).filter(|more| *more <= all)?
        } else {
            own.checked_sub(step)?
        };
        (zone.servers.iter().sum::<u32>() > 0).then_some(())
    }
}

const SHARES: &[f64] = &[-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 1.5];
const SIZES: &[f64] = &[0.25, 0.5, 1.0, 1.5, 2.0];
const AGES: &[f64] = &[0.25, 0.5, 1.0, 2.0, 3.0];

impl Backfilling {
    /// A description of the names that are accepted by [`Backfilling::parse`].
    pub const NAMES: &str = "BACKFILLING+ORDER or BACKFILLING+ORDER+ESTIMATE, such as easy+sjf+history; backfilling: easy (the head of the queue has a reservation), conservative (all jobs have one), first-fit (no job has one) or strict (no job passes the head); order: fcfs (arrival), sjf (shortest first), saf (smallest area first), widest (largest share first) or wfp3; estimate: limit (default), ratio (limit times the usual ratio), history (recent similar jobs), tree (a regression), or size";

    /// Parses a rule such as `easy+sjf` or `first-fit+saf+history`; `None` if there is no `+`.
    ///
    /// # Errors
    /// Returns an error if a word is unknown. The message lists the valid words.
    pub fn parse(text: &str) -> Option<Result<Self, String>> {
        let mut words = text.split('+');
        let (base, order) = (words.next()?, words.next()?);
        let rule = Self::of_words(base, order, words.next().unwrap_or("limit"));
        Some(match words.next() {
            None => rule,
            Some(more) => rule.and(Err(format!(
                "unexpected value `{more}` in `{text}`; for example, use easy+sjf+history"
            ))),
        })
    }

    fn of_words(base: &str, order: &str, estimate: &str) -> Result<Self, String> {
        let reservations = Reservations::of_rule(base).ok_or_else(|| {
            format!(
                "unknown backfilling `{base}`; use easy (the head has a reservation), conservative (all jobs have one), first-fit (no job has one) or strict (no job passes the head)"
            )
        })?;
        let priority = Priority::NAMED.iter().find(|(name, _)| *name == order);
        let (_, priority) = priority.ok_or_else(|| {
            format!(
                "unknown order `{order}`; use fcfs (arrival), sjf (shortest first), saf (smallest area first), widest (largest share first) or wfp3"
            )
        })?;
        let (by, estimates) = match estimate {
            "size" => (RuntimeEstimate::Limit, Estimates::Inflated(1.0)),
            other => {
                let or_size = |why| format!("{why}, or size (the exact size, as a baseline)");
                let by = RuntimeEstimate::parse(other).map_err(or_size)?;
                (by, Estimates::Limits)
            }
        };
        Ok(Backfilling {
            order: QueueOrder::Jobs(*priority),
            estimate: by,
            reservations,
            placement: match reservations {
                Reservations::None => Placement::First,
                _ => Placement::Best,
            },
            ..Backfilling::easy(estimates)
        })
    }

    /// Returns the online rule, which uses the declared information, or the sizes if there is none.
    ///
    /// # Errors
    /// Returns an error if the rule needs limits or sizes that are not known.
    pub fn with_declared_information(self, fleet: &Fleet) -> Result<Box<dyn Policy>, Unsuitable> {
        self.reservations.suit(fleet)?;
        let workload = fleet.envelope();
        let known = workload.size_information();
        let has_sizes = matches!(known, None | Some(SizeInformation::Size));
        let sizes = self.estimates != Estimates::Limits || has_sizes;
        require_known(workload, sizes)?;
        let estimates = match sizes {
            true => Estimates::Inflated(1.0),
            false => Estimates::Limits,
        };
        Ok(Backfilling { estimates, ..self }.over(fleet))
    }
}
