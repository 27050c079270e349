//! These tests install the output of `synth export slurm-priority` on a real Slurm.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, OnceLock};

use super::cluster::Cluster;
use crate::common::*;

/// The partition `synth` has a default limit of half an hour, and `fleet` has a maximum of ten
/// hours.
const ORDERED: &str = "synth,fleet";

struct Site {
    cluster: Cluster,
    folder: PathBuf,
}

impl Site {
    /// Returns the site that is shared by these tests, or `None` if Slurm or `luac` is not
    /// installed.
    fn shared() -> Option<MutexGuard<'static, Site>> {
        static SHARED: OnceLock<Option<Mutex<Site>>> = OnceLock::new();
        let site = SHARED.get_or_init(|| Site::start().map(Mutex::new));
        let site = site.as_ref()?;
        let site = site.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        site.cluster.output("scancel --user=nobody");
        site.cluster.reset();
        site.cluster.install_lua(&site.exported());
        Some(site)
    }

    fn start() -> Option<Site> {
        let looks = std::process::Command::new("luac").arg("-v").output();
        if looks.is_err() {
            eprintln!("test of the exported scripts skipped because luac is not installed");
            return None;
        }
        let cluster = Cluster::start("backfill")?;
        let file = cluster.configuration();
        let folder = file.with_file_name("order");
        let to = folder.display();
        run_ok!("export slurm-priority easy+saf --partition {ORDERED} -o {to}");
        let text = rows(
            "
            priority/basic                | priority/multifactor
            Default=YES MaxTime=INFINITE  | Default=YES MaxTime=INFINITE DefaultTime=30
            Nodes=n[3-4] MaxTime=INFINITE | Nodes=n[3-4] MaxTime=600
            batch_sched_delay=0           | batch_sched_delay=0,bf_interval=1",
        )
        .fold(read_text(&file), |text, [from, to]| text.replace(from, to));
        fs::write(&file, text).unwrap();
        let site = Site { cluster, folder };
        site.cluster.install_lua(&site.exported());
        site.restart();
        Some(site)
    }

    fn exported(&self) -> String {
        read_text(self.folder.join("job_submit.lua"))
    }

    fn restart(&self) {
        self.cluster.run("scontrol shutdown slurmctld");
        self.cluster.wait("the controller has stopped", || {
            !self.cluster.output("scontrol ping").status.success()
        });
        self.cluster.restart_controller();
        self.cluster.wait("the nodes have registered", || {
            let states = self.cluster.run("sinfo -h -N -o %T");
            !states.contains("unk") && !states.contains('*')
        });
    }

    fn drain(&self) {
        self.cluster.set_state("n[1-4]", "drain");
    }

    /// Runs a command as a user without privileges.
    fn nobody(&self, line: &str) -> Output {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        command.args(words(line)).current_dir("/");
        command.env("SLURM_CONF", self.cluster.configuration());
        command.output().unwrap()
    }

    fn submit(&self, options: &str, work: &str) -> String {
        let output = self.nobody(&format!(
            "sbatch --parsable -o /dev/null '--wrap={work}' {options}"
        ));
        assert!(output.status.success(), "{options}: {}", stderr(&output));
        stdout(&output).trim().to_owned()
    }

    fn submit_default(&self) -> String {
        self.submit("-t10 -n4", "true")
    }

    /// Changes a job as its owner, and returns `true` if Slurm accepts the change.
    fn change(&self, id: &str, fields: &str) -> bool {
        let line = format!("scontrol update jobid={id} {fields}");
        self.nobody(&line).status.success()
    }

    fn release(&self, id: &str) {
        let released = self.nobody(&format!("scontrol release {id}"));
        assert!(released.status.success());
    }

    fn jobs_in(&self, state: &str) -> String {
        self.cluster.run(&format!("squeue -h -t {state}"))
    }

    /// Returns the site factor of a job that is waiting and not held.
    fn site_factor(&self, id: &str) -> i64 {
        let mut found = None;
        self.cluster.wait("the job has a priority", || {
            let rows = self.cluster.run("sprio -h -o '%i %S'");
            let row = rows.lines().map(words).find(|row| row[0] == id);
            found = row.map(|row| row[1].parse().unwrap());
            found.is_some()
        });
        found.unwrap()
    }

    fn script(&self, name: &str, mode: &str) -> Output {
        Command::new("sh")
            .arg(self.folder.join(name))
            .args((!mode.is_empty()).then_some(mode))
            .env("SLURM_CONF", self.cluster.configuration())
            .output()
            .unwrap()
    }

    fn site_factor_of_script(&self, id: &str) -> i64 {
        let output = self.script("pending.sh", "look");
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let table = stdout(&output);
        let row = table.lines().map(words).find(|row| row[0] == id);
        row.unwrap_or_else(|| panic!("{id}: {table}"))[5]
            .parse()
            .unwrap()
    }

    /// Returns the names that the jobs wrote to the file when they started.
    fn started_jobs(&self, file: &Path, count: usize) -> String {
        let mut text = String::new();
        self.cluster.wait("all jobs have started", || {
            text = fs::read_to_string(file).unwrap_or_default();
            text.lines().count() >= count
        });
        text.split_whitespace().collect()
    }
}

