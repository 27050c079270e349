//! The command line: parse, run, print, exit code. Artifacts and tables for programs go to
//! standard output; what a person reads goes to standard error.

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    match cli::run(&arguments) {
        Ok(code) => code,
        Err(error) if cli::is_broken_pipe(error.as_ref()) => ExitCode::SUCCESS,
        Err(error) => {
            // The workload's own reports begin with the word already.
            let text = error.to_string();
            let text = text.trim_start_matches("error: ");
            let (on, off) = (cli::EMPHASIS, cli::EMPHASIS.render_reset());
            anstream::eprintln!("{on}error:{off} {text}");
            ExitCode::from(cli::code_of(error.as_ref()))
        }
    }
}
