use std::path::Path;

use clap::{Args, ValueEnum as _};
use itertools::Itertools as _;

use super::{ReadOptions, Servers, TraceEdge, TraceFormat, nodes};
use synth_core::number::{instant, stamp};
use synth_typed::{share, time};

/// How the lines of a log are read.
///
/// The log itself is a separate argument named `trace`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How the log is read")]
pub struct ReadArgs {
    /// The servers of the log, such as cpu=128,memory=512
    ///
    /// These are the servers that were used to run the jobs. This can be a server, such as
    /// cpu=128,memory=512, or a fleet, such as "40xcpu=96,memory=384;8xcpu=48,gpu:devices=8" (each
    /// fraction of a gpu is on one device), or a file with a list of nodes (cpu_milli, memory_mib,
    /// gpu) [default: from the log]
    #[arg(long, visible_alias = "capacity", value_name = "SHAPES", value_parser = servers)]
    pub servers: Option<Servers>,

    /// The columns of a table, such as time=submit_s,cpu=cores
    ///
    /// The columns are given by meaning, such as time=submit_s,size=held_s,cpu=cores. An amount
    /// can be a product of columns divided by a number, such as gpu=num_gpu*gpu_milli/1000
    #[arg(long, value_name = "WHAT=COLUMN,…", value_delimiter = ',', value_parser = pair)]
    columns: Vec<(String, String)>,

    /// Details of the format, such as format=swf
    ///
    /// Use format=swf if it is not detected. For tables, use unit=ms for all times or
    /// unit.limit=min for one column, and amounts=total or per-node if the amounts of a job on
    /// several servers are those of all of them together or of each. With past-limit=kill, jobs
    /// end at their limits, otherwise the limits are raised. With censored=end, jobs that were
    /// still running at the end of the log are treated as if they had ended then. With
    /// status=completed, jobs that failed or were canceled are left out. With faults=5%, up to this
    /// share of the lines can have faults, up to this share of the work can be in jobs that are
    /// larger than any server, and both are left out (default 1 %)
    #[arg(long, value_name = "KEY=VALUE,…", value_delimiter = ',', value_parser = pair)]
    read: Vec<(String, String)>,

    /// The beginning: a date, or a time after the first job
    ///
    /// A date is 2026-10-01 or 2026-10-01T12:00, by the log's own clock. A time is 120d, or a
    /// number of seconds. If the log is `slurm`, it may be now-6w (six weeks before now). Jobs
    /// running or waiting then are the initial state [default: the first job, or the time from
    /// which the rows are complete, as in the output of sacct -S]
    #[arg(long, value_name = "WHEN", value_parser = edge)]
    from: Option<TraceEdge>,

    /// The end, in the same notation
    ///
    /// Later jobs are left out
    #[arg(long, value_name = "WHEN", value_parser = edge)]
    to: Option<TraceEdge>,

    /// Only the jobs of these partitions
    ///
    /// With a configuration of Slurm, only the nodes of these partitions are used
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub partition: Vec<String>,

    /// Only the jobs of these users
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub user: Vec<String>,
}

impl ReadArgs {
    /// Returns the options; the error lists valid keys and values.
    pub fn options(&self) -> Result<ReadOptions, String> {
        let mut options = ReadOptions {
            servers: self.servers.clone(),
            columns: self.columns.clone(),
            from: self.from,
            to: self.to,
            partitions: self.partition.clone(),
            users: self.user.clone(),
            ..ReadOptions::default()
        };
        for (key, value) in &self.read {
            let column = key.strip_prefix("unit.");
            match (column.map_or(&**key, |_| "unit"), &**value) {
                ("format", name) => {
                    let format = TraceFormat::from_str(name, true);
                    options.format = Some(format.map_err(|_| {
                        let known = TraceFormat::value_variants().iter();
                        let known = known.map(|own| own.name()).format(", ");
                        format!("--read format={name}: unknown format, expected one of {known}")
                    })?);
                }
                ("unit", unit) => {
                    let of = column.unwrap_or("time");
                    options.units.push((of.to_owned(), unit.to_owned()));
                }
                ("amounts", "total") => options.amounts = Some(false),
                ("amounts", "per-node") => options.amounts = Some(true),
                ("past-limit", "raise") | ("censored", "part") => {}
                ("past-limit", "kill") => options.kill = true,
                ("censored", "end") => options.censored_end = true,
                ("faults", typed) => options.faults = Some(share(typed)?),
                ("status", "started") => {}
                ("status", "completed") => options.completed_only = true,
                _ => {
                    return Err(format!(
                        "--read {key}={value}: expected format=…, unit=…, unit.COLUMN=…, amounts=total or per-node, past-limit=raise or kill, censored=part or end, status=started or completed, or faults=SHARE"
                    ));
                }
            }
        }
        Ok(options)
    }
}

/// Parses a date, or a time after the first job, in seconds if it has no unit and cannot be a date.
pub(super) fn edge(text: &str) -> Result<TraceEdge, String> {
    if let Some(before) = text.strip_prefix("now-") {
        return ago(before).map(TraceEdge::Ago);
    }
    let at = match text.parse().ok().and_then(stamp) {
        Some((_, "YYYYMMDD" | "YYYYMMDDhh")) => {
            return Err(format!(
                "`{text}` is ambiguous, a date or a number of seconds: write for example 2026-03-01, or {text}s"
            ));
        }
        Some((at, _)) => Some(at),
        None => instant(text.as_bytes()),
    };
    if let Some(at) = at {
        return Ok(TraceEdge::At(at));
    }
    let after = time(text).map(TraceEdge::After);
    after.map_err(|why| format!("{why}, nor a date such as 2026-10-01"))
}

/// Parses a time before now, where `w` is a week.
fn ago(text: &str) -> Result<f64, String> {
    match text.strip_suffix('w').map(str::parse::<f64>) {
        Some(Ok(weeks)) if weeks > 0.0 && weeks.is_finite() => Ok(weeks * WEEK),
        _ => time(text),
    }
}

const WEEK: f64 = 7.0 * 86_400.0;

fn servers(text: &str) -> Result<Servers, String> {
    if !text.contains('=') && Path::new(text).is_file() {
        nodes(Path::new(text)).map_err(|why| why.to_string())
    } else {
        Servers::shapes(text)
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=');
    let pair = pair.filter(|(what, column)| !what.is_empty() && !column.is_empty());
    let (what, column) =
        pair.ok_or_else(|| format!("`{text}` is not KEY=VALUE: write e.g. time=submit_s"))?;
    Ok((what.trim().into(), column.trim().into()))
}
