//! Tests of the Slurm commands, with a real Slurm and with fake commands.

use std::time::{Duration, Instant};

use synth::slurm::{Hold, JobId, JobState, NodeState, RefusalKind, Slurm, SlurmError};

use tempfile::TempDir;

use super::cluster::Cluster;
use super::fake_slurm::{FakeSlurm, job};
use crate::common::*;

fn id(text: &str) -> JobId {
    text.parse().unwrap()
}

#[test]
fn reads_a_queue() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let submit = |words: &[&str]| cluster.submit("synth", 60.0, words);
    let plain = submit(&["-n2", "--mem=100", "-t10", "-J", "a|b c"]);
    let broken = submit(&["-J", "new\nline 17 é", "--comment", "for ann"]);
    let array = submit(&["-a", "1-3%2", "--mem=1536"]);
    let waiting = submit(&["--dependency", &format!("afterok:{plain}")]);
    let later = submit(&["--begin=now+3600", "-c4"]);
    let own = submit(&["-H", "-N1", "-n3", "--mem-per-cpu=50", "-t", "1-02:00:00"]);
    let operators = submit(&[]);
    let slurm = cluster.slurm("synth");
    assert!(slurm.hold(&[id(&operators)]).unwrap().is_empty());

    let (found, nodes) = slurm.site().unwrap();
    assert_eq!((&*found.name, nodes.rows.len()), ("synthtest", 1));
    let queue = slurm.queue().unwrap();
    assert_eq!((queue.rows.len(), queue.unread.count), (9, 0));

    let row = |id: &str| cluster.row("synth", id).unwrap();
    let found = row(&plain);
    assert_eq!(found.amounts.get("cpu"), 2);
    assert_eq!(found.amounts.get("mem"), 100 << 20);
    assert_eq!(found.time_limit, Some(600));
    let told = (&*found.name, &found.state, found.hold);
    assert_eq!(told, ("a|b c", &JobState::Pending, Hold::User));
    let told = (found.nodes, found.eligible, found.depends);
    assert_eq!(told, (1, None, false));
    assert_eq!(&*row(&broken).name, "new\nline 17 é");
    assert_eq!(&*row(&broken).comment, "for ann");
    for task in 1..=3 {
        let found = row(&format!("{array}_{task}"));
        assert_eq!(found.hold, Hold::User);
        assert_eq!(found.amounts.get("mem"), 1536 << 20);
    }
    assert_eq!(row(&waiting).hold, Hold::User);
    assert!(row(&waiting).depends);
    let eligible = row(&later).eligible.unwrap() - row(&later).key.submitted;
    assert!((3590..3610).contains(&eligible), "{eligible}");
    assert_eq!(row(&own).amounts.get("cpu"), 3);
    assert_eq!(row(&own).amounts.get("mem"), 150 << 20);
    assert_eq!(row(&own).time_limit, Some(93_600));
    assert_eq!(row(&operators).hold, Hold::Admin);
}

