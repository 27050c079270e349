#![allow(clippy::unwrap_used)]

use synth_multiresource::policy::Priority;
use synth_multiresource::workload::Fleet;

use super::levels::{FULL_AGE, POINTS_PER_DECADE};
use super::{Counted, PriorityPoints, SlurmOrder, export};

fn named(text: &str) -> Result<SlurmOrder, String> {
    SlurmOrder::named(text).unwrap()
}

#[test]
fn scales_the_largest_exponent_to_600_points_per_decade() {
    let saf = PriorityPoints::of(Priority::SMALLEST_AREA);
    assert_eq!((saf.limit, saf.share, saf.wait), (600.0, 600.0, 0.0));
    assert_eq!(saf.base, 7034.0);
    let wfp3 = PriorityPoints::of(Priority::wfp3(3600.0));
    assert_eq!((wfp3.limit, wfp3.share, wfp3.wait), (600.0, -200.0, 600.0));
    // Here a wait of seven days is compared with an hour: 600 · log10(1 + 168).
    let (weight, off) = wfp3.age_weight();
    assert_eq!(weight, 1337.0);
    let straight = |waited: f64| wfp3.of_wait(waited) - weight * waited / FULL_AGE;
    let most = (0..=1000).map(|part| straight(FULL_AGE * f64::from(part) / 1000.0));
    let most = most.fold(0.0, f64::max);
    assert!((most - off).abs() < 1.0, "{most} {off}");
}

/// Slurm does not check the site factor, and a negative value would wrap around.
#[test]
fn site_factors_stay_in_the_range_of_slurm() {
    let numbers = [-20.0, -1.0, -0.4, 0.0, 0.4, 1.0, 20.0];
    for (size, share) in numbers.into_iter().flat_map(|a| numbers.map(|b| (a, b))) {
        if size == 0.0 && share == 0.0 {
            continue;
        }
        let least_age = f64::abs(size).max(f64::abs(share)) / 50.0;
        for age in [0.0, least_age, 20.0] {
            let levels = PriorityPoints::of(Priority {
                size,
                share,
                age,
                offset: 1.0,
            });
            for (limit, cpus) in [(0.0, 0.0), (5.72, 0.0), (0.0, 6.0), (5.72, 6.0)] {
                let points = levels.base - levels.limit * limit - levels.share * cpus;
                assert!((1.0..2e6).contains(&points), "{size} {share}: {points}");
            }
            assert!(levels.limit.abs().max(levels.share.abs()) == POINTS_PER_DECADE);
        }
    }
}

#[test]
fn rejects_orders_that_slurm_cannot_apply() {
    assert_eq!(named("easy+saf").unwrap().priority, Priority::SMALLEST_AREA);
    assert_eq!(named("saf"), named("easy+saf"));
    assert!(SlurmOrder::named("p.json").is_none());
    for (name, words) in [
        ("easy+sjf+history", "easy+saf"),
        ("easy+sjf+tree", "easy+saf"),
        ("easy+sjf+size", "unknown at arrival"),
        ("easy+fcfs", "arrival"),
        ("easy+shortest", "sjf"),
        ("lazy+sjf", "easy"),
    ] {
        let why = named(name).unwrap_err();
        assert!(why.contains(words), "{name}: {why}");
    }
}

#[test]
fn counts_shares_in_cpus() {
    let counted = |capacity: &str, demand: &str| {
        let text = format!(
            "kind: multiresource\ntime_unit: s\nserver: {{capacity: {capacity}}}\njobs:\n  - {{name: a, demand: {demand}, arrival_rate: .1, mean_size: 1}}\n"
        );
        Counted::of(&Fleet::parse(&text, "test").unwrap().workload)
    };
    let both = counted("{cpu: 64, gpu: 4, memory: 256}", "{cpu: 1}").unwrap();
    assert_eq!((both.cpu, both.gpu), (1.0, Some(16.0)));
    assert_eq!(both.left_out, ["memory"]);
    let cpus = counted("{Cores: 64}", "{Cores: 1}").unwrap();
    assert_eq!((cpus.cpu, cpus.gpu), (1.0, None));
    let gpus = counted("{gpu: 8}", "{gpu: 1}").unwrap();
    assert_eq!((gpus.cpu, gpus.gpu), (0.0, Some(1.0)));
    let why = counted("{slots: 8}", "{slots: 1}").unwrap_err();
    assert!(why.contains("slots") && why.contains("`cpu`"), "{why}");
}

