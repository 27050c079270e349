//! What a person reads on the terminal. Only rendered here; every value comes from the makers and the verbs. Tables are
//! `width` characters wide at most.

mod run;
mod show;
mod synthesized;

pub use run::{of_run, simulation};
pub use show::show;
pub use synthesized::{impossible, synthesized};

use crate::report::number;
use crate::volunteer::policy::Dispatch;
use crate::volunteer::workload::Campaign;

/// What it is for, in a few words: `400 hosts for 1440 h`.
pub fn about(campaign: &Campaign) -> String {
    let hosts = match campaign.host_count() {
        1 => "one host".to_owned(),
        many => format!("{many} hosts"),
    };
    format!(
        "{hosts} for {} {}",
        number(campaign.horizon()),
        campaign.time_unit()
    )
}

/// The parameters in a few words.
fn rule(rule: &Dispatch) -> String {
    format!(
        "first above {} %, tight above {} %, quantile {}",
        knob(rule.first_percentile),
        knob(rule.tight_percentile),
        rule.quantile.map_or("of the last".into(), knob)
    )
}

/// A percentile or a quantile as it was chosen, to four decimals.
fn knob(value: f64) -> String {
    ((value * 1e4).round() / 1e4).to_string()
}
