use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{line, titles};
use crate::commands::{Nodes, Slurm, SlurmError, SlurmQueue};

fn commands(scripts: &[(&str, &str)]) -> (TempDir, Slurm) {
    let folder = TempDir::new().unwrap();
    let command = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fake/command");
    for (name, script) in scripts {
        symlink(&command, folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(format!("{name}.sh")), script).unwrap();
    }
    let mut slurm = Slurm::new("synth");
    (slurm.limit, slurm.programs) = (Duration::from_millis(500), Some(folder.path().to_owned()));
    (folder, slurm)
}

#[test]
fn kills_commands_that_hang() {
    // The command does not end by itself, waits for a child process, or closes its output first.
    for script in [
        "exec sleep 60",
        "sleep 60 & wait",
        "sleep 60 & exit 0",
        "exec >&- 2>&-; sleep 60",
    ] {
        let (_folder, slurm) = commands(&[("squeue", script)]);
        let start = Instant::now();
        let found = slurm.queue().unwrap_err();
        let is_late = matches!(found, SlurmError::Timeout { .. });
        assert!(is_late, "{script}: {found}");
        assert!(start.elapsed() < Duration::from_secs(10), "{script}");
    }
}

#[test]
fn failed_commands_report_why() {
    let (_folder, slurm) = commands(&[(
        "squeue",
        "echo 17; echo slurm_load_jobs error: no >&2; exit 3",
    )]);
    let found = slurm.queue().unwrap_err().to_string();
    let expected = "squeue ended with exit code 3: slurm_load_jobs error: no";
    assert_eq!(found, expected);
    let (_folder, slurm) = commands(&[("squeue", "kill -9 $$")]);
    let found = slurm.queue().unwrap_err().to_string();
    assert_eq!(found, "squeue ended by a signal: no output");
}

#[test]
fn names_missing_commands() {
    let slurm = Slurm::new("synth");
    let found = slurm.ask("no-such-command-of-slurm", &[]);
    let found = found.unwrap_err().to_string();
    assert!(found.contains("no-such-command-of-slurm"), "{found}");
    assert!(found.contains("PATH"), "{found}");
}

#[test]
fn drains_both_outputs() {
    let script = "i=0; while [ $i -lt 20000 ]; do echo \"$LINE\"; i=$((i+1)); done; head -c 3000000 /dev/zero >&2";
    let text = String::from_utf8(line(&[])).unwrap();
    let script = format!("LINE='{}'; {script}", text.trim_end_matches('\n'));
    let (_folder, slurm) = commands(&[("squeue", &script)]);
    let slurm = Slurm {
        limit: Duration::from_secs(60),
        ..slurm
    };
    let queue = slurm.queue().unwrap();
    assert_eq!(queue.rows.len() + queue.unread.count, 20_000);
}

#[test]
fn checks_the_title_of_every_column() {
    let partition = "PartitionName=synth\n   State=UP TotalNodes=2\n   Nodes=n[1-2]\n";
    let config = "ClusterName             = test\nBOOT_TIME               = 2026-11-25T17:35:22\n";
    let scontrol = format!(
        "case \"$*\" in 'show config') echo '{config}';; *synth) echo '{partition}';; *) echo 'Partition x not found'; exit 1;; esac"
    );
    let squeue = format!(
        "echo '{}'; printf '%s' '{}'",
        titles(SlurmQueue::columns()),
        String::from_utf8(line(&[])).unwrap()
    );
    let sinfo = format!("echo '{}'", titles(Nodes::columns()));
    let (folder, slurm) = commands(&[
        ("scontrol", &scontrol),
        ("squeue", &squeue),
        ("sinfo", &sinfo),
    ]);
    let (cluster, nodes) = slurm.site().unwrap();
    assert_eq!((&*cluster.name, nodes.rows.len()), ("test", 0));

    let squeue = squeue.replace("TRES_ALLOC", "TRES_OTHER");
    std::fs::write(folder.path().join("squeue.sh"), squeue).unwrap();
    let found = slurm.site().unwrap_err().to_string();
    let is_told = found.contains("column tres-alloc: its title is `TRES_OTHER`");
    assert!(is_told, "{found}");

    let squeue = "echo 'squeue: error: Invalid job format specification: tres-per-job' >&2; exit 1";
    std::fs::write(folder.path().join("squeue.sh"), squeue).unwrap();
    let found = slurm.site().unwrap_err().to_string();
    let is_told = found.contains("does not print the column tres-per-job");
    assert!(is_told, "{found}");

    let slurm = Slurm {
        partition: "x".into(),
        ..slurm
    };
    let found = slurm.site().unwrap_err().to_string();
    assert!(found.contains("no partition `x`"), "{found}");
}

#[test]
fn requests_times_in_utc() {
    let (_folder, slurm) = commands(&[("squeue", "env")]);
    let text = String::from_utf8(slurm.ask("squeue", &[]).unwrap()).unwrap();
    assert!(text.contains("TZ=UTC0\n") && text.contains("SLURM_TIME_FORMAT=standard\n"));
    assert!(!text.contains("SQUEUE_"));
}
