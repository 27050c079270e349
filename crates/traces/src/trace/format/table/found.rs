use super::{Amount, Times};
use crate::trace::format::Rows;
use crate::trace::{ReadOptions, TraceError};
use synth_core::document::suggest;
use synth_core::number::seconds_in;

/// The meanings of columns other than resources (which may include `nodes`), and their names.
pub(super) const ROLES: [(&str, &str); 11] = [
    (
        "time",
        "time,submit,submitted,submit_time,arrival,arrival_time",
    ),
    ("start", "start,started,start_time"),
    ("end", END),
    ("size", "size,runtime,run_time,duration,elapsed"),
    ("limit", "limit,time_limit,timelimit,walltime"),
    (
        "nodes",
        "nodes,nnodes,num_nodes,node_count,pods,num_pods,pod_count,workers,num_workers,worker_num,worker_count,\
         replicas,num_replicas,instances,num_instances,instance_num,inst_num,gang_size,parallelism,\
         hosts,num_hosts,servers,num_servers,machines,copies,completions,task_count,num_tasks,n_nodes",
    ),
    ("id", "id,job_id,jobid,uid"),
    ("user", "user"),
    ("batch", "batch"),
    ("censored", "censored"),
    ("status", "status"),
];
/// Published logs, by two of their columns: Alibaba's cluster-trace-gpu-v2023 (Q. Weng et al.,
/// Beware of Fragmentation, USENIX ATC 2023).
const PRESETS: [([&str; 2], &str); 1] = [(
    ["cpu_milli", "creation_time"],
    "time=creation_time,start=scheduled_time,end=deletion_time,id=name,status=pod_phase,cpu=cpu_milli/1000,\
     memory=memory_mib/1024,gpu=num_gpu*gpu_milli/1000",
)];
pub(super) const END: &str = "end,ended,end_time,stop,finish";

pub(super) fn columns_of(
    rows: &Rows,
    options: &ReadOptions,
) -> Result<Vec<(String, String)>, TraceError> {
    for (marks, columns) in PRESETS.iter().filter(|_| options.columns.is_empty()) {
        let [first, second] = *marks;
        if rows.column(first)?.is_some() && rows.column(second)?.is_some() {
            let pairs = columns.split(',').filter_map(|own| own.split_once('='));
            return Ok(pairs.map(|(what, own)| (what.into(), own.into())).collect());
        }
    }
    Ok(options.columns.clone())
}

pub(super) struct ColumnFinder<'a> {
    pub(super) options: &'a ReadOptions,
    pub(super) columns: Vec<(String, String)>,
    pub(super) rows: &'a Rows,
    pub(super) by_name: Vec<String>,
    pub(super) read: Vec<usize>,
}

impl ColumnFinder<'_> {
    pub(super) fn named(&self, what: &str) -> Option<&String> {
        let mut pairs = self.columns.iter();
        pairs.find(|(own, _)| own == what).map(|(_, column)| column)
    }

    pub(super) fn read(&mut self, name: &str) -> Result<usize, TraceError> {
        let rows = self.rows;
        let none = || suggest(name, "the file's columns", &rows.header());
        let none = || rows.wrong(format!("no column `{name}`; {}", none()));
        let column = rows.column(name)?.ok_or_else(none)?;
        self.read.push(column);
        Ok(column)
    }

    pub(super) fn amount(&mut self, resource: &str) -> Result<Amount, TraceError> {
        let named = self.named(resource).cloned().unwrap_or_default();
        let quotient = named.rsplit_once('/');
        let quotient = quotient.and_then(|(own, over)| Some((own, over.parse::<f64>().ok()?)));
        if named.contains(['*', '/']) && self.rows.column(&named)?.is_none() {
            let (product, over) = quotient.unwrap_or((&named, 1.0));
            let columns = product.split('*').map(|name| self.read(name));
            let columns = columns.collect::<Result<_, _>>()?;
            return Ok(Amount { columns, over });
        }
        let column = self.column(resource)?;
        let column = column.ok_or_else(|| self.missing(resource))?;
        let (columns, over) = (vec![column], 1.0);
        Ok(Amount { columns, over })
    }

    pub(super) fn column(&mut self, what: &str) -> Result<Option<usize>, TraceError> {
        let rows = self.rows;
        if let Some(name) = self.named(what).cloned() {
            return self.read(&name).map(Some);
        }
        let role = ROLES.iter().find(|(role, _)| *role == what);
        let names = role.map_or(what, |(_, names)| names).split(',');
        let resources = self.options.servers.iter().flat_map(|own| &own.resources);
        let resources: Vec<&String> = resources.filter(|own| *own != what).collect();
        for name in names.filter(|name| resources.iter().all(|own| own != name)) {
            if let Some(place) = rows.column(name)? {
                if role.is_some() && !(name == what && matches!(name, "time" | "size")) {
                    self.by_name.push(format!("{what}={name}"));
                }
                self.read.push(place);
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    pub(super) fn times(&mut self, what: &str) -> Result<Option<Times>, TraceError> {
        const OF: [&str; 5] = ["time", "start", "end", "size", "limit"];
        let mut unit = 1.0;
        for (own, name) in &self.options.units {
            let seconds = seconds_in(name).filter(|_| OF.contains(&own.as_str()));
            let Some(seconds) = seconds else {
                return Err(TraceError::Refused(format!(
                    "--read unit: {own}={name}: write unit=us, ms, s, min, h or d for all times, or unit.start, unit.end, unit.size or unit.limit for one column; amounts of resources are in the units of --capacity"
                )));
            };
            let is_own = self.options.units.iter().any(|(own, _)| own == what);
            if own == what || own == "time" && !is_own {
                unit = seconds;
            }
        }
        let Some(column) = self.column(what)? else {
            return Ok(None);
        };
        let name = self.rows.header()[column];
        let suffix = name.rsplit(['_', ' ', '(']).next().unwrap_or_default();
        let is_suffix = self.options.units.is_empty() && suffix.len() < name.len();
        if let Some(own) = seconds_in(suffix.trim_end_matches(')')).filter(|_| is_suffix) {
            self.by_name.push(format!("{what} in {suffix}"));
            unit = own;
        }
        Ok(Some(Times {
            column,
            unit,
            notation: None,
        }))
    }

    pub(super) fn missing(&self, what: &str) -> TraceError {
        self.rows.wrong(format!(
            "no column found for `{what}`: give --columns {what}=COLUMN (for example time=…,size=…,cpu=…; also start, end, \
             limit, nodes, id, user, batch, censored if present); the columns are {}",
            self.rows.header().join(", ")
        ))
    }
}
