#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{SiteEdit, merged};
use crate::configuration::{SlurmSite, of_path};
use crate::order::SlurmOrder;

const HEAD: &str = "ClusterName=c\nNodeName=n1 CPUs=4\nPartitionName=p Nodes=n1 Default=YES\n";

/// The value of an option in Slurm, which is the last one.
fn value_of<'a>(site: &'a SlurmSite, key: &str) -> Option<&'a str> {
    let mut options = site.options.iter().rev();
    let own = options.find(|own| own.0.eq_ignore_ascii_case(key));
    own.map(|own| own.1.as_str())
}

fn edit(settings: &[(String, String)]) -> SiteEdit<'_> {
    SiteEdit {
        what: "a change",
        settings,
        lines: &[],
        back: &[],
        order: None,
        script: None,
    }
}

fn named<'a>(files: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let mut files = files.iter();
    files.find(|own| own.0 == name).map(|own| own.1.as_str())
}

/// Applies a patch by its definition, without tolerance, and returns the text of the file.
fn applied(text: &str, patch: &str, name: &str) -> String {
    let old: Vec<&str> = text.split_inclusive('\n').collect();
    let (mut new, mut at, mut is_it) = (String::new(), 0, false);
    let mut lines = patch.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let is_open = lines.peek().is_some_and(|next| next.starts_with("\\ No"));
        let body = if is_open {
            line.trim_end_matches('\n')
        } else {
            line
        };
        if let Some(file) = line.strip_prefix("--- ") {
            is_it = file.trim_end() == name;
            lines.next();
        } else if let (true, Some(hunk)) = (is_it, line.strip_prefix("@@ -")) {
            let first: usize = hunk.split(',').next().unwrap().parse().unwrap();
            let first = first.saturating_sub(1);
            new += &old[at..first].concat();
            at = first;
        } else if is_it && !line.starts_with('\\') {
            if !line.starts_with('+') {
                assert_eq!(old[at], &body[1..], "{patch}");
                at += 1;
            }
            if !line.starts_with('-') {
                new += &body[1..];
            }
        }
    }
    new + &old[at..].concat()
}

/// Runs `patch`, or returns `false` if it is not installed.
fn patched(folder: &Path, patch: &str, options: &[&str]) -> bool {
    let mut command = Command::new("patch");
    command.args(["--forward", "--fuzz=0", "-p0", "-d"]);
    command.arg(folder).args(options);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut running) = command.spawn() else {
        eprintln!("patch is not installed, so only a second implementation is used");
        return false;
    };
    let mut input = running.stdin.take().unwrap();
    input.write_all(patch.as_bytes()).unwrap();
    drop(input);
    let output = running.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}\n{patch}");
    assert!(!told.contains("offset"), "{told}\n{patch}");
    true
}

const ADDED: &str = "# These lines were added because of advice by synth.";

/// Checks the patch that sets the options in slurm.conf and in own.conf: the lines that it adds, the
/// configuration that is read from the result, and the way back.
fn check(texts: [&str; 2], settings: &[(&str, &str)], added: &[&str]) {
    let settings = settings.iter();
    let settings = settings.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let settings: Vec<_> = settings.collect();
    let folder = tempfile::tempdir().unwrap();
    let names = ["slurm.conf", "more/own.conf"];
    let read = || names.map(|name| fs::read_to_string(folder.path().join(name)).unwrap());
    let write = |texts: &[String; 2]| {
        let files = names.iter().zip(texts);
        files.for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    };
    fs::create_dir(folder.path().join("more")).unwrap();
    let before = [[HEAD, texts[0]].concat(), texts[1].to_owned()];
    write(&before);
    let site = of_path(folder.path()).unwrap();
    let files = edit(&settings).files(&site).unwrap();
    let patch = named(&files, "slurm.conf.patch").unwrap();
    let lines = patch
        .split_inclusive('\n')
        .filter_map(|line| line.strip_prefix('+'));
    let lines = lines.filter(|line| !line.starts_with("++ "));
    let lines: Vec<&str> = lines.map(|line| line.trim_end_matches('\n')).collect();
    assert_eq!(lines, added, "{patch}");
    let mut after = before.clone();
    for (name, text) in names.iter().zip(&mut after) {
        *text = applied(text, patch, name);
    }
    let is_there = patched(folder.path(), patch, &["--dry-run"]);
    if is_there {
        patched(folder.path(), patch, &[]);
    } else {
        write(&after);
    }
    assert_eq!(read(), after, "{patch}");
    let changed = of_path(folder.path()).unwrap();
    for (key, value) in &settings {
        assert_eq!(value_of(&changed, key), Some(value.as_str()), "{patch}");
    }
    for (key, _) in &site.options {
        let is_set = settings.iter().any(|own| own.0.eq_ignore_ascii_case(key));
        assert!(
            is_set || value_of(&changed, key) == value_of(&site, key),
            "{key}"
        );
    }
    if is_there {
        patched(folder.path(), patch, &["-R"]);
        assert_eq!(read(), before, "{patch}");
    }
}

