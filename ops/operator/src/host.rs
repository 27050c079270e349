use std::error::Error;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use synth_core::artifact::Changes;
use synth_core::document::{digest, text_of};
use synth_core::number::seconds_in;
use synth_multiresource::artifact::{Checked, Family, Preemption};
use synth_multiresource::workload::Fleet;

/// Reads a policy file and its digest. If `changes` allows this, the file may have been changed.
///
/// # Errors
/// If the file cannot be read or the policy is rejected.
pub fn read_policy(path: &Path, changes: Changes) -> Result<(Checked, String), Box<dyn Error>> {
    let name = path.display().to_string();
    let text = text_of(path).map_err(|why| format!("cannot read {name}: {why}"))?;
    let policy = Checked::parse_with(&text, &name, changes)?;
    Ok((policy, digest(&text)))
}

/// Checks that a policy does not stop jobs or need setups. The reason `why` is in the error.
pub fn check_only_starts(policy: &Checked, why: &str) -> Result<(), String> {
    let rule = &policy.artifact().policy;
    let stops = |rule: &Family| {
        let msr = rule.msr();
        msr.is_some_and(|policy| policy.preemption != Preemption::None)
            || rule.preempts()
            || rule.setup_rate().is_some()
    };
    if stops(rule) || stops(rule.followed()) {
        return Err(format!(
            "the policy ({}) stops running jobs, {why}: generate one with `synth --workload FILE --preemption none`",
            rule.called()
        ));
    }
    Ok(())
}

pub(super) fn seconds_per_time_unit(fleet: &Fleet) -> Result<f64, String> {
    let unit = fleet.time_unit();
    seconds_in(unit).ok_or_else(|| {
        format!(
            "the policy measures time in `{unit}`, but the length of this unit is unknown: use s, min, h or d in the workload"
        )
    })
}

/// A moment on the clock of the program and in wall-clock time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timestamps {
    /// The time since the start of the program \[s\].
    pub now: f64,
    /// The wall-clock time \[s since 1970\].
    pub wall: i64,
}

impl Timestamps {
    /// Returns the current moment of a program that was started at `begin`.
    pub fn of(begin: Instant) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Timestamps {
            now: begin.elapsed().as_secs_f64(),
            wall: since.map_or(0, |since| since.as_secs() as i64),
        }
    }
}

/// Returns the prices of whole units, which are empty if they do not hold for all servers.
pub fn prices(policy: &Checked) -> &[f64] {
    match &policy.artifact().evidence.servers[..] {
        [server] if policy.workload().is_one_server() => &server.resource_prices,
        _ => &[],
    }
}

/// Formats a table of the waiting and running jobs and the jobs to release of each type.
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
