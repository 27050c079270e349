//! Does another mix of schedules than that of the least load lower the mean response time? Policies
//! made for each aim, with their own best switching rate and route, by exact analysis.
//!
//!     cargo run --release --example objectives
//!
//! Prints the two tables of docs/objectives.md, in some minutes.
use std::{error::Error, path::Path};

use synth::multiresource::artifact::{Balance, Method, Preemption, Quantity, Subject};
use synth::multiresource::program::{self, Balancing, Limits};
use synth::multiresource::synthesis::{Options, Outcome, Synthesis, synthesize};
use synth::multiresource::workload::Workload;

const SYSTEMS: [&str; 4] = [
    "models/section7.yaml",
    "models/vms.yaml",
    "examples/objectives/random_a.yaml",
    "examples/objectives/random_b.yaml",
];

const LOADS: [f64; 4] = [0.5, 0.7, 0.9, 0.95];

/// The load of the first table.
const SHOWN: f64 = 0.9;

const PREEMPTIONS: [Preemption; 2] = [Preemption::None, Preemption::Full];

/// What is asked of the mix: the least load, or an aim with its own weights or all alike.
struct Question {
    label: &'static str,
    aim: Option<Balance>,
    alike: bool,
}

const QUESTIONS: [Question; 4] = [
    Question {
        label: "load",
        aim: None,
        alike: false,
    },
    Question {
        label: "total, w = b",
        aim: Some(Balance::TotalResponse),
        alike: false,
    },
    Question {
        label: "total, w = 1",
        aim: Some(Balance::TotalResponse),
        alike: true,
    },
    Question {
        label: "worst, w = E[S]",
        aim: Some(Balance::WorstResponse),
        alike: false,
    },
];

impl Question {
    fn balancing(&self, workload: &Workload) -> Result<Option<Balancing>, Box<dyn Error>> {
        let Some(aim) = self.aim else {
            return Ok(None);
        };
        let mut balancing = Balancing::new(workload, aim, &[])?;
        if self.alike {
            balancing.weights.fill(1.0);
        }
        Ok(Some(balancing))
    }

    fn answer(
        &self,
        workload: &Workload,
        preemption: Preemption,
    ) -> Result<Synthesis, Box<dyn Error>> {
        let options = Options {
            balance: self.balancing(workload)?,
            ..Options::new(preemption)
        };
        match synthesize(workload, &options)? {
            Outcome::Policy(made) => Ok(*made),
            _ => Err("no policy can stabilize this workload".into()),
        }
    }
}

/// E\[T\] \[time\], if it is claimed exactly.
fn mean_response(made: &Synthesis) -> Result<f64, Box<dyn Error>> {
    let claim = made.artifact.find(Quantity::MeanResponse, Subject::ALL);
    let exact = claim.filter(|claim| claim.method == Method::ExactQbd);
    Ok(exact.ok_or("its chain is too large for exact means")?.value)
}

fn at_load(path: &str, load: f64) -> Result<Workload, Box<dyn Error>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let workload = Workload::read(&file)?.workload;
    let now = program::solve(&workload, &Limits::default())?;
    Ok(workload.scaled(load / now.certificate.load)?)
}

/// One answer in full: the largest ρ_i, what the aims make of it, the schedules of the loop, what it
/// drains a round, and E\[T\].
fn row(
    question: &Question,
    workload: &Workload,
    made: &Synthesis,
) -> Result<String, Box<dyn Error>> {
    let mix = program::Mix {
        schedules: made.policy.schedules.clone(),
        weights: made.policy.weights.clone(),
    };
    let loads = mix.loads(workload);
    let value = |question: &Question| -> Result<f64, Box<dyn Error>> {
        let balancing = question.balancing(workload)?;
        Ok(balancing.map_or(f64::NAN, |b| b.value(&loads)))
    };
    Ok(format!(
        "| {} | {:.4} | {:.2} | {:.2} | {:.2} | {} | {} | {:.4} |",
        question.label,
        loads.iter().copied().fold(0.0, f64::max),
        value(&QUESTIONS[1])?,
        value(&QUESTIONS[2])?,
        value(&QUESTIONS[3])?,
        mix.schedules.len(),
        made.server().making.drains.unwrap_or(0),
        mean_response(made)?
    ))
}

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "| for | max ρ_i | Σ b_i/(1−ρ_i) | Σ 1/(1−ρ_i) | max E[S_i]/(1−ρ_i) | schedules | drains | E[T] [s] |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    let mut ratios = Vec::new();
    for system in SYSTEMS {
        for preemption in PREEMPTIONS {
            for load in LOADS {
                let workload = at_load(system, load)?;
                let mut line = format!("| {system} | {preemption:?} | {load} |");
                let mut first = None;
                for question in &QUESTIONS {
                    let made = question.answer(&workload, preemption)?;
                    if load == SHOWN {
                        if first.is_none() {
                            println!("| **{system}, {preemption:?}** | | | | | | | |");
                        }
                        println!("{}", row(question, &workload, &made)?);
                    }
                    let mean = mean_response(&made)?;
                    let least = *first.get_or_insert(mean);
                    line += &match question.aim {
                        None => format!(" {mean:.3} |"),
                        Some(_) => format!(" {:.3} |", mean / least),
                    };
                }
                ratios.push(line);
            }
        }
    }
    println!(
        "\n| system | preemption | ρ | E[T] of the least load [s] | total, w = b | total, w = 1 | worst |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|");
    println!("{}", ratios.join("\n"));
    Ok(())
}