#[test]
fn the_last_line_of_an_option_is_changed() {
    let text = "A=1\nPriorityWeightAge=5\nB=2\npriorityweightage = 7 # old\nC=3\n";
    let new = "priorityweightage = 9 # old";
    check([text, ""], &[("PriorityWeightAge", "9")], &[new]);
    let texts = ["Age=1\nInclude more/own.conf\nB=2\n", "# ours\nAge=2\n"];
    let settings = [("New", "x"), ("Age", "9")];
    check(texts, &settings, &[ADDED, "New=x", "Age=9"]);
    let texts = ["Include more/own.conf\nAge=1\n", "Age=2\nB=1"];
    check(texts, &[("Age", "9"), ("B", "2")], &["Age=9", "B=2"]);
    // Hunks that are close are merged, and the others have their own line numbers.
    let far = "\n".repeat(20);
    let text = format!("P=a\\#b A=1 # A=7\n\n\n\nC=1\n{far}B=1\n\n# end\n");
    let settings = [("A", "2"), ("B", "2"), ("C", "2"), ("D", "2")];
    let new = ["P=a\\#b A=2 # A=7", "C=2", "B=2", ADDED, "D=2"];
    check([&text, ""], &settings, &new);
}

#[test]
fn continued_and_quoted_values_are_changed() {
    let text = "S=a=1,\\\n  b=2 Other=\"x y\" # why\nB=1\n";
    check(
        [text, ""],
        &[("Other", "z"), ("B", "2")],
        &["  b=2 Other=\"z\" # why", "B=2"],
    );
    let text = "S=a=1,\\ # first\nb=2,\\\nc=3 T=5\nB=1\n";
    check(
        [text, ""],
        &[("T", "6"), ("S", "a=9,b=2")],
        &["S=a=9,b=2 T=6"],
    );
    check(["A=\"\"\nB=1\n", ""], &[("A", "1")], &["A=\"1\""]);
}

#[test]
fn line_breaks_are_kept() {
    let text = "S=a=1\r\nB=1\r\nT=\"a b\" # c\r\n";
    let new = ["S=a=2\r", "T=\"c\" # c\r", &format!("{ADDED}\r"), "N=1\r"];
    check([text, ""], &[("S", "a=2"), ("T", "c"), ("N", "1")], &new);
    check(["A=1\nB=1", ""], &[("N", "1")], &["B=1", ADDED, "N=1"]);
    check(["A=1\nB=1", ""], &[("B", "2")], &["B=2"]);
    let settings = [("B", "2"), ("N", "1"), ("M", "1")];
    check(["A=1\nB=1", ""], &settings, &["B=2", ADDED, "N=1", "M=1"]);
    check(
        ["A=1\nB=1 \\", ""],
        &[("N", "1")],
        &["B=1 \\", ADDED, "N=1"],
    );
}

