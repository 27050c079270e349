use crate::multiresource::workload::{JobType, Known, Workload};

/// Why a rule cannot serve a workload. What it found is in whole units of the resource: the
/// greatest common divisor of its demands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsuitable {
    /// The rule counts servers, and there is more than one resource.
    #[error("it is defined for one resource, and the workload has {0}")]
    Resources(usize),
    /// None of its types runs alone, or several do: these.
    #[error(
        "it is for two types, one of which takes the whole server, and {} here; for any types there are static-quickswap and adaptive-quickswap",
        match .0.as_slice() { [] => "none does".to_owned(), several => format!("{} do", several.join(", ")) }
    )]
    Alone(Vec<String>),
    /// Beside the type that runs alone there is none, or several: these.
    #[error(
        "it is for two types, one of which takes the whole server, and beside that there {} here; for any types there are static-quickswap and adaptive-quickswap",
        match .0.as_slice() { [] => "is none".to_owned(), several => format!("are {}", several.join(", ")) }
    )]
    Light(Vec<String>),
    /// A threshold that is too large, and the largest.
    #[error("its threshold ℓ is from 0 to {1} here, and not {0}")]
    Threshold(u32, u32),
    /// Jobs are not known so well.
    #[error("it asks for {0}, and the workload says that {1}")]
    Unknown(&'static str, &'static str),
    /// It stops jobs, and jobs have a start latency.
    #[error(
        "it stops jobs, and the workload has a start latency, of which it is not said what a stopped job pays again: take a rule that stops none, or leave the start latency out: setup times (--preemption setup) say what a stopped job costs"
    )]
    StartLatency,
}

impl Unsuitable {
    /// Whether limits are known of jobs, or sizes, as is asked for; where the workload says nothing, sizes may
    /// be.
    pub fn unless_known(workload: &Workload, sizes: bool) -> Result<(), Self> {
        match workload.known() {
            Some(Known::Type) if sizes => Err(Unsuitable::Unknown(SIZES, ONLY_TYPES)),
            Some(Known::Type) => Err(Unsuitable::Unknown(LIMITS, ONLY_TYPES)),
            Some(Known::Limit(_) | Known::TypeLimit) if sizes => {
                Err(Unsuitable::Unknown(SIZES, ONLY_LIMITS))
            }
            None if !sizes => Err(Unsuitable::Unknown(LIMITS, NOTHING)),
            _ => Ok(()),
        }
    }
}

const SIZES: &str = "the sizes of jobs when they come";
const LIMITS: &str = "limits on the sizes of jobs when they come";
const ONLY_TYPES: &str = "nothing but their types is known (`known: type`)";
const ONLY_LIMITS: &str = "limits are known (`known: {limit: …}` or `known: type-limit`)";
const NOTHING: &str = "nothing of them; say what is known, for instance `known: {limit: {law: uniform, low: 1, high: 3}}`";

/// Servers k and the needs n (K) of a workload with one resource.
pub(super) fn one_resource(workload: &Workload) -> Result<(u64, Vec<u64>), Unsuitable> {
    match workload.resources() {
        [resource] => {
            let needs = workload.types().iter().map(|t| t.units()[0]);
            Ok((resource.units(), needs.collect()))
        }
        several => Err(Unsuitable::Resources(several.len())),
    }
}

/// Whether ServerFilling fills all servers wherever there is work for them, and is known to be stable: of any
/// two needs, and of k, the smaller divides the larger (the paper has powers of two, and its proof asks for no more);
/// Poisson arrivals and exponential sizes.
pub(super) fn fills(workload: &Workload) -> bool {
    let Ok((servers, mut needs)) = one_resource(workload) else {
        return false;
    };
    needs.push(servers);
    needs.sort_unstable();
    let divide = needs.windows(2).all(|pair| pair[1] % pair[0] == 0);
    let memoryless = workload.types().iter().all(JobType::is_memoryless);
    divide && memoryless && workload.is_poisson()
}
