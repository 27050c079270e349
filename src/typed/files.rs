//! Files that verbs are about, typed in one way for all verbs.

use std::path::{Path, PathBuf};

use clap::Args;

/// The workload that a verb is about, or may be about.
#[derive(Args, Clone, Debug)]
#[group(id = "a_workload", required = REQUIRED, multiple = false)]
pub struct WorkloadFile<const REQUIRED: bool = true> {
    /// The workload, a YAML file (`-`: standard input): what arrives, and the servers
    #[arg(value_name = "FILE")]
    workload_file: Option<PathBuf>,

    /// The same, after its name
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,
}

impl<const REQUIRED: bool> WorkloadFile<REQUIRED> {
    /// The file.
    ///
    /// # Errors
    /// When none was typed.
    pub fn file(&self) -> Result<&Path, &'static str> {
        self.typed()
            .ok_or("give a workload: FILE, or --workload FILE; see --help")
    }

    /// The file, if one was typed.
    #[must_use]
    pub fn typed(&self) -> Option<&Path> {
        let named = self.workload.as_deref();
        self.workload_file.as_deref().or(named)
    }
}

/// The policy that a verb is about, or may be about.
#[derive(Args, Clone, Debug)]
#[group(id = "a_policy", required = REQUIRED, multiple = false)]
pub struct PolicyFile<const REQUIRED: bool = true> {
    /// The policy: a JSON file made by `synth FILE` (`-`: standard input), or to simulate also the name of a rule,
    /// such as first-fit, with --workload
    #[arg(value_name = "POLICY")]
    policy_file: Option<PathBuf>,

    /// The same, after its name
    #[arg(long, value_name = "POLICY")]
    policy: Option<PathBuf>,
}

impl<const REQUIRED: bool> PolicyFile<REQUIRED> {
    /// The file.
    ///
    /// # Errors
    /// When none was typed.
    pub fn file(&self) -> Result<&Path, &'static str> {
        self.typed()
            .ok_or("give a policy: POLICY, or --policy POLICY; see --help")
    }

    /// The file, if one was typed.
    #[must_use]
    pub fn typed(&self) -> Option<&Path> {
        let named = self.policy.as_deref();
        self.policy_file.as_deref().or(named)
    }
}
