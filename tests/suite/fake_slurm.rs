//! Fake Slurm commands that print invalid output, return an error or do not respond.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use synth::slurm::{Nodes, Slurm, SlurmQueue};
use tempfile::TempDir;

use crate::common::{in_root, path_with, rows};

/// A folder of `sh` scripts that can be used in `PATH` or as [`Slurm::programs`].
pub(crate) struct FakeSlurm {
    folder: TempDir,
}

impl FakeSlurm {
    /// Creates a partition that is called `synth` and has no jobs. It has the node n1 with 20 CPUs
    /// and 15000 MiB.
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let command = in_root("tests/fake/command");
        for name in ["squeue", "sinfo", "scontrol"] {
            symlink(&command, folder.path().join(name)).unwrap();
        }
        let fake = FakeSlurm { folder };
        fake.queue("");
        let node = rows(include_str!("tables/node_row.txt"));
        let node: Vec<_> = node.map(|[name, cell]| (name, cell)).collect();
        fake.table("sinfo", Nodes::columns(), &row(Nodes::columns(), &node));
        let text = "case \"$*\" in
--version) echo slurm-wlm 22.05.8 ;;
'show config') echo 'ClusterName = fake'; echo 'BOOT_TIME = 2026-11-25T17:35:22' ;;
'show partition synth') echo 'PartitionName=synth'; echo '   Nodes=n1'; echo '   State=UP TotalCPUs=20' ;;
'show partition '*) echo \"Partition $3 not found\"; exit 1 ;;
*) echo \"$*\" >> \"$0.log\" ;;
esac";
        fake.script("scontrol", text);
        fake
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn command(&self, typed: &str) -> Command {
        let mut command = crate::common::command(typed);
        command.env("PATH", path_with(self.folder()));
        command
    }

    pub(crate) fn run(&self, typed: &str) -> Output {
        self.command(typed).output().unwrap()
    }

    /// Waits until exactly these calls were made.
    pub(crate) fn assert_calls(&self, expected: &[&str]) {
        let begin = Instant::now();
        while self.calls() != expected && begin.elapsed() < Duration::from_secs(20) {
            sleep(Duration::from_millis(20));
        }
        assert_eq!(self.calls(), expected);
    }

    pub(crate) fn slurm(&self) -> Slurm {
        Slurm {
            programs: Some(self.folder.path().to_owned()),
            ..Slurm::new("synth")
        }
    }

    pub(crate) fn script(&self, name: &str, text: &str) {
        // The file is renamed, so that a running command can read the old script to the end.
        let new = self.folder.path().join(format!("{name}.new"));
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, self.folder.path().join(format!("{name}.sh"))).unwrap();
    }

    /// Sets the rows that `squeue` prints after its header. Use [`job`] to create a row.
    pub(crate) fn queue(&self, rows: &str) {
        self.table("squeue", SlurmQueue::columns(), rows);
    }

    fn table(&self, name: &str, columns: &[(&str, &str, usize)], rows: &str) {
        let titles = columns.iter().map(|(name, title, _)| (*name, *title));
        let titles: Vec<(&str, &str)> = titles.collect();
        let joined = self.folder.path().join(format!("{name}.titles"));
        std::fs::write(joined, row(columns, &titles)).unwrap();
        let new = self.folder.path().join(format!("{name}.rows.new"));
        std::fs::write(&new, rows).unwrap();
        std::fs::rename(new, self.folder.path().join(format!("{name}.rows"))).unwrap();
        let script =
            "case \"$*\" in *-h\\ *) ;; *) cat \"${0%.sh}.titles\" ;; esac; cat \"${0%.sh}.rows\"";
        self.script(name, script);
    }

    /// Returns the calls of `scontrol` that change the cluster, such as `release 17,18`.
    pub(crate) fn calls(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.folder.path().join("scontrol.sh.log"));
        log.unwrap_or_default().lines().map(String::from).collect()
    }
}

/// The default values are the values of a held job with one CPU.
pub(crate) fn job(cells: &[(&str, &str)]) -> String {
    let usual = rows(include_str!("tables/queue_row.txt"));
    let usual: Vec<_> = usual.map(|[name, cell]| (name, cell)).collect();
    row(SlurmQueue::columns(), &[cells, &usual].concat())
}

/// Returns a row of a table. A column that is not in `cells` is `(null)`.
fn row(columns: &[(&str, &str, usize)], cells: &[(&str, &str)]) -> String {
    let mut line = String::new();
    for (name, _, width) in columns {
        let text = cells.iter().find(|(column, _)| column == name);
        let text = text.map_or("(null)", |(_, text)| text);
        // Slurm counts bytes, so a character that does not fit is omitted.
        let mut end = text.len().min(*width);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        line += &text[..end];
        line += &" ".repeat(width - end);
    }
    line + "\n"
}
