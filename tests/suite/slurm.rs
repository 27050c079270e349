//! Tests of the Slurm commands, with a real Slurm and with fake commands.

use std::time::{Duration, Instant};

use synth::slurm::{Hold, JobId, JobState, NodeState, RefusalKind, Slurm, SlurmError};

use super::fake_slurm::{FakeSlurm, job};
use crate::cluster::{Cluster, real_slurm};
use crate::common::*;

fn id(text: &str) -> JobId {
    text.parse().unwrap()
}

#[test]
fn reads_a_queue() {
    let Some(cluster) = real_slurm() else { return };
    let submit = |options: &str| cluster.submit("synth", 60.0, options);
    let plain = submit("-n2 --mem=100 -t10 -J 'a|b c'");
    let broken = submit("-J 'new\nline 17 é' --comment 'for ann'");
    let array = submit("-a 1-3%2 --mem=1536");
    let waiting = submit(&format!("--dependency afterok:{plain}"));
    let later = submit("--begin=now+3600 -c4");
    let own = submit("-H -N1 -n3 --mem-per-cpu=50 -t 1-02:00:00");
    let operators = submit("");
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
    let Some(cluster) = real_slurm() else { return };
    let slurm = cluster.slurm("synth");
    let [first, second] = [(); 2].map(|()| cluster.submit("synth", 60.0, "-n4"));
    let array = cluster.submit("synth", 60.0, "-a 1-2");
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
    cluster.run(&format!("scontrol requeue {first}"));
    cluster.wait("the job is requeued and held", || {
        let row = cluster.row("synth", &first).unwrap();
        row.state == JobState::Pending && row.hold != Hold::None && row.key != before
    });
    cluster.run(&format!("scancel {second}"));
    cluster.wait("the job ends", || cluster.row("synth", &second).is_none());
    let refused = slurm.release(&[id(&second)]).unwrap();
    assert_eq!(refused[0].why, RefusalKind::Gone);

    let fleet = cluster.slurm("fleet");
    let placed = cluster.submit("fleet", 60.0, "");
    let refused = fleet.place(id(&placed), &["n9"], None).unwrap();
    assert_eq!(refused[0].why, RefusalKind::Other);
    assert!(fleet.place(id(&placed), &["n4"], None).unwrap().is_empty());
    assert!(fleet.release(&[id(&placed)]).unwrap().is_empty());
    cluster.wait("the job runs on n4", || {
        cluster.row("fleet", &placed).unwrap().node_list == "n4"
    });
    cluster.set_state("n4", "drain");
    let node = &fleet.nodes().unwrap().rows[1];
    assert_eq!((node.state, &*node.reason), (NodeState::Drained, "a test"));
}

#[test]
fn reports_missing_permissions() {
    let Some(cluster) = real_slurm() else { return };
    let job = cluster.submit("synth", 60.0, "");
    let nobody = FakeSlurm::new();
    let setpriv = "setpriv --reuid 65534 --regid 65534 --clear-groups";
    let script = format!("PATH=${{PATH#*:}} exec {setpriv} scontrol \"$@\"");
    nobody.script("scontrol", &script);
    let slurm = Slurm {
        programs: Some(nobody.folder().to_owned()),
        ..cluster.slurm("synth")
    };
    let refused = slurm.release(&[id(&job)]).unwrap();
    assert_eq!(refused[0].why, RefusalKind::NoRight);
    let refused = slurm.place(id(&job), &["n1"], None).unwrap();
    assert_eq!(refused[0].why, RefusalKind::NoRight);
    assert_eq!(cluster.row("synth", &job).unwrap().hold, Hold::User);
}

#[test]
fn reports_an_unknown_partition() {
    let Some(cluster) = real_slurm() else { return };
    let slurm = cluster.slurm("nowhere");
    assert!(slurm.queue().unwrap().rows.is_empty());
    let found = slurm.site().unwrap_err();
    assert!(found.to_string().contains("no partition"), "{found}");
}

#[test]
fn reports_a_dead_controller_and_detects_its_restart() {
    let Some(cluster) = real_slurm() else { return };
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
    let found = slurm.queue();
    assert!(matches!(
        found,
        Err(SlurmError::Failed { code: Some(1), .. })
    ));
    fake.script("scontrol", "exit 1");
    let found = slurm.release(&[id("17")]);
    assert!(matches!(found, Err(SlurmError::Failed { .. })));
}

/// Returns a command that exports a policy for a partition to the folder `slurm`.
fn export(preemption: &str) -> (Folder, impl Fn(&str) -> String) {
    let folder = Folder::new();
    let [policy, output] = folder.paths(["policy.json", "new/slurm"]);
    let options = format!("--preemption {preemption} --family msr");
    run_ok!("--workload models/section7.yaml {options} --output {policy}");
    let command = move |partition: &str| {
        format!("export slurm {policy} --partition {partition} --output {output}")
    };
    (folder, command)
}

#[test]
fn an_export_does_not_overwrite_files() {
    let (folder, export) = export("none");
    let typed = export("batch");
    let exported = run_ok!("{typed}");
    assert_contains(&stdout(&exported), "README.md first");
    for name in words("README.md job_submit.lua slurm-lines.conf types.yaml synth-batch.service") {
        let text = folder.text(&format!("new/slurm/{name}"));
        assert!(!text.contains("{{") && !text.contains("{%"), "{name}");
    }
    let again = run_expecting_code(2, &typed);
    assert_contains(&stderr(&again), "--force");
    run_ok!("{typed} --force");
    run_expecting_code(2, &export("'a b'"));
}

#[test]
fn an_export_rejects_a_preemptive_policy() {
    let (folder, export) = export("full");
    let refused = run_expecting_code(1, &export("batch"));
    assert_contains(&stdout(&refused), "--preemption none");
    assert!(!folder.path("new/slurm").exists());
}

#[test]
fn the_exported_script_holds_the_jobs_of_one_partition() {
    let Some(cluster) = Cluster::start("builtin") else {
        return;
    };
    let (folder, export) = export("none");
    let gate = |partition: &str| {
        run_ok!("{} --force", export(partition));
        cluster.install_lua(&folder.text("new/slurm/job_submit.lua"));
    };
    let is_held = |options: &str, partition: &str| {
        let line = format!("sbatch {options} --parsable -o /dev/null '--wrap=sleep 60'");
        let id = cluster.run(&line);
        cluster.row(partition, id.trim()).unwrap().hold == Hold::User
    };
    gate("plain");
    assert!(is_held("-p plain", "plain") && is_held("-p fleet,plain", "plain"));
    assert!(!is_held("-p synth", "synth") && !is_held("", "synth"));
    gate("synth");
    assert!(is_held("-p synth", "synth"), "synth is the default");
    assert!(is_held("", "synth"), "synth is the default");
    assert!(!is_held("-p plain", "plain"));
}
