use itertools::iproduct;
use schemars::JsonSchema;
use serde::Serialize;

use synth_multiresource::policy::{
    Backfilling, Estimates, Placement, Priority, QueueOrder, Reservations, RuntimeEstimate,
};

/// A backfilling rule, with its order, its estimate, its reservations and the maximum wait.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct QueueRule {
    /// The order of the queue, where the offset is in seconds.
    pub order: Priority,
    /// The estimate of the size of a job that is used for the order.
    pub estimate: RuntimeEstimate,
    /// The set of jobs that have a reservation.
    pub reservations: Reservations,
    /// The time in seconds after which a job is moved to the front of the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_wait: Option<f64>,
}

impl QueueRule {
    /// EASY backfilling in the order of arrival, using limits. This is what most sites use.
    pub const EASY: QueueRule = QueueRule {
        order: Priority::ARRIVAL,
        estimate: RuntimeEstimate::Limit,
        reservations: Reservations::First,
        longest_wait: None,
    };

    /// First-Fit in the order of arrival.
    pub const FIRST_FIT: QueueRule = QueueRule {
        reservations: Reservations::None,
        ..QueueRule::EASY
    };

    /// Returns the rule in a time unit where the length of one second is `second`.
    pub(super) fn choices(&self, second: f64) -> Backfilling {
        let order = Priority {
            offset: self.order.offset * second,
            ..self.order
        };
        Backfilling {
            order: QueueOrder::Jobs(order),
            estimate: self.estimate,
            reservations: self.reservations,
            estimates: Estimates::Limits,
            placement: Placement::Best,
            longest_wait: self.longest_wait.map(|time| time * second),
        }
    }

    /// Parses `easy`, `first-fit` or `strict`, with an optional order such as `easy+sjf`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let order = if text.contains('+') { "" } else { "+fcfs" };
        let with_order = format!("{text}{order}");
        let choices = Backfilling::parse(&with_order).unwrap_or_else(|| Err(text.to_owned()))?;
        use Reservations::{First, None as Nobody, Strict};
        match (choices.order, choices.estimates) {
            _ if !matches!(choices.reservations, First | Nobody | Strict) => Err(format!(
                "`{text}` has more than one reservation, but the current rule must be easy, first-fit or strict"
            )),
            (QueueOrder::Jobs(order), Estimates::Limits) => Ok(QueueRule {
                order,
                estimate: choices.estimate,
                reservations: choices.reservations,
                longest_wait: None,
            }),
            _ => Err(format!(
                "`{text}` uses the size of a job, which is not known when the job arrives"
            )),
        }
    }

    /// Returns the name, such as `easy+sjf+history`, or the exponents and the offset of the order.
    pub fn name(&self) -> String {
        let own = &self.order;
        let order = match Priority::NAMED.iter().find(|named| named.1 == *own) {
            Some((name, _)) => (*name).to_owned(),
            None => {
                let offset = own.offset / HOUR;
                format!("order({},{},{},{offset:.1}h)", own.size, own.share, own.age)
            }
        };
        let estimate = match self.estimate {
            RuntimeEstimate::Limit => String::new(),
            other => format!("+{}", other.name()),
        };
        let hours = self.longest_wait.map(|time| time / HOUR);
        let guarantee = hours.map(|hours| format!(", first after {hours:.1} h"));
        let guarantee = guarantee.unwrap_or_default();
        format!("{}+{order}{estimate}{guarantee}", self.reservations.rule())
    }

    /// Returns the rule as a policy file that can be edited by the user.
    pub fn document(&self) -> serde_json::Result<String> {
        let order = &self.order;
        let mut text = format!(
            "backfilling:\n  order: {{size: {}, share: {}",
            order.size, order.share
        );
        if order.changes_with_time() {
            text += &format!(", age: {}, offset: {} s", order.age, order.offset);
        }
        let reservations = serde_json::to_string(&self.reservations)?;
        text += &format!(
            "}}\n  estimate: {}\n  reservations: {reservations}\n",
            self.estimate.name()
        );
        if let Some(time) = self.longest_wait {
            text += &format!("  longest-wait: {time} s\n");
        }
        Ok(text)
    }
}

const HOUR: f64 = 3600.0;

/// Returns orders between and beyond the common ones, as variants of `kinds`.
pub(super) fn between(kinds: &[QueueRule]) -> Vec<QueueRule> {
    const FORMS: [(f64, f64); 5] = [(1.0, -0.5), (1.0, 0.0), (1.0, 0.5), (1.0, 1.0), (0.5, -0.5)];
    const AGES: [(f64, f64); 4] = [
        (1.0, 3600.0),
        (1.0, 36_000.0),
        (2.0, 50_000.0),
        (3.0, 50_000.0),
    ];
    let point = |(kind, (size, share), (age, offset)): (&QueueRule, _, _)| QueueRule {
        order: Priority {
            size,
            share,
            age,
            offset,
        },
        longest_wait: None,
        ..*kind
    };
    iproduct!(kinds, FORMS, AGES).map(point).collect()
}

pub(super) fn common_rules(estimates: &[RuntimeEstimate]) -> Vec<QueueRule> {
    let reservations = [Reservations::First, Reservations::None];
    let all = iproduct!(reservations, Priority::NAMED, estimates);
    let all = all.map(|(reservations, (_, order), estimate)| QueueRule {
        order,
        estimate: *estimate,
        reservations,
        longest_wait: None,
    });
    let differs = |own: &QueueRule| own.order.size != 0.0 || own.estimate == estimates[0];
    all.filter(differs).collect()
}

/// Returns the rules in common use that can be set in Slurm: EASY with orders by limits that do
/// not change with time.
pub fn slurm_rules() -> Vec<QueueRule> {
    let mut rules = common_rules(&[RuntimeEstimate::Limit]);
    let is_easy = |own: &QueueRule| own.reservations == QueueRule::EASY.reservations;
    rules.retain(|own| is_easy(own) && !own.order.changes_with_time());
    rules
}

/// Returns the rules in common use, and then EASY with orders by known sizes (`true`). Without
/// limits, all rules use the history.
pub fn baseline_rules(has_limits: bool) -> impl Iterator<Item = (QueueRule, bool)> {
    let estimates = &[RuntimeEstimate::Limit, RuntimeEstimate::History][usize::from(!has_limits)..];
    let by_size =
        |own: &QueueRule| own.reservations == QueueRule::EASY.reservations && own.order.size != 0.0;
    let known = common_rules(&estimates[..1]).into_iter().filter(by_size);
    let common = common_rules(estimates).into_iter();
    let common = common.map(|point| (point, false));
    common.chain(known.map(|point| (point, true)))
}