fn area(minutes: f64, cpus: f64) -> i64 {
    (7034.0 - 600.0 * (minutes.log10() + cpus.log10())).round() as i64
}

/// The script `pending.sh` must compute the same site factors as `job_submit.lua`.
#[test]
fn sets_the_site_factor_by_limit_and_cpus() {
    let Some(site) = Site::shared() else { return };
    site.drain();
    for (words, points) in [
        ("-t10 -n4", area(10.0, 4.0)),
        ("-t10 -n2 -c4", area(10.0, 8.0)),
        ("-p fleet -t10 -N2 --ntasks-per-node=4", area(10.0, 8.0)),
        ("-p fleet -t10 -N2", area(10.0, 2.0)),
        ("-t10 --exclusive -N1", area(10.0, 20.0)),
        ("-p fleet -t10 --exclusive -n30", area(10.0, 40.0)),
        // If there is no limit, the `DefaultTime` or the `MaxTime` of the partition is used. The
        // maximum is one year.
        ("-n2", area(30.0, 2.0)),
        ("-p fleet -n2", area(600.0, 2.0)),
        ("-t UNLIMITED -n2", area(525_600.0, 2.0)),
        ("-p plain,fleet -t10 -n2", area(10.0, 2.0)),
        ("-t0-00:00:20 -n1", area(1.0, 1.0)),
        ("-p plain -t10 -n2", 0),
    ] {
        let id = site.submit(words, "true");
        assert_eq!(site.site_factor(&id), points, "{words}");
        if points > 0 {
            assert_eq!(site.site_factor_of_script(&id), points, "{words}");
        }
    }
    // This also holds for all tasks of an array and for a held job.
    let array = site.submit("-a 1-3 -t10 -n2", "true");
    assert!(site.change(&format!("{array}_2"), "Nice=1"));
    let held = site.submit("-H -t10 -n4", "true");
    assert_eq!(site.site_factor(&array), area(10.0, 2.0));
    let factors = site.cluster.run("sprio -h -o '%S %N'");
    let mut rows = factors.lines().map(words);
    let apart = rows.find(|row| row.get(1) == Some(&"1")).unwrap();
    assert_eq!(apart[0], area(10.0, 2.0).to_string());
    site.release(&held);
    assert_eq!(site.site_factor(&held), area(10.0, 4.0));
}

#[test]
fn owners_change_the_site_factor_only_through_requests() {
    let Some(site) = Site::shared() else { return };
    site.drain();
    let job = site.submit_default();
    let is = |minutes: f64, cpus: f64| assert_eq!(site.site_factor(&job), area(minutes, cpus));
    assert!(site.change(&job, "TimeLimit=100"));
    is(100.0, 4.0);
    // Many small changes must not give an advantage.
    for minutes in 101..110 {
        assert!(site.change(&job, &format!("TimeLimit={minutes}")));
    }
    is(109.0, 4.0);
    assert!(site.change(&job, "TimeLimit=10"));
    is(10.0, 4.0);
    assert!(site.change(&job, "NumCPUs=2"));
    is(10.0, 2.0);
    assert!(!site.change(&job, "SiteFactor=9999"));
    is(10.0, 2.0);
    // Slurm sets the limit, rejects the request and forgets the site factor, which is repaired.
    assert!(!site.change(&job, "TimeLimit=600 Priority=7"));
    assert!(site.change(&job, "TimeLimit=10"));
    is(10.0, 2.0);
    assert!(!site.change(&job, "TimeLimit=600 Priority=7"));
    assert_eq!(code(&site.script("pending.sh", "moved")), 0);
    is(600.0, 2.0);
    // The job is moved to a partition that is not ordered, and back.
    assert!(site.change(&job, "Partition=plain"));
    assert_eq!(site.site_factor(&job), 0);
    assert!(site.change(&job, "Partition=fleet"));
    is(600.0, 2.0);
    // The job record does not show that the job has the whole node.
    let whole = site.submit("-t10 --exclusive -N1", "true");
    assert!(site.change(&whole, "TimeLimit=100"));
    assert_eq!(site.site_factor(&whole), area(100.0, 20.0));
    assert!(site.change(&whole, "TimeLimit=10"));
    assert_eq!(site.site_factor(&whole), area(10.0, 20.0));
}

