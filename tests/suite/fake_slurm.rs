//! Commands of Slurm that say what a test wants: garbage, errors, nothing for a minute.

use std::os::unix::fs::symlink;
use std::path::Path;

use synth::slurm::{Nodes, Slurm, SlurmQueue};
use tempfile::TempDir;

/// A folder with commands, each a script of `sh` that can be written anew at any time. Put it first in `PATH`, or into
/// [`Slurm::programs`].
pub(crate) struct Fake {
    folder: TempDir,
}

impl Fake {
    /// A partition `synth` with the node n1 of 20 CPUs and 15000 MiB, and no jobs.
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let command = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake/command");
        for name in ["squeue", "sinfo", "scontrol"] {
            symlink(&command, folder.path().join(name)).unwrap();
        }
        let fake = Fake { folder };
        fake.queue("");
        let node = crate::common::rows(include_str!("tables/node_row.txt"));
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

    /// The folder, for `PATH`.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The library's commands that run these.
    pub(crate) fn slurm(&self) -> Slurm {
        Slurm {
            programs: Some(self.folder.path().to_owned()),
            ..Slurm::new("synth")
        }
    }

    /// What a command does from now on.
    pub(crate) fn script(&self, name: &str, text: &str) {
        // Written beside and renamed: a command that runs now reads the old text to its end.
        let new = self.folder.path().join(format!("{name}.new"));
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, self.folder.path().join(format!("{name}.sh"))).unwrap();
    }

    /// What `squeue` prints from now on, below its titles where these are requested: rows built by [`job`].
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

    /// Calls of `scontrol` beside questions, one a line: `release 17,18`.
    pub(crate) fn calls(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.folder.path().join("scontrol.sh.log"));
        log.unwrap_or_default().lines().map(String::from).collect()
    }
}

/// A row of `squeue`: each column as it is in `cells`, or as a held job of one CPU has it.
pub(crate) fn job(cells: &[(&str, &str)]) -> String {
    let usual = crate::common::rows(include_str!("tables/queue_row.txt"));
    let usual: Vec<_> = usual.map(|[name, cell]| (name, cell)).collect();
    row(SlurmQueue::columns(), &[cells, &usual].concat())
}

/// A row of a table; of a column that is in `cells` twice the first, and `(null)` where it is not there.
fn row(columns: &[(&str, &str, usize)], cells: &[(&str, &str)]) -> String {
    let mut line = String::new();
    for (name, _, width) in columns {
        let text = cells.iter().find(|(column, _)| column == name);
        let text = text.map_or("(null)", |(_, text)| text);
        // Slurm counts bytes; a character that would be cut in two is left out here.
        let mut end = text.len().min(*width);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        line += &text[..end];
        line += &" ".repeat(width - end);
    }
    line + "\n"
}
