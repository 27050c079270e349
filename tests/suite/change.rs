//! These tests apply and undo an advice on a real Slurm, with the commands in its README.md.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::advise;
use super::cluster::Cluster;
use crate::common::*;

/// The jobs wait on two nodes of 20 CPUs, which are the nodes of the partition `fleet`.
fn log() -> String {
    let log = advise::log(2000, 1).replace("|batch|", "|fleet|");
    log.replace("cpu=16,", "cpu=20,")
        .replace("cpu=4,", "cpu=5,")
}

struct Site {
    cluster: Cluster,
    folder: Folder,
}

impl Site {
    /// Returns a cluster whose configuration was changed, or `None` if a program is not installed.
    fn start(changes: &[(&str, &str)]) -> Option<Self> {
        let is_there = |name: &str| Command::new(name).arg("-v").output().is_ok();
        if !is_there("luac") || !is_there("patch") {
            eprintln!("test of a change skipped because luac or patch is not installed");
            return None;
        }
        let cluster = Cluster::start("backfill")?;
        let mut text = read_text(cluster.configuration());
        for (from, to) in changes {
            assert_contains(&text, from);
            text = text.replace(from, to);
        }
        fs::write(cluster.configuration(), text).unwrap();
        let folder = Folder::new();
        let restart = format!(
            "scontrol shutdown slurmctld
while scontrol ping >/dev/null; do sleep .1; done
'{}' controller '{}'
until scontrol ping >/dev/null; do sleep .1; done",
            in_root("scripts/slurm").display(),
            cluster.configuration().parent().unwrap().display()
        );
        folder.command("systemctl", &restart);
        Some(Site { cluster, folder })
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.cluster.configuration().with_file_name(name)
    }

    /// Runs a script as an administrator, and returns its output.
    fn shell(&self, script: &str) -> String {
        let mut command = Command::new("sh");
        command.args(["-e", "-c", script]);
        command.current_dir(self.folder.path("change"));
        command.env("SLURM_CONF", self.cluster.configuration());
        command.env("PATH", path_with(&self.folder.path("")));
        let output = command.output().unwrap();
        assert_eq!(code(&output), 0, "{script}\n{}", all_output(&output));
        stdout(&output)
    }

    fn restart(&self) {
        fs::create_dir_all(self.folder.path("change")).unwrap();
        self.shell("systemctl restart slurmctld");
    }

    /// Writes the advice. The order is installed in a folder of the test.
    fn advise(&self) {
        let log = self.folder.write("jobs.txt", &log());
        let slurm = self.cluster.configuration();
        let change = self.folder.path_string("change");
        let slurm = slurm.parent().unwrap().display();
        let run = run_ok!("advise slurm {log} --slurm {slurm} -o {change}");
        assert_contains(&stdout(&run), "change/README.md next");
        for name in ["README.md", "job_submit.lua.patch"] {
            let name = format!("change/{name}");
            if self.folder.path(&name).exists() {
                let order = self.folder.path_string("installed");
                let text = self.folder.text(&name);
                self.folder
                    .write(&name, &text.replace("/etc/synth/order", &order));
            }
        }
    }

    /// Runs the commands in a section of README.md.
    fn follow(&self, section: &str) -> String {
        let readme = self.folder.text("change/README.md");
        let (_, text) = readme.split_once(&format!(". {section}\n")).unwrap();
        let (_, text) = text.split_once("```bash\n").unwrap();
        self.shell(text.split_once("```").unwrap().0)
    }

    /// Returns the configuration that is used by Slurm, without times and numbers of the process.
    fn shown(&self) -> Vec<String> {
        let text = self.cluster.run("scontrol show config");
        let lines = text.lines().filter(|line| line.contains(" = "));
        let lines = lines.map(|line| words(line).join(" "));
        let changes = ["BOOT_TIME", "NEXT_JOB_ID", "HASH_VAL"];
        let is_constant = |line: &String| !changes.iter().any(|own| line.starts_with(own));
        lines.filter(is_constant).collect()
    }

    /// Returns the site factor of a job that waits.
    fn site_factor(&self, id: &str) -> i64 {
        let mut found = None;
        self.cluster.wait("the job has a priority", || {
            let rows = self.cluster.output("sprio -h -o '%i %S'");
            let rows = stdout(&rows);
            let row = rows.lines().map(words).find(|row| row[0] == id);
            found = row.map(|row| row[1].parse().unwrap());
            found.is_some()
        });
        found.unwrap()
    }

    fn submit(&self) -> String {
        self.cluster.submit("plain", 1.0, "-t10 -n2")
    }

