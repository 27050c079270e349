use itertools::Itertools as _;
use synth_multiresource::workload::is_gpu_resource;

use super::Trace;
use crate::trace::{Reason, TraceError, TraceFormat};

const FAULTS: f64 = 0.01;
const NOTICED_FAULTS: f64 = 0.05;
const MOST_FAULTS: f64 = 0.5;
/// A shorter Slurm log \[s\] is probably not what was meant to be exported.
const SHORT: u64 = 2 * 86_400;

impl Trace {
    /// Adds remarks about all lines. Returns an error if too many lines have faults, if no job can
    /// be used, or if too much work is in jobs that are larger than the servers.
    pub(super) fn conclude(&mut self) -> Result<(), TraceError> {
        let account = &self.account;
        let most = self.options.faults.unwrap_or(FAULTS);
        let share = account.count(Reason::Fault) as f64 / account.lines as f64;
        if share > most {
            let enough = (100.0 * share).floor() + 1.0;
            let lost = "; the load then excludes these jobs, whose work is unknown";
            let lost = if share > NOTICED_FAULTS { lost } else { "" };
            let mut help = format!(
                "correct the lines, name another format with --read format=…, or leave them out with --read faults={enough}%{lost}"
            );
            if share > MOST_FAULTS {
                help = "the file probably has a different format: name it with --read format=…, or correct these lines".into();
            }
            let (faults, lines) = (account.count(Reason::Fault), account.lines);
            let (format, most, why) = (self.rows.format.name(), 100.0 * most, account.faulty());
            return Err(self.rows.wrong(format!(
                "{faults} of {lines} lines are not valid in the format {format}, more than the {most} % allowed:\n  {why}\n{help}"
            )));
        }
        if account.jobs == 0 || self.window.is_some() && self.arrivals == 0 {
            let mut why = account.why_none();
            if !self.options.partitions.is_empty() {
                let names = account.classes.iter().map(|own| &own.partition).sorted();
                why += &format!("\nits partitions are: {}", names.dedup().join(", "));
            }
            return Err(self.rows.wrong(format!("no usable job{why}")));
        }
        self.is_whole(most)?;
        let (first, last) = self.span.unwrap_or_default();
        let first = self.begin().unwrap_or(first);
        let seconds = (last - first).max(0) as u64 / self.tick.per_second();
        let is_unfiltered = self.options.partitions.is_empty() && self.options.users.is_empty();
        if self.rows.format == TraceFormat::Sacct && is_unfiltered && seconds < SHORT {
            let (hours, help) = (seconds as f64 / 3600.0, TraceFormat::Sacct.help());
            self.account.remarks.push(format!(
                "all jobs were submitted within {hours:.1} hours, which is not representative of other days; without -S, sacct lists only today's jobs. {help}"
            ));
        }
        let account = &mut self.account;
        for (r, name) in self.servers.resources.iter().enumerate() {
            let mut vectors = self.demands.vectors.iter();
            let has_fractions = vectors.any(|own| own[r].fract() != 0.0);
            let mut shapes = self.servers.shapes.iter();
            let has_several = shapes.any(|shape| shape.capacity[r].value() > 1.0);
            account.remarks.extend(match self.servers.has_devices(r) {
                true if has_fractions => Some(format!("{name} consists of devices, and each fraction runs on one of them. The load is a lower bound, because it ignores the parts of devices that stay idle because no job fits")),
                false if has_fractions && has_several && is_gpu_resource(name) => Some(format!("jobs demand fractions of {name}, which is counted as an amount: a fraction may span devices. If each fraction must run on one device, write {name}:devices=8 instead of {name}=8 in --capacity or --servers")),
                _ => None,
            });
        }
        if account.count(Reason::Header) > 0 && !self.rows.has_ids {
            account.remarks.push("warning: the file has several headers, so it consists of several exports. Without job ids, a job in two of them counts twice: name the id column with --columns id=COLUMN".into());
        }
        let gap = self.gap.remark(self.arrivals, self.tick.per_second());
        account.remarks.extend(gap);
        if let Some(window) = &self.window {
            window.report(self.tick.per_second(), account);
        }
        account.remarks.extend(self.servers.unnamed(&self.is_named));
        Ok(())
    }

    fn is_whole(&mut self, most: f64) -> Result<(), TraceError> {
        let mut rows = self.account.rows.iter();
        let row = rows.find(|row| row.reason == Reason::TooLarge);
        let Some((row, (_, line, nodes, demand))) = row.zip(self.largest.as_ref()) else {
            return Ok(());
        };
        let share = row.work / self.account.all_work();
        if share.is_nan() || share <= FAULTS.min(most) {
            return Ok(());
        }
        let names = self.servers.resources.iter().zip(demand);
        let held = names.map(|(name, held)| format!("{name}={held}")).join(",");
        let on = Some(format!(" on each of {nodes} servers")).filter(|_| *nodes != 1);
        let on = on.unwrap_or_default();
        let (jobs, percent, servers) = (row.lines, 100.0 * share, &self.servers);
        let lost = format!(
            "{jobs} jobs with {percent:.1} % of the work are larger than the servers {servers}: the one with the most work, line {line}, holds {held}{on}"
        );
        if share > most {
            let enough = (100.0 * share).floor() + 1.0;
            return Err(self.rows.wrong(format!(
                "{lost}\nlist all servers of the log with --servers (Slurm: sinfo -N -o '%n %c %m %G'), or leave these jobs out with --read faults={enough}%"
            )));
        }
        let warning = format!("warning: {lost}. They are left out");
        self.account.remarks.push(warning);
        Ok(())
    }
}
