//! What a person reads on the terminal. Only rendered here; every value comes from the makers and the verbs. Tables are
//! `width` characters wide at most.

mod made;
mod run;
mod show;

pub use made::{made, online, overload};
pub use run::{besides, course, of_course, simulation};
pub use show::show;

use crate::artifact::Quantity as _;
use crate::malleable::workload::{Objective, Pool, Speedup, Stream, Workload};
use crate::report::number;

/// What it is for, in a few words: `20 jobs on 64 servers`.
pub fn about(workload: &Workload) -> String {
    match workload {
        Workload::Pool(pool) => of_pool(pool),
        Workload::Stream(stream) => of_stream(stream),
    }
}

fn of_pool(pool: &Pool) -> String {
    let jobs = match pool.jobs().len() {
        1 => "one job".to_owned(),
        many => format!("{many} jobs"),
    };
    format!("{jobs} on {}", servers(pool.record().servers.value()))
}

fn of_stream(stream: &Stream) -> String {
    format!("jobs that arrive at {}", servers(stream.servers()))
}

fn servers(count: f64) -> String {
    match count == 1.0 {
        true => "one server".into(),
        false => format!("{count} servers"),
    }
}

/// A speedup as it is written.
fn speedup(speedup: &Speedup) -> String {
    match speedup {
        Speedup::Power(p) => format!("k^{p}"),
        Speedup::Amdahl(f) => format!("Amdahl's law, f = {f}"),
        Speedup::Logarithm(scale) => format!("ln(1 + {scale}k)/ln(1 + {scale})"),
        Speedup::Table(corners) => format!("a table of {} points", corners.len() - 1),
    }
}

/// What is to be small, in words.
fn objective(pool: &Pool) -> &'static str {
    pool.objective().quantity().row().label
}

/// The unit of the objective.
fn unit(pool: &Pool) -> String {
    match pool.objective() {
        Objective::Slowdown => String::new(),
        _ => format!(" {}", pool.time_unit()),
    }
}

/// Servers of a job: a whole number without decimals.
fn of_servers(k: f64) -> String {
    match k.fract() == 0.0 && k < 1e7 {
        true => format!("{k}"),
        false => number(k),
    }
}

/// How far it is above the least, in words.
fn gap(gap: f64) -> String {
    match gap {
        none if none < 1e-9 => "no policy has less (proved)".into(),
        some if some < 1e-3 => format!("at most {} % above the optimum", number(100.0 * some)),
        some => format!("at most {:.1} % above the optimum", 100.0 * some),
    }
}
