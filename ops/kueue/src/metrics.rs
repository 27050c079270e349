use k8s_openapi::jiff::Timestamp;
use tracing::info;

use crate::desk::{Concern, Desk, Round};

#[derive(Debug)]
pub struct Metrics {
    pub is_ready: bool,
    pub is_leader: bool,
    /// The time of the last round \[s since 1970\].
    last: i64,
    /// What the rule is doing, and the time since which it is doing this \[s since 1970\].
    doing: Option<(String, i64)>,
    values: synth_operator::Metrics,
}

impl Default for Metrics {
    fn default() -> Self {
        let help = include_str!("metrics.txt");
        Metrics {
            is_ready: false,
            is_leader: false,
            last: 0,
            doing: None,
            values: synth_operator::Metrics::new("synth_kueue_", help, &[]),
        }
    }
}

impl Metrics {
    pub fn answered(&mut self, code: u16) {
        if code >= 400 {
            info!(code, "refused");
            self.add("refusals_total", "code", &code.to_string());
        }
    }

    pub fn add(&mut self, name: &'static str, label: &str, value: &str) {
        *self.values.value(name, &[(label, value)]) += 1.0;
    }

    pub fn count(&mut self, desk: &Desk, round: &Round) {
        self.last = Timestamp::now().as_second();
        let doing = desk.operator.scheduler.activity();
        // If only the numbers are different, the state is the same.
        self.doing = doing.map(|doing| match &self.doing {
            Some((was, since)) if words(was) == words(&doing) => (doing, *since),
            _ => (doing, self.last),
        });
        for note in &round.notes {
            let kind = match note.concern {
                Concern::ReleasedByOthers => "released_by_others",
                Concern::Evicted => "evicted",
                Concern::Elsewhere => "elsewhere",
                _ => continue,
            };
            self.add("disagreements_total", "kind", kind);
        }
        let values = &mut self.values;
        desk.operator.count(values, &round.decided, self.last);
        values.set("jobs_without_type", round.untyped as f64);
        let longest = values.value("decision_seconds_longest", &[]);
        *longest = longest.max(round.decided.ms / 1e3);
        if let Some((_, since)) = &self.doing {
            values.set("policy_since_timestamp_seconds", *since as f64);
        }
    }

    /// Returns `true` if rounds are run, or if this replica does not act.
    pub fn is_healthy(&self) -> bool {
        !self.is_leader || Timestamp::now().as_second() - self.last < 60
    }

    pub fn text(&mut self) -> String {
        self.values.set("leader", f64::from(self.is_leader));
        self.values.text()
    }
}

pub fn words(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}
