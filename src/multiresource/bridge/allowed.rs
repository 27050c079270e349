//! Which policies a bridge can follow.

use crate::multiresource::artifact::{Checked, Family, Preemption};

/// Whether a policy decides only when jobs start, which is all that a bridge to Slurm can do.
///
/// # Errors
/// When it stops jobs that run, or waits for setups; says which policy to ask for.
pub fn bridgeable(policy: &Checked) -> Result<(), String> {
    let rule = &policy.artifact().policy;
    match stops(rule) {
        false => Ok(()),
        true => Err(format!(
            "the policy ({}) stops jobs that run, which Slurm cannot do without losing their work or keeping their memory: make one with `synth --workload FILE --preemption none`",
            rule.called()
        )),
    }
}

fn stops(rule: &Family) -> bool {
    let stops = |rule: &Family| {
        let msr = rule
            .msr()
            .is_some_and(|policy| policy.preemption != Preemption::None);
        msr || rule.preempts() || rule.setup_rate().is_some()
    };
    stops(rule) || stops(rule.followed())
}