/// Other files than those below the folder of slurm.conf have absolute paths.
#[test]
fn files_outside_of_the_folder_have_their_own_patch() {
    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let included = other.path().join("own.conf");
    fs::write(&included, "Age=1\n").unwrap();
    let conf = folder.path().join("slurm.conf");
    fs::write(&conf, format!("{HEAD}Include {}\n", included.display())).unwrap();
    let site = of_path(&conf).unwrap();
    let settings = [("Age".to_owned(), "2".to_owned())];
    let files = edit(&settings).files(&site).unwrap();
    assert_eq!(named(&files, "slurm.conf.patch"), None);
    let patch = named(&files, "included.patch").unwrap();
    let name = included.display().to_string();
    let name = name.trim_start_matches('/');
    assert_eq!(applied("Age=1\n", patch, name), "Age=2\n");
    // These bytes are unknown after they were read, so there is no patch.
    fs::write(&conf, [HEAD.as_bytes(), b"# \xe4\nAge=1\n"].concat()).unwrap();
    let site = of_path(&conf).unwrap();
    let files = edit(&settings).files(&site).unwrap();
    assert!(files.iter().all(|(name, _)| !name.ends_with(".patch")));
    let readme = named(&files, "README.md").unwrap();
    assert!(!readme.contains(".patch"), "{readme}");
}

#[test]
fn a_line_is_added_to_a_script() {
    let line = "pcall(dofile, \"/etc/synth/order/job_submit.lua\")\n";
    let submit = "function slurm_job_submit()\n  return slurm.SUCCESS\nend\n";
    for (own, rest) in [
        (submit, "\nreturn slurm.SUCCESS\n"),
        (submit, "return slurm.SUCCESS -- loaded\n-- end\n\n"),
        (submit, "return slurm.SUCCESS"),
        (submit, ""),
        (submit.trim_end(), ""),
        (submit, "\n-- the end"),
    ] {
        let text = [own, rest].concat();
        let new = applied(&text, &merged(&text).unwrap(), "job_submit.lua");
        let broken = [own, "\n", line, rest].concat();
        let blank = |text: &str| text.replace('\n', "");
        assert_eq!(blank(&new), blank(&broken));
        assert!(new.contains(&format!("\n{line}")), "{new}");
    }
    for text in [
        "",
        "-- nothing\n",
        "--[[\nreturn slurm.SUCCESS ]]\n",
        "f = {\n}\n",
    ] {
        assert!(merged(text).is_none(), "{text}");
    }
}

/// The steps that are described depend on the script of the site.
#[test]
fn the_script_of_the_site_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("slurm.conf");
    fs::write(&conf, HEAD).unwrap();
    let site = of_path(&conf).unwrap();
    let order = SlurmOrder::named("saf").unwrap().unwrap();
    let is_new = [("JobSubmitPlugins".to_owned(), "lua".to_owned())];
    let own = "function f()\nend\nreturn slurm.SUCCESS\n";
    let loading = format!("{}\n{own}", super::load_line());
    for (settings, script, command) in [
        (
            &is_new[..],
            Some(own),
            "install -m 644 order/job_submit.lua \"$conf/job_submit.lua\"",
        ),
        (&[], Some(own), "-d \"$conf\" < job_submit.lua.patch"),
        (
            &[],
            Some(loading.as_str()),
            "touch \"$conf/job_submit.lua\"",
        ),
        (&[], None, "touch \"$conf/job_submit.lua\""),
    ] {
        let lines = ["PriorityWeightAge=3".to_owned()];
        let edit = SiteEdit {
            lines: &lines,
            order: Some((&order, "p")),
            script,
            ..edit(settings)
        };
        let files = edit.files(&site).unwrap();
        let readme = named(&files, "README.md").unwrap();
        assert!(readme.contains(command), "{readme}");
        let is_copied = !settings.is_empty();
        assert_eq!(readme.contains("install -m 644"), is_copied, "{readme}");
        assert_eq!(readme.contains("```lua"), script.is_none(), "{readme}");
        let own = named(&files, "order/slurm-lines.conf").unwrap();
        assert!(own.ends_with("\nPriorityWeightAge=3\n"), "{own}");
        assert!(!own.contains("PriorityType"), "{own}");
    }
}
