//! This example uses a policy file to answer the requests of a volunteer computing server. They are
//! read from the standard input, with one JSON document per line.
//!
//! ```text
//! cargo run --release -p dispatch -- policy.json < requests.jsonl
//! ```
//!
//! If a line is not valid, the answer is an error. The exit code is 2 if the policy cannot be used.
use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;
use std::process::ExitCode;

use synth_volunteer::artifact::Checked;
use synth_volunteer::policy::{Answer, Dispatch, Request, decide};

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: dispatch POLICY.json < requests.jsonl");
        return ExitCode::from(2);
    };
    match run(Path::new(&path)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(path: &Path) -> Result<(), Box<dyn Error>> {
    let checked = Checked::read(path)?;
    let rule = &checked.artifact().policy.dispatch;
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        match answer(rule, &line?) {
            Ok(answers) => writeln!(output, "{}", serde_json::to_string(&answers)?)?,
            Err(why) => writeln!(output, "{}", serde_json::json!({ "error": why }))?,
        }
    }
    Ok(())
}

fn answer(rule: &Dispatch, line: &str) -> Result<Vec<Answer>, String> {
    let request: Request = serde_json::from_str(line).map_err(|error| error.to_string())?;
    request.check()?;
    Ok(decide(rule, &request))
}