    /// Checks that the new lines are used after the change, and the old ones after it was undone.
    fn apply_and_undo(&self) {
        let files = || {
            let names = ["slurm.conf", "job_submit.lua", "weights.conf"];
            names.map(|name| fs::read(self.beside(name)).ok())
        };
        self.cluster.set_state("n2", "drain");
        let (old, texts) = (self.shown(), files());
        let waiting = self.submit();
        self.follow("Check");
        assert_eq!((self.shown(), files()), (old.clone(), texts.clone()));
        self.follow("Apply");
        let new = self.shown();
        let advice = self.folder.json("change/advice.json");
        let lines = advice["lines"].as_array().unwrap();
        assert!(!lines.is_empty());
        for line in lines {
            let (line, _) = line
                .as_str()
                .unwrap()
                .split_once("  #")
                .unwrap_or((line.as_str().unwrap(), ""));
            let line = line.replacen('=', " = ", 1);
            let line = line.replace("7-0", "7-00:00:00");
            assert!(new.contains(&line), "{line}: {new:#?}");
            assert!(!old.contains(&line), "{line}");
        }
        assert_contains(&self.follow("Verify"), "SITE");
        let later = self.submit();
        // 600 points for a factor of ten in 10 minutes × 2 CPUs.
        let factor = (7034.0 - 600.0 * 20_f64.log10()).round() as i64;
        for id in [&waiting, &later] {
            assert_eq!(self.site_factor(id), factor);
        }
        self.follow("Undo");
        assert_eq!(self.shown(), old);
        assert_eq!(files(), texts);
        assert!(!self.folder.path("installed").exists());
        self.cluster.reset();
    }
}

/// The first site has a script, and weights in an included file. The second site has neither, so
/// slurmctld has to be restarted.
#[test]
fn changes_are_applied_and_undone_on_a_real_slurm() {
    let multifactor = "PriorityType=priority/multifactor\nInclude weights.conf";
    let Some(site) = Site::start(&[("PriorityType=priority/basic", multifactor)]) else {
        return;
    };
    let weights = "PriorityWeightJobSize=20000 # large jobs\r\nPriorityWeightQOS=50";
    fs::write(site.beside("weights.conf"), weights).unwrap();
    site.restart();
    fs::remove_dir(site.folder.path("change")).unwrap();
    site.advise();
    let patch = site.folder.text("change/slurm.conf.patch");
    assert_contains(&patch, "+++ weights.conf");
    assert_contains(&site.folder.text("change/job_submit.lua.patch"), "+pcall");
    site.apply_and_undo();
    exports_the_same_order(&site.folder);
    drop(site);

    let Some(site) = Site::start(&[("JobSubmitPlugins=lua\n", "")]) else {
        return;
    };
    fs::remove_file(site.beside("job_submit.lua")).unwrap();
    site.restart();
    site.advise();
    let readme = site.folder.text("change/README.md");
    assert_contains(&readme, "systemctl restart");
    site.apply_and_undo();
}

fn exports_the_same_order(folder: &Folder) {
    let [file, order] = folder.paths(["change/advice.json", "other"]);
    run_ok!("export slurm-priority --advice {file} -o {order}");
    for name in [
        "README.md",
        "job_submit.lua",
        "slurm-lines.conf",
        "check.sh",
    ] {
        let own = folder.text(&format!("change/order/{name}"));
        assert_eq!(own, folder.text(&format!("other/{name}")));
    }
    let log = folder.path_string("jobs.txt");
    let conf = folder.write("other.conf", "");
    let again = format!(
        "advise slurm {log} --slurm {conf} -o {}",
        folder.path_string("change")
    );
    let refused = run_expecting_code(2, &again);
    assert_contains(&stderr(&refused), "not empty");
}

#[test]
fn an_advice_without_an_order_is_not_exported() {
    let folder = Folder::new();
    let none = folder.write(
        "none.json",
        r#"{"format": "synth-advice", "lines": [], "order": null}"#,
    );
    let other = folder.write("other.json", r#"{"format": "synth-policy"}"#);
    let output = folder.path_string("order");
    let export = |rest: &str| format!("export {rest} -o {output}");
    let run = run_expecting_code(1, &export(&format!("slurm-priority --advice {none}")));
    assert_contains(&stdout(&run), "does not advise an order");
    for rest in [
        format!("slurm-priority --advice {other}"),
        format!("slurm-priority saf --advice {none}"),
        format!("slurm-priority --advice {none} --partition batch"),
        format!("slurm --partition batch --advice {none}"),
        "slurm-priority saf".to_owned(),
    ] {
        run_expecting_code(2, &export(&rest));
    }
    assert!(!folder.path("order").exists());
}
