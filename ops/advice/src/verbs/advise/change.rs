//! The folder of a change, which is written by `synth advise slurm -o FOLDER`.

use std::fs;
use std::path::Path;

use itertools::Itertools as _;

use crate::slurm::Advice;
use synth_slurm::change::SiteEdit;
use synth_slurm::configuration::SlurmSite;
use synth_slurm::order::SlurmOrder;
use synth_verb::{VerbOutput, VerbResult, folder_for_results, refuse};

/// Creates the folder, or returns an error if it is not empty, because it may contain the way back
/// of a change that has been applied.
pub(super) fn check_empty(folder: &Path) -> VerbResult<()> {
    folder_for_results(folder)?;
    match fs::read_dir(folder)?.next() {
        None => Ok(()),
        Some(_) => refuse(format!(
            "the directory {} is not empty, and it may contain the patch to undo a change; use a new directory, or a file that ends with .json for the results",
            folder.display()
        )),
    }
}

/// Adds the files of the change to the output of the verb. `slurm` is the path that was specified.
pub(super) fn add(
    output: &mut VerbOutput,
    folder: &Path,
    advice: &Advice,
    site: &SlurmSite,
    slurm: Option<&Path>,
) -> VerbResult<()> {
    let results = folder.join("advice.json");
    let mut next = format!(
        "Nothing is advised, so only {} is written.",
        results.display()
    );
    output.documents.push((results, output.document.clone()));
    if advice.is_advised {
        let (files, own) = match files(advice, site, slurm) {
            Ok(files) => (files, folder.join("README.md")),
            Err(why) => return refuse(why),
        };
        next = format!("Read {} next.", own.display());
        let files = files.into_iter();
        let files = files.map(|(name, text)| (folder.join(name), text));
        output.documents.extend(files);
    }
    for (file, _) in &output.documents {
        file.parent().map(fs::create_dir_all).transpose()?;
    }
    output.report.summary.push(next);
    Ok(())
}

fn files(
    advice: &Advice,
    site: &SlurmSite,
    slurm: Option<&Path>,
) -> Result<Vec<(String, String)>, String> {
    let advised = advice.order.as_ref();
    let order = advised.map(|own| SlurmOrder::of_priority(own.priority));
    let order = order.transpose()?;
    let folder = slurm.map(|path| match path.is_dir() {
        true => path,
        false => path.parent().unwrap_or(Path::new("")),
    });
    let script = folder.map(|own| fs::read(own.join("job_submit.lua")));
    let script = script.and_then(Result::ok);
    let script = script.map(|own| String::from_utf8_lossy(&own).into_owned());
    let edit = SiteEdit {
        what: &advice.chosen.iter().map(|own| &own.what).join("; "),
        settings: &advice.settings,
        lines: &advice.lines,
        back: &advice.back,
        order: order
            .as_ref()
            .zip(advised.map(|own| own.partitions.as_str())),
        script: script.as_deref(),
    };
    edit.files(site)
}
