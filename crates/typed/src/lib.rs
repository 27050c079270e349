//! The command-line arguments that are shared by several verbs.
//!
//! - The structs [`WorkloadFile`], [`PolicyFile`], [`RunLength`] and [`Budget`] are flattened into
//!   the arguments of a verb. The last two become the [`Settings`] of a simulation.
//! - The functions such as [`count`] and [`share`] parse a value. Errors contain a correct value.
//!
//! ```
//! use clap::Parser as _;
//! use synth_typed::Budget;
//!
//! #[derive(clap::Parser)]
//! struct Arguments {
//!     #[command(flatten)]
//!     budget: Budget,
//! }
//!
//! let arguments = Arguments::try_parse_from(["example", "--events", "2e6", "--precision", "5%"])?;
//! let settings = arguments.budget.settings(200_000_000, Default::default());
//! assert_eq!((settings.events, settings.precision), (2_000_000, 0.05));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;

use synth_core::number::seconds_of;
use synth_simulation::Settings;

/// The workload of a verb, which is given as a positional argument or as an option.
#[derive(Args, Clone, Debug)]
#[group(id = "a_workload", required = REQUIRED, multiple = false)]
pub struct WorkloadFile<const REQUIRED: bool = true> {
    /// The workload, a YAML file (`-`: standard input)
    #[arg(value_name = "FILE")]
    workload_file: Option<PathBuf>,

    /// The workload, as an option
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,
}

impl<const REQUIRED: bool> WorkloadFile<REQUIRED> {
    /// Returns the file, or an error if none was given.
    pub fn file(&self) -> Result<&Path, &'static str> {
        self.typed()
            .ok_or("give a workload: FILE, or --workload FILE; see --help")
    }

    /// Returns the file, if one was given.
    pub fn typed(&self) -> Option<&Path> {
        self.workload_file.as_deref().or(self.workload.as_deref())
    }
}

/// The policy of a verb.
#[derive(Args, Clone, Debug)]
pub struct PolicyFile {
    /// The policy: a JSON file made by `synth FILE` (`-`: standard input)
    #[arg(value_name = "POLICY")]
    pub policy: PathBuf,
}

/// The length of a simulation.
#[derive(Args, Clone, Debug)]
pub struct RunLength {
    /// The seed: the same seed gives the same numbers
    #[arg(long, default_value = "1")]
    seed: u64,

    /// Stop after this many events
    ///
    /// Events are arrivals, completions and clocks [default: 2e8; 2e7 per policy and load in
    /// comparisons; 5e7 per policy in `synth optimum`; 1e8 in `synth limit`]
    #[arg(long, value_parser = count)]
    events: Option<u64>,

    /// Stop after this time, such as 90 (seconds), 5min or 1h
    ///
    /// The results then depend on the machine
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub time: Option<f64>,
}

impl RunLength {
    /// Returns the settings of the simulator, with this default number of events. The run ends if
    /// `interrupt` is set.
    pub fn settings(&self, events: u64, interrupt: Arc<AtomicBool>) -> Settings {
        Settings {
            seed: self.seed,
            events: self.events.unwrap_or(events),
            time: self.time.map(seconds),
            interrupt,
            ..Settings::default()
        }
    }
}

/// The condition for the end of a simulation.
#[derive(Args, Clone, Debug)]
pub struct Budget {
    #[command(flatten)]
    length: RunLength,

    /// Stop at this relative half-width of the mean response time
    ///
    /// The interval is that of 95 % confidence
    #[arg(long, default_value = "1%", value_parser = part)]
    precision: f64,

    /// The number of independent replications, which run in parallel
    #[arg(long, default_value = "8", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub replications: u32,
}

impl Budget {
    /// Returns the settings of the simulator, with this default number of events. The run ends if
    /// `interrupt` is set.
    pub fn settings(&self, events: u64, interrupt: Arc<AtomicBool>) -> Settings {
        Settings {
            replications: self.replications,
            precision: self.precision,
            ..self.length.settings(events, interrupt)
        }
    }
}

