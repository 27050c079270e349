//! This module starts a real Slurm with `scripts/slurm`. The partitions are `synth` (node n1),
//! `plain` (n2) and `fleet` (n3 and n4), and each node has 20 CPUs and 15000 MiB.

use std::io::Write;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use synth::slurm::{QueueRow, Slurm};

use crate::common::{in_root, words};

pub(crate) struct Cluster {
    folder: PathBuf,
}

/// If this variable is set, a test fails if Slurm is not installed.
const NEEDED: &str = "SYNTH_NEEDS_SLURM";

/// Returns the cluster that is shared by the tests, or `None` if Slurm is not installed.
pub(crate) fn real_slurm() -> Option<MutexGuard<'static, Cluster>> {
    static SHARED: OnceLock<Option<Mutex<Cluster>>> = OnceLock::new();
    let shared = SHARED.get_or_init(|| Cluster::start("backfill").map(Mutex::new));
    // A failed test may leave jobs, which are cancelled here.
    let cluster = shared.as_ref()?.lock();
    let cluster = cluster.unwrap_or_else(|poisoned| poisoned.into_inner());
    cluster.reset();
    Some(cluster)
}

impl Cluster {
    pub(crate) fn start(scheduler: &str) -> Option<Cluster> {
        if let Err(why) = check_slurm_available() {
            let is_optional = std::env::var_os(NEEDED).is_none();
            assert!(is_optional, "{why}, and {NEEDED} is set");
            // The macro `eprintln!` is not used because its output is hidden if the test passes.
            let _ = writeln!(
                std::io::stderr(),
                "test skipped because {why}; run `scripts/slurm install` to install Slurm"
            );
            return None;
        }
        let port = free_ports();
        let own = std::process::id();
        let folder = PathBuf::from(format!("/tmp/synth-slurm-{own}-{port}"));
        let typed = format!("start {} {port} {scheduler} {own}", folder.display());
        let started = script().args(words(&typed)).output().unwrap();
        let is_running = started.status.success();
        assert!(is_running, "{}", String::from_utf8_lossy(&started.stderr));
        Some(Cluster { folder })
    }

    pub(crate) fn configuration(&self) -> PathBuf {
        self.folder.join("slurm.conf")
    }

    pub(crate) fn slurm(&self, partition: &str) -> Slurm {
        Slurm {
            configuration: Some(self.configuration()),
            ..Slurm::new(partition)
        }
    }

    /// Runs a command of Slurm, which is split by [`words`].
    pub(crate) fn run(&self, line: &str) -> String {
        let output = self.output(line);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn output(&self, line: &str) -> Output {
        let line = words(line);
        let mut command = Command::new(line[0]);
        command.env("SLURM_CONF", self.configuration());
        command.args(&line[1..]).output().unwrap()
    }

    pub(crate) fn submit(&self, partition: &str, seconds: f64, options: &str) -> String {
        let fixed = format!("--parsable -o /dev/null -p {partition} '--wrap=sleep {seconds}'");
        let id = self.run(&format!("sbatch {options} {fixed}"));
        id.trim().to_owned()
    }

    pub(crate) fn set_state(&self, nodes: &str, state: &str) {
        let reason = (state == "drain").then_some("'Reason=a test'");
        let change = format!("State={state} {}", reason.unwrap_or_default());
        self.run(&format!("scontrol update NodeName={nodes} {change}"));
    }

    pub(crate) fn row(&self, partition: &str, id: &str) -> Option<QueueRow> {
        let queue = self.slurm(partition).queue().unwrap();
        assert_eq!(queue.unread.example, None);
        queue
            .rows
            .into_iter()
            .find(|row| row.key.id.to_string() == id)
    }

    /// Waits until the condition is true, and panics after 30 seconds.
    pub(crate) fn wait(&self, what: &str, mut is_true: impl FnMut() -> bool) {
        let start = Instant::now();
        while !is_true() {
            let late = start.elapsed() > Duration::from_secs(30);
            assert!(
                !late,
                "the condition `{what}` was not true within 30 s\n{}",
                self.run("squeue -a")
            );
            thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn install_lua(&self, text: &str) {
        static LATER: AtomicU64 = AtomicU64::new(0);
        let lua = self.configuration().with_file_name("job_submit.lua");
        std::fs::write(&lua, text).unwrap();
        // Slurm only reads the script again if its modification time is newer by at least a second.
        let later = Duration::from_secs(60 * (1 + LATER.fetch_add(1, Ordering::Relaxed)));
        let file = std::fs::File::options().write(true).open(&lua).unwrap();
        file.set_modified(SystemTime::now() + later).unwrap();
    }

    pub(crate) fn kill_controller(&self) {
        let pid = std::fs::read_to_string(self.folder.join("run/slurmctld")).unwrap();
        let killed = Command::new("kill").args(["-9", pid.trim()]).status();
        assert!(killed.unwrap().success());
    }

    pub(crate) fn restart_controller(&self) {
        let started = script().arg("controller").arg(&self.folder).status();
        assert!(started.unwrap().success());
        self.wait("the controller responds", || {
            self.output("scontrol ping").status.success()
        });
    }

    /// Cancels all jobs and resumes all nodes.
    pub(crate) fn reset(&self) {
        let user = Command::new("id").arg("-un").output().unwrap();
        let user = String::from_utf8(user.stdout).unwrap();
        self.output(&format!("scancel --user {}", user.trim()));
        self.output("scontrol update NodeName=n[1-4] State=resume");
        self.wait("the queue is empty", || {
            self.run("squeue -h -a").trim().is_empty()
        });
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Processes that are still running end when this process ends.
        let _ = script().arg("stop").arg(&self.folder).output();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn script() -> Command {
    Command::new(in_root("scripts/slurm"))
}

/// Returns an error with the reason if Slurm cannot be started here.
fn check_slurm_available() -> Result<(), String> {
    let is_there = |program: &str| Command::new(program).arg("-V").output().is_ok();
    let user = Command::new("id").arg("-u").output();
    let is_root = user.is_ok_and(|user| user.stdout.starts_with(b"0\n"));
    match (is_there("slurmctld"), is_root) {
        (false, _) => Err("slurmctld is not installed".into()),
        (true, false) => Err("slurmd must be run as root".into()),
        (true, true) => Ok(()),
    }
}

/// Returns the first of five consecutive ports that are not in use.
fn free_ports() -> u16 {
    let start = 20_000 + (std::process::id() % 1000) as u16 * 20;
    let is_free =
        |port: &u16| (*port..port + 5).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok());
    let mut blocks = (0..100).map(|block| start + block * 10);
    blocks.find(is_free).unwrap()
}
