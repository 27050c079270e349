//! The command line: parse, run, print, exit code. Artifacts and tables for programs go to
//! standard output; what a person reads goes to standard error.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
