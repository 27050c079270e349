//! The program whose optimum is the load, as a file for any solver: so that others can check the proof.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use itertools::Itertools as _;

use super::known;
use crate::kind::{Caller, VerbOutput, VerbResult};
use crate::multiresource::schedule::{Packing, maximal};
use crate::multiresource::workload::Fleet;
use crate::typed::WorkloadFile;

/// Schedules of a shape of servers that are written at most; and how many are looked at to find them.
const MOST: usize = 200_000;
const VISITS: usize = 20_000_000;

/// What is typed.
#[derive(Args)]
pub struct Program {
    #[command(flatten)]
    pub workload: WorkloadFile,

    /// Where the program goes (`-`: standard output)
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

/// A constraint: its name, whether it is `≥ 0` or else `≤` this, and its coefficients by variable; the first variable is t.
struct Row {
    name: String,
    at_most: Option<f64>,
    coefficients: Vec<(usize, f64)>,
}

impl Program {
    /// Writes it: the largest t such that some mix of maximal schedules serves all arrivals times t. The load is 1/t.
    pub fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let fleet = known(Fleet::read(self.workload.file()?)?, caller);
        fleet.counts_amounts()?;
        let (rows, names) = rows(&fleet)?;
        let note = format!(
            "{} schedules, {} constraints: maximize t; the load ρ is 1/t.",
            names.len() - 1,
            rows.len()
        );
        Ok(VerbOutput {
            documents: vec![(self.output.clone(), lp(&rows, &names))],
            notes: vec![note],
            ..VerbOutput::default()
        })
    }
}

/// Returns the constraints, and the names of the variables.
fn rows(fleet: &Fleet) -> Result<(Vec<Row>, Vec<String>), String> {
    let mut names = vec!["t".to_owned()];
    let mut work = fleet
        .types()
        .iter()
        .enumerate()
        .map(|(i, kind)| Row {
            name: format!("work_{}", i + 1),
            at_most: None,
            coefficients: vec![(0, -kind.offered_pieces())],
        })
        .collect_vec();
    let mut time = Vec::new();
    for (h, shape) in fleet.shapes().iter().enumerate() {
        let all = maximal(&Packing::new(shape.server()), MOST, VISITS).ok_or_else(|| {
            format!(
                "the servers {} have more than {MOST} maximal schedules: a program of that size is not written",
                shape.name()
            )
        })?;
        let mut own = Vec::new();
        for (n, schedule) in all.iter().enumerate() {
            let variable = names.len();
            names.push(format!("s_{}_{}", h + 1, n + 1));
            own.push((variable, 1.0));
            for (&i, jobs) in shape.types().iter().zip(schedule).filter(|(_, n)| **n > 0) {
                work[i].coefficients.push((variable, f64::from(*jobs)));
            }
        }
        time.push(Row {
            name: format!("time_{}", h + 1),
            at_most: Some(f64::from(shape.count())),
            coefficients: own,
        });
    }
    work.extend(time);
    Ok((work, names))
}

fn lp(rows: &[Row], names: &[String]) -> String {
    let mut text = "Maximize\n load: t\nSubject To\n".to_owned();
    for row in rows {
        let _ = write!(text, " {}:", row.name);
        for (variable, value) in &row.coefficients {
            let _ = write!(text, "\n  {value:+e} {}", names[*variable]);
        }
        let _ = match row.at_most {
            Some(most) => writeln!(text, "\n  <= {most}"),
            None => writeln!(text, "\n  >= 0"),
        };
    }
    text + "End\n"
}
