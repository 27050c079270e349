use synth_traces::replay::{Log, ReplayJob};
use synth_traces::trace::Observed;

/// Returns the class of each job: its nodes (or CPUs if all jobs have one node) and its limit. The jobs
/// that were still waiting at the end of the log are a class of their own.
pub(crate) fn classes(log: &Log) -> Vec<String> {
    let has_gangs = log.nodes.iter().any(|nodes| *nodes > 1);
    let mut resources = log.servers.resources.iter();
    let cpu = resources.position(|name| name == "cpu");
    let class = |job: &ReplayJob| {
        let kind = job.kind as usize;
        let cpus = cpu.map_or(1.0, |cpu| log.vectors[kind][cpu]);
        let (width, [one, several]) = match has_gangs {
            true => (f64::from(log.nodes[kind]), ["node", "nodes"]),
            false => (cpus, ["CPU", "CPUs"]),
        };
        let what = if width < 2.0 { one } else { several };
        let width = match width {
            ..2.0 => "1",
            ..5.0 => "2 to 4",
            ..17.0 => "5 to 16",
            ..65.0 => "17 to 64",
            _ => "65 and more",
        };
        let time = match job.limit / log.tick.per_second() as f64 / 3600.0 {
            ..=1.0 => "up to 1 h",
            ..=12.0 => "1 to 12 h",
            _ => "over 12 h",
        };
        match job.seen {
            Observed::Pending => "still waiting at the end".to_owned(),
            _ => format!("{width} {what}, {time}"),
        }
    };
    log.jobs.iter().map(class).collect()
}
