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
        "In a replay of the current configuration",
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
    let filter = "--from 1h --only partition=batch,status=completed";
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
    let mut advise = command("advise slurm --since 2w");
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
        advise slurm LONG --slurm CONF --servers cpu=4 | `--servers` cannot be used
        advise slurm --since soon | --since";
    let table = table.replace("CONF", &conf).replace("BARE", &bare);
    assert_errors(&table, &[("SHORT", &short), ("LONG", &long)]);
}
