//! Tests of `synth advise slurm`, with files and on a login node.

use crate::common::*;

const CONF: &str = "ClusterName=c\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-2] CPUs=16\n\
    PartitionName=batch Nodes=ALL Default=YES MaxTime=UNLIMITED\n";

/// Returns the `sacct` output of two nodes of 16 CPUs on which many short jobs wait for long ones.
/// Each wait is the wait on an empty cluster, multiplied by `waits`.
pub(crate) fn log(jobs: u32, waits: i64) -> String {
    let line = "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|State|NNodes|AllocTRES|TimelimitRaw\n";
    let mut free = [0_i64; 2];
    let rows = (0..jobs).map(|n| {
        let is_long = n % 24 < 3;
        let submit = 1_700_000_000 + i64::from(n) * 900;
        let (size, cpus) = if is_long { (12_000, 16) } else { (300, 4) };
        let first = if free[0] <= free[1] { 0 } else { 1 };
        let start = submit.max(free[first]);
        free[first] = start + size * cpus / 16;
        let start = submit + (start - submit) * waits;
        let (end, resources) = (start + size, format!("cpu={cpus},node=1"));
        let (user, limit) = if is_long { ("ann", 400) } else { ("bob", 10) };
        let times = format!("{submit}|{submit}|{start}|{end}|{size}");
        format!("{n}|{user}|a|batch|normal|{times}|COMPLETED|1|{resources}|{limit}\n")
    });
    line.to_owned() + &rows.collect::<String>()
}

#[test]
fn advises_an_order_and_names_who_waits_longer() {
    let folder = Folder::new();
    let head = "PriorityType=priority/basic\nJobSubmitPlugins=require_timelimit\n";
    let log = folder.write("jobs.txt", &log(2000, 1));
    let conf = folder.write("slurm.conf", &(head.to_owned() + CONF));
    let [json_file, page] = folder.paths(["a.json", "a.html"]);
    let run = run_ok!("advise slurm {log} --slurm {conf} -o {json_file} --html {page}");
    for words in [
        "in the replay of the current configuration",
        "1. ",
        "--partition batch",
        "user ann",
        "\nJobSubmitPlugins=require_timelimit,lua  # was require_timelimit\n",
        "\nJobSubmitPlugins=require_timelimit\n",
    ] {
        assert_contains(&stdout(&run), words);
    }
    let advice = folder.json("a.json");
    for [key, line] in rows(
        "lines | PriorityType=priority/multifactor  # was priority/basic
        back | PriorityType=priority/basic",
    ) {
        let lines = advice[key].as_array().unwrap();
        assert!(lines.contains(&line.into()), "{lines:?}");
    }
    let (today, then) = (&advice["today"]["mean"], &advice["gain"]["waits"]["mean"]);
    assert!(then.as_f64() < today.as_f64(), "{today} {then}");
    let replay = run_ok!("replay {log} --slurm {conf} --policies slurm --measure .5,1 -o -");
    let replay = json(&replay);
    let wait = &replay["paces"][0]["policies"][0]["replayed"]["measured"]["mean_wait"];
    let (own, other) = (wait.as_f64().unwrap(), today.as_f64().unwrap());
    assert!((own - other).abs() < 1e-6 * other, "{own} {other}");
    let page = read_text(page);
    assert_contains(&page, "Winners and losers");
    let plugins = page.matches("JobSubmitPlugins=require_timelimit");
    assert_eq!(plugins.count(), 2, "expected the new line and the old line");
}

#[test]
fn gives_no_advice_if_the_replay_disagrees_with_the_log() {
    let folder = Folder::new();
    let log = folder.write("jobs.txt", &log(2000, 20));
    let conf = folder.write("slurm.conf", CONF);
    let run = run_expecting_code(1, &format!("advise slurm {log} --slurm {conf}"));
    assert_contains(&stdout(&run), "too large to give advice");
    assert!(!stdout(&run).contains("1. "), "{}", stdout(&run));
}

