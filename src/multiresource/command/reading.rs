//! What is typed to have a trace read.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::trace::{Format, Options, Servers};
use crate::typed::duration;

/// How the lines of a trace are read. The trace itself is an argument `trace` beside it.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How the trace is read")]
pub struct Reading {
    /// What its jobs ran on: one server, such as cpu=128,memory=512 [default: what the file tells]
    #[arg(long, value_name = "CAPACITY", requires = "trace", conflicts_with = "servers", value_parser = Servers::capacity)]
    capacity: Option<Servers>,

    /// What its jobs ran on: a fleet, such as "40xcpu=96,memory=384;8xcpu=48,gpu=8"
    #[arg(long, value_name = "SHAPES", requires = "trace", value_parser = Servers::shapes)]
    servers: Option<Servers>,

    /// Its format [default: found out, and told]
    #[arg(long, requires = "trace", value_enum)]
    format: Option<Format>,

    /// Of a table (csv): what stands in which column, such as time=submit_s,size=held_s,cpu=cores
    #[arg(long, value_name = "WHAT=COLUMN,…", requires = "trace", value_delimiter = ',', value_parser = pair)]
    columns: Vec<(String, String)>,

    /// Of a table (csv): the unit of its times, such as time=ms
    #[arg(long, value_name = "time=UNIT", requires = "trace", value_delimiter = ',', value_parser = pair)]
    unit: Vec<(String, String)>,

    /// Leave out what came earlier than this after the first job, such as 120d
    #[arg(long, value_name = "TIME", requires = "trace", value_parser = duration)]
    from: Option<Duration>,

    /// Leave out what came later than this after the first job
    #[arg(long, value_name = "TIME", requires = "trace", value_parser = duration)]
    to: Option<Duration>,

    /// What becomes of jobs that still ran at the end
    #[arg(long, requires = "trace", value_enum, default_value_t = Censored::Part)]
    censored: Censored,

    /// The share of faulty lines that may be left out, such as 5%
    #[arg(long, value_name = "SHARE", requires = "trace", default_value = "1%", value_parser = share)]
    faults: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Censored {
    /// Their sizes are known in part; they are not replayed
    Part,
    /// As if they had ended then
    End,
}

impl Reading {
    /// What it asks of the reader.
    pub fn options(&self) -> Options {
        Options {
            format: self.format,
            servers: self.capacity.clone().or_else(|| self.servers.clone()),
            columns: self.columns.clone(),
            units: self.unit.clone(),
            from: self.from.as_ref().map(Duration::as_secs_f64),
            to: self.to.as_ref().map(Duration::as_secs_f64),
            censored_end: self.censored == Censored::End,
            faults: self.faults,
        }
    }
}

/// `what=column`.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((what, column)) if !what.is_empty() && !column.is_empty() => {
            Ok((what.trim().into(), column.trim().into()))
        }
        _ => Err(format!("`{text}` is no pair: write such as time=submit_s")),
    }
}

/// A share in [0, 1]: `5%` or `.05`.
pub fn share(text: &str) -> Result<f64, String> {
    let (digits, unit) = match text.strip_suffix('%') {
        Some(digits) => (digits, 0.01),
        None => (text, 1.0),
    };
    let share = digits.trim().parse::<f64>().unwrap_or(f64::NAN) * unit;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err(format!(
            "`{text}` is no share between 0 and 1: write such as 2% or .02"
        ))
    }
}