/// The main scheduler uses the order for free capacity, and the backfill scheduler uses it for jobs
/// that can pass a waiting job.
#[test]
fn both_schedulers_follow_the_order() {
    let Some(site) = Site::shared() else { return };
    let begun = site.folder.with_file_name("begun");
    let start = |words: &str, name: &str| {
        site.submit(
            words,
            &format!("echo {name} >> {}; sleep 1", begun.display()),
        )
    };
    fs::write(&begun, "").unwrap();
    // The jobs may run as another user, who must be able to write to the file.
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    fs::set_permissions(&begun, all).unwrap();
    site.drain();
    for (limit, name) in [(30, "c"), (10, "a"), (20, "b")] {
        start(&format!("-n20 -t{limit}"), name);
    }
    site.cluster.set_state("n[1-4]", "resume");
    assert_eq!(site.started_jobs(&begun, 3), "abc");
    site.cluster.wait("the queue is empty", || {
        site.cluster.run("squeue -h").trim().is_empty()
    });
    fs::write(&begun, "").unwrap();
    let blocker = site.submit("-n18 -t30", "sleep 60");
    site.cluster
        .wait("the job runs", || site.jobs_in("R").contains(&blocker));
    // This job is first in the order, but it does not fit.
    start("-n20 -t1", "d");
    let passing = [(13, "g"), (11, "e"), (12, "f")];
    let held = passing.map(|(limit, name)| start(&format!("-H -n2 -t{limit}"), name));
    let held = held.join(",");
    site.cluster.run(&format!("scontrol release {held}"));
    assert_eq!(site.started_jobs(&begun, 3), "efg");
    site.cluster.run(&format!("scancel {blocker}"));
    assert_eq!(site.started_jobs(&begun, 4), "efgd");
}

#[test]
fn keeps_the_site_factor_after_hold_requeue_and_restart() {
    let Some(site) = Site::shared() else { return };
    let job = site.submit("-t10 -n4", "sleep 60");
    site.cluster
        .wait("the job runs", || site.jobs_in("R").contains(&job));
    site.drain();
    let other = site.submit("-t20 -n4", "true");
    let held = site.nobody(&format!("scontrol hold {other}"));
    assert!(held.status.success());
    site.release(&other);
    site.cluster.run(&format!("scontrol requeue {job}"));
    site.cluster
        .wait("the job waits", || site.jobs_in("PD").contains(&job));
    site.restart();
    assert_eq!(site.site_factor(&other), area(20.0, 4.0));
    // Slurm sets a begin time if a job is requeued.
    let line = format!("scontrol update jobid={job} StartTime=now");
    site.cluster.run(&line);
    assert_eq!(site.site_factor(&job), area(10.0, 4.0));
}