#[test]
fn releases_holds_and_places_jobs() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let slurm = cluster.slurm("synth");
    let [first, second] = [(); 2].map(|()| cluster.submit("synth", 60.0, &["-n4"]));
    let array = cluster.submit("synth", 60.0, &["-a", "1-2"]);
    let task = format!("{array}_2");
    let acted = slurm.release(&[id(&first), id("999999"), id(&task)]);
    let acted = acted.unwrap();
    let refused = acted.iter().map(|refusal| (refusal.id, refusal.why));
    let refused: Vec<_> = refused.collect();
    assert_eq!(refused, [(id("999999"), RefusalKind::Gone)]);
    for released in [&first, &task] {
        cluster.wait("the job runs", || {
            let row = cluster.row("synth", released).unwrap();
            row.state == JobState::Running && row.node_list == "n1" && row.hold == Hold::None
        });
    }
    assert_eq!(cluster.row("synth", &second).unwrap().hold, Hold::User);
    let node = &slurm.nodes().unwrap().rows[0];
    assert_eq!((&*node.name, node.state), ("n1", NodeState::Up));
    assert_eq!(node.capacity.get("cpu"), 20);
    assert_eq!(node.allocated.get("cpu"), 5);

    // A running job that is held continues to run. It is held when it is requeued.
    let before = cluster.row("synth", &first).unwrap().key;
    assert!(slurm.hold_for_users(&[before.id]).unwrap().is_empty());
    cluster.run("scontrol", &["requeue", &first]);
    cluster.wait("the job is requeued and held", || {
        let row = cluster.row("synth", &first).unwrap();
        row.state == JobState::Pending && row.hold != Hold::None && row.key != before
    });
    cluster.run("scancel", &[&second]);
    cluster.wait("the job ends", || cluster.row("synth", &second).is_none());
    assert_eq!(
        slurm.release(&[id(&second)]).unwrap()[0].why,
        RefusalKind::Gone
    );

    let fleet = cluster.slurm("fleet");
    let placed = cluster.submit("fleet", 60.0, &[]);
    let found = fleet.place(id(&placed), &["n9"], None).unwrap()[0].why;
    assert_eq!(found, RefusalKind::Other);
    assert!(fleet.place(id(&placed), &["n4"], None).unwrap().is_empty());
    assert!(fleet.release(&[id(&placed)]).unwrap().is_empty());
    cluster.wait("the job runs on n4", || {
        cluster.row("fleet", &placed).unwrap().node_list == "n4"
    });
    let words = ["update", "NodeName=n4", "State=drain", "Reason=a test"];
    cluster.run("scontrol", &words);
    let node = &fleet.nodes().unwrap().rows[1];
    assert_eq!((node.state, &*node.reason), (NodeState::Drained, "a test"));
}

#[test]
fn reports_missing_permissions() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let job = cluster.submit("synth", 60.0, &[]);
    let nobody = FakeSlurm::new();
    let script =
        "PATH=${PATH#*:} exec setpriv --reuid 65534 --regid 65534 --clear-groups scontrol \"$@\"";
    nobody.script("scontrol", script);
    let slurm = Slurm {
        programs: Some(nobody.folder().to_owned()),
        ..cluster.slurm("synth")
    };
    assert_eq!(
        slurm.release(&[id(&job)]).unwrap()[0].why,
        RefusalKind::NoRight
    );
    let found = slurm.place(id(&job), &["n1"], None).unwrap()[0].why;
    assert_eq!(found, RefusalKind::NoRight);
    assert_eq!(cluster.row("synth", &job).unwrap().hold, Hold::User);
}

#[test]
fn reports_an_unknown_partition() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let slurm = cluster.slurm("nowhere");
    assert!(slurm.queue().unwrap().rows.is_empty());
    let found = slurm.site().unwrap_err();
    assert!(found.to_string().contains("no partition"), "{found}");
}

#[test]
fn reports_a_dead_controller_and_detects_its_restart() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let slurm = Slurm {
        limit: Duration::from_secs(2),
        ..cluster.slurm("synth")
    };
    let before = slurm.cluster().unwrap();
    cluster.kill_controller();
    let start = Instant::now();
    assert!(slurm.queue().is_err());
    assert!(start.elapsed() < Duration::from_secs(4));
    cluster.restart_controller();
    let after = slurm.cluster().unwrap();
    assert_eq!(after.name, before.name);
    assert_ne!(after.booted, before.booted);
}

#[test]
fn handles_commands_that_fail_or_do_not_end() {
    let fake = FakeSlurm::new();
    let slurm = Slurm {
        limit: Duration::from_millis(700),
        ..fake.slurm()
    };
    fake.queue(&(job(&[]) + &job(&[("JobArrayID", "18"), ("Name", "x\ny")])));
    assert_eq!(slurm.queue().unwrap().rows.len(), 2);
    assert!(slurm.release(&[id("17"), id("18")]).unwrap().is_empty());
    assert_eq!(fake.calls(), ["release 17,18"]);

    fake.script("squeue", "cat /dev/urandom | head -c 200000");
    assert!(slurm.queue().unwrap().rows.is_empty());
    fake.script("squeue", "sleep 60 & sleep 60");
    assert!(matches!(slurm.queue(), Err(SlurmError::Timeout { .. })));
    fake.script("squeue", "echo half a row; exit 1");
    assert!(matches!(
        slurm.queue(),
        Err(SlurmError::Failed { code: Some(1), .. })
    ));
    fake.script("scontrol", "exit 1");
    assert!(matches!(
        slurm.release(&[id("17")]),
        Err(SlurmError::Failed { .. })
    ));
}

