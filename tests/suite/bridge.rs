//! Tests of the bridge with a real Slurm and with fake Slurm commands.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use synth::multiresource::live::protocol::Line;
use synth::slurm::{Hold, JobState, QueueRow};
use tempfile::TempDir;

use crate::cluster::Cluster;
use crate::common::{code, stderr, stdout, synth};
use crate::fake_slurm::{FakeSlurm, job};

/// The number of CPUs that the policies use, out of the 20 CPUs of a node.
const CPUS: u128 = 16;

const WORKLOAD: &str = "{kind: multiresource, time_unit: s, server: {capacity: {cpu: 16}}, jobs: [
  {name: small, demand: {cpu: 1}, arrival_rate: 1, mean_size: 2},
  {name: middle, demand: {cpu: 4}, arrival_rate: .3, mean_size: 2},
  {name: big, demand: {cpu: 16}, arrival_rate: .05, mean_size: 2}]}";

const FLEET: &str = "{kind: multiresource, time_unit: s,
  servers: [{name: node, count: 2, capacity: {cpu: 16}}], jobs: [
  {name: small, demand: {cpu: 1}, arrival_rate: 1, mean_size: 2},
  {name: big, demand: {cpu: 16}, arrival_rate: .05, mean_size: 2}]}";

pub(crate) struct PolicyDir {
    folder: TempDir,
}

impl PolicyDir {
    pub(crate) fn new(workload: &str, words: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let dir = PolicyDir { folder };
        dir.make("policy.json", workload, words);
        dir
    }

    fn make(&self, name: &str, workload: &str, words: &[&str]) {
        std::fs::write(self.path("workload.yaml"), workload).unwrap();
        let (input, output) = (self.path("workload.yaml"), self.path(name));
        let fixed = [
            "--workload",
            text(&input),
            "--quiet",
            "--output",
            text(&output),
        ];
        let run = synth(&[&fixed, words].concat());
        assert_eq!(code(&run), 0, "{}", stderr(&run));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

pub(crate) struct BridgeProcess {
    child: Child,
}

pub(crate) fn bridge(dir: &PolicyDir, configuration: &Path, words: &[&str]) -> Command {
    let (policy, journal) = (dir.path("policy.json"), dir.path("journal.jsonl"));
    let mut command = crate::common::command(&["bridge", "slurm", text(&policy)]);
    command
        .args([
            "--journal",
            text(&journal),
            "--poll",
            "100ms",
            "--settle",
            "2s",
        ])
        .args(words)
        .env("SLURM_CONF", configuration)
        .env("TMPDIR", dir.folder.path())
        .stdin(Stdio::null());
    command
}

impl BridgeProcess {
    pub(crate) fn start(dir: &PolicyDir, cluster: &Cluster, words: &[&str]) -> Self {
        let log = std::fs::File::create(dir.path("log")).unwrap();
        let mut command = bridge(dir, &cluster.configuration(), words);
        BridgeProcess {
            child: command.stderr(log).spawn().unwrap(),
        }
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &self.child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
    }

    /// Sends `SIGTERM` and returns the exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.signal("TERM");
        self.child.wait().unwrap().code()
    }
}

impl Drop for BridgeProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn log(dir: &PolicyDir) -> String {
    std::fs::read_to_string(dir.path("log")).unwrap()
}

fn replay(dir: &PolicyDir) -> Output {
    let (policy, journal) = (dir.path("policy.json"), dir.path("journal.jsonl"));
    synth(&["bridge", "--replay", text(&journal), text(&policy)])
}

pub(crate) fn assert_replay_matches(dir: &PolicyDir) {
    let replayed = replay(dir);
    let printed = stdout(&replayed) + &stderr(&replayed);
    assert_eq!(code(&replayed), 0, "{printed}");
    assert!(printed.contains("the same as before"), "{printed}");
}

/// Returns the number of CPUs in use, without the jobs whose name is `but`.
fn cpus_in_use(cluster: &Cluster, partition: &str, but: &str) -> u128 {
    let queue = cluster.slurm(partition).queue().unwrap();
    let running = queue.rows.iter();
    let running = running.filter(|row| row.state == JobState::Running && row.name != but);
    running.map(|row| row.amounts.get("cpu")).sum()
}

pub(crate) fn queue(cluster: &Cluster, partition: &str) -> Vec<QueueRow> {
    cluster.slurm(partition).queue().unwrap().rows
}

/// Returns the lines of all rounds in the journal. The headers, which have a digest, are skipped.
fn lines(dir: &PolicyDir) -> Vec<Line> {
    let text = std::fs::read_to_string(dir.path("journal.jsonl")).unwrap();
    let records = text.lines();
    let records = records.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    records
        .filter(|record| record.get("digest").is_none())
        .flat_map(|round| serde_json::from_value::<Vec<Line>>(round["told"].clone()).unwrap())
        .collect()
}

/// All of the jobs must end, and they must never use more CPUs than the policy has.
#[test]
fn runs_the_jobs_of_a_partition() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let dir = PolicyDir::new(WORKLOAD, &["--preemption", "none", "--family", "quickswap"]);
    let submit = |seconds: f64, words: &[&str]| cluster.submit("synth", seconds, words);
    submit(0.5, &["-n", "1", "--array=1-6"]);
    let first = submit(0.5, &["-n", "4"]);
    submit(0.5, &["-n", "1", &format!("--dependency=afterany:{first}")]);
    submit(0.5, &["-n", "4", "--begin=now+4", "-J", "a | b\u{e9} c"]);
    submit(0.5, &["-n", "18", "-J", "unknown"]);
    let given = ["--partition", "synth", "--dry-run"];
    let planned = bridge(&dir, &cluster.configuration(), &given);
    let planned = { planned }.output().unwrap();
    assert_eq!(code(&planned), 0, "{}", stderr(&planned));
    let table = stdout(&planned);
    // The job that requests 18 CPUs does not match any type.
    assert!(table.starts_with("warning: 1 of 10 jobs, with "), "{table}");
    assert!(table.contains("small        6     0   "), "{table}");
    let all_wait = queue(&cluster, "synth")
        .iter()
        .all(|row| row.state == JobState::Pending);
    assert!(all_wait, "a dry run must not release any jobs");

