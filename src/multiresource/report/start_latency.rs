use super::number;
use crate::law::Size;
use crate::multiresource::workload::Workload;

/// That jobs have a start latency, and what counts it; none where they start at once.
pub fn start_latency(workload: &Workload) -> Option<String> {
    let law = workload.start_latency()?;
    let told = start_latency_of(law, workload.time_unit());
    Some(format!(
        "{told} Loads and numbers of jobs count it, too, and so does every claim: the sizes that claims speak of are those of latency and run together."
    ))
}

/// How long jobs hold their room before they run, and what counts it of a job.
pub fn start_latency_of(law: &Size, unit: &str) -> String {
    let mean = format!("{} {unit}", number(law.mean()));
    let length = match law {
        Size::Deterministic { .. } => mean,
        law => format!("{mean} in the mean ({})", law.law()),
    };
    format!(
        "Start latency: a job holds its room for {length} before it runs, which its response time counts and its wait does not."
    )
}