fn policy(preemption: &str) -> (TempDir, String) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("policy.json").display().to_string();
    let workload = "models/section7.yaml";
    let arguments = [
        "--workload",
        workload,
        "--preemption",
        preemption,
        "--family",
        "msr",
        "--output",
        &file,
    ];
    run_ok(&arguments);
    (folder, file)
}

#[test]
fn an_export_does_not_overwrite_files() {
    let (folder, policy) = policy("none");
    let output = folder.path().join("new/slurm").display().to_string();
    let arguments = [
        "export",
        "slurm",
        &policy,
        "--partition",
        "batch",
        "--output",
        &output,
    ];
    let exported = run_ok(&arguments);
    assert_contains(&stdout(&exported), "README.md first");
    for name in words("README.md job_submit.lua slurm-lines.conf types.yaml synth-batch.service") {
        let text = std::fs::read_to_string(folder.path().join("new/slurm").join(name)).unwrap();
        assert!(!text.contains("{{") && !text.contains("{%"), "{name}");
    }
    let again = run_expecting_code(2, &arguments);
    assert_contains(&stderr(&again), "--force");
    assert_eq!(code(&synth(&[&arguments[..], &["--force"]].concat())), 0);
    let given = [
        "export",
        "slurm",
        &policy,
        "--partition",
        "a b",
        "--output",
        &output,
    ];
    run_expecting_code(2, &given);
}

#[test]
fn an_export_rejects_a_preemptive_policy() {
    let (folder, policy) = policy("full");
    let output = folder.path().join("slurm");
    let words = [
        "export",
        "slurm",
        &policy,
        "--partition",
        "batch",
        "--output",
        output.to_str().unwrap(),
    ];
    let refused = run_expecting_code(1, &words);
    assert_contains(&stdout(&refused), "--preemption none");
    assert!(!output.exists());
}

#[test]
fn the_exported_script_holds_the_jobs_of_one_partition() {
    let Some(cluster) = Cluster::start("builtin") else {
        return;
    };
    let (folder, policy) = policy("none");
    let output = folder.path().to_str().unwrap();
    let gate = |partition: &str| {
        let arguments = [
            "export",
            "slurm",
            &policy,
            "--partition",
            partition,
            "--output",
            output,
            "--force",
        ];
        assert_eq!(code(&synth(&arguments)), 0);
        let lua = cluster.configuration().with_file_name("job_submit.lua");
        std::fs::copy(folder.path().join("job_submit.lua"), &lua).unwrap();
        // Slurm only reads the script again if its modification time is newer by at least a second.
        let later = std::time::SystemTime::now()
            + Duration::from_secs(if partition == "plain" { 60 } else { 120 });
        std::fs::File::open(&lua)
            .unwrap()
            .set_modified(later)
            .unwrap();
    };
    let is_held = |words: &[&str], partition: &str| {
        let given = [words, &["--parsable", "-o", "/dev/null", "--wrap=sleep 60"]].concat();
        let id = cluster.run("sbatch", &given);
        cluster.row(partition, id.trim()).unwrap().hold == Hold::User
    };
    gate("plain");
    assert!(is_held(&["-p", "plain"], "plain") && is_held(&["-p", "fleet,plain"], "plain"));
    assert!(!is_held(&["-p", "synth"], "synth") && !is_held(&[], "synth"));
    gate("synth");
    assert!(is_held(&["-p", "synth"], "synth"), "synth is the default");
    assert!(is_held(&[], "synth"), "synth is the default");
    assert!(!is_held(&["-p", "plain"], "plain"));
}
