use clap::Args;
use synth::artifact::Checked;
use synth::kind::Kind;
use synth::typed::PolicyFile;

use super::{Common, Outcome, printed, width};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    policy: PolicyFile,
}

pub fn run<K: Kind>(arguments: &Arguments, common: &Common) -> Outcome {
    let checked = Checked::<K>::read_with(arguments.policy.file()?, common.changes())?;
    printed(&format!("{}\n", K::show(&checked, width())))
}
