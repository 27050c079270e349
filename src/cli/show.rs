use std::path::PathBuf;

use clap::Args;
use synth::artifact::Checked;
use synth::kind::Kind;

use super::{Common, Outcome, printed, width};

#[derive(Args)]
pub struct Arguments {
    /// The policy, a JSON file made by `synth --workload …`
    policy: PathBuf,
}

pub fn run<K: Kind>(arguments: &Arguments, common: &Common) -> Outcome {
    let checked = Checked::<K>::read_with(&arguments.policy, common.changes())?;
    printed(&format!("{}\n", K::show(&checked, width())))
}
