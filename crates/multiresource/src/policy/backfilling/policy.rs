//! Backfilling in an order of one's own: its settings, and its names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Backfilling, Estimates, LearnedRuntimes, Priority, QueueOrder, Reservations, RuntimeEstimate,
};
use crate::policy::hosts::Placement;
use crate::policy::rule::{PolicyConfig, TuningContext, require_known};
use crate::policy::{Policy, Unsuitable};
use crate::workload::{Fleet, KnownSize, Workload};
use synth_core::artifact::Findings;
use synth_core::number::{in_words, shown};

/// Backfilling in an order of one's own: order, reservations, estimates and placement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackfillingConfig {
    /// Who is next.
    pub order: Priority,
    /// What the order takes for the size of a job.
    pub estimate: RuntimeEstimate,
    /// What has been learned of jobs, with which the estimates begin.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub learned: LearnedRuntimes,
    /// Who is not delayed by those that pass.
    pub reservations: Reservations,
    /// A job that has waited for longer goes to the head of the queue, in order of arrival, and has a reservation
    /// \[time\], ≥ 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_wait: Option<f64>,
    /// Over the servers of a fleet: where a job starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
}

/// The work of an event beyond that of First-Fit.
const WORK: f64 = 3.0;

impl BackfillingConfig {
    /// Returns the policy with these choices, for such servers.
    ///
    /// # Errors
    /// Where its order is none of each job's own, or goes by sizes, which nobody knows when jobs come.
    pub fn of(choices: Backfilling, fleet: &Fleet) -> Result<Self, Unsuitable> {
        let QueueOrder::Priority(order, estimate) = choices.order else {
            return Err(Unsuitable("its order is of types alone".into()));
        };
        if choices.estimates != Estimates::Limits {
            let why = "no policy file goes by sizes, which nobody knows when jobs come: take limit, ratio, history or tree";
            return Err(Unsuitable(why.into()));
        }
        choices.reservations.suit(fleet)?;
        Ok(BackfillingConfig {
            order,
            estimate,
            learned: LearnedRuntimes::default(),
            reservations: choices.reservations,
            longest_wait: choices.longest_wait,
            placement: (!fleet.is_one_server()).then_some(choices.placement),
        })
    }

    fn choices(&self) -> Backfilling {
        Backfilling {
            order: QueueOrder::Priority(self.order, self.estimate),
            reservations: self.reservations,
            estimates: Estimates::Limits,
            placement: self.placement.unwrap_or_default(),
            longest_wait: self.longest_wait,
        }
    }
}

impl PolicyConfig for BackfillingConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        let choices = self.choices();
        choices.with_learned(fleet.envelope(), fleet.servers(), &self.learned)
    }

    fn words(&self, workload: &Workload) -> String {
        let unit = workload.time_unit();
        let (size, from) = by(self.estimate);
        let promise = match self.longest_wait {
            Some(time) => format!(
                "; after {} of waiting a job goes first",
                in_words(time, unit)
            ),
            None => String::new(),
        };
        format!(
            "Backfilling, without preemption: {}; {}{promise}.{from}",
            self.order.words(size, unit),
            self.reservations.words()
        )
    }

    fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        self.order.check(findings);
        if let Some(time) = self.longest_wait
            && !(time >= 0.0 && time.is_finite())
        {
            findings.differs("longest_wait", shown(time), "a time from 0 on");
        }
        if let Err(why) = self.reservations.suit(fleet) {
            findings.add("reservations", why.0);
        }
    }

    fn pools(&self) -> bool {
        self.placement.is_some()
    }

    fn needs_limits(&self) -> bool {
        self.estimate == RuntimeEstimate::Limit
    }

    fn added_work(&self, _: &Workload) -> f64 {
        WORK
    }

    fn knobs_in_words(&self, _: &Workload) -> Option<String> {
        let order = &self.order;
        let knobs = [order.size, order.share, order.age, order.offset];
        let knobs = ["size", "share", "age", "offset"].into_iter().zip(knobs);
        let knobs = knobs.filter(|(_, knob)| *knob != 0.0);
        let knobs: Vec<String> = knobs.map(|(name, x)| format!("{name} {x:.3}")).collect();
        Some(format!(
            "{}, {}",
            self.reservations.rule(),
            knobs.join(", ")
        ))
    }

    fn grids(&mut self, _: &TuningContext<'_>) -> Vec<(&mut f64, &'static [f64])> {
        let mut grids = vec![
            (&mut self.order.share, SHARES),
            (&mut self.order.size, SIZES),
        ];
        // An age without an offset would be no order.
        if self.order.age > 0.0 {
            grids.push((&mut self.order.age, AGES));
        }
        grids
    }
}

