use askama::Template;

use super::SlurmOrder;
use super::levels::{POINTS_PER_DECADE, PriorityPoints};
use crate::commands::is_plain;
use crate::templates;
use synth_core::document::filled_in;
use synth_core::number::in_words;

// These scripts read all of their parameters from job_submit.lua.
const CHECK: &str = include_str!("../../templates/order/check.sh");
const ADVISED: &str = "# Replace the lines with the same names in slurm.conf. If a name appears in several lines, Slurm only uses the last of them.";
const PENDING: &str = include_str!("../../templates/order/pending.sh");

/// The folder of these files on the host of the controller.
pub(crate) const FOLDER: &str = "/etc/synth/order";

/// Returns the name and the contents of each file to install for partitions separated by commas, or
/// an error if the name of a partition is invalid. If the lines for slurm.conf are known, they are
/// used instead of general ones.
pub fn export(
    order: &SlurmOrder,
    partitions: &str,
    lines: Option<&[String]>,
) -> Result<Vec<(String, String)>, String> {
    for name in partitions.split(',') {
        if name.starts_with('-') || !is_plain(name) {
            return Err(format!(
                "`{name}` is not a valid partition name: use `sinfo -s` to list the partitions, and separate their names with commas"
            ));
        }
    }
    let order = &Values::of(order, partitions);
    let lines = match lines {
        Some(lines) => Ok(format!("{ADVISED}\n{}", lines.join("\n"))),
        None => Lines { order }.render(),
    };
    let files = [
        ("README.md", Readme { order }.render()),
        ("job_submit.lua", Lua { order }.render()),
        ("slurm-lines.conf", lines),
        ("check.sh", Ok(CHECK.to_owned())),
        ("pending.sh", Ok(PENDING.to_owned())),
        ("order.service", Service { order }.render()),
        ("order.timer", Timer { order }.render()),
    ];
    filled_in(files)
}

struct Values {
    partitions: String,
    first: String,
    words: String,
    reservations: String,
    cpu: String,
    gpu: String,
    gpu_is_unknown: bool,
    /// The resources that are not counted, such as `, net and disk`.
    left_out: String,
    limit: String,
    share: String,
    wait: String,
    offset: String,
    base: String,
    decade: f64,
    /// The quantity whose increase by a factor of ten changes the priority by `decade` points.
    leading: &'static str,
    lowers_priority: bool,
    moves: bool,
    offset_in_words: String,
    age_weight: f64,
    /// The maximum error of the age factor of Slurm, compared with the exact points \[points\].
    off: f64,
    /// The wait after which a job is moved to the head of the queue \[s\], or 0 if there is none.
    promise: String,
    promise_in_words: Option<String>,
}

impl Values {
    fn of(order: &SlurmOrder, partitions: &str) -> Self {
        let counted = &order.counted;
        let left_out = counted.left_out.iter();
        let left_out = left_out.filter(|name| !name.to_lowercase().starts_with("mem"));
        let left_out = left_out.map(|name| format!(", {}", name.replace(char::is_control, " ")));
        let levels = PriorityPoints::of(order.priority);
        let (age_weight, off) = levels.age_weight();
        let (leading, exponent) = match (order.priority.size, order.priority.share) {
            (size, share) if size == share => ("limit or the CPUs", size),
            (size, share) if size.abs() >= share.abs() => ("limit", size),
            (_, share) => ("CPUs", share),
        };
        Values {
            partitions: partitions.to_owned(),
            first: partitions.split(',').take(1).collect(),
            words: order.priority.describe("limit", "s"),
            reservations: order.reservations.rule(),
            cpu: plain(counted.cpu),
            gpu: plain(counted.gpu.unwrap_or(0.0)),
            gpu_is_unknown: counted.gpu.is_none() && order.priority.share != 0.0,
            left_out: left_out.collect(),
            limit: plain(levels.limit),
            share: plain(levels.share),
            wait: plain(levels.wait),
            offset: plain(levels.offset),
            base: plain(levels.base),
            decade: POINTS_PER_DECADE,
            leading,
            lowers_priority: exponent > 0.0,
            moves: order.priority.changes_with_time(),
            offset_in_words: in_words(levels.offset, "s"),
            age_weight,
            off: off.round(),
            // Here 0 means that there is no guarantee, so a wait of less than 1 s is rounded up.
            promise: plain(order.longest_wait.map_or(0.0, |time| time.max(1.0))),
            promise_in_words: order.longest_wait.map(|time| in_words(time, "s")),
        }
    }
}

fn plain(number: f64) -> String {
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

templates! {
    Readme: "order/README.md", order: &'a Values;
    Lua: "order/job_submit.lua", order: &'a Values;
    Lines: "order/slurm-lines.conf", order: &'a Values;
    Service: "order/order.service", order: &'a Values;
    Timer: "order/order.timer", order: &'a Values;
}
