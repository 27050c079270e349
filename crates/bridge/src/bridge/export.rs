//! What an administrator installs so that a policy decides when jobs of a partition start.

use std::path::Path;

use askama::Template;

use super::resources::Source;
use super::{bridgeable, types};
use crate::slurm::is_plain;
use synth_cluster::artifact::Checked;
use synth_cluster::workload::{Fleet, JobType, Resource, Shape};
use synth_core::document::to_yaml;
use synth_core::number::Decimal;

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
    let site = Site {
        partition,
        policy: &policy.display().to_string(),
        rule: checked.artifact().policy.called(),
        unit: &format!("synth-{partition}.service"),
        folder: &format!("/etc/synth/{partition}"),
    };
    let fleet = checked.workload();
    let demands = fleet.types().iter().map(|job| job.units().to_vec());
    let demands: Vec<Vec<u64>> = demands.collect();
    let types = Types {
        partition,
        resources: resources(fleet),
        alike: types::alike(fleet, &demands).map(|names| names.map(one_line).join(" and ")),
        types: fleet
            .types()
            .iter()
            .map(|job| Type::of(job, fleet))
            .collect(),
        shapes: shapes(fleet),
    };
    let files = [
        ("README.md", Readme { site }.render()),
        ("job_submit.lua", Lua { partition }.render()),
        (
            "slurm-lines.conf",
            Ok(include_str!("../../templates/slurm/slurm-lines.conf").to_owned()),
        ),
        ("types.yaml", types.render()),
        (site.unit, Unit { site }.render()),
    ];
    let text = |(name, text): (&str, askama::Result<String>)| match text {
        Ok(text) => Ok((name.to_owned(), text.trim_end().to_owned() + "\n")),
        Err(error) => Err(format!("cannot write {name}: {error}")),
    };
    files.into_iter().map(text).collect()
}

/// What is the same in several files.
#[derive(Clone, Copy)]
struct Site<'a> {
    partition: &'a str,
    policy: &'a str,
    rule: &'a str,
    unit: &'a str,
    folder: &'a str,
}

#[derive(Template)]
#[template(path = "slurm/README.md", escape = "none")]
struct Readme<'a> {
    site: Site<'a>,
}

#[derive(Template)]
#[template(path = "slurm/job_submit.lua", escape = "none")]
struct Lua<'a> {
    partition: &'a str,
}

#[derive(Template)]
#[template(path = "slurm/bridge.service", escape = "none")]
struct Unit<'a> {
    site: Site<'a>,
}

#[derive(Template)]
#[template(path = "slurm/types.yaml", escape = "none")]
struct Types<'a> {
    partition: &'a str,
    resources: Vec<NamedResource>,
    /// Types that demand does not tell apart.
    alike: Option<String>,
    types: Vec<Type>,
    /// Of a fleet its shapes.
    shapes: Vec<NamedShape>,
}

/// A resource, and what Slurm calls it.
struct NamedResource {
    name: String,
    source: String,
    /// Its name tells nothing.
    is_guessed: bool,
}

/// A type, as a file names it.
struct Type {
    name: String,
    /// Its name where it can stand in a pattern.
    word: String,
    /// What a job of it holds.
    demand: String,
}

/// A shape of servers.
struct NamedShape {
    name: String,
    count: u32,
    capacity: String,
}

fn resources(fleet: &Fleet) -> Vec<NamedResource> {
    let of = |resource: &Resource| {
        let source = Source::by_name(resource.name());
        let is_guessed = source.is_none();
        let source = source.unwrap_or_else(|| Source::Gres(resource.name().into()));
        NamedResource {
            name: yaml(resource.name()),
            source: yaml(&source.written()),
            is_guessed,
        }
    };
    fleet.envelope().resources().iter().map(of).collect()
}

impl Type {
    fn of(job: &JobType, fleet: &Fleet) -> Self {
        let word = job
            .name()
            .replace(|c: char| !is_plain(c.encode_utf8(&mut [0; 4])), "");
        Type {
            name: yaml(job.name()),
            word: if word.is_empty() { "NAME".into() } else { word },
            demand: amounts(fleet, job.demand()),
        }
    }
}

fn shapes(fleet: &Fleet) -> Vec<NamedShape> {
    if fleet.is_one_server() {
        return Vec::new();
    }
    let of = |shape: &Shape| NamedShape {
        name: yaml(shape.name()),
        count: shape.count(),
        capacity: amounts(fleet, shape.capacity()),
    };
    fleet.shapes().iter().map(of).collect()
}

/// `cpu 3, memory 7`; what is 0 is left out.
fn amounts(fleet: &Fleet, amounts: &[Decimal]) -> String {
    let pairs = fleet.envelope().resources().iter().zip(amounts);
    let there = pairs.filter(|(_, amount)| !amount.is_zero());
    let words = there.map(|(of, amount)| format!("{} {amount}", one_line(of.name())));
    words.collect::<Vec<_>>().join(", ")
}

/// Returns a text as YAML, in quotes where it needs them.
fn yaml(text: &str) -> String {
    to_yaml(&text).trim_end().to_owned()
}

/// For a comment, which ends with its line.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}
