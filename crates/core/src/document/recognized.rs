/// A kind of file that is read by a command, or that is often used by mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A policy that was written by `synth`.
    Policy,
    /// A workload.
    Workload,
    /// A job log.
    Log,
    /// A Slurm configuration.
    SlurmConf,
    /// The source code of a program.
    Program,
    /// A file that is not text.
    Binary,
}

const OF_PROGRAMS: [&str; 6] = ["import ", "from ", "def ", "fn ", "use ", "#include "];
const OF_SLURM: [&str; 4] = [
    "ClusterName=",
    "SlurmctldHost=",
    "NodeName=",
    "PartitionName=",
];

impl FileKind {
    /// Returns the kind of file based on the first lines of its text, or `None` if it is not clear.
    pub fn of(text: &str) -> Option<Self> {
        let head: String = text.chars().take(HEAD).collect();
        let is_odd =
            |c: &char| *c == char::REPLACEMENT_CHARACTER || c.is_control() && !c.is_whitespace();
        // Only check the first line, because a log can contain damaged lines.
        let start = head.trim_start().lines().next().unwrap_or_default();
        let odd = start.chars().filter(is_odd).count();
        if start.contains('\0') || 8 * odd > start.chars().count() {
            return Some(FileKind::Binary);
        }
        let mut lines = head.lines().map(str::trim);
        let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'))?;
        let words = || first.split_whitespace();
        let is_number = |word: &str| word.parse::<f64>().is_ok();
        let begins = |starts: &[&str]| {
            let mut lines = head.lines();
            lines.any(|line| starts.iter().any(|start| line.starts_with(start)))
        };
        let is_json = first.starts_with('{');
        let is_workload = |line: &str| {
            let field = line.trim_start_matches(['{', ' ']);
            let in_json = field.starts_with("\"kind\":") || field.starts_with("kind:");
            line.starts_with("kind:") || is_json && in_json
        };
        if is_json && head.contains("\"synth-policy\"") {
            Some(FileKind::Policy)
        } else if first.starts_with(';')
            || first.starts_with("JobID") && first.contains('|')
            || words().count() >= SWF_FIELDS && words().all(is_number)
        {
            Some(FileKind::Log)
        } else if begins(&OF_PROGRAMS) {
            Some(FileKind::Program)
        } else if head.lines().any(is_workload) {
            Some(FileKind::Workload)
        } else if begins(&OF_SLURM) {
            Some(FileKind::SlurmConf)
        } else {
            None
        }
    }

    /// Describes the file and the command that can read it. `name` is the name of the file.
    pub fn describe(self, name: &str) -> String {
        match self {
            FileKind::Policy => format!(
                "{name} is a policy file: `synth show {name}` describes it, `synth simulate {name}` runs it"
            ),
            FileKind::Workload => format!(
                "{name} is a workload: `synth {name} --output p.json` synthesizes a policy for it"
            ),
            FileKind::Log => format!(
                "{name} is a log of jobs: `synth fit {name} -o w.yaml` fits a workload to it, `synth replay {name} --policies easy,easy+saf` replays it"
            ),
            FileKind::SlurmConf => format!(
                "{name} is a Slurm configuration: `synth advise slurm LOG --slurm {name}` recommends changes to it"
            ),
            FileKind::Program => format!("{name} is program source code"),
            FileKind::Binary => format!("{name} is not a text file"),
        }
    }
}

const HEAD: usize = 4096;

const SWF_FIELDS: usize = 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_recognized() {
        let policy = "{\n  \"format\": \"synth-policy\",\n  \"kind\": \"multiresource\"}";
        let swf = "1 0 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n";
        for (text, kind) in [
            (policy, Some(FileKind::Policy)),
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
