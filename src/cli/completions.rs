use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use synth::kind::Kind;

use super::Outcome;
use super::output::emit;

#[derive(Args)]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

pub fn completions<K: Kind>(arguments: &Arguments) -> Outcome {
    let mut script = Vec::new();
    let mut command = super::Arguments::<K>::command();
    clap_complete::generate(arguments.shell, &mut command, "synth", &mut script);
    emit(None, &String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}

pub fn manual<K: Kind>() -> Outcome {
    let mut page = Vec::new();
    clap_mangen::Man::new(super::Arguments::<K>::command()).render(&mut page)?;
    emit(None, &String::from_utf8(page)?)?;
    Ok(ExitCode::SUCCESS)
}
