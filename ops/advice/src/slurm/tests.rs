use std::path::Path;

use itertools::chain;

use super::*;
use synth_slurm::configuration::of_path;
use synth_slurm::rule::{facts, prepare};
use synth_traces::trace::{ReadOptions, Source, TraceEdge};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/traces");
const FOUR_WEEKS: Option<TraceEdge> = Some(TraceEdge::After(28.0 * DAY));

/// Reads a part of the recorded log of the repository with this slurm.conf.
fn read(conf: &Path, options: ReadOptions) -> (Log, SlurmSite, Vec<Facts>) {
    let mut site = of_path(conf).unwrap();
    let options = ReadOptions {
        servers: Some(site.servers().0),
        ..options
    };
    let source = Source::named(&Path::new(FOLDER).join("slurm.sacct.gz"));
    let (mut log, _) = Log::of_source(&source, &options, &mut |_| ()).unwrap();
    prepare(&mut site, &mut log).unwrap();
    let facts = facts(&site, &log).0;
    (log, site, facts)
}

/// The log is split in two. The change that is advised with the first part is not in effect in the
/// second part, because its waits were recorded without it. If the recorded waits are halved, the
/// ratio is halved as well.
#[test]
fn promises_are_compared_with_recorded_waits() {
    let stop = AtomicBool::new(false);
    let old_conf = Path::new(FOLDER).join("site/slurm.conf");
    let first = ReadOptions {
        to: FOUR_WEEKS,
        ..ReadOptions::default()
    };
    let (log, site, facts) = read(&old_conf, first);
    let advice = advise((&log, &site, facts), None, &stop, &mut |_| ()).unwrap();
    let past = synth_verb::document("synth-advice", &advice).unwrap();
    let past = PastAdvice::read(&past).unwrap();
    let changed = advice.changed.settings.iter().map(|own| &*own.name);
    assert_eq!(changed.collect_vec(), ["PriorityType", "bf_max_job_test"]);

    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("slurm.conf");
    let old_text = std::fs::read_to_string(&old_conf).unwrap();
    std::fs::write(&conf, old_text + &advice.lines.join("\n") + "\n").unwrap();
    let after = || ReadOptions {
        from: FOUR_WEEKS,
        ..ReadOptions::default()
    };
    let (mut log, site, facts) = read(&conf, after());
    let compare = |log: &Log| compare_with_past(&past, (log, &site, facts.clone()), &stop).unwrap();
    let unchanged = compare(&log);
    let ratio = unchanged.all.ratio.unwrap();
    assert_eq!(unchanged.all.is_kept, Some(false), "{unchanged:?}");
    assert!((0.8..1.25).contains(&ratio), "{ratio}");
    assert_eq!(unchanged.missing, Vec::<String>::new());

    let (_, old_site, old_facts) = read(&old_conf, after());
    let old = Configuration::new(&old_site, old_facts);
    let runs = old.waits(&log, &DemandKinds::exact(&log)).unwrap();
    let known = (early(&log.jobs)..log.jobs.len()).filter(|n| !log.jobs[*n].waited.is_nan());
    let known = known.collect_vec();
    let of_run = |waits: &Vec<f64>| mean(known.iter().map(|n| waits[*n]));
    let replayed = mean(runs.iter().map(of_run));
    let agreement = advice.likeness.as_ref().unwrap();
    let without = replayed * agreement.recorded / agreement.replayed;
    let own = unchanged.all.without.unwrap();
    assert!((own / without - 1.0).abs() < 1e-9, "{own} {without}");

    for job in &mut log.jobs {
        job.waited /= 2.0;
    }
    let halved = compare(&log);
    let both = std::iter::zip(
        chain!([&halved.all], &halved.classes, &halved.users),
        chain!([&unchanged.all], &unchanged.classes, &unchanged.users),
    );
    for (own, whole) in both {
        let half = whole.ratio.map(|own| own / 2.0);
        assert!(
            own.ratio
                .zip(half)
                .is_none_or(|(a, b)| (a - b).abs() < 1e-9),
            "{own:?} {half:?}"
        );
    }
    assert_eq!(halved.all.is_kept, Some(true), "{halved:?}");

    for job in &mut log.jobs {
        job.waited = f64::NAN;
    }
    let replays = compare(&log);
    assert_eq!(replays.all.ratio, replays.replayed);
    assert!(!replays.is_recorded && replays.correction == 1.0);

    for (name, is_old) in [("another", false), (&*site.cluster, true)] {
        let mut site = if is_old {
            old_site.clone()
        } else {
            site.clone()
        };
        site.cluster = name.into();
        let refused = compare_with_past(&past, (&log, &site, facts.clone()), &stop);
        assert!(refused.is_err(), "{name}");
    }
}
