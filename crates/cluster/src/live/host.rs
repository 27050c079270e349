//! What whoever runs a real scheduler asks of a policy before it begins.

use crate::artifact::{Checked, Family, Preemption};

/// Returns whether a policy stops jobs that run, or waits for setups: not every scheduler can.
pub fn does_more_than_start(policy: &Checked) -> bool {
    let rule = &policy.artifact().policy;
    let stops = |rule: &Family| {
        let msr = rule.msr();
        msr.is_some_and(|policy| policy.preemption != Preemption::None)
            || rule.preempts()
            || rule.setup_rate().is_some()
    };
    stops(rule) || stops(rule.followed())
}

/// Returns the prices of whole units of a policy's certificate; none where it has none that count for all servers.
pub fn prices(policy: &Checked) -> &[f64] {
    match &policy.artifact().evidence.servers[..] {
        [server] if policy.workload().is_one_server() => &server.resource_prices,
        _ => &[],
    }
}
