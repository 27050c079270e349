use super::super::{Association, CONF, LimitSet, SiteError, SlurmSite, of_texts, scope};
use super::{cases, text, tres};
use crate::commands::Texts;

const USER: usize = scope::USER;

/// The columns are those of 22.05 and 26.05 (src/sacctmgr/common.c).
const QOS: &str = include_str!("tables/qos.txt");
const TREE: &str = include_str!("tables/tree.txt");

fn site(qos: &str, associations: &str, shares: &str) -> Result<SlurmSite, SiteError> {
    let conf = "ClusterName=c\nSelectType=select/cons_tres\nPriorityType=priority/basic\nAccountingStorageEnforce=limits\nNodeName=n RealMemory=1024 Gres=gpu:1\nPartitionName=p Nodes=n";
    let texts = [
        (CONF, conf),
        ("qos.txt", qos),
        ("assoc.txt", associations),
        ("shares.txt", shares),
    ];
    let texts = texts.into_iter().filter(|own| !own.1.is_empty());
    let texts = texts.map(|(name, own)| (name, text(name, own)));
    of_texts(&texts.collect::<Texts>())
}

fn association<'a>(site: &'a SlurmSite, account: &str, user: Option<&str>) -> &'a Association {
    let mut all = site.associations.iter();
    all.find(|own| own.account == account && own.user.as_deref() == user)
        .unwrap()
}

fn tree(site: &SlurmSite) -> Vec<(&str, Option<&str>, &str, Option<u64>)> {
    let rows = site.associations.iter();
    rows.map(|own| (&*own.account, own.user.as_deref(), &*own.parent, own.shares))
        .collect()
}

#[test]
fn reads_limits_of_a_qos() {
    let site = site(QOS, "", "").unwrap();
    let short = site.qos("short").unwrap();
    assert_eq!(short.priority, 1000);
    let expected = [
        tres(&[("", 7), ("cpu", 100), ("mem", 512_000), ("gpu", 4)]),
        tres(&[("", 12), ("cpu", 64), ("mem", 1536)]),
        tres(&[]),
        tres(&[("node", 2)]),
        tres(&[]),
        tres(&[("", 240)]),
        tres(&[]),
    ];
    assert_eq!(short.limits, expected);
    assert_eq!(site.qos("normal").unwrap().limits, LimitSet::default());
    let expected = [
        "qos.txt: not modeled (with the number of rows): GrpTRES gres/gpu:a100 (1), GrpTRESMins (1)",
    ];
    assert_eq!(site.remarks, expected);
    let site = self::site("MaxJobsPU|Priority|Name|\n3|2|x|\n", "", "").unwrap();
    assert_eq!(site.qos("x").unwrap().limits[USER].get(""), Some(3));
}

#[test]
fn parents_precede_their_children() {
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
        let mut all = above.filter(|above| above.user.is_none());
        let is_known = all.any(|above| above.account == own.parent);
        assert!(is_known || own.parent.is_empty(), "{own:?}");
    }
    let physics = association(&by_depth, "physics", None);
    assert_eq!(physics.limits[scope::GROUP].get("cpu"), Some(800));
    assert_eq!(physics.priority, 5);
    assert_eq!(physics.default_qos.as_deref(), Some("short"));
    let ann = association(&by_depth, "plasma", Some("ann"));
    assert_eq!(ann.limits[USER].get(""), Some(40));
    let right = [
        "assoc.txt: not modeled (with the number of rows): rows of one partition (1), rows of other clusters (1)",
    ];
    assert_eq!(by_depth.remarks, right);
    let text = "Account|ParentName|User|Share\nplasma|physics||1\nphysics|root||1\nroot|||1\n";
    let named = site("", text, "").unwrap();
    let accounts = named.associations.iter().map(|own| own.account.as_str());
    let accounts: Vec<&str> = accounts.collect();
    assert_eq!(accounts, ["root", "physics", "plasma"]);
}

#[test]
fn reads_usage_from_sshare() {
    let shares = include_str!("tables/shares.txt");
    let both = site("", TREE, shares).unwrap();
    let usage = |site, name, user| association(site, name, user).usage;
    assert_eq!(usage(&both, "plasma", Some("ann")), 800.0);
    let found = [usage(&both, "physics", None), usage(&both, "biology", None)];
    assert_eq!(found, [1000.0, 0.0]);
    let alone = site("", "", shares).unwrap();
    assert_eq!(tree(&alone)[2], ("plasma", None, "physics", None));
    assert_eq!(usage(&alone, "root", None), 1234.0);
}

#[test]
fn rejects_invalid_trees() {
    for [text, why] in cases(include_str!("tables/no_trees.txt")) {
        assert_eq!(site("", &text, "").unwrap_err().to_string(), why);
    }
}
