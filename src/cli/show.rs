use std::path::PathBuf;

use clap::Args;
use synth::artifact::Checked;
use synth::kind::Kind;

use super::{Outcome, printed, width};

#[derive(Args)]
pub struct Arguments {
    /// The policy, a JSON file made by `synth --workload …`
    policy: PathBuf,
}

pub fn run<K: Kind>(arguments: &Arguments) -> Outcome {
    let checked = Checked::<K>::read(&arguments.policy)?;
    printed(&format!("{}\n", K::show(&checked, width())))
}