#[test]
fn sets_and_resets_the_site_factor_of_waiting_jobs() {
    let Some(site) = Site::shared() else { return };
    site.drain();
    let exported = site.exported();
    let call = "\n  safely(order_new, job, partitions)";
    assert!(exported.contains(call));
    let without = exported.replace(call, "");
    site.cluster.install_lua(&without);
    let ids =
        ["-t10 -n4", "-H -t10 -n4", "-a 1-3 -t10 -n4"].map(|words| site.submit(words, "true"));
    let other = site.submit("-p plain -t10 -n4", "true");
    assert_eq!(site.site_factor(&ids[0]), 0);
    assert_eq!(code(&site.script("pending.sh", "")), 0);
    site.release(&ids[1]);
    assert!(ids.iter().all(|id| site.site_factor(id) == area(10.0, 4.0)));
    assert_contains(&stdout(&site.script("pending.sh", "")), "no job");
    let text = format!("{} synth 10 4 {1} {1}", ids[0], area(10.0, 4.0));
    assert_contains(&stdout(&site.script("check.sh", "")), &text);
    let denied = site.nobody(&format!("sh {}/pending.sh back", site.folder.display()));
    assert_eq!(code(&denied), 1);
    assert_contains(&stderr(&denied), "operators");
    assert_eq!(code(&site.script("pending.sh", "back")), 0);
    assert!(ids.iter().all(|id| site.site_factor(id) == 0));
    assert_eq!(site.site_factor(&other), 0);
    assert_eq!(code(&site.script("pending.sh", "sideways")), 2);

    // A job that has waited for longer than the guarantee is the first in the order.
    let moving = exported.replace("local WAIT = 0", "local WAIT = 600");
    let moving = moving.replace("local OFFSET = 0", "local OFFSET = 0.5");
    let lua = site.folder.join("moving.lua");
    let moved = || {
        let mut command = Command::new("sh");
        command.arg(site.folder.join("pending.sh")).arg("moved");
        command
            .env("LUA", &lua)
            .env("SLURM_CONF", site.cluster.configuration());
        assert_eq!(code(&command.output().unwrap()), 0);
        site.site_factor(&ids[0])
    };
    fs::write(&lua, &moving).unwrap();
    site.cluster.wait("the job has waited for a second", || {
        moved() > area(10.0, 4.0) + 100
    });
    let changed = moving.replace("local PROMISE = 0", "local PROMISE = 1");
    fs::write(&lua, changed).unwrap();
    site.cluster.wait("the job has waited for too long", || {
        (1_000_000..1_000_100).contains(&moved())
    });
}

#[test]
fn rejects_a_broken_script_and_tolerates_errors_at_run_time() {
    let Some(site) = Site::shared() else { return };
    site.drain();
    let exported = site.exported();
    let checked = |text: &str| {
        fs::write(site.folder.join("broken.lua"), text).unwrap();
        site.script("check.sh", "broken.lua")
    };
    let accepted = checked(&exported);
    assert_eq!(code(&accepted), 0, "{}", stderr(&accepted));
    let moved = exported.replace("ORDERED = \"synth,fleet\"", "ORDERED = \"plain\"");
    let moved = checked(&moved);
    assert_eq!(code(&moved), 0, "{}", stderr(&moved));
    assert!(!stdout(&moved).contains(" synth "), "{}", stdout(&moved));
    let line = "local function order_new(job, partitions)";
    let unfinished = exported.replace(line, "local function order_new(job, partitions");
    let refused = checked(&unfinished);
    assert_eq!(code(&refused), 1);
    assert_contains(&stderr(&refused), "broken.lua");
    assert_contains(&stdout(&refused), "would not load");
    let failing = exported.replace("number_in(job.min_cpus) or 1,", "job.cpus + 1,");
    assert_eq!(code(&checked(&failing)), 1);
    let too_large = exported.replace("2000000)", "5e9)");
    let too_large = too_large.replace("local BASE = 7034", "local BASE = 5000000");
    assert_eq!(code(&checked(&too_large)), 1);

    // If there is a syntax error, Slurm keeps the last script. If there is an error at run time,
    // there is no order.
    site.cluster.install_lua(&unfinished);
    let told = site.site_factor(&site.submit_default());
    assert_eq!(told, area(10.0, 4.0));
    site.cluster.install_lua(&failing);
    assert_eq!(site.site_factor(&site.submit_default()), 0);
    assert!(site.change(&site.submit_default(), "TimeLimit=5"));
}

