use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use synth_typed::duration;

/// Let a scheduling policy decide when the jobs of a Kubernetes cluster start by removing gates
#[derive(Clone, Debug, Parser)]
#[command(name = "synth-kueue", version)]
pub struct Setup {
    /// The policy file
    #[arg(value_name = "POLICY", required_unless_present = "release_all")]
    pub policy: Option<PathBuf>,

    /// The mechanism that prevents jobs from starting before they are released by the policy
    #[arg(long, value_enum, default_value_t = Mode::Kueue)]
    pub mode: Mode,

    /// Name of the gate in `kueue.x-k8s.io/admission-gated-by`.
    ///
    /// With --mode suspend, this is the value of the label `synth/policy` of the jobs to handle
    #[arg(long, value_name = "NAME", default_value = "synth/gate")]
    pub gate: String,

    /// YAML file that maps jobs to job types [default: by demand]
    #[arg(long, value_name = "FILE")]
    pub types: Option<PathBuf>,

    /// Kubernetes name of a resource of the policy (gpu=nvidia.com/gpu, memory=memory:M);
    /// repeatable
    #[arg(long, value_name = "RESOURCE=NAME")]
    pub resource: Vec<String>,

    /// What to do with gated jobs that do not fit any type of the policy
    #[arg(long, value_enum, default_value_t = Unknown::Leave)]
    pub unknown: Unknown,

    /// Only handle the jobs in this namespace [default: all]
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,

    /// Only use the nodes with these labels as servers of the policy (as in pool=gpu)
    #[arg(long, value_name = "SELECTOR")]
    pub nodes: Option<String>,

    /// Kubeconfig file [default: $KUBECONFIG, ~/.kube/config, or the service account of the pod]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// The Lease that is used for leader election, as NAMESPACE/NAME
    #[arg(long, value_name = "LEASE", default_value = "default/synth-kueue")]
    pub lease: String,

    /// Name of this replica in the Lease [default: host and process id]
    #[arg(long, value_name = "NAME", env = "POD_NAME")]
    pub identity: Option<String>,

    /// Time after which another replica becomes the leader if the Lease is not renewed
    #[arg(long, value_name = "TIME", default_value = "6s", value_parser = duration)]
    pub lease_duration: Duration,

    /// Address at which /metrics, /healthz and /readyz are served
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:8080")]
    pub listen: SocketAddr,

    /// Format of log messages
    #[arg(long, value_enum, default_value_t = Format::Json)]
    pub log: Format,

    /// Print the waiting and running jobs and the jobs that would be released now, and exit.
    ///
    /// No jobs are released
    #[arg(long)]
    pub dry_run: bool,

    /// Remove the gate from all jobs and exit.
    ///
    /// A policy is not needed
    #[arg(long, conflicts_with = "dry_run")]
    pub release_all: bool,

    /// Seed of the random clocks of the policy
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// The admission gate of Kueue
    Kueue,
    /// The field `spec.suspend` of batch/v1 Jobs, without Kueue
    Suspend,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unknown {
    /// Do not remove the gate
    Leave,
    /// Release them immediately. The resources that they use are not available to the policy
    Release,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Write one line of JSON for each message
    Json,
    /// Write one line of text for each message
    Text,
}
