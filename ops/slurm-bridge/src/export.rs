//! What an administrator installs so that a policy decides when jobs of a partition start.

use std::path::Path;

use askama::Template;

use super::bridgeable;
use super::resources::{usual_source, written};
use synth_core::document::{filled_in, to_yaml};
use synth_core::number::Decimal;
use synth_multiresource::artifact::Checked;
use synth_multiresource::workload::{Fleet, JobType, Resource, Shape, alike};
use synth_slurm::commands::is_plain;
use synth_slurm::templates;

/// Returns the files, by name. `policy` is how the policy's file is called in commands.
///
/// # Errors
/// When the name of the partition is none, or the policy cannot run there; says what to do.
pub fn slurm(
    checked: &Checked,
    policy: &Path,
    partition: &str,
) -> Result<Vec<(String, String)>, String> {
    if partition.starts_with('-') || !is_plain(partition) {
        return Err(format!(
            "`{partition}` is no name of a partition: `sinfo -s` lists them"
        ));
    }
    bridgeable(checked)?;
    let fleet = checked.workload();
    let demands = fleet.types().iter().map(|job| job.units().to_vec());
    let demands: Vec<Vec<u64>> = demands.collect();
    let of_type = |job: &JobType| {
        let mut demand = amounts(fleet, job.demand());
        if job.nodes() > 1 {
            demand = format!("{} nodes with {demand} each", job.nodes());
        }
        [yaml(job.name()), word(job.name()), demand]
    };
    let of_shape = |shape: &Shape| {
        let capacity = amounts(fleet, shape.capacity());
        (yaml(shape.name()), shape.count(), capacity)
    };
    let shapes = fleet.shapes().iter().filter(|_| !fleet.is_one_server());
    let site = &Site {
        partition,
        policy: &policy.display().to_string(),
        rule: checked.artifact().policy.called(),
        unit: &format!("synth-{partition}.service"),
        folder: &format!("/etc/synth/{partition}"),
        gangs: &gangs(checked),
        resources: fleet.envelope().resources().iter().map(resource).collect(),
        alike: alike(fleet, &demands).map(|names| names.map(one_line).join(" and ")),
        types: fleet.types().iter().map(of_type).collect(),
        shapes: shapes.map(of_shape).collect(),
    };
    let lines = include_str!("../templates/slurm/slurm-lines.conf");
    filled_in([
        ("README.md", Readme { site }.render()),
        ("job_submit.lua", Lua { site }.render()),
        ("slurm-lines.conf", Ok(lines.to_owned())),
        ("types.yaml", Types { site }.render()),
        (site.unit, Unit { site }.render()),
    ])
}

/// Returns what becomes of jobs of several nodes under a policy.
pub fn gangs(policy: &Checked) -> String {
    let fleet = policy.workload();
    let gangs = fleet.types().iter().filter(|job| job.nodes() > 1);
    let gangs: Vec<String> = gangs
        .map(|job| format!("`{}` ({} nodes)", one_line(job.name()), job.nodes()))
        .collect();
    let passes = "pass to Slurm at once, and what they use the policy does not have";
    match &gangs[..] {
        [] if fleet.is_one_server() => format!(
            "**Jobs of several nodes** have no type in this policy, which is of one server: they {passes}. A policy of a fleet (`servers:`) whose types have `nodes:` runs them. `--dry-run` says how many they are."
        ),
        [] => format!(
            "**Jobs of several nodes** have no type in this policy: they {passes}. Types with `nodes:` run them. `--dry-run` says how many they are."
        ),
        gangs => format!(
            "**Jobs of several nodes** are released when all their nodes are free, as {}. Those that no type holds {passes}; `--dry-run` says how many they are.",
            gangs.join(", ")
        ),
    }
}

/// What the files say of the policy and of where it is installed.
struct Site<'a> {
    partition: &'a str,
    policy: &'a str,
    rule: &'a str,
    unit: &'a str,
    folder: &'a str,
    gangs: &'a str,
    /// Name, what Slurm calls it, and whether that is a guess.
    resources: Vec<(String, String, bool)>,
    /// Types that demand does not tell apart.
    alike: Option<String>,
    /// Name, the same where it can stand in a pattern, and demand.
    types: Vec<[String; 3]>,
    /// Of a fleet: name, count and capacity.
    shapes: Vec<(String, u32, String)>,
}

templates! {
    Readme: "slurm/README.md", site: &'a Site<'a>;
    Lua: "slurm/job_submit.lua", site: &'a Site<'a>;
    Unit: "slurm/bridge.service", site: &'a Site<'a>;
    Types: "slurm/types.yaml", site: &'a Site<'a>;
}

fn resource(resource: &Resource) -> (String, String, bool) {
    let source = usual_source(resource.name());
    let is_guess = source.is_none();
    let (source, scale) = source.unwrap_or_else(|| (format!("gres/{}", resource.name()), 1));
    let [name, source] = [resource.name(), &written(&source, scale)].map(yaml);
    (name, source, is_guess)
}

/// Returns the name of a type without what cannot stand in a pattern.
fn word(name: &str) -> String {
    let word: String = name
        .split(|c: char| !is_plain(c.encode_utf8(&mut [0; 4])))
        .collect();
    if word.is_empty() { "NAME".into() } else { word }
}

/// `cpu 3, memory 7`; what is 0 is left out.
pub(super) fn amounts(fleet: &Fleet, amounts: &[Decimal]) -> String {
    let pairs = fleet.envelope().resources().iter().zip(amounts);
    let there = pairs.filter(|(_, amount)| !amount.is_zero());
    let words = there.map(|(of, amount)| format!("{} {amount}", one_line(of.name())));
    words.collect::<Vec<_>>().join(", ")
}

/// Returns a text as YAML, in quotes where it needs them.
pub(super) fn yaml(text: &str) -> String {
    to_yaml(&text).trim_end().to_owned()
}

/// For a comment, which ends with its line.
pub(super) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}