/// Where tuning looks for the exponents of an order.
const SHARES: &[f64] = &[-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 1.5];
const SIZES: &[f64] = &[0.25, 0.5, 1.0, 1.5, 2.0];
const AGES: &[f64] = &[0.25, 0.5, 1.0, 2.0, 3.0];

impl Backfilling {
    /// The words that name a rule, and what they say.
    pub const NAMES: &str = "BACKFILLING+ORDER or BACKFILLING+ORDER+ESTIMATE, such as easy+sjf+history: easy (the head of the queue has a reservation), conservative (all have one), first-fit (none has one) or strict (nobody passes the head); fcfs (arrival), sjf (shortest first), saf (smallest area first), widest (largest share first) or wfp3; by limit (if not given), ratio (limit times the usual ratio), history (the last jobs like it), tree (a regression), or size";

    /// Returns the rule that words such as `easy+sjf`, `first-fit+saf+history` or `easy+wfp3+size` name; `None` where
    /// they have no `+`.
    ///
    /// # Errors
    /// Which word is none, and what it can be.
    pub fn parse(text: &str) -> Option<Result<Self, String>> {
        let mut words = text.split('+');
        let (base, order) = (words.next()?, words.next()?);
        let rule = Self::of_words(base, order, words.next().unwrap_or("limit"));
        Some(match words.next() {
            None => rule,
            Some(more) => rule.and(Err(format!(
                "`{more}` in `{text}` is too much: write such as easy+sjf+history"
            ))),
        })
    }

    fn of_words(base: &str, order: &str, estimate: &str) -> Result<Self, String> {
        let reservations = Reservations::of_rule(base).ok_or_else(|| {
            format!(
                "`{base}` is no way to backfill: easy (the head has a reservation), conservative (all have), first-fit (none has) or strict (nobody passes)"
            )
        })?;
        let priority = Priority::NAMED.iter().find(|(name, _)| *name == order);
        let (_, priority) = priority.ok_or_else(|| {
            format!(
                "`{order}` is no order: fcfs (arrival), sjf (shortest first), saf (smallest area first), widest (largest share first) or wfp3"
            )
        })?;
        let (by, estimates) = match estimate {
            "size" => (RuntimeEstimate::Limit, Estimates::Inflated(1.0)),
            other => {
                let by = RuntimeEstimate::parse(other);
                let by = by.map_err(|why| format!("{why}, or size (known, as a yardstick)"))?;
                (by, Estimates::Limits)
            }
        };
        Ok(Backfilling {
            order: QueueOrder::Priority(*priority, by),
            reservations,
            placement: match reservations {
                Reservations::None => Placement::First,
                _ => Placement::Best,
            },
            ..Backfilling::easy(estimates)
        })
    }

    /// Returns the online rule by what is known of the workload's jobs; sizes where nothing is said.
    ///
    /// # Errors
    /// Where it goes by limits that jobs do not have, or by sizes that are not known.
    pub fn by_what_is_known(self, fleet: &Fleet) -> Result<Box<dyn Policy>, Unsuitable> {
        self.reservations.suit(fleet)?;
        let workload = fleet.envelope();
        let sizes = self.estimates != Estimates::Limits
            || matches!(workload.known(), None | Some(KnownSize::Size));
        require_known(workload, sizes)?;
        let estimates = if sizes {
            Estimates::Inflated(1.0)
        } else {
            Estimates::Limits
        };
        Ok(Backfilling { estimates, ..self }.over(fleet))
    }
}

/// Returns what is taken for a job's size, and where that is from, in words.
fn by(estimate: RuntimeEstimate) -> (&'static str, &'static str) {
    match estimate {
        RuntimeEstimate::Limit => ("limit", ""),
        RuntimeEstimate::Ratio => (
            "estimate",
            " A job's estimate is its limit times the ratio of size to limit that is usual.",
        ),
        RuntimeEstimate::History => (
            "estimate",
            " A job's estimate is from the last jobs like it: of its user, with its share and its limit.",
        ),
        RuntimeEstimate::Tree => (
            "estimate",
            " A job's estimate is from a regression on what jobs promise and on those before them.",
        ),
    }
}

fn is_nothing(learned: &LearnedRuntimes) -> bool {
    *learned == LearnedRuntimes::default()
}
