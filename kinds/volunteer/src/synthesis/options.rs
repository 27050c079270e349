//! Options of a synthesis, and the rules that it begins with.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::policy::{Dispatch, Queued};
use crate::simulator::TooLong;
use crate::workload::{Campaign, Shortage};

/// Options of a synthesis.
#[derive(Clone, Debug)]
pub struct Options {
    /// Events that may be simulated to choose.
    pub events: u64,
    /// Campaigns that the claims are from, two at least; none for as many as the events allow, from two to eight.
    pub campaigns: Option<u32>,
    /// The seed.
    pub seed: u64,
    /// Once it is set, the synthesis ends without a policy.
    pub interrupt: Arc<AtomicBool>,
}

/// Why there is no policy.
#[derive(Debug)]
pub enum NoPolicy {
    /// No rule can do the work, and why.
    Impossible(Shortage),
    /// The budget is too small for any.
    TooLong(TooLong),
    /// The synthesis was interrupted.
    Interrupted,
}

/// Returns the rule with the parameters that the campaign has, and the defaults of all others.
pub fn default_rule(campaign: &Campaign) -> Dispatch {
    let rule = Dispatch {
        first_percentile: 75.0,
        tight_percentile: 95.0,
        quantile: Some(0.3),
        queued: Queued::All,
        first_each: Some(1),
        reserve: true,
        patience: campaign.horizon() / 30.0,
    };
    rule.with_fixed(&campaign.record().policy)
}

/// Returns the bound of rules that have one for all: that of a stream, or an eighth of the horizon.
pub fn fixed_bound(campaign: &Campaign) -> f64 {
    let streams = campaign.batches().iter().filter(|own| own.is_stream());
    let bounds = streams.map(|own| own.limit);
    bounds.reduce(f64::max).unwrap_or(campaign.horizon() / 8.0)
}

/// Returns the proposal to the letter.
pub fn literal(campaign: &Campaign) -> Dispatch {
    Dispatch {
        first_percentile: 50.0,
        tight_percentile: 90.0,
        quantile: Some(0.8),
        queued: Queued::Tight,
        first_each: None,
        reserve: false,
        patience: default_rule(campaign).patience,
    }
}
