/// A kind of file that users pass to a command, rightly or by mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A policy that was written by `synth`.
    Policy,
    /// A lower bound that was written by `synth optimum --proof`.
    Bound,
    /// A workload.
    Workload,
    /// A job log in the Standard Workload Format (SWF) or of `sacct`.
    Log,
    /// A Slurm configuration.
    SlurmConf,
    /// The source code of a program.
    Program,
    /// A file that is not text.
    Binary,
}

const MAX_CHARACTERS: usize = 4096;
const SWF_FIELDS: usize = 18;
const PROGRAM_LINE_STARTS: [&str; 6] = ["import ", "from ", "def ", "fn ", "use ", "#include "];
const SLURM_LINE_STARTS: [&str; 4] = [
    "ClusterName=",
    "SlurmctldHost=",
    "NodeName=",
    "PartitionName=",
];

impl FileKind {
    /// Returns the kind of file based on the first lines of its text, or `None` if it is not clear.
    pub fn of(text: &str) -> Option<Self> {
        let head: String = text.chars().take(MAX_CHARACTERS).collect();
        let is_odd =
            |c: &char| *c == char::REPLACEMENT_CHARACTER || c.is_control() && !c.is_whitespace();
        // Later lines do not count here, because lines of a log can be damaged.
        let first_line = head.trim_start().lines().next().unwrap_or_default();
        let odd = first_line.chars().filter(is_odd).count();
        if first_line.contains('\0') || 8 * odd > first_line.chars().count() {
            return Some(FileKind::Binary);
        }
        let mut lines = head.lines().map(str::trim);
        let first_content_line = lines.find(|line| !line.is_empty() && !line.starts_with('#'))?;
        let words = || first_content_line.split_whitespace();
        let is_number = |word: &str| word.parse::<f64>().is_ok();
        let begins = |starts: &[&str]| {
            let mut lines = head.lines();
            lines.any(|line| starts.iter().any(|start| line.starts_with(start)))
        };
        let is_json = first_content_line.starts_with('{');
        let is_workload = |line: &str| {
            let field = line.trim_start_matches(|c| is_json && matches!(c, '{' | ' '));
            field.starts_with("kind:") || is_json && field.starts_with("\"kind\":")
        };
        if is_json && head.contains("\"synth-policy\"") {
            Some(FileKind::Policy)
        } else if is_json && head.contains("\"synth-bound\"") {
            Some(FileKind::Bound)
        } else if first_content_line.starts_with(';')
            || first_content_line.starts_with("JobID") && first_content_line.contains('|')
            || words().count() >= SWF_FIELDS && words().all(is_number)
        {
            Some(FileKind::Log)
        } else if begins(&PROGRAM_LINE_STARTS) {
            Some(FileKind::Program)
        } else if head.lines().any(is_workload) {
            Some(FileKind::Workload)
        } else if begins(&SLURM_LINE_STARTS) {
            Some(FileKind::SlurmConf)
        } else {
            None
        }
    }

    /// Describes the file and the command that reads it, if any. `name` is the name of the file.
    pub fn describe(self, name: &str) -> String {
        match self {
            FileKind::Policy => format!(
                "{name} is a policy file: `synth show {name}` describes it, `synth simulate {name}` runs it"
            ),
            FileKind::Bound => {
                format!("{name} is a proof of a lower bound: `synth check {name}` verifies it")
            }
            FileKind::Workload => format!(
                "{name} is a workload: `synth {name} --output p.json` synthesizes a policy for it"
            ),
            FileKind::Log => format!(
                "{name} is a log of jobs: `synth fit {name} --output w.yaml` fits a workload to it, `synth replay {name} --policies easy,easy+saf` replays it"
            ),
            FileKind::SlurmConf => format!(
                "{name} is a Slurm configuration: `synth advise slurm LOG --slurm {name}` recommends changes to it"
            ),
            FileKind::Program => format!("{name} is program source code"),
            FileKind::Binary => format!("{name} is not a text file"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_recognized() {
        let policy = "{\n  \"format\": \"synth-policy\",\n  \"kind\": \"multiresource\"}";
        let proof = "{\n  \"format\": \"synth-bound\",\n  \"kind\": \"multiresource\"}";
        let swf = "1 0 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n";
        for (text, kind) in [
            (policy, Some(FileKind::Policy)),
            (proof, Some(FileKind::Bound)),
            ("# ours\n\nkind: malleable\n", Some(FileKind::Workload)),
            (
                "time_unit: s\nkind: multiresource\n",
                Some(FileKind::Workload),
            ),
            (
                "{\n  \"kind\": \"multiresource\", \"jobs\": []}",
                Some(FileKind::Workload),
            ),
            ("; UnixStartTime: 0\n", Some(FileKind::Log)),
            (swf, Some(FileKind::Log)),
            ("JobID|User|Submit\n1|a|b\n", Some(FileKind::Log)),
            ("# ours\nClusterName=a\n", Some(FileKind::SlurmConf)),
            ("{kind: volunteer}", Some(FileKind::Workload)),
            (
                "import os\nwork = '''\nkind: malleable'''\n",
                Some(FileKind::Program),
            ),
            ("\u{1}\0\u{2}ELF", Some(FileKind::Binary)),
            ("time,size\n1,2\n", None),
            ("", None),
        ] {
            assert_eq!(FileKind::of(text), kind, "{text}");
        }
    }
}