    let running = BridgeProcess::start(&dir, &cluster, &["--partition", "synth"]);
    cluster.wait("the first jobs start", || {
        cpus_in_use(&cluster, "synth", "unknown") > 0
    });
    let cancelled = submit(1.0, &["-n", "16"]);
    let changed = submit(1.0, &["-n", "16"]);
    let given = [
        "update",
        &format!("JobId={changed}"),
        "NumCPUs=4",
        "NumTasks=4",
    ];
    cluster.run("scontrol", &given);
    let owned = submit(1.0, &["-n", "16"]);
    cluster.run("scontrol", &["release", &owned]);
    let again = submit(20.0, &["-n", "1"]);
    let stopped = submit(1.0, &["-n", "1"]);
    cluster.run("scancel", &[&cancelled]);
    let held = submit(1.0, &["-n", "1"]);
    cluster.run("scontrol", &["hold", &held]);
    let runs = |id: &str| {
        cluster
            .row("synth", id)
            .is_some_and(|row| row.state == JobState::Running)
    };
    let mut most = 0;
    cluster.wait("the job is requeued", || {
        most = most.max(cpus_in_use(&cluster, "synth", "unknown"));
        runs(&again)
    });
    cluster.run("scontrol", &["requeue", &again]);
    if runs(&stopped) {
        cluster.run("scontrol", &["suspend", &stopped]);
        std::thread::sleep(Duration::from_millis(300));
        cluster.run("scontrol", &["resume", &stopped]);
    }
    let given = ["update", &format!("JobId={again}"), "TimeLimit=1"];
    cluster.run("scontrol", &given);
    cluster.run("scontrol", &["uhold", &held]);
    for n in 0..6 {
        submit(0.3, &["-n", ["1", "4", "16"][n % 3]]);
    }
    cluster.wait("all jobs except the long one end", || {
        most = most.max(cpus_in_use(&cluster, "synth", "unknown"));
        queue(&cluster, "synth")
            .iter()
            .all(|row| row.key.id.to_string() == again)
    });
    cluster.run("scancel", &[&again]);
    cluster.wait("the queue is empty", || queue(&cluster, "synth").is_empty());
    assert!(most <= CPUS, "{most} CPUs were in use");
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(running.end(), Some(0), "{}", log(&dir));

    assert_replay_matches(&dir);
    let lines = lines(&dir);
    let of = |id: &str, line: &Line| {
        let all = [&line.job, &line.leave, &line.withdraw];
        all.into_iter()
            .flatten()
            .any(|own| own.split('@').next() == Some(id))
    };
    let types = |id: &str| -> Vec<String> {
        let own = lines.iter().filter(|line| of(id, line));
        own.filter_map(|line| line.arrive.clone()).collect()
    };
    let journal = || std::fs::read_to_string(dir.path("journal.jsonl")).unwrap();
    assert_eq!(
        types(&changed).last().map(String::as_str),
        Some("middle"),
        "{}",
        journal()
    );
    assert!(!types(&held).is_empty(), "{}", journal());
    let is_adopted = lines
        .iter()
        .any(|line| line.adopt.is_some() && of(&owned, line));
    assert!(is_adopted, "{}\n{}", log(&dir), journal());
}

