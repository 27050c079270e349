use super::Artifact;
use crate::workload::Workload;

/// One thing that is wrong with an artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// JSON path of the field.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Checks everything that an artifact says, from itself alone.
///
/// # Errors
/// A list of all that is wrong.
pub fn check(artifact: &Artifact) -> Result<Workload, Vec<Finding>> {
    artifact.workload.check().map_err(|faults| {
        let finding = |f: &crate::workload::Fault| Finding {
            path: format!("workload.{}", f.place),
            message: f.message.clone(),
        };
        faults.iter().map(finding).collect()
    })
}

/// Checks that an artifact was made for this workload; stub until the checker lands.
pub fn check_against(_artifact: &Artifact, _workload: &Workload) -> Vec<Finding> {
    Vec::new()
}
