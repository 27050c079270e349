use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::program;
use crate::document::{is_standard_input, text_of};
use crate::kind::{
    Caller, Files, RunVerb, VerbOutput, VerbResult, files, folder_for_results, refuse,
};
use crate::multiresource::artifact::Checked;
use crate::multiresource::bridge::{bridgeable, export_kueue, export_slurm, gangs};
use crate::multiresource::live::check_only_starts;
use crate::report::Section;
use synth_advice::slurm::AdvisedOrder;
use synth_slurm::order::{self, SlurmOrder};

/// Write the files for using a policy with another program
///
/// Depending on the program, the files are for a policy or for a workload
#[derive(Args)]
pub(crate) struct Export {
    /// The program that the files are written for
    #[arg(value_enum, value_name = "PROGRAM")]
    to: Target,

    /// The policy file.
    ///
    /// For slurm-priority, this can also be a queue order: saf (smallest limit × CPUs first), sjf
    /// (shortest limit first), widest (most CPUs first) or wfp3. For lp, this is a workload file
    #[arg(value_name = "FILE", required_unless_present = "advice")]
    source: Option<PathBuf>,

    /// Use the order, the partitions and the weights of this advice, instead of FILE
    ///
    /// It is the file advice.json from `synth advise slurm -o`, and is only used for slurm-priority
    #[arg(long, value_name = "FILE", conflicts_with_all = ["source", "partition"])]
    advice: Option<PathBuf>,

    /// The name of the partition.
    ///
    /// For slurm-priority, this can be a list of partitions with the same nodes, separated by
    /// commas
    #[arg(long, value_name = "NAME", required_if_eq("to", "slurm"))]
    partition: Option<String>,

    /// The namespace of the jobs, which is only used for kueue [default: default]
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,

    /// The directory for the files, which is created if needed [default: slurm or kueue], or the
    /// file for lp [default: standard output]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Overwrite the files if they already exist
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    /// Use Slurm with the bridge, so that the policy decides when a job is started
    Slurm,
    /// Use Slurm with a queue order that is a function of the limit, the number of CPUs and the
    /// waiting time. Jobs are not held, and no additional daemon is needed
    SlurmPriority,
    /// Use Kueue on Kubernetes, so that the policy decides when a job is started
    Kueue,
    /// Write the linear program that is used to compute the load, in LP format. It can be used to
    /// check the proof with any LP solver
    Lp,
}

impl RunVerb for Export {
    fn files(&self) -> Files<'_> {
        // The name of a queue order is not the path to a file.
        let is_name = self.to == Target::SlurmPriority && !self.source().exists();
        let read = self.source.as_ref().filter(|_| !is_name);
        files(
            read.into_iter().chain(&self.advice),
            self.output.iter().filter(|_| self.to == Target::Lp),
        )
    }

    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        use Target::{Kueue, Lp, Slurm, SlurmPriority};
        let misplaced = match self.to {
            Kueue | Lp if self.partition.is_some() => Some("--partition"),
            Slurm | SlurmPriority | Lp if self.namespace.is_some() => Some("--namespace"),
            Lp if self.force => Some("--force"),
            Slurm | Kueue | Lp if self.advice.is_some() => Some("--advice"),
            _ => None,
        };
        if let Some(option) = misplaced {
            return refuse(format!("{option} cannot be used for this program"));
        }
        match self.to {
            Slurm => self.slurm(caller),
            SlurmPriority => self.slurm_priority(caller),
            Kueue => self.kueue(caller),
            Lp => {
                let output = self.output.clone().unwrap_or("-".into());
                program::write(self.source(), output, caller)
            }
        }
    }
}

impl Export {
    fn slurm(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let file = self.saved("the service reads the policy from a file")?;
        let policy = Checked::read_with(file, caller.changes)?;
        if let Err(why) = bridgeable(&policy) {
            return Ok(VerbOutput::refused(why));
        }
        // The service may be started in a different directory.
        let named = std::path::absolute(file)?;
        let files = export_slurm(&policy, &named, self.partition())?;
        let says = "how to test it with `--dry-run`, and how to uninstall it";
        let mut written = self.filled("slurm", files, says)?;
        let gangs = gangs(&policy).replace("**", "");
        let summary = &mut written.report.summary;
        summary.insert(0, gangs.trim_end().to_owned());
        Ok(written)
    }

    fn kueue(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let file = self.saved("the policy is copied from a file")?;
        let policy = Checked::read_with(file, caller.changes)?;
        if let Err(why) = check_only_starts(&policy, "which a gate cannot do") {
            return Ok(VerbOutput::refused(why));
        }
        let namespace = self.namespace.as_deref().unwrap_or("default");
        let files = export_kueue(&policy, &text_of(file)?, namespace)?;
        self.filled("kueue", files, LOOK_AND_GO_BACK)
    }

    fn slurm_priority(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        if let Some(file) = &self.advice {
            return match AdvisedOrder::export(file)? {
                Some(files) => self.filled("slurm", files, LOOK_AND_GO_BACK),
                None => Ok(VerbOutput::refused(format!(
                    "{} does not advise an order of the queue, so there is nothing to export",
                    file.display()
                ))),
            };
        }
        if self.partition.is_none() {
            return refuse("the partition is missing; use `--partition` to specify it");
        }
        let source = self.source();
        let order = if source.exists() || is_standard_input(source) {
            SlurmOrder::of_policy(&Checked::read_with(source, caller.changes)?)
        } else {
            let name = source.to_string_lossy();
            SlurmOrder::named(&name).ok_or_else(|| {
                format!(
                    "`{name}` is neither a file nor a queue order; it must be a policy file, saf (smallest limit × CPUs first), sjf (shortest limit first), widest (most CPUs first) or wfp3"
                )
            })?
        };
        let order = match order {
            Ok(order) => order,
            Err(why) => return Ok(VerbOutput::refused(why)),
        };
        let files = order::export(&order, self.partition(), None)?;
        self.filled("slurm", files, LOOK_AND_GO_BACK)
    }

    fn source(&self) -> &Path {
        self.source.as_deref().unwrap_or(Path::new(""))
    }

    fn partition(&self) -> &str {
        self.partition.as_deref().unwrap_or_default()
    }

    fn saved(&self, why: &str) -> VerbResult<&Path> {
        match self.source() {
            file if is_standard_input(file) => refuse(format!(
                "{why}; save the policy to a file, and use the path to it"
            )),
            file => Ok(file),
        }
    }

    fn filled(
        &self,
        default: &str,
        files: Vec<(String, String)>,
        says: &str,
    ) -> VerbResult<VerbOutput> {
        let folder: &Path = self.output.as_deref().unwrap_or(Path::new(default));
        let mut output = VerbOutput::default();
        for (name, text) in files {
            output.documents.push((folder.join(name), text));
        }
        let names = || output.documents.iter().map(|(file, _)| file);
        if let Some(there) = names().find(|file| file.exists() && !self.force) {
            return refuse(format!(
                "{} already exists; use a different directory, or use `--force` to overwrite it",
                there.display()
            ));
        }
        for folder in names().filter_map(|file| file.parent()) {
            folder_for_results(folder)?;
        }
        let listed = names().map(|file| format!("  {}", file.display()));
        let section = Section {
            lines: listed.collect(),
            ..Section::default()
        };
        let section = section.note(format!(
            "Read {} first. It describes the steps in their order, {says}.",
            folder.join("README.md").display()
        ));
        output.report.sections.push(section);
        Ok(output)
    }
}

const LOOK_AND_GO_BACK: &str = "how to see the changes before they are made, and how to undo them";
