use super::super::{facts, prepare};
use super::{log_of, sacct, walked};
use crate::commands::tests::cases;
use crate::commands::{Text, Texts};
use crate::configuration::{SlurmSite, of_texts};
use synth_traces::trace::Reason;

const CONF: &str = "ClusterName=c\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
    AccountingStorageEnforce=limits\nPriorityType=priority/multifactor\nNodeName=n[1-2] CPUs=8\n";
const MAIN: &str = "PartitionName=main Nodes=n1 Default=YES\n";

/// The submission time \[s\], user, account, QOS, CPUs, size \[s\] and limit \[min\].
type Row = (u32, &'static str, &'static str, &'static str, u32, u32, u32);

fn rows(rows: &[Row]) -> String {
    let row = |(submit, user, account, qos, cpus, size, limit): &Row| {
        let others = format!("{user}|{account}|main|{qos}|1|cpu={cpus},node=1|{limit}");
        (*submit, *size, others)
    };
    let others = "User|Account|Partition|QOS|NNodes|AllocTRES|TimelimitRaw";
    sacct(others, rows.iter().map(row))
}

struct Played {
    site: SlurmSite,
    starts: Vec<(u32, f64)>,
    remark: String,
}

fn played(conf: &str, qos: &str, assoc: &str, jobs: &str) -> Result<Played, String> {
    let texts = [("config.txt", conf), ("qos.txt", qos), ("assoc.txt", assoc)];
    let texts = texts.into_iter().filter(|own| !own.1.is_empty());
    let texts = texts.map(|(name, text)| {
        let (own, text) = (name.to_owned(), text.to_owned());
        (name, Text { name: own, text })
    });
    let mut site = of_texts(&texts.collect::<Texts>()).unwrap();
    let mut log = log_of(&site, jobs.into());
    let remark = prepare(&mut site, &mut log)?.unwrap_or_default();
    let mut reasons = log.account.rows.iter().map(|row| row.reason);
    let is_above = reasons.any(|own| own == Reason::AboveLimit);
    assert_eq!(is_above, !remark.is_empty());
    let starts = walked(&site, &log, facts(&site, &log).0);
    let lines = log.jobs.iter().map(|job| job.line);
    Ok(Played {
        starts: lines.zip(starts).collect(),
        site,
        remark,
    })
}

fn starts(played: &Played) -> Vec<f64> {
    played.starts.iter().map(|own| own.1).collect()
}

#[test]
fn assumes_and_reports_equal_shares() {
    let conf = format!("{CONF}PriorityWeightFairShare=1000\n{MAIN}");
    let own = [
        (0, "ann", "a", "", 8, 3600, 60),
        (60, "ann", "a", "", 8, 3600, 60),
        (120, "bob", "a", "", 8, 3600, 60),
        (180, "cy", "a", "", 8, 3600, 60),
        (240, "bob", "a", "", 8, 3600, 60),
    ];
    let fair = [0.0, 10_800.0, 3600.0, 7200.0, 14_400.0];
    let found = played(&conf, "", "", &rows(&own)).unwrap();
    assert_eq!(starts(&found), fair);
    let [told] = &found.site.assumed[..] else {
        panic!("{:?}", found.site.assumed);
    };
    assert!(told.contains("sacctmgr -P show assoc tree"), "{told}");
    let assoc = "Account|User|Share\nroot||1\n a||1\n a|ann|1\n a|bob|1\n a|cy|1\n";
    let known = played(&conf, "", assoc, &rows(&own)).unwrap();
    assert_eq!(starts(&known), fair);
    assert_eq!(known.site.assumed, [""; 0]);
    // If there are no accounts, all users share one. An account without users has one user.
    let bare = rows(&own).replace("|a|", "||");
    let found = played(&conf, "", "", &bare).unwrap();
    assert_eq!(starts(&found), fair.to_vec());
    assert_eq!(found.site.assumed.len(), 2);
    let accounts = own.map(|(submit, user, ..)| (submit, "", user, "", 8, 3600, 60));
    let found = played(&conf, "", "", &rows(&accounts)).unwrap();
    assert_eq!(starts(&found), fair);
    // If both columns are missing, there is no fair share, and the order is that of arrival.
    let none = own.map(|(submit, ..)| (submit, "", "", "", 8, 3600, 60));
    let found = played(&conf, "", "", &rows(&none)).unwrap();
    assert_eq!(starts(&found), [0.0, 3600.0, 7200.0, 10_800.0, 14_400.0]);
    assert!(found.site.assumed[0].contains("does not contain Account, User"));
    let conf = format!(
        "{CONF}PriorityWeightQOS=7\nPriorityWeightAssoc=8\nPriorityWeightTRES=cpu=9\n{MAIN}"
    );
    let found = played(&conf, "", "", &rows(&own)).unwrap();
    for name in "PriorityWeightTRES PriorityWeightQOS=7 PriorityWeightAssoc=8".split(' ') {
        let is_assumed = found.site.assumed.iter().any(|own| own.contains(name));
        assert!(is_assumed, "{name}");
    }
}

/// Slurm enforces limits only with `limits`, `safe` or `all`, and with slurmdbd (`acct_policy.c`).
#[test]
fn limits_apply_if_slurm_enforces_them() {
    let jobs = rows(&[
        (0, "ann", "a", "normal", 1, 600, 10),
        (10, "ann", "a", "normal", 1, 600, 10),
        (20, "bob", "a", "normal", 1, 600, 10),
    ]);
    let assoc = "Account|User|Share\nroot||1\n a||1\n a|ann|1\n a|bob|1\n";
    for [enforced, is_held] in cases(include_str!("enforced.txt")) {
        for [qos, tree, held] in cases(include_str!("held.txt")) {
            let conf = CONF.replace("AccountingStorageEnforce=limits", &enforced) + MAIN;
            let found = played(&conf, &qos, &tree.replace("TREE", assoc), &jobs).unwrap();
            let expected = if is_held == "true" {
                &held
            } else {
                "[0.0, 10.0, 20.0]"
            };
            assert_eq!(
                format!("{:?}", starts(&found)),
                expected,
                "{enforced} {qos}"
            );
            let told = found.site.assumed.is_empty();
            assert_eq!(told.to_string(), is_held, "{:?}", found.site.assumed);
        }
    }
}

/// The setting, its name in the remark, and the time at which the last job starts \[s\].
const ABOVE: &str = include_str!("above.txt");

#[test]
fn omits_and_reports_jobs_above_a_limit() {
    let jobs = rows(&[
        (0, "ann", "a", "normal", 6, 600, 60),
        (5, "ann", "a", "normal", 2, 600, 10),
        (10, "bob", "a", "normal", 4, 600, 20),
    ]);
    for row in ABOVE.lines() {
        let [setting, named, last] = row.split(" > ").collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let (own, table) = setting.split_once(';').unwrap_or((setting, ""));
        let (mut conf, mut qos, mut assoc) = (CONF.to_owned() + MAIN, String::new(), String::new());
        match own.split('|').collect::<Vec<_>>()[..] {
            [column, limit] => qos = format!("Name|Priority|{column}\nnormal|0|{limit}\n"),
            [column, root, account, ann] => {
                assoc = format!("Account|User|Share|{column}\nroot||1|{root}\n a||1|{account}\n")
                    + &format!(" a|ann|1|{ann}\n a|bob|1|\n");
            }
            _ => {
                (conf, qos) = (
                    format!("{} {own}\n", conf.trim_end()),
                    table.replace(';', "\n"),
                )
            }
        }
        let found = played(&conf, &qos, &assoc, &jobs);
        let remark = found.as_ref().map_or_else(|why| why, |own| &own.remark);
        assert!(remark.contains(named), "{row}: {remark}");
        let told = remark.starts_with("no jobs remain");
        assert_eq!(told, last == "none", "{row}");
        let starts = found.ok().map(|own| own.starts);
        let start = starts.map_or("none".into(), |own| own[own.len() - 1].1.to_string());
        assert_eq!(start, last, "{row}");
    }
}

#[test]
fn overrunning_jobs_do_not_exceed_the_maximum_time() {
    let conf = format!("{CONF}{}", MAIN.replace("YES", "YES MaxTime=60"));
    let jobs = rows(&[
        (0, "ann", "a", "", 1, 3660, 60),
        (1, "ann", "a", "", 1, 3600, 61),
        (2, "ann", "a", "", 1, 60, 60),
    ]);
    let found = played(&conf, "", "", &jobs).unwrap();
    let is_told = found
        .remark
        .contains("line 3 (1 CPU, 1 node, limit 61 min)");
    assert!(is_told, "{}", found.remark);
    assert_eq!(found.starts.len(), 2);
    let bare = jobs.replace("|TimelimitRaw", "");
    let bare = bare.replace("|60\n", "\n").replace("|61\n", "\n");
    let found = played(&conf.replace("MaxTime=60", "MaxTime=30"), "", "", &bare).unwrap();
    assert_eq!(found.starts.len(), 1);
}
