//! The `synth-lab` program, see [`synth_lab::PROGRAM`].

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    ExitCode::from(synth_lab::PROGRAM.main(&typed))
}