#[test]
fn jobs_that_still_wait_are_included_in_the_means() {
    let folder = Folder::new();
    let log = log(2000, 1);
    let cells = |line: &str| line.split('|').map(str::to_owned).collect::<Vec<_>>();
    let rows = log.lines().skip(1).map(cells).collect::<Vec<_>>();
    let number = |row: &Vec<String>, n: usize| row[n].parse::<f64>().unwrap();
    let last = rows.iter().map(|row| number(row, 8)).fold(0.0, f64::max);
    // Slurm prints a job that is not eligible, such as one that depends on another, like this.
    let row = |id: u32, eligible: &str| {
        let times = format!("1701000000|{eligible}|Unknown|Unknown|0");
        format!("{id}|eve|a|batch|normal|{times}|PENDING|1|cpu=16,node=1|10\n")
    };
    let pending = (0..30).map(|n| row(9000 + n, "1701000000"));
    let pending = pending.collect::<String>() + &row(9999, "Unknown");
    let jobs = folder.write("jobs.txt", &(log.clone() + &pending));
    let conf = folder.write("slurm.conf", CONF);
    let mut run = command(&format!("advise slurm {jobs} --slurm {conf} -o -"));
    let run = json(&run.output().unwrap());
    let own = &run["likeness"];
    assert_eq!(own["pending"]["jobs"], 30);
    let so_far = last - 1_701_000_000.0;
    assert_eq!(own["pending"]["recorded"], so_far);
    assert!(own["pending"]["replayed"].as_f64().unwrap() <= so_far);
    let span = number(&rows[1999], 5) - 1_700_000_000.0;
    let late = rows.iter();
    let late = late.filter(|row| number(row, 5) - 1_700_000_000.0 >= 0.5 * span);
    let waits = late.map(|row| number(row, 7) - number(row, 5));
    let waits = waits.chain(vec![so_far; 30]).collect::<Vec<_>>();
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    let recorded = own["recorded"].as_f64().unwrap();
    assert!((recorded - mean).abs() < 1e-9 * mean, "{recorded} {mean}");
}

#[test]
fn judge_and_advise_select_the_same_change() {
    let folder = Folder::new();
    let log = folder.write("jobs.txt", &log(2000, 1));
    let conf = format!("Include /etc/slurm/own/priority.conf\n{CONF}");
    let conf = folder.write("slurm.conf", &conf);
    folder.write("priority.conf", "PriorityType=priority/basic\n");
    let advice = json(&run_ok!("advise slurm {log} --slurm {conf} -o -"));
    let judged = json(&run_ok!("judge {log} --slurm {conf} -o -"));
    let row = |role: &str| {
        let mut rows = judged["rules"].as_array().unwrap().iter();
        rows.find(|row| row["role"] == role).unwrap()
    };
    assert_eq!(row("exportable")["rule"], advice["chosen"][0]["what"]);
    for (role, mean) in [
        ("now", &advice["today"]["mean"]),
        ("exportable", &advice["gain"]["waits"]["mean"]),
    ] {
        let own = row(role)["outcome"]["mean_wait"].as_f64().unwrap();
        let other = mean.as_f64().unwrap();
        assert!((own - other).abs() < 1e-9 * other, "{role}: {own} {other}");
    }
    assert_eq!(judged["agreement"], advice["likeness"]);
    let printed = stdout(&run_ok!("judge {log} --slurm {conf}"));
    assert!(printed.lines().count() <= 30, "{printed}");
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    let next = format!("`synth advise slurm {log} --slurm {conf} -o change`");
    assert_contains(&printed, &next);
}

#[test]
fn nobody_waits_at_a_quiet_site() {
    let folder = Folder::new();
    let log = folder.write("jobs.txt", &log(300, 0));
    let conf = folder.write("slurm.conf", &CONF.replace("n[1-2]", "n[1-40]"));
    let run = run_ok!("advise slurm {log} --slurm {conf}");
    assert_contains(&stdout(&run), "Nobody waits");
}

#[test]
fn all_verbs_use_the_same_site() {
    let folder = Folder::new();
    let log = folder.write("jobs.txt", &log(2000, 1));
    let conf = CONF.replace("Nodes=ALL", "Nodes=n[1-2]")
        + "NodeName=g CPUs=64\nPartitionName=gpu Nodes=g\nPartitionName=all Nodes=ALL\n";
    let conf = folder.write("slurm.conf", &conf);
    let other = folder.write("other.conf", &CONF.replace("=batch", "=accel"));
    for verb in [
        "advise slurm LOG",
        "judge LOG",
        "forecast LOG",
        "replay LOG --policies slurm",
        "fit LOG",
    ] {
        let verb = verb.replace("LOG", &log);
        for (options, why) in [
            ("--partition batch,nix", "it has batch, gpu, all"),
            ("--servers cpu=9", "`--servers`"),
        ] {
            let run = run_expecting_code(2, &format!("{verb} --slurm {conf} {options}"));
            assert_contains(&stderr(&run), why);
        }
        if !verb.starts_with("fit") {
            let run = run_expecting_code(2, &format!("{verb} --slurm {other}"));
            assert_contains(&stderr(&run), "another cluster");
        }
    }
    let replay = |partitions: &str| {
        let options = format!("--slurm {conf} --partition {partitions}");
        let replay = json(&run_ok!("replay {log} {options} --policies slurm -o -"));
        replay["trace"]["capacity"][0].as_f64().unwrap()
    };
    assert_eq!([replay("batch"), replay("batch,gpu")], [32.0, 96.0]);
}

