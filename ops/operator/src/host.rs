//! What whoever runs a real scheduler asks of a policy before it begins.

use std::error::Error;
use std::path::Path;

use synth_core::artifact::Changes;
use synth_core::document::{digest, text_of};
use synth_core::number::seconds_in;
use synth_multiresource::artifact::{Checked, Family, Preemption};
use synth_multiresource::workload::Fleet;

/// Reads a policy file; returns the policy and the digest of the file. `changes` is what becomes of one that was changed after it
/// was written.
///
/// # Errors
/// When it cannot be read, or is refused.
pub fn read_policy(path: &Path, changes: Changes) -> Result<(Checked, String), Box<dyn Error>> {
    let name = path.display().to_string();
    let text = text_of(path).map_err(|why| format!("cannot read {name}: {why}"))?;
    let policy = Checked::parse_with(&text, &name, changes)?;
    Ok((policy, digest(&text)))
}

/// Checks that a policy only starts jobs; `why` says what is in the way of more, of a policy that stops them or waits
/// for setups.
///
/// # Errors
/// When it does more; says which policy fits.
pub fn only_starts(policy: &Checked, why: &str) -> Result<(), String> {
    let rule = &policy.artifact().policy;
    let stops = |rule: &Family| {
        let msr = rule.msr();
        msr.is_some_and(|policy| policy.preemption != Preemption::None)
            || rule.preempts()
            || rule.setup_rate().is_some()
    };
    if stops(rule) || stops(rule.followed()) {
        return Err(format!(
            "the policy ({}) stops jobs that run, {why}: make one with `synth --workload FILE --preemption none`",
            rule.called()
        ));
    }
    Ok(())
}

/// Returns the seconds in a policy's unit of time.
///
/// # Errors
/// When it is not known how long that is.
pub fn second_of(fleet: &Fleet) -> Result<f64, String> {
    let unit = fleet.time_unit();
    seconds_in(unit).ok_or_else(|| {
        format!(
            "the policy counts time in `{unit}`, and it is not known how long that is: write the workload in s, min, h or d"
        )
    })
}

/// A moment: on a program's own clock \[s\], and the time of day \[s since 1970\].
#[derive(Clone, Copy, Debug, Default)]
pub struct HostMoment {
    /// On its own clock.
    pub now: f64,
    /// The time of day.
    pub wall: i64,
}

/// What schedulers have of a resource with a usual name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usual {
    /// Cores.
    Cpu,
    /// Memory, of which one is so many bytes.
    Memory(u64),
    /// GPUs, of whatever type.
    Gpu,
}

impl Usual {
    /// Returns what a resource of this name is: `cpus`, `gpu`, `memory` (in GiB), `memory_gb`.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        Some(match &*name {
            "cpu" | "cpus" | "core" | "cores" | "vcpu" | "vcpus" => Usual::Cpu,
            "gpu" | "gpus" => Usual::Gpu,
            // As traces count it, too.
            "memory" | "mem" => Usual::Memory(1 << 30),
            name => match name.rsplit_once('_')? {
                ("memory" | "mem", unit) => Usual::Memory(bytes(unit)?),
                _ => return None,
            },
        })
    }
}

/// Returns what the last part of a resource's name stands for: `memory_gib`.
fn bytes(unit: &str) -> Option<u64> {
    Some(match unit {
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return None,
    })
}

/// Returns the prices of whole units of a policy's certificate; none where it has none that count for all servers.
pub fn prices(policy: &Checked) -> &[f64] {
    match &policy.artifact().evidence.servers[..] {
        [server] if policy.workload().is_one_server() => &server.resource_prices,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::Usual;

    #[test]
    fn only_whole_names_are_usual() {
        for (name, usual) in [
            ("vCPUs", Some(Usual::Cpu)),
            ("gpu", Some(Usual::Gpu)),
            ("mem", Some(Usual::Memory(1 << 30))),
            ("memory_gb", Some(Usual::Memory(1_000_000_000))),
            ("gpu_slots", None),
            ("cpu_gib", None),
            ("memory_pages", None),
        ] {
            assert_eq!(Usual::named(name), usual, "{name}");
        }
    }
}