#[test]
fn the_check_requires_the_lua_plugin() {
    if Command::new("luac").arg("-v").output().is_err() {
        eprintln!("test of check.sh skipped because luac is not installed");
        return;
    }
    let folder = Folder::new();
    run_ok!(
        "export slurm-priority saf --partition batch -o {}",
        folder.path_string("order")
    );
    for name in ["squeue", "sprio", "sinfo"] {
        folder.command(name, "cat > /dev/null");
    }
    for (plugins, told) in [
        ("lua,require_timelimit", None),
        ("require_timelimit, job_submit/lua", None),
        ("lua", None),
        (
            "lua2,require_timelimit",
            Some("=lua2,require_timelimit,lua"),
        ),
        ("(null)", Some("=lua")),
    ] {
        let script = "case \"$*\" in
'show config') echo 'JobSubmitPlugins = PLUGINS'; echo 'PriorityType = priority/multifactor' ;;
*) echo PartitionName=batch TotalCPUs=4 TotalNodes=1 ;;
esac";
        folder.command("scontrol", &script.replace("PLUGINS", plugins));
        let mut check = Command::new("sh");
        let run = check.arg(folder.path("order/check.sh"));
        let run = run.env("PATH", path_with(&folder.path("")));
        let run = run.output().unwrap();
        assert_eq!(code(&run), 0, "{}", stderr(&run));
        let text = stdout(&run);
        let line = text.lines().find(|line| line.contains("JobSubmitPlugins"));
        assert_eq!(line.is_some(), told.is_some(), "{plugins}: {text}");
        let is_told = told.is_none_or(|told| {
            let line = line.unwrap();
            line.ends_with(&format!("JobSubmitPlugins{told}"))
        });
        assert!(is_told, "{line:?}");
    }
    // If there is no controller, there is one message, and no table.
    folder.command("scontrol", "echo 'no controller' >&2; exit 1");
    let mut check = Command::new("sh");
    let run = check.arg(folder.path("order/check.sh"));
    let run = run.env("PATH", path_with(&folder.path("")));
    let run = run.output().unwrap();
    assert_eq!((code(&run), stdout(&run).lines().count()), (1, 1));
    assert_contains(&stdout(&run), "no controller");
    assert_eq!(stderr(&run), "");
}

#[test]
fn exports_or_rejects_an_order() {
    let folder = Folder::new();
    let output = folder.path_string("slurm");
    let export =
        |policy: &str| format!("export slurm-priority {policy} --partition batch -o {output}");
    let fails = |expected: i32, policy: &str| run_expecting_code(expected, &export(policy));
    let exported = run_ok!("{}", export("easy+saf"));
    assert_contains(&stdout(&exported), "README.md first");
    assert_contains(&stderr(&fails(2, "easy+saf")), "--force");
    let readme = folder.text("slurm/README.md");
    assert!(!readme.contains("{{") && !readme.contains("{%"));
    assert_contains(&readme, "smallest area");

    assert_contains(&stdout(&fails(1, "easy+saf+history")), "easy+saf");
    let printed = stdout(&fails(1, &folder.policy("section7")));
    assert_contains(&printed, "synth export slurm");
    assert_contains(&stderr(&fails(2, "sfj")), "saf");

    let limits = "known: {limit: {law: uniform, low: 1, high: 3}}";
    let server = format!("{limits}\nserver: {{capacity: {{cpu: 64, gpu: 4, memory: 256}}}}");
    let jobs = "{name: a, demand: {cpu: 1, memory: 4}, arrival_rate: 1, mean_size: 1}
        {name: g, demand: {cpu: 1, gpu: 1}, arrival_rate: 1, mean_size: 1}";
    let workload = workload(&server, jobs).replace("time_unit: s", "time_unit: h");
    let workload = folder.write("w.yaml", &workload);
    let order = "{order: {size: 1, share: 0.5, age: 1, offset: 2h}, \
        reservations: first, longest-wait: 30h}";
    let own = folder.write("own.yaml", &format!("backfilling: {order}\n"));
    let policy = folder.path_string("p.json");
    run_ok!("analyze {own} --workload {workload} --preemption none --output {policy}");
    run_ok!("{} --force", export(&policy));
    let lua = folder.text("slurm/job_submit.lua");
    for setting in words("SHARE=300 WAIT=600 OFFSET=7200 GPU=16 PROMISE=108000") {
        let line = format!("local {}", setting.replace('=', " = "));
        assert!(lua.lines().any(|own| own == line), "{line}");
    }
    let readme = folder.text("slurm/README.md");
    assert_contains(&readme, "order.timer");
    assert_contains(&readme, "30 h");
}