#[test]
fn gives_no_advice_if_the_log_has_no_start_times() {
    let folder = Folder::new();
    let started = log(2000, 1);
    let bare = started.lines().map(|line| {
        let cells = line.split('|').enumerate().filter(|(n, _)| *n != 7);
        cells.map(|(_, cell)| cell).collect::<Vec<_>>().join("|") + "\n"
    });
    let bare = folder.write("jobs.txt", &bare.collect::<String>());
    let conf = folder.write("slurm.conf", CONF);
    let page = folder.path_string("a.html");
    let filter = "--from 1h --partition batch --read status=completed";
    let typed = format!("advise slurm {bare} --slurm {conf} {filter} --html {page}");
    let text = stdout(&run_expecting_code(1, &typed)).replace('\n', " ");
    assert_contains(&text, "so the replay cannot be checked");
    assert_contains(&text, "Changes tried");
    assert!(!text.contains("1. "), "{text}");
    assert!(!text.contains("as advised"), "{text}");
    let page = read_text(page);
    assert_contains(&page, filter);
    assert!(!page.contains("Winners and losers"), "{page}");
}

#[test]
fn uses_slurm_commands_on_a_login_node() {
    let folder = Folder::new();
    folder.write("jobs", &log(2000, 1));
    folder.command("sacct", "cat \"$(dirname \"$0\")/jobs\"");
    let words = "case \"$*\" in
'show config') printf 'ClusterName = c\\nSelectType = select/cons_tres\\nSelectTypeParameters = CR_CORE\\nSchedulerType = sched/backfill\\n' ;;
'show node -o') for n in 1 2; do echo \"NodeName=n$n CPUAlloc=0 CPUTot=16 RealMemory=1000 State=IDLE\"; done ;;
'show partition -o') echo 'PartitionName=batch Default=YES MaxTime=UNLIMITED Nodes=n[1-2] State=UP' ;;
esac";
    folder.command("scontrol", words);
    for name in ["sacctmgr", "sshare"] {
        let words = "echo 'You are not running a supported accounting_storage plugin' >&2; exit 1";
        folder.command(name, words);
    }
    let mut advise = command("advise slurm --from now-2w");
    advise.env("PATH", path_with(&folder.path("")));
    let run = advise.output().unwrap();
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    assert_contains(&stdout(&run), "1. ");
    assert_contains(&stdout(&run), "now-336hours");
    assert_contains(&stdout(&run), "sacctmgr");
}

#[test]
fn prints_assumptions_first_and_omits_jobs_above_limits() {
    let folder = Folder::new();
    let log = folder.write("jobs.txt", &log(2000, 1));
    std::fs::create_dir(folder.path("site")).unwrap();
    let conf = CONF.replace("MaxTime", "OverSubscribe=FORCE:2 MaxTime");
    let head = "AccountingStorageEnforce=limits\nPriorityType=priority/multifactor\n";
    let conf = format!("{head}PriorityWeightFairshare=9\n{conf}");
    folder.write("site/slurm.conf", &conf);
    folder.write("site/qos.txt", "Name|Priority|MaxTRESPU\nnormal|0|cpu=15\n");
    let text = "ReservationName=maint StartTime=2026-01-01T00:00:00 Nodes=n1\n";
    folder.write("site/res.txt", text);
    let site = folder.path_string("site");
    let advised = run_expecting_code(1, &format!("advise slurm {log} --slurm {site}"));
    let replayed = run_ok!("replay {log} --slurm {site} --policies slurm");
    for report in [stdout(&advised), stdout(&replayed)] {
        let report = report.replace('\n', " ");
        let (first, notes) = report.split_once("Lines of the log").unwrap();
        for words in [
            "partition batch: OverSubscribe=FORCE:2 is not modeled",
            "PriorityWeightFairshare=9, but shares are unknown",
            "sacctmgr -P show assoc tree",
        ] {
            assert_contains(first, words);
        }
        let limit = "MaxTRESPU cpu=15 of QOS normal: line 2 (16 CPUs, 1 node, limit 400 min)";
        assert_contains(notes, "above a limit of the site");
        assert_contains(notes, &format!("{limit}, first of 252 jobs"));
        assert_contains(notes, "the reservations maint are not modeled");
    }
}