/// A job must run on the node that the policy selects. A drained node must not be used.
#[test]
fn runs_the_jobs_of_a_fleet_on_each_node() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let dir = PolicyDir::new(FLEET, &["--preemption", "none"]);
    std::fs::write(dir.path("types.yaml"), "servers: {node: [n3, n4]}\n").unwrap();
    let types = dir.path("types.yaml");
    let words = ["--partition", "fleet", "--types", text(&types)];
    for n in 0..12 {
        cluster.submit("fleet", 0.5, &["-n", ["1", "16"][n % 2]]);
    }
    let running = BridgeProcess::start(&dir, &cluster, &words);
    let done = || queue(&cluster, "fleet").is_empty();
    let mut nodes = std::collections::BTreeSet::new();
    cluster.wait("all jobs end", || {
        let rows = queue(&cluster, "fleet");
        nodes.extend(
            rows.iter()
                .filter(|row| row.state == JobState::Running)
                .map(|row| row.node_list.clone()),
        );
        rows.is_empty()
    });
    let found = nodes.into_iter().collect::<Vec<_>>();
    assert_eq!(found, ["n3", "n4"], "{}", log(&dir));
    let given = ["update", "NodeName=n3", "State=drain", "Reason=test"];
    cluster.run("scontrol", &given);
    std::thread::sleep(Duration::from_millis(1500));
    for _ in 0..3 {
        cluster.submit("fleet", 0.3, &["-n", "16"]);
    }
    cluster.wait("the jobs run on the other node", done);
    let resumes = log(&dir).contains("State=resume") || log(&dir).contains("state=resume");
    assert!(resumes, "{}", log(&dir));
    cluster.run("scontrol", &["update", "NodeName=n3", "State=resume"]);
    cluster.wait("the node is back", || log(&dir).contains("n3 is back"));
    assert_eq!(running.end(), Some(0));
    assert_replay_matches(&dir);
}

#[test]
fn allows_one_bridge_for_each_partition_and_opens_the_gate_at_the_end() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let dir = PolicyDir::new(WORKLOAD, &["--preemption", "none", "--family", "msr"]);
    let words = ["--partition", "synth", "--on-exit", "release"];
    let running = BridgeProcess::start(&dir, &cluster, &words);
    cluster.wait("a decision is made", || dir.path("journal.jsonl").exists());
    let second = bridge(&dir, &cluster.configuration(), &words).output();
    let second = second.unwrap();
    assert_eq!(code(&second), 2);
    let pid = running.child.id().to_string();
    assert!(stderr(&second).contains(&pid), "{}", stderr(&second));

    let whole = std::fs::read_to_string(dir.path("policy.json")).unwrap();
    std::fs::write(dir.path("policy.json"), &whole[..whole.len() / 2]).unwrap();
    running.signal("HUP");
    cluster.wait("the new policy is rejected", || {
        log(&dir).contains("the old policy is still used")
    });
    let id = cluster.submit("synth", 0.2, &["-n", "16"]);
    cluster.wait("the old policy makes a decision", || {
        cluster.row("synth", &id).is_none()
    });
    let given = ["--preemption", "none", "--family", "quickswap"];
    dir.make("policy.json", WORKLOAD, &given);
    let other = replay(&dir);
    assert_eq!(code(&other), 2);
    assert!(stderr(&other).contains("only of"), "{}", stderr(&other));
    running.signal("HUP");
    cluster.wait("it is reloaded", || log(&dir).contains("was reloaded"));
    assert_replay_matches(&dir);

    // The bridge is stopped while it holds a job that cannot start yet.
    cluster.submit("synth", 3.0, &["-n", "16"]);
    cluster.wait("the job runs", || {
        cpus_in_use(&cluster, "synth", "") == CPUS
    });
    let held = cluster.submit("synth", 0.1, &["-n", "1"]);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(running.end(), Some(0));
    cluster.wait("the gate is open", || cluster.row("synth", &held).is_none());
}

