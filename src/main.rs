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
            anstream::eprintln!(
                "{}error:{} {error}",
                cli::EMPHASIS,
                cli::EMPHASIS.render_reset()
            );
            ExitCode::from(2)
        }
    }
}
