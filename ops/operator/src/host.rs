//! What whoever runs a real scheduler asks of a policy before it begins.

use std::error::Error;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

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

impl HostMoment {
    /// Returns this moment, for a program that began then.
    pub fn of(begin: Instant) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        HostMoment {
            now: begin.elapsed().as_secs_f64(),
            wall: since.map_or(0, |since| since.as_secs() as i64),
        }
    }
}

/// Returns the prices of whole units of a policy's certificate; none where it has none that count for all servers.
pub fn prices(policy: &Checked) -> &[f64] {
    match &policy.artifact().evidence.servers[..] {
        [server] if policy.workload().is_one_server() => &server.resource_prices,
        _ => &[],
    }
}

/// Returns a table of the jobs that wait and run, and of those that would be released now: for each type its name, both
/// counts, and the jobs.
pub fn plan_table(rows: impl IntoIterator<Item = (String, [usize; 2], String)>) -> String {
    let rows = rows.into_iter().map(|(name, counts, jobs)| {
        let [waiting, running] = counts.map(|count| count.to_string());
        [name, waiting, running, jobs]
    });
    let titles = ["type", "wait", "run", "would be released now"].map(String::from);
    let rows: Vec<[String; 4]> = std::iter::once(titles).chain(rows).collect();
    let width = |j: usize| rows.iter().map(|row| row[j].chars().count()).max();
    let [a, b, c] = [0, 1, 2].map(|j| width(j).unwrap_or(0));
    let line = |[name, wait, run, jobs]: &[String; 4]| {
        format!("{name:a$}   {wait:>b$}   {run:>c$}   {jobs}")
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}
