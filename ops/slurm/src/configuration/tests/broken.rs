use synth_simulation::{RandomStream, Streams};

use super::super::{CONF, of_texts};
use super::{cases, recorded, text};
use crate::commands::Texts;
use crate::commands::tests::below;

#[test]
fn errors_name_the_place_and_the_remedy() {
    for [conf, why] in cases(include_str!("tables/broken.txt")) {
        let conf = text("slurm.conf", &conf);
        let texts = Texts::from([(CONF, conf)]);
        let told = of_texts(&texts).unwrap_err().to_string();
        assert_eq!(told, why);
    }
    let table = "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\nall*         up 1-00:00:00      4   idle n[1-4]\n";
    let nodes = text("sinfo.txt", table);
    let texts = Texts::from([("nodes.txt", nodes)]);
    let told = of_texts(&texts).unwrap_err().to_string();
    let right = "sinfo.txt, line 2: this form of `sinfo` does not show the CPUs of nodes: provide the output of these commands: scontrol show node -o > nodes.txt; scontrol show partition -o > partitions.txt";
    assert_eq!(told, right);
}

#[test]
fn recognizes_files_of_other_kinds() {
    for (what, words) in [
        ("{\n  \"format\": \"synth-policy\"", "own is a policy file"),
        ("# Two types.\n\nkind: multiresource\n", "own is a workload"),
        ("time_unit: s\nkind: multiresource\n", "own is a workload"),
        ("JobID|User|Submit\n1|ann|2026\n", "own is a log of jobs"),
        ("; Version: 2.2\n1 0 -1\n", "own is a log of jobs"),
    ] {
        let conf = text("own", what);
        let read = of_texts(&Texts::from([(CONF, conf)]));
        let why = read.unwrap_err().to_string();
        assert!(why.contains(words), "{why}");
        assert!(why.contains("provide slurm.conf"), "{why}");
    }
}

#[test]
fn rejects_include_cycles() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slurm.conf");
    let words = "NodeName=n\ninclude slurm.conf";
    std::fs::write(folder.path().join("a.conf"), words).unwrap();
    let conf = text(path.to_str().unwrap(), "Include a.conf");
    let texts = Texts::from([(CONF, conf)]);
    let why = of_texts(&texts).unwrap_err().to_string();
    let is_told = why.contains("a.conf, line 2: Include slurm.conf: ")
        && why.ends_with("includes itself: remove the line");
    assert!(is_told, "{why}");
}

fn broken(text: &str, stream: &mut RandomStream) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + below(stream, 6) {
        let at = below(stream, bytes.len());
        match below(stream, 5) {
            0 => bytes[at] = below(stream, 256) as u8,
            1 => bytes[at] = b"=|,[]-\\\n #9\"*"[below(stream, 13)],
            2 => {
                let end = (at + 1 + below(stream, 60)).min(bytes.len());
                bytes.drain(at..end);
            }
            3 => {
                let end = (at + 1 + below(stream, 60)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => bytes.truncate(at.max(1)),
        }
        if bytes.is_empty() {
            bytes.push(b'x');
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn corrupted_texts_give_a_site_or_an_error() {
    let qos = "Name|Priority|GrpTRES|MaxWall|MaxTRESPU|MaxJobsPU\nshort|10|cpu=100,mem=500G|04:00:00|gres/gpu=4|12\n";
    let tree = "Account|ParentName|User|Share|GrpTRES|MaxJobs\nroot|||1||\na|root||parent|cpu=3|\nb|a||2||9\nb||u|1||\n";
    let names = [CONF, "nodes.txt", "partitions.txt", "qos.txt", "assoc.txt"];
    let good = [
        recorded("slurm.conf"),
        recorded("nodes-22.05.txt"),
        recorded("partitions-22.05.txt"),
        text("qos.txt", qos),
        text("assoc.txt", tree),
    ];
    let good: Texts = names.into_iter().zip(good).collect();
    assert!(of_texts(&good).is_ok());
    let [shown, lines, sinfo] = [
        "config-22.05.txt",
        "nodes-lines-22.05.txt",
        "sinfo-22.05.txt",
    ]
    .map(recorded);
    let mut stream = Streams::new(4, 0).service;
    let (mut sites, mut errors) = (0, 0);
    for round in 0..3000 {
        let mut texts = good.clone();
        let other = match round % 7 {
            5 if round % 2 == 0 => Some(("nodes.txt", &lines)),
            5 => Some(("nodes.txt", &sinfo)),
            6 => Some((CONF, &shown)),
            _ => None,
        };
        if round % 7 == 0 {
            texts.retain(|name, _| !["nodes.txt", "partitions.txt"].contains(name));
        }
        let field = other.map_or(names[round % 7 % 5], |own| own.0);
        texts.extend(other.map(|(name, own)| (name, own.clone())));
        let own = texts.get_mut(field).unwrap();
        own.text = broken(&own.text, &mut stream);
        match of_texts(&texts) {
            Ok(site) => {
                sites += 1;
                assert!(!site.nodes.is_empty() && !site.partitions.is_empty());
                let mut nodes = site.partitions.iter().flat_map(|own| &own.nodes);
                assert!(nodes.all(|node| *node < site.nodes.len()));
            }
            Err(why) => {
                errors += 1;
                assert!(!why.to_string().is_empty());
            }
        }
    }
    assert!(sites > 500 && errors > 500, "{sites} {errors}");
}
