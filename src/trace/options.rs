//! What is asked of a trace's lines.

use std::path::PathBuf;

use super::{Format, Servers};

/// What is done with lines that can be read in more than one way.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format; it is looked for where none is named.
    pub format: Option<Format>,
    /// What the jobs ran on; some formats tell it themselves.
    pub servers: Option<Servers>,
    /// Of a table with a header: what is taken (`time`, `size`, `cpu` …) and from which column.
    pub columns: Vec<(String, String)>,
    /// Units of what is taken, such as (`time`, `ms`).
    pub units: Vec<(String, String)>,
    /// Of azure: the table that tells what a type asks for of which machine.
    pub vm_types: Option<PathBuf>,
    /// Of azure: the machine in that table that the servers are.
    pub machine: Option<String>,
    /// Jobs submitted earlier than this after the first are left out \[s\].
    pub from: Option<f64>,
    /// Jobs submitted later than this after the first are left out \[s\].
    pub to: Option<f64>,
    /// Whether only jobs that completed take part.
    pub completed_only: bool,
    /// Whether jobs that ran past their limit are cut to it.
    pub kill: bool,
    /// Whether jobs that still ran at the end count as if they had ended then.
    pub censored_end: bool,
    /// The share of lines that may be faulty, in [0, 1].
    pub faults: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            format: None,
            servers: None,
            columns: Vec::new(),
            units: Vec::new(),
            vm_types: None,
            machine: None,
            from: None,
            to: None,
            completed_only: false,
            kill: false,
            censored_end: false,
            faults: 0.01,
        }
    }
}
