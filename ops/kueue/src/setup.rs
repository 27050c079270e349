//! Command-line options of the controller.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use synth_typed::duration;

/// Let a scheduling policy decide when the jobs of a Kubernetes cluster start, by removing an
/// admission gate from them
#[derive(Clone, Debug, Parser)]
#[command(name = "synth-kueue", version)]
pub struct Setup {
    /// The policy file
    #[arg(value_name = "POLICY", required_unless_present = "release_all")]
    pub policy: Option<PathBuf>,

    /// What prevents jobs from starting until the policy releases them
    #[arg(long, value_enum, default_value_t = Mode::Kueue)]
    pub mode: Mode,

    /// Name of the gate in `kueue.x-k8s.io/admission-gated-by`; with --mode suspend, the value of
    /// the label `synth/policy` of the jobs to handle
    #[arg(long, value_name = "NAME", default_value = "synth/gate")]
    pub gate: String,

    /// YAML file that maps jobs to job types [default: by demand]
    #[arg(long, value_name = "FILE")]
    pub types: Option<PathBuf>,

    /// Kubernetes name of a resource of the policy (as in gpu=nvidia.com/gpu, memory=memory:M); may
    /// be repeated
    #[arg(long, value_name = "RESOURCE=NAME")]
    pub resource: Vec<String>,

    /// What to do with gated jobs that fit no type of the policy
    #[arg(long, value_enum, default_value_t = Unknown::Leave)]
    pub unknown: Unknown,

    /// Only handle jobs of this namespace [default: all]
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,

    /// Only use nodes with these labels as the policy's servers (as in pool=gpu)
    #[arg(long, value_name = "SELECTOR")]
    pub nodes: Option<String>,

    /// Kubeconfig file [default: $KUBECONFIG, ~/.kube/config, or the pod's service account]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// The Lease that is used for leader election, as NAMESPACE/NAME
    #[arg(long, value_name = "LEASE", default_value = "default/synth-kueue")]
    pub lease: String,

    /// Name of this replica in the Lease [default: host and process id]
    #[arg(long, value_name = "NAME", env = "POD_NAME")]
    pub identity: Option<String>,

    /// The time without a renewal after which another replica takes over
    #[arg(long, value_name = "TIME", default_value = "6s", value_parser = duration)]
    pub lease_duration: Duration,

    /// Address that serves /metrics, /healthz and /readyz
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:8080")]
    pub listen: SocketAddr,

    /// Format of log messages
    #[arg(long, value_enum, default_value_t = Format::Json)]
    pub log: Format,

    /// Print the waiting and running jobs and the jobs that would be released now, and exit without
    /// releasing anything
    #[arg(long)]
    pub dry_run: bool,

    /// Remove the gate from all jobs and exit. This does not need a policy
    #[arg(long, conflicts_with = "dry_run")]
    pub release_all: bool,

    /// Seed of the policy's clocks
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,
}

/// What prevents jobs from starting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Kueue's admission gate
    Kueue,
    /// The field `spec.suspend` of batch/v1 Jobs, without Kueue
    Suspend,
}

/// What to do with gated jobs without a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unknown {
    /// Leave them gated
    Leave,
    /// Release them immediately; the resources they use are not available to the policy
    Release,
}

/// Format of log messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One line of JSON each
    Json,
    /// One line of text each
    Text,
}