/// The bridge and the controller are killed while jobs arrive. In the end, no job may be held.
#[test]
#[ignore = "this test must run alone because the nodes do not respond in time if other tests are running; see `.ci/run`"]
fn crashes_leave_no_job_held() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let dir = PolicyDir::new(WORKLOAD, &["--preemption", "none", "--family", "quickswap"]);
    let words = ["--partition", "synth"];
    let mut random = Random::seed_from_u64(5);
    let mut running = Some(BridgeProcess::start(&dir, &cluster, &words));
    for round in 0..10 {
        for _ in 0..4 {
            let cpus = ["1", "4", "16"][random.random_range(0..3)];
            let work = format!("--wrap=sleep {}", random.random_range(0.1..1.0));
            let words = [
                "--parsable",
                "-o",
                "/dev/null",
                "-p",
                "synth",
                "-n",
                cpus,
                &work,
            ];
            cluster.output("sbatch", &words);
        }
        std::thread::sleep(Duration::from_millis(random.random_range(0..1500)));
        match round % 2 {
            0 => {
                cluster.kill_controller();
                cluster.restart_controller();
                // Slurm may reuse the job ids that it has lost, and it drains the nodes with these
                // jobs.
                cluster.output("scontrol", &["update", "NodeName=n1", "State=resume"]);
            }
            _ => {
                drop(running.take());
                running = Some(BridgeProcess::start(&dir, &cluster, &words));
            }
        }
    }
    let start = std::time::Instant::now();
    while !queue(&cluster, "synth").is_empty() {
        cluster.output("scontrol", &["update", "NodeName=n1", "State=resume"]);
        // If a launch fails, Slurm holds the job until it is released. If the end of a job is lost
        // in a crash, the job must be cancelled. No job in this test runs for more than a second.
        for row in queue(&cluster, "synth") {
            let id = row.key.id.to_string();
            match row.hold {
                Hold::Other => drop(cluster.output("scontrol", &["release", &id])),
                // Slurm waits for two minutes before a requeued job can start.
                Hold::User if row.eligible.is_some() => {
                    let job = format!("JobId={id}");
                    cluster.output("scontrol", &["update", &job, "StartTime=now"]);
                }
                _ if row.has_nodes() && start.elapsed() > Duration::from_secs(20) => {
                    drop(cluster.output("scancel", &[&id]));
                }
                _ => {}
            }
        }
        std::thread::sleep(Duration::from_millis(500));
        let is_late = start.elapsed() > Duration::from_secs(120);
        let jobs = || cluster.run("squeue", &["-a"]);
        assert!(!is_late, "{}\n{}", jobs(), log(&dir));
    }
    assert_eq!(running.unwrap().end(), Some(0));
}

/// If the commands fail or print invalid output, the bridge must not do anything until they work
/// again. At the start, this must be an error.
#[test]
fn takes_no_action_on_invalid_output_of_commands() {
    let dir = PolicyDir::new(WORKLOAD, &["--preemption", "none", "--family", "msr"]);
    let fake = FakeSlurm::new();
    let paths = format!(
        "{}:{}",
        fake.folder().display(),
        std::env::var("PATH").unwrap()
    );
    let start = |words: &[&str]| {
        let given = [&["--partition", "synth"], words].concat();
        let mut command = bridge(&dir, Path::new("/nowhere"), &given);
        command.env("PATH", &paths);
        command
    };
    fake.script("squeue", "head -c 3000 /dev/urandom");
    let never = start(&["--until", "1s"]).output().unwrap();
    assert_eq!(code(&never), 2, "{}", stderr(&never));
    let given = ["--until", "1s", "--partition", "other"];
    let unknown = start(&given).output().unwrap();
    assert_eq!(code(&unknown), 2, "{}", stderr(&unknown));

    let of = |id: &str, cells: &[(&str, &str)]| job(&[&[("JobArrayID", id)], cells].concat());
    fake.queue(&of("17", &[]));
    let log = std::fs::File::create(dir.path("log")).unwrap();
    let running = BridgeProcess {
        child: start(&[]).stderr(log).spawn().unwrap(),
    };
    let released = |jobs: &[&str]| {
        let all: Vec<String> = jobs.iter().map(|job| format!("release {job}")).collect();
        let begin = std::time::Instant::now();
        while fake.calls() != all && begin.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(fake.calls(), all, "{}", self::log(&dir));
    };
    released(&["17"]);
    let given = [
        ("StateCompact", "R"),
        ("Reason", "None"),
        ("PriorityLong", "1"),
        ("NodeList", "n1"),
    ];
    let seventeen = of("17", &given);
    for broken in [
        "echo garbage",
        "exit 1",
        "echo oops >&2; exit 3",
        "kill -9 $$",
    ] {
        fake.script("squeue", broken);
        std::thread::sleep(Duration::from_millis(700));
    }
    let whole = of("19", &[]);
    let odd = of("18", &[("StateCompact", "ZZ"), ("Reason", "None")]);
    let cut = &whole[..whole.len() / 3];
    fake.queue(&format!("{seventeen}{odd}{cut}\n"));
    std::thread::sleep(Duration::from_millis(700));
    released(&["17"]);
    let lines = [("Name", "a|b \u{e9}\n17 PD"), ("Comment", "release 99")];
    let named = of("20", &lines);
    fake.queue(&format!("{seventeen}{odd}{named}"));
    released(&["17", "20"]);
    assert_eq!(running.end(), Some(0), "{}", self::log(&dir));
}