#[test]
fn checks_the_promises_of_an_earlier_advice() {
    let folder = Folder::new();
    let log = folder.write("jobs.txt", &log(3000, 1));
    let head = "PriorityType=priority/basic\nJobSubmitPlugins=require_timelimit\n";
    let conf = folder.write("slurm.conf", &(head.to_owned() + CONF));
    let [before, document] = folder.paths(["a.json", "p.json"]);
    run_ok!("advise slurm {log} --slurm {conf} --to 18d -o {before}");
    let lines = folder.json("a.json")["lines"].clone();
    let lines = lines.as_array().unwrap().iter();
    let lines: String = lines
        .map(|line| format!("{}\n", line.as_str().unwrap()))
        .collect();
    let changed = folder.write("changed.conf", &(head.to_owned() + CONF + &lines));
    // The waits are recorded without the change, so it does not keep its promise.
    let rest = format!("advise slurm {log} --from 18d --before {before}");
    let run = run_expecting_code(1, &format!("{rest} --slurm {changed} -o {document}"));
    assert_contains(&stdout(&run), "The promise was missed");
    assert_contains(&stdout(&run), "user ann");
    let own = folder.json("p.json");
    assert_eq!(own["format"], "synth-promises");
    assert_eq!(own["all"]["is_kept"], false);
    let part = lines.replace("JobSubmitPlugins", "# JobSubmitPlugins");
    let part = folder.write("part.conf", &(head.to_owned() + CONF + &part));
    let run = run_expecting_code(1, &format!("{rest} --slurm {part}"));
    assert_contains(
        &stdout(&run).replace('\n', " "),
        "missing in the configuration: JobSubmitPlugins=lua",
    );
    let other = CONF.replace("ClusterName=c", "ClusterName=other") + &lines;
    let other = folder.write("other.conf", &(head.to_owned() + &other));
    let unsure = folder.json("a.json").to_string();
    let unsure = unsure.replace("\"is_advised\":true", "\"is_advised\":false");
    let unsure = folder.write("unsure.json", &unsure);
    let table = "advise slurm LOG --slurm OLD --before ADVICE | none of the settings
        advise slurm LOG --slurm OTHER --before ADVICE | the advice is for the cluster `c`
        advise slurm LOG --slurm NEW --before PROMISES | synth-promises
        advise slurm LOG --slurm NEW --before UNSURE | no change was advised
        advise slurm LOG --slurm NEW --before OLD | not a document of synth
        advise slurm LOG --slurm NEW --before none.json | none.json
        advise slurm LOG --slurm NEW --before ADVICE --from 31.2d | at least 50 are required
        advise slurm LOG --slurm NEW --before ADVICE --longest 2 | cannot be used with";
    let paths = [
        ("LOG", &log),
        ("OLD", &conf),
        ("NEW", &changed),
        ("OTHER", &other),
        ("ADVICE", &before),
        ("PROMISES", &document),
        ("UNSURE", &unsure),
    ];
    let table = paths.iter().fold(table.to_owned(), |table, (key, path)| {
        table.replace(key, path)
    });
    assert_errors(&table, &[]);
}

#[test]
fn reports_missing_inputs() {
    let folder = Folder::new();
    let conf = folder.write("slurm.conf", CONF);
    let short = folder.write("short.txt", &log(60, 1));
    let long = folder.write("long.txt", &log(300, 1));
    let bare = folder.write("bare.conf", "ClusterName=c\n");
    let table = "advise slurm SHORT --slurm CONF | export the jobs of more weeks
        advise slurm LONG | --slurm
        advise slurm LONG --slurm missing | cannot read missing
        advise slurm LONG --slurm BARE | has no nodes
        advise slurm LONG --slurm CONF --servers cpu=4 | `--servers` and `--capacity` cannot be used
        advise slurm --from soon | --from";
    let table = table.replace("CONF", &conf).replace("BARE", &bare);
    assert_errors(&table, &[("SHORT", &short), ("LONG", &long)]);
}
