use std::path::Path;

use askama::Template;

use super::bridgeable;
use super::resources::{usual_source, written};
use synth_core::document::{filled_in, to_yaml};
use synth_core::number::Decimal;
use synth_multiresource::artifact::Checked;
use synth_multiresource::workload::{Fleet, JobType, Resource, Shape, indistinguishable_types};
use synth_slurm::commands::is_plain;
use synth_slurm::templates;

/// Returns the name and the contents of each file. The path of the policy file is `policy`.
///
/// # Errors
/// If the name of the partition is not valid, or the policy cannot be used with Slurm.
pub fn slurm(
    checked: &Checked,
    policy: &Path,
    partition: &str,
) -> Result<Vec<(String, String)>, String> {
    if partition.starts_with('-') || !is_plain(partition) {
        return Err(format!(
            "`{partition}` is not a valid partition name: `sinfo -s` lists the partitions"
        ));
    }
    bridgeable(checked)?;
    let fleet = checked.workload();
    let demands = fleet.types().iter().map(|job| job.units().to_vec());
    let alike = indistinguishable_types(fleet, &demands.collect::<Vec<_>>());
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
        alike: alike.map(|names| names.map(one_line).join(" and ")),
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

/// Describes how a policy starts jobs with several nodes.
pub fn gangs(policy: &Checked) -> String {
    let fleet = policy.workload();
    let gangs = fleet.types().iter().filter(|job| job.nodes() > 1);
    let gangs = gangs.map(|job| format!("`{}` ({} nodes)", one_line(job.name()), job.nodes()));
    let gangs: Vec<String> = gangs.collect();
    let passes = "are passed to Slurm immediately and reduce the capacity of the policy";
    match &gangs[..] {
        [] if fleet.is_one_server() => format!(
            "**Jobs with several nodes** have no type in this policy, because it is for one server. They {passes}. They can be used with a policy for a fleet (`servers:`) whose types have `nodes:`. `--dry-run` prints the number of these jobs."
        ),
        [] => format!(
            "**Jobs with several nodes** have no type in this policy. They {passes}. They can be used with a policy whose types have `nodes:`. `--dry-run` prints the number of these jobs."
        ),
        gangs => format!(
            "**Jobs with several nodes** are released when all their nodes are free, as {}. Jobs that do not fit any type {passes}. `--dry-run` prints the number of these jobs.",
            gangs.join(", ")
        ),
    }
}

struct Site<'a> {
    partition: &'a str,
    policy: &'a str,
    rule: &'a str,
    unit: &'a str,
    folder: &'a str,
    gangs: &'a str,
    /// The name, the name in Slurm, and whether the name in Slurm is a guess.
    resources: Vec<(String, String, bool)>,
    /// The names of types that have the same demand.
    alike: Option<String>,
    /// The name, the name that is used in a pattern, and the demand of each type.
    types: Vec<[String; 3]>,
    /// The name, the count and the capacity of each shape of a fleet.
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

fn word(name: &str) -> String {
    let is_plain = |c: &char| is_plain(c.encode_utf8(&mut [0; 4]));
    let word: String = name.chars().filter(is_plain).collect();
    if word.is_empty() { "NAME".into() } else { word }
}

/// Formats the amounts that are not zero as `cpu 3, memory 7`.
pub(super) fn amounts(fleet: &Fleet, amounts: &[Decimal]) -> String {
    let pairs = fleet.envelope().resources().iter().zip(amounts);
    let there = pairs.filter(|(_, amount)| !amount.is_zero());
    let words = there.map(|(of, amount)| format!("{} {amount}", one_line(of.name())));
    words.collect::<Vec<_>>().join(", ")
}

pub(super) fn yaml(text: &str) -> String {
    to_yaml(&text).trim_end().to_owned()
}

pub(super) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}
