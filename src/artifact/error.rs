use super::{Finding, VERSION};

/// Why a document is no artifact that could be run.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// The file could not be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// It is not JSON of this shape.
    #[error(
        "{path}: not a synth policy of version {VERSION}: at `{place}`: {message}\n  = help: policies are made by `synth --workload FILE --output FILE`; the shape is told by `synth schema`"
    )]
    Shape {
        /// The file.
        path: String,
        /// JSON path of the fault.
        place: String,
        /// What is wrong, with line and column.
        message: String,
    },
    /// It has the shape, and says what is not true.
    #[error("{path}: refused by the checker:\n{}", listed(findings))]
    Refused {
        /// The file.
        path: String,
        /// Everything that is wrong.
        findings: Vec<Finding>,
    },
}

fn listed(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings.iter().map(|f| format!("  {f}")).collect();
    lines.join("\n")
}
