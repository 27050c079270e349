//! What a policy file says, for a reader who has never seen it.

use std::fmt::Write as _;

use super::about;
use super::synthesis::{interruptions, means, stability};
use crate::compatibility::artifact::{Checked, Part};
use crate::report::{Table, percent, wrap};

/// Classes that are shown.
const DRAWN: usize = 24;

/// What the policy is for, who may use which server, what it does, and what it promises.
pub fn show(checked: &Checked, width: usize) -> String {
    let (artifact, cluster) = (checked.artifact(), checked.workload());
    let mut text = format!(
        "A scheduling policy for {}, made by {}.\n",
        about(cluster),
        artifact.tool
    );
    if let Some(source) = &cluster.record().source {
        let _ = writeln!(text, "Workload: {source}");
    }
    let told = format!("It has {}", stability(cluster, artifact));
    let _ = writeln!(text, "{}", wrap(&told, width));
    let rule = "One queue for all. Each server works on the first job in it that it may serve, together with others that do the same; when a job leaves, its servers look for the next one.";
    let _ = writeln!(text, "\n{}", wrap(rule, width));
    let _ = writeln!(text, "{}", wrap(&interruptions(artifact), width));
    if let Some(routing) = &artifact.evidence.routing {
        let _ = writeln!(text, "\n{}", graph(checked, routing, width));
    }
    let _ = writeln!(text, "\nIt promises\n{}", means(cluster, artifact, width));
    text + "\n`synth check` tells what it derives anew, `synth simulate` tries to refute what it promises.\n"
}

/// Who may use which server, and how the proof of the load would send jobs.
fn graph(checked: &Checked, routing: &[Vec<Part>], width: usize) -> String {
    let cluster = checked.workload();
    let mut table = Table::new([
        "class",
        "may use (and is sent there by the routing that proves the load)",
    ])
    .words(1)
    .wrapping(1);
    for (class, parts) in cluster.classes().iter().zip(routing).take(DRAWN) {
        let server = |s: &usize| {
            let name = &cluster.servers()[*s].name;
            let part = parts.iter().find(|part| part.server == *name);
            match part {
                Some(part) => format!("{name} {}", percent(part.part)),
                None => name.clone(),
            }
        };
        let servers: Vec<String> = class.servers.iter().map(server).collect();
        table.row([class.name.clone(), servers.join(", ")]);
    }
    let mut text = table.within(width);
    if cluster.classes().len() > DRAWN {
        let _ = write!(
            text,
            "\n… and {} more classes",
            cluster.classes().len() - DRAWN
        );
    }
    text
}
