//! What the controller has done and sees, as Prometheus reads it.

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;
use tracing::info;

use crate::desk::{Concern, Desk, Round};
use synth_core::document::exposition::{Exposition, label};

/// What is counted from the start on.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Whether all lists have been read.
    pub is_ready: bool,
    pub is_leader: bool,
    /// Gates removed, by type.
    pub released: BTreeMap<Option<usize>, u64>,
    /// Releases that were not carried out, by reason.
    pub failed: BTreeMap<&'static str, u64>,
    /// Answers that were refusals, by code.
    refused: BTreeMap<u16, u64>,
    /// What others did otherwise than was decided, by kind.
    disagreed: BTreeMap<&'static str, u64>,
    /// By type, its name, and how many wait and run.
    types: Vec<(String, [u64; 2])>,
    untyped: usize,
    rounds: u64,
    /// Time that rounds took, and the longest \[s\].
    seconds: f64,
    longest: f64,
    /// When the last one was \[s since 1970\].
    last: i64,
    /// What the rule does, and since when \[s since 1970\].
    doing: Option<(String, i64)>,
}

/// What each metric is.
const HELP: &str = include_str!("metrics.txt");

impl Metrics {
    /// Takes note that this replica acts from now on.
    pub fn begin(&mut self, desk: &Desk) {
        self.count(desk, &Round::default());
        self.is_leader = true;
    }

    /// Takes note of the code of an answer.
    pub fn answered(&mut self, code: u16) {
        if code >= 400 {
            info!(code, "refused");
            *self.refused.entry(code).or_default() += 1;
        }
    }

    /// Counts a round.
    pub fn count(&mut self, desk: &Desk, round: &Round) {
        self.last = Timestamp::now().as_second();
        self.rounds += 1;
        self.seconds += round.seconds;
        self.longest = self.longest.max(round.seconds);
        self.untyped = round.untyped;
        let doing = desk.scheduler.doing();
        // How many run is no switch.
        self.doing = doing.map(|doing| match &self.doing {
            Some((was, since)) if words(was) == words(&doing) => (doing, *since),
            _ => (doing, self.last),
        });
        if round.events > 0 || self.types.is_empty() {
            let types = desk.scheduler.places().types().map(str::to_owned);
            self.types = types.zip(desk.counts()).collect();
        }
        for note in &round.notes {
            let kind = match note.concern {
                Concern::ReleasedByOthers => "released_by_others",
                Concern::Evicted => "evicted",
                Concern::Elsewhere => "elsewhere",
                _ => continue,
            };
            *self.disagreed.entry(kind).or_default() += 1;
        }
    }

    /// Returns whether rounds go on, where this replica acts.
    pub fn is_healthy(&self) -> bool {
        !self.is_leader || Timestamp::now().as_second() - self.last < 60
    }

    /// Returns all of it.
    pub fn text(&self) -> String {
        let mut text = Exposition::new("synth_kueue_", HELP, &[]);
        text.one("leader", f64::from(u8::from(self.is_leader)));
        let types = self.types.iter();
        let types = types.map(|(name, counts)| (label("type", name), *counts));
        text.states("jobs", types);
        text.one("jobs_without_type", self.untyped as f64);
        let released = self.released.iter().map(|(i, n)| {
            let named = i.and_then(|i| self.types.get(i));
            (named.map_or("", |own| &own.0), n)
        });
        text.counts("releases_total", "type", released);
        text.counts("failed_releases_total", "reason", &self.failed);
        text.counts("refusals_total", "code", &self.refused);
        text.counts("disagreements_total", "kind", &self.disagreed);
        text.one("rounds_total", self.rounds as f64);
        text.one("decision_seconds_total", self.seconds);
        text.one("decision_seconds_longest", self.longest);
        text.one("last_round_timestamp_seconds", self.last as f64);
        if let Some((doing, since)) = &self.doing {
            text.add("policy_info", [(label("doing", doing), 1.0)]);
            text.one("policy_since_timestamp_seconds", *since as f64);
        }
        text.text
    }
}

/// Returns a text without its numbers.
pub fn words(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}