/// Converts a time \[s\], which is limited to 1e9 s (about 30 years).
pub fn seconds(typed: f64) -> Duration {
    Duration::from_secs_f64(typed.min(1e9))
}

/// Parses a positive time: a number of seconds, or with a unit such as 90s, 5min or 1h.
pub fn time(text: &str) -> Result<f64, String> {
    let positive = seconds_of(text).filter(|time| *time > 0.0);
    positive.ok_or_else(|| {
        format!("`{text}` is not a positive number of seconds, nor a time such as 90s, 5min or 1h")
    })
}

fn number_or_percentage(text: &str) -> f64 {
    let (digits, unit) = match text.strip_suffix('%') {
        Some(digits) => (digits.trim(), 0.01),
        None => (text, 1.0),
    };
    digits.parse::<f64>().unwrap_or(f64::NAN) * unit
}

/// Parses a share between 0 and 1, such as `5%` or `0.05`.
pub fn share(text: &str) -> Result<f64, String> {
    match number_or_percentage(text) {
        share @ 0.0..=1.0 => Ok(share),
        _ => Err(format!(
            "`{text}` is not a share between 0 and 1, such as 2% or 0.02"
        )),
    }
}

fn finite(value: f64, wrong: impl FnOnce() -> String) -> Result<f64, String> {
    let is_right = value > 0.0 && value.is_finite();
    is_right.then_some(value).ok_or_else(wrong)
}

/// Parses a positive number or a percentage, such as `0.01` or `1%`.
pub fn fraction(text: &str) -> Result<f64, String> {
    finite(number_or_percentage(text), || {
        format!("`{text}` is not a positive number such as 0.01 or 1%")
    })
}

/// Parses a fraction that must be less than 1.
pub fn part(text: &str) -> Result<f64, String> {
    match fraction(text)? {
        part if part < 1.0 => Ok(part),
        _ if text.ends_with('%') => Err(format!("`{text}` is too large: expected less than 100%")),
        _ => Err(format!(
            "`{text}` is too large: expected less than 1; did you mean `{text}%`?"
        )),
    }
}

/// Parses a load that must be less than 1.
pub fn load(text: &str) -> Result<f64, String> {
    below_one(fraction(text)?)
}

/// Returns the load if it is less than 1, or an error otherwise.
pub fn below_one(load: f64) -> Result<f64, String> {
    (load < 1.0).then_some(load).ok_or_else(|| {
        format!(
            "`{load}`: no policy is stable at a load of 1 or more; give a load below 1, such as 0.9 or 90%"
        )
    })
}

/// Parses a number that must be positive and finite.
pub fn positive(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().unwrap_or(f64::NAN);
    finite(value, || format!("`{text}` is not a positive number"))
}

/// Parses an integer from 1 to 1e15, which can be written as `2e8` or `1_000_000`.
pub fn count(text: &str) -> Result<u64, String> {
    let plain = text.replace('_', "");
    let value = plain.parse::<f64>().unwrap_or(f64::NAN);
    if (1.0..=1e15).contains(&value) && value.fract() == 0.0 {
        Ok(value as u64)
    } else if text.ends_with(char::is_alphabetic) && seconds_of(text).is_some() {
        Err(format!(
            "`{text}` is a time, but a count is expected, so that results do not depend on the machine: write a whole number from 1 to 1e15, such as 2e7"
        ))
    } else {
        Err(format!("`{text}` is not a whole number from 1 to 1e15"))
    }
}

/// Parses a duration such as 250ms, 30s or 1h, or a number of seconds. The maximum is 30 years.
pub fn duration(text: &str) -> Result<Duration, String> {
    let time = seconds_of(text).filter(|time| *time <= 1e9);
    time.map(Duration::from_secs_f64)
        .ok_or_else(|| "not a time such as 250ms, 30s, 5min, 1h or 120d".into())
}
