//! Qualities of service and associations.

use super::super::{CONF, LimitSet, SiteError, SlurmSite, of_texts, scope};
use super::{text, tres};
use crate::commands::Texts;

const USER: usize = scope::USER;

/// As 22.05 and 26.05 name the columns (src/sacctmgr/common.c); the rows are by hand.
const QOS: &str = "Name|Priority|GraceTime|Preempt|PreemptMode|Flags|GrpTRES|GrpTRESMins|GrpJobs|MaxTRES|MaxWall|MaxTRESPU|MaxJobsPU|MinTRES\n\
    normal|0|00:00:00||cluster|||||||||\n\
    short|1000|00:00:00||cluster|DenyOnLimit|cpu=100,mem=500G,gres/gpu=4,gres/gpu:a100=2|cpu=9|7|node=2|04:00:00|cpu=64,mem=1.50G|12|\n";
const TREE: &str = "Cluster|Account|User|Partition|Share|Priority|GrpJobs|GrpTRES|MaxJobs|MaxWall|QOS|Def QOS\n\
    c|root|||1||||||normal|\n\
    c| root|root||1||||||normal|\n\
    c| physics|||70|5||cpu=800|||normal,short|short\n\
    c|  plasma|||parent|||||||\n\
    c|   plasma|ann||3||||40|||\n\
    c|   plasma|ann|gpu|3||||40|||\n\
    other|  plasma|bob||3|||||||\n\
    c| biology|||30|||||||\n\
    c|  biology|cleo||parent|||||||\n";

fn site(qos: &str, associations: &str, shares: &str) -> Result<SlurmSite, SiteError> {
    let conf = "ClusterName=c\nSelectType=select/cons_tres\nPriorityType=priority/basic\nAccountingStorageEnforce=limits\nNodeName=n RealMemory=1024 Gres=gpu:1\nPartitionName=p Nodes=n";
    let texts = [
        (CONF, conf),
        ("qos.txt", qos),
        ("assoc.txt", associations),
        ("shares.txt", shares),
    ];
    let texts = texts.into_iter().filter(|own| !own.1.is_empty());
    of_texts(
        &texts
            .map(|(name, own)| (name, text(name, own)))
            .collect::<Texts>(),
    )
}

fn tree(site: &SlurmSite) -> Vec<(&str, Option<&str>, &str, Option<u64>)> {
    let rows = site.associations.iter();
    rows.map(|own| (&*own.account, own.user.as_deref(), &*own.parent, own.shares))
        .collect()
}

#[test]
fn limits_of_a_quality_of_service() {
    let site = site(QOS, "", "").unwrap();
    let short = site.qos("short").unwrap();
    assert_eq!(short.priority, 1000);
    assert_eq!(
        short.limits,
        [
            tres(&[("", 7), ("cpu", 100), ("mem", 512_000), ("gpu", 4)]),
            tres(&[("", 12), ("cpu", 64), ("mem", 1536)]),
            tres(&[]),
            tres(&[("node", 2)]),
            tres(&[]),
            tres(&[("", 240)]),
            tres(&[]),
        ]
    );
    assert_eq!(site.qos("normal").unwrap().limits, LimitSet::default());
    assert_eq!(
        site.remarks,
        [
            "qos.txt: not followed, with how many rows have it: GrpTRES gres/gpu:a100 (1), GrpTRESMins (1)"
        ]
    );
    // Other columns, in another order.
    let site = self::site("MaxJobsPU|Priority|Name|\n3|2|x|\n", "", "").unwrap();
    assert_eq!(site.qos("x").unwrap().limits[USER].get(""), Some(3));
}

