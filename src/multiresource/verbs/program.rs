use std::path::{Path, PathBuf};

use crate::kind::{Caller, VerbOutput, VerbResult};
use crate::multiresource::schedule::{Packing, maximal};
use crate::multiresource::workload::{Fleet, JobType};

/// The maximum number of schedules for each shape, and of nodes that are visited to find them.
const MOST: usize = 200_000;
const VISITS: usize = 20_000_000;

/// Writes the program that finds the maximum `t` such that a mix of maximal schedules can serve all
/// arrival rates multiplied by `t`. The load is `1/t`.
pub(super) fn write(
    file: &Path,
    output: PathBuf,
    caller: &mut Caller<'_>,
) -> VerbResult<VerbOutput> {
    let fleet = caller.known(Fleet::read(file)?);
    fleet.require_no_devices()?;
    let (text, schedules) = lp(&fleet)?;
    let constraints = fleet.types().len() + fleet.shapes().len();
    let note = format!(
        "The program has {schedules} schedules and {constraints} constraints. It finds the maximum value of t, and the load ρ is 1/t."
    );
    Ok(VerbOutput {
        documents: vec![(output, text)],
        notes: vec![note],
        ..VerbOutput::default()
    })
}

fn lp(fleet: &Fleet) -> Result<(String, usize), String> {
    let work = fleet.types().iter().zip(1..);
    let of_type = |(kind, n): (&JobType, usize)| {
        let load = term(-kind.offered_tasks(), "t");
        format!(" work_{n}:{load}")
    };
    let mut work: Vec<String> = work.map(of_type).collect();
    let (mut time, mut schedules) = (String::new(), 0);
    for (shape, h) in fleet.shapes().iter().zip(1..) {
        let all = maximal(&Packing::new(shape.server()), MOST, VISITS).ok_or_else(|| {
            format!(
                "the program is too large to be written, because a server of the shape {} has more than {MOST} maximal schedules",
                shape.name()
            )
        })?;
        time += &format!(" time_{h}:");
        for (schedule, n) in all.iter().zip(1..) {
            let name = format!("s_{h}_{n}");
            time += &term(1.0, &name);
            for (&i, jobs) in shape.types().iter().zip(schedule).filter(|(_, n)| **n > 0) {
                work[i] += &term(f64::from(*jobs), &name);
            }
        }
        time += &format!("\n  <= {}\n", shape.count());
        schedules += all.len();
    }
    let work = work.iter().map(|row| format!("{row}\n  >= 0\n"));
    let work = work.collect::<String>();
    let text = format!("Maximize\n load: t\nSubject To\n{work}{time}End\n");
    Ok((text, schedules))
}

fn term(value: f64, variable: &str) -> String {
    format!("\n  {value:+e} {variable}")
}
