//! How the controller is run, as it is typed.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use synth_typed::duration;

/// Lets a scheduling policy decide when the jobs of a Kubernetes cluster start: it removes its admission gate from them, and
/// Kueue does the rest
#[derive(Clone, Debug, Parser)]
#[command(name = "synth-kueue", version)]
pub struct Setup {
    /// The policy file
    #[arg(value_name = "POLICY", required_unless_present = "release_all")]
    pub policy: Option<PathBuf>,

    /// What keeps jobs back until the policy starts them
    #[arg(long, value_enum, default_value_t = Mode::Kueue)]
    pub mode: Mode,

    /// Name of the gate among those of `kueue.x-k8s.io/admission-gated-by`; with --mode suspend, jobs with the label
    /// `synth/policy` of this value are taken
    #[arg(long, value_name = "NAME", default_value = "synth/gate")]
    pub gate: String,

    /// Which jobs are of which type: a YAML file [default: by demand]
    #[arg(long, value_name = "FILE")]
    pub types: Option<PathBuf>,

    /// What Kubernetes calls a resource of the policy (as in gpu=nvidia.com/gpu, memory=memory:M); may be repeated
    #[arg(long, value_name = "RESOURCE=NAME")]
    pub resource: Vec<String>,

    /// What becomes of gated jobs that no type of the policy holds
    #[arg(long, value_enum, default_value_t = Unknown::Leave)]
    pub unknown: Unknown,

    /// Take only jobs of this namespace [default: all]
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,

    /// Take only nodes with these labels for the policy's servers (as in pool=gpu)
    #[arg(long, value_name = "SELECTOR")]
    pub nodes: Option<String>,

    /// How to reach the API server [default: $KUBECONFIG, ~/.kube/config, or the pod's service account]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// The Lease by which replicas agree on who acts, as NAMESPACE/NAME
    #[arg(long, value_name = "LEASE", default_value = "default/synth-kueue")]
    pub lease: String,

    /// Name of this replica in the Lease [default: its host and process]
    #[arg(long, value_name = "NAME", env = "POD_NAME")]
    pub identity: Option<String>,

    /// After this time without a renewal another replica takes over
    #[arg(long, value_name = "TIME", default_value = "6s", value_parser = duration)]
    pub lease_duration: Duration,

    /// Where /metrics, /healthz and /readyz are served
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:8080")]
    pub listen: SocketAddr,

    /// How messages are written
    #[arg(long, value_enum, default_value_t = Format::Json)]
    pub log: Format,

    /// Look once, print what waits and runs and what would be released now, and end: nothing is released
    #[arg(long)]
    pub dry_run: bool,

    /// Remove the gate from all jobs and end: the way back, which needs no policy
    #[arg(long, conflicts_with = "dry_run")]
    pub release_all: bool,

    /// Of the policy's clocks
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,
}

/// What keeps jobs back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Kueue's admission gate
    Kueue,
    /// `spec.suspend` of batch/v1 Jobs, without Kueue
    Suspend,
}

/// What becomes of gated jobs that have no type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unknown {
    /// They stay gated
    Leave,
    /// They are released at once; what they use is not the policy's
    Release,
}

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A line of JSON for each
    Json,
    /// A line of text for each
    Text,
}