#[test]
fn parents_stand_before_their_children() {
    let by_depth = site("", TREE, "").unwrap();
    let mut expected = [
        ("root", None, "", Some(1)),
        ("root", Some("root"), "root", Some(1)),
        ("physics", None, "root", Some(70)),
        ("biology", None, "root", Some(30)),
        ("plasma", None, "physics", None),
        ("plasma", Some("ann"), "plasma", Some(3)),
        ("biology", Some("cleo"), "biology", None),
    ];
    let mut found = tree(&by_depth);
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    for (at, own) in by_depth.associations.iter().enumerate() {
        let above = by_depth.associations[..at].iter();
        let is_known = above
            .filter(|above| above.user.is_none())
            .any(|above| above.account == own.parent);
        assert!(is_known || own.parent.is_empty(), "{own:?}");
    }
    let physics = by_depth
        .associations
        .iter()
        .find(|own| own.account == "physics")
        .unwrap();
    assert_eq!(
        (
            physics.limits[scope::GROUP].get("cpu"),
            physics.priority,
            physics.default_qos.as_deref()
        ),
        (Some(800), 5, Some("short"))
    );
    let ann = by_depth
        .associations
        .iter()
        .find(|own| own.user.as_deref() == Some("ann"))
        .unwrap();
    assert_eq!(ann.limits[USER].get(""), Some(40));
    assert_eq!(
        by_depth.remarks,
        [
            "assoc.txt: not followed, with how many rows have it: rows of one partition (1), rows of other clusters (1)"
        ]
    );
    // A child before its parent, by the column that names that.
    let named = site(
        "",
        "Account|ParentName|User|Share\nplasma|physics||1\nphysics|root||1\nroot|||1\n",
        "",
    )
    .unwrap();
    let accounts: Vec<&str> = named
        .associations
        .iter()
        .map(|own| own.account.as_str())
        .collect();
    assert_eq!(accounts, ["root", "physics", "plasma"]);
}

#[test]
fn usage_is_that_of_sshare() {
    let shares = "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS|GrpTRESMins|TRESRunMins\n\
        root|||0.000000|1234||1.000000||||cpu=0\n\
        \u{20}physics||70|0.7|1000|0.8|0.8||0.9||cpu=0\n\
        \u{20} plasma||parent|0.7|900|0.8|0.8||0.9||cpu=0\n\
        \u{20}  plasma|ann|3|0.7|800|0.8|0.8|0.5|0.9||cpu=0\n";
    let both = site("", TREE, shares).unwrap();
    let usage = |site: &SlurmSite, name: &str, user: Option<&str>| {
        let mut rows = site.associations.iter();
        rows.find(|own| own.account == name && own.user.as_deref() == user)
            .unwrap()
            .usage
    };
    assert_eq!(usage(&both, "plasma", Some("ann")), 800.0);
    assert_eq!(
        [usage(&both, "physics", None), usage(&both, "biology", None)],
        [1000.0, 0.0]
    );
    let alone = site("", "", shares).unwrap();
    assert_eq!(tree(&alone)[2], ("plasma", None, "physics", None));
    assert_eq!(usage(&alone, "root", None), 1234.0);
}

#[test]
fn trees_that_are_none() {
    let wrong = [
        (
            "Account|ParentName|User\na|b|\n",
            "assoc.txt, line 2: the account `a` is below `b`, which has no row: add it",
        ),
        (
            "Account|ParentName|User\nroot||\na|b|\nb|a|\n",
            "assoc.txt, line 3: the account `a` is below `b`, and so below itself: write its parent",
        ),
        (
            "Account|User|Share\nroot||many\n",
            "assoc.txt, line 2: found `Share=many`, expected shares, a whole number, or parent",
        ),
        (
            "Account|User|Share\nroot|\n",
            "assoc.txt, line 2: 2 fields, expected 3, as the first line has",
        ),
        (
            "Account|GrpTRES\nroot|cpu=many\n",
            "assoc.txt, line 2: found `GrpTRES=cpu=many`, expected amounts such as cpu=100,mem=500G,gres/gpu=4",
        ),
    ];
    for (text, why) in wrong {
        assert_eq!(site("", text, "").unwrap_err().to_string(), why);
    }
}
