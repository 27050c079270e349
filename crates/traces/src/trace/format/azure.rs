//! Virtual machines of Azure, its tables as text (AzureTracesForPacking2020; O. Hadary et al., Protean: VM Allocation
//! Service at Scale, OSDI 2020): one with a row a machine, the trace, and one of types.
//!
//! A type asks for fractions of a physical machine, other ones of each kind of machine; so one kind has to be chosen,
//! of which each server has 1 of every resource. Resources: `cpu` (the column core), `memory`, `hdd`, `ssd`, `nic`.
//! Times are days, negative before the trace; a machine without an end lived beyond day 90, where ends are cut off.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use itertools::Itertools as _;

use super::{Fate, File, Line, Opened, Raw, Rows, TraceFormat};
use crate::trace::fields::is_unknown;
use crate::trace::{Observed, Tick, TraceError};

/// Seconds in a day.
const DAY: f64 = 86_400.0;
/// No end later than this is reported \[s\].
const LAST_END: i64 = 90 * 86_400;

pub(super) fn open(file: File<'_>) -> Result<Opened, TraceError> {
    let options = file.options;
    let (servers, mut rows) = file.table()?;
    rows.id = rows.column("vmId")?;
    let column = |name: &str| rows.needed(&[name]);
    let (kind, tenant) = (column("vmTypeId")?, column("tenantId")?);
    let (begin, finish) = (column("starttime")?, column("endtime")?);
    let path = options.vm_types.as_deref();
    let path = path.ok_or_else(|| rows.wrong(NO_TYPES))?;
    let kinds = kinds(path, options.machine.as_deref(), &servers.resources)?;
    let read = move |(rows, demand, account): Line<'_>| {
        let start = rows.time(begin, DAY, "a time [days]", account)?;
        let end = match rows.get(finish) {
            field if is_unknown(field) => None,
            _ => Some(rows.time(finish, DAY, "a time [days], or nothing", account)?),
        };
        if start >= LAST_END {
            return Err(rows.fault(begin, "a time before day 90, where the trace ends"));
        }
        if end.is_some_and(|end| end < start) {
            return Err(rows.fault(finish, "a time not before starttime [days]"));
        }
        let request = kinds.get(rows.get(kind));
        match request {
            Some(request) => demand.copy_from_slice(request),
            None => demand.fill(0.0),
        }
        let submit = start.max(0);
        Ok(Some(Raw {
            seen: match end {
                _ if start < 0 => Observed::Initial,
                Some(_) => Observed::Whole,
                None => Observed::Censored,
            },
            user: account.user(rows.get(tenant)),
            fate: request.map_or(Fate::Unplaced, |_| Fate::Completed),
            ..Raw::new(rows.number, submit, end.unwrap_or(LAST_END) - submit).of(rows.id(), start)
        }))
    };
    Ok((Tick::Second, servers, rows, Box::new(read)))
}

const NO_TYPES: &str = "what its types ask for stands in a second table, vmType: give --vm-types FILE, and with \
     --machine which of the machines in it the servers are";

/// What each type asks for, by resource.
type Requests = HashMap<Vec<u8>, Box<[f64]>>;

/// Returns what each type asks for of this machine.
fn kinds(path: &Path, machine: Option<&str>, names: &[String]) -> Result<Requests, TraceError> {
    let mut rows = Rows::of_file(path, TraceFormat::Azure)?;
    let column = |name: &str| rows.needed(&[name]);
    let (kind, own) = (column("vmTypeId")?, column("machineId")?);
    let amount = |resource: &String| match resource.as_str() {
        "cpu" => column("core"),
        "memory" | "hdd" | "ssd" | "nic" => column(resource),
        _ => Err(rows.unreported(resource)),
    };
    let amounts: Vec<usize> = names.iter().map(amount).collect::<Result<_, _>>()?;
    let mut kinds = HashMap::new();
    let mut machines: BTreeMap<String, u32> = BTreeMap::new();
    rows.read_all(|rows| {
        let name = String::from_utf8_lossy(rows.get(own)).into_owned();
        if machine == Some(&name) {
            let request = amounts.iter().map(|column| rows.amount(*column));
            let request = request.map(|amount| Ok(amount?.unwrap_or(0.0)));
            kinds.insert(rows.get(kind).to_vec(), request.collect::<Result<_, _>>()?);
        }
        *machines.entry(name).or_default() += 1;
        Ok(())
    })?;
    if kinds.is_empty() {
        return Err(rows.wrong(unchosen(machine, machines)));
    }
    Ok(kinds)
}

fn unchosen(machine: Option<&str>, machines: BTreeMap<String, u32>) -> String {
    /// How many machines are named.
    const MOST: usize = 8;
    let found = machine.map_or(String::new(), |machine| format!("no machine `{machine}`; "));
    let machines = machines.into_iter();
    let machines = machines.sorted_by_key(|(_, types)| std::cmp::Reverse(*types));
    let machines = machines.map(|(name, types)| format!("{name} ({types} types)"));
    let machines = machines.take(MOST).format(", ");
    format!(
        "{found}say with --machine which one the servers are; the ones with most types: {machines}"
    )
}