#[test]
fn exported_files_are_complete() {
    let files = export(&named("easy+saf").unwrap(), "batch,long", None).unwrap();
    let text = |name: &str| &files.iter().find(|(own, _)| own == name).unwrap().1;
    for (name, text) in &files {
        assert!(!text.contains("{{") && !text.contains("{%"), "{name}");
    }
    for line in [
        "local ORDERED = \"batch,long\"",
        "local LIMIT = 600",
        "local BASE = 7034",
        "local GPU = 0",
        "local PROMISE = 0",
    ] {
        let is_there = text("job_submit.lua").lines().any(|own| own == line);
        assert!(is_there, "{line}");
    }
    assert!(text("slurm-lines.conf").contains("# PriorityWeightAge=600"));
    assert!(text("job_submit.lua").contains("pcall(dofile, \"/etc/synth/order/job_submit.lua\")"));
    let files = export(&named("easy+wfp3").unwrap(), "batch", None).unwrap();
    let lines = &files[2].1;
    assert!(lines.contains("\nPriorityWeightAge=3469\n"), "{lines}");
    for partitions in ["", "a b", "-p", "batch,", "a\";os.exit()--"] {
        let why = export(&named("easy+saf").unwrap(), partitions, None).unwrap_err();
        assert!(why.contains("sinfo -s"), "{why}");
    }
}

/// The functions of a script that loads this one run first. After an error, the job has no order.
#[test]
fn exported_script_chains_and_survives_errors() {
    const DRIVER: &str = r#"
logged, asked = 0, 0
slurm = { SUCCESS = 0, ERROR = -1, log_error = function(text, ...) string.format(text, ...); logged = logged + 1 end }
list = setmetatable({}, { __index = function() return { total_cpus = 40, total_nodes = 2, max_time = 60, max_share = 1 } end })
function slurm_job_submit(job, partitions, uid)
  asked = asked + uid
  if job.failure then error(job.failure) end
  return job.wrong and slurm.ERROR or slurm.SUCCESS
end
function slurm_job_modify(job) error(job.failure) end
local copy = os.tmpname()
local file = io.open(copy, "w")
file:write(io.read("*a"))
file:close()
dofile(copy)
local job = { partition = "batch", time_limit = 10, min_cpus = 4 }
assert(slurm_job_submit(job, list, 7) == 0 and asked == 7)
assert(job.site_factor == 7034 - 600 - 361, job.site_factor)
assert(slurm_job_submit({ partition = "batch", wrong = true }, list, 7) == -1 and logged == 0)
local broken = { partition = "batch", time_limit = "x" }
assert(slurm_job_submit(broken, list, 7) == 0 and broken.site_factor == nil and logged == 1)
-- Errors of the own functions are raised again with the same value, after the job was given its order.
for _, failure in ipairs { "no account", { "table" } } do
  local job = { partition = "batch", time_limit = 10, min_cpus = 4, failure = failure }
  for _, call in ipairs { slurm_job_submit, slurm_job_modify } do
    job.site_factor = nil
    local done, why = pcall(call, job, call == slurm_job_submit and list or { partition = "batch", site_factor = 0 }, call == slurm_job_submit and 7 or list)
    assert(not done and (why == failure or string.find(why, failure .. "$")), why)
    assert(job.site_factor == 7034 - 600 - 361 and logged == 1, job.site_factor)
  end
end
slurm_job_modify = nil
dofile(copy)
assert(slurm_job_modify(broken, { partition = "batch", site_factor = {} }, list, 7) == 0 and logged == 2)
slurm.log_error = nil
assert(slurm_job_submit(broken, list, 7) == 0)
os.remove(copy)
"#;
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let files = export(&named("easy+saf").unwrap(), "batch", None).unwrap();
    let lua = Command::new("lua")
        .args(["-e", DRIVER])
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut lua) = lua else {
        eprintln!("skipped: lua is not installed, so the exported script is not run");
        return;
    };
    lua.stdin
        .take()
        .unwrap()
        .write_all(files[1].1.as_bytes())
        .unwrap();
    assert!(lua.wait().unwrap().success());
}
