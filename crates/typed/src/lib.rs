//! What is typed in the same way for every kind of workload.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use synth_core::number::seconds_of;
use synth_simulation::Settings;

/// The workload that a verb is about, in its place or after a flag.
#[derive(Args, Clone, Debug)]
#[group(id = "a_workload", required = REQUIRED, multiple = false)]
pub struct WorkloadFile<const REQUIRED: bool = true> {
    /// The workload, a YAML file (`-`: standard input): what arrives, and the servers
    #[arg(value_name = "FILE")]
    workload_file: Option<PathBuf>,

    /// The same, after its name
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,
}

impl<const REQUIRED: bool> WorkloadFile<REQUIRED> {
    /// Returns the file.
    ///
    /// # Errors
    /// When none was typed.
    pub fn file(&self) -> Result<&Path, &'static str> {
        self.typed()
            .ok_or("give a workload: FILE, or --workload FILE; see --help")
    }

    /// Returns the file, if one was typed.
    pub fn typed(&self) -> Option<&Path> {
        self.workload_file.as_deref().or(self.workload.as_deref())
    }
}

/// The policy that a verb is about.
#[derive(Args, Clone, Debug)]
pub struct PolicyFile {
    /// The policy: a JSON file made by `synth FILE` (`-`: standard input)
    #[arg(value_name = "POLICY")]
    pub policy: PathBuf,
}

/// How long simulations may be.
#[derive(Args, Clone, Debug)]
pub struct RunLength {
    /// Seed of the random streams: the same seed gives the same numbers
    #[arg(long, default_value = "1")]
    seed: u64,

    /// Stop after so many events (arrivals, completions, clocks) [default: 2e8; 2e7 a policy and
    /// load where policies are compared; 5e7 a policy in `synth optimum`; 1e8 in `synth limit`]
    #[arg(long, value_parser = count)]
    events: Option<u64>,

    /// Stop after this time, such as 90 (seconds), 5min or 1h; the numbers then depend on the machine
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<f64>,
}

impl RunLength {
    /// Returns settings of the simulator, with this default for the number of events.
    pub fn settings(&self, events: u64) -> Settings {
        Settings {
            seed: self.seed,
            events: self.events.unwrap_or(events),
            time: self.time.map(seconds),
            ..Settings::default()
        }
    }
}

/// When a simulation ends.
#[derive(Args, Clone, Debug)]
pub struct Budget {
    #[command(flatten)]
    length: RunLength,

    /// Stop when the 95 % interval of the mean response time is this narrow, relatively
    #[arg(long, default_value = "1%", value_parser = part)]
    precision: f64,

    /// Independent replications; they run in parallel on the available cores
    #[arg(long, default_value = "8", value_parser = clap::value_parser!(u32).range(1..=1000))]
    replications: u32,
}

impl Budget {
    /// Returns independent replications.
    pub fn replications(&self) -> u32 {
        self.replications
    }

    /// Returns settings of the simulator, with this default for the number of events.
    pub fn settings(&self, events: u64) -> Settings {
        Settings {
            replications: self.replications,
            precision: self.precision,
            ..self.length.settings(events)
        }
    }
}

/// Returns a time that was typed in seconds; more than 30 years are as good as none.
pub fn seconds(typed: f64) -> Duration {
    Duration::from_secs_f64(typed.min(1e9))
}

/// Returns a positive time in seconds: a number alone, or one with its unit, such as 90s, 5min or 1h.
///
/// # Errors
/// What is expected.
pub fn time(text: &str) -> Result<f64, String> {
    let positive = seconds_of(text).filter(|time| *time > 0.0);
    positive.ok_or_else(|| {
        format!("`{text}` is not a positive number of seconds, nor a time such as 90s, 5min or 1h")
    })
}

/// Returns a number, or a percentage of 1; not a number where it is none.
fn number_or_percentage(text: &str) -> f64 {
    let (digits, unit) = match text.strip_suffix('%') {
        Some(digits) => (digits.trim(), 0.01),
        None => (text, 1.0),
    };
    digits.parse::<f64>().unwrap_or(f64::NAN) * unit
}

/// Returns a number that is right, or says what is expected.
fn expected(number: f64, is_right: bool, wrong: impl FnOnce() -> String) -> Result<f64, String> {
    is_right.then_some(number).ok_or_else(wrong)
}

/// Returns a share in [0, 1]: `5%` or `.05`.
///
/// # Errors
/// When it is none; says what is expected.
pub fn share(text: &str) -> Result<f64, String> {
    let share = number_or_percentage(text);
    let is_one = (0.0..=1.0).contains(&share);
    expected(share, is_one, || {
        format!("`{text}` is no share between 0 and 1: write such as 2% or .02")
    })
}

/// Returns a positive number, or a percentage of 1: `0.01` or `1%`.
///
/// # Errors
/// What is expected.
pub fn fraction(text: &str) -> Result<f64, String> {
    let value = number_or_percentage(text);
    let wrong = || format!("`{text}` is not a positive number such as 0.01 or 1%");
    expected(value, value > 0.0 && value.is_finite(), wrong)
}

/// Returns a part of a whole, below 1.
///
/// # Errors
/// What is expected.
pub fn part(text: &str) -> Result<f64, String> {
    match fraction(text)? {
        part if part < 1.0 => Ok(part),
        _ if text.ends_with('%') => Err(format!("`{text}`: give less than 100%")),
        _ => Err(format!(
            "`{text}` is {text} times the whole; did you mean `{text}%`?"
        )),
    }
}

/// Returns a load below 1.
///
/// # Errors
/// What is expected.
pub fn load(text: &str) -> Result<f64, String> {
    below_one(fraction(text)?)
}

/// Returns the load, if it is below 1.
///
/// # Errors
/// What is expected.
pub fn below_one(load: f64) -> Result<f64, String> {
    expected(load, load < 1.0, || {
        format!(
            "`{load}`: at a load of 1 and more no policy is stable; give a load below 1, such as 0.9 or 90%"
        )
    })
}

/// Returns a positive finite number.
///
/// # Errors
/// What is expected.
pub fn positive(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().unwrap_or(f64::NAN);
    let wrong = || format!("`{text}` is not a positive number");
    expected(value, value > 0.0 && value.is_finite(), wrong)
}

/// Returns a whole number, `2e8` and `1_000_000` too.
///
/// # Errors
/// What is expected.
pub fn count(text: &str) -> Result<u64, String> {
    let plain = text.replace('_', "");
    let value = plain.parse::<f64>().unwrap_or(f64::NAN);
    if (1.0..=1e15).contains(&value) && value.fract() == 0.0 {
        Ok(value as u64)
    } else if text.ends_with(char::is_alphabetic) && seconds_of(text).is_some() {
        Err(format!(
            "`{text}` is a time, and this is counted, so that the result is the same on each machine: write a whole number from 1 to 1e15, such as 2e7"
        ))
    } else {
        Err(format!("`{text}` is not a whole number from 1 to 1e15"))
    }
}

/// Returns a time, such as 250ms, 30s or 1h; a number alone is in seconds.
///
/// # Errors
/// When it is none, or longer than 30 years.
pub fn duration(text: &str) -> Result<Duration, String> {
    let time = seconds_of(text).filter(|time| *time <= 1e9);
    time.map(Duration::from_secs_f64)
        .ok_or_else(|| "not a time such as 250ms, 30s, 5min, 1h or 120d".into())
}
