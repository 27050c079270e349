//! Virtual machines of Azure, its tables as text (AzureTracesForPacking2020; O. Hadary et al., Protean: VM Allocation
//! Service at Scale, OSDI 2020): one with a row a machine, the trace, and one of types.
//!
//! A type asks for fractions of a physical machine, other ones of each kind of machine; so one kind has to be chosen,
//! of which each server has 1 of every resource. Resources: `cpu` (the column core), `memory`, `hdd`, `ssd`, `nic`.
//! Times are days, negative before the trace; a machine without an end lived beyond day 90, where ends are cut off.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::rows::{Row, Rows};
use super::{Fate, File, Format, Held, Opened, Raw};
use crate::trace::fields::{Fault, name};
use crate::trace::{Account, Reason, Source, TraceError, input};

/// Seconds in a day.
const DAY: f64 = 86_400.0;
/// No end later than this is told \[s\].
const LAST_END: i64 = 90 * 86_400;

struct Azure {
    rows: Rows,
    kind: usize,
    tenant: usize,
    start: usize,
    end: usize,
    /// By type what it asks for (R).
    kinds: HashMap<Vec<u8>, Box<[f64]>>,
}

pub(super) fn open(file: File<'_>) -> Result<Opened, TraceError> {
    let servers = file.servers()?;
    let rows = Rows::open(&file.name, file.input, b',')?;
    let column = |name: &str| rows.needed(&[name], Format::Azure);
    let (kind, tenant) = (column("vmTypeId")?, column("tenantId")?);
    let (start, end) = (column("starttime")?, column("endtime")?);
    let (types, machine) = (&file.options.vm_types, &file.options.machine);
    let Some(types) = types else {
        return Err(rows.wrong(NO_TYPES.into()));
    };
    let kinds = kinds(types, machine.as_deref(), &servers.resources)?;
    let reader = Azure {
        rows,
        kind,
        tenant,
        start,
        end,
        kinds,
    };
    Ok(Opened {
        format: Format::Azure,
        servers,
        reader: Box::new(reader),
    })
}

const NO_TYPES: &str = "what its types ask for stands in a second table, vmType: give --vm-types FILE, and with \
     --machine which of the machines in it the servers are";

/// What each type asks for of this machine, by resource.
fn kinds(
    path: &Path,
    machine: Option<&str>,
    resources: &[String],
) -> Result<HashMap<Vec<u8>, Box<[f64]>>, TraceError> {
    let source = Source::File(path.into());
    let input = input::open(&source).map_err(|why| TraceError::Io {
        name: source.name(),
        line: 0,
        source: why,
    })?;
    let mut rows = Rows::open(&source.name(), input, b',')?;
    let column = |name: &str| rows.needed(&[name], Format::Azure);
    let (kind, own) = (column("vmTypeId")?, column("machineId")?);
    let amount = |resource: &String| match resource.as_str() {
        "cpu" => column("core"),
        "memory" | "hdd" | "ssd" | "nic" => column(resource),
        _ => Err(rows.wrong(Format::Azure.without(resource))),
    };
    let amounts: Vec<usize> = resources.iter().map(amount).collect::<Result<_, _>>()?;
    let mut kinds = HashMap::new();
    let mut machines: BTreeMap<String, u32> = BTreeMap::new();
    let mut account = Account::default();
    while rows.advance(&mut account)? {
        let name = String::from_utf8_lossy(rows.get(own)).into_owned();
        if machine == Some(&name) {
            let mut asked = vec![0.0; amounts.len()];
            rows.amounts(&amounts, &mut asked)
                .map_err(|fault| rows.wrong(fault.told(rows.number())))?;
            kinds.insert(rows.get(kind).to_vec(), asked.into());
        }
        *machines.entry(name).or_default() += 1;
    }
    if let Some(fault) = account.faults.first() {
        return Err(rows.wrong(fault.clone()));
    }
    if kinds.is_empty() {
        Err(rows.wrong(unchosen(machine, machines)))
    } else {
        Ok(kinds)
    }
}

fn unchosen(machine: Option<&str>, machines: BTreeMap<String, u32>) -> String {
    /// How many machines are named.
    const MOST: usize = 8;
    let found = machine.map_or(String::new(), |machine| format!("no machine `{machine}`; "));
    let mut machines: Vec<(String, u32)> = machines.into_iter().collect();
    machines.sort_by_key(|(_, types)| std::cmp::Reverse(*types));
    machines.truncate(MOST);
    let machines = machines
        .iter()
        .map(|(name, types)| format!("{name} ({types} types)"));
    let machines = machines.collect::<Vec<_>>().join(", ");
    format!(
        "{found}say with --machine which one the servers are; the ones with most types: {machines}"
    )
}

impl Row for Azure {
    fn rows(&mut self) -> &mut Rows {
        &mut self.rows
    }

    fn read(&self, demand: &mut [f64], account: &mut Account) -> Result<Raw, Fault> {
        let rows = &self.rows;
        let (start, is_start_rounded) = rows.time(self.start, DAY, "a time [days]")?;
        let (end, is_end_rounded) = match rows.get(self.end) {
            b"" | b"NULL" => (None, false),
            _ => {
                let (end, is_rounded) = rows.time(self.end, DAY, "a time [days], or nothing")?;
                (Some(end), is_rounded)
            }
        };
        if start >= LAST_END {
            return Err(rows.fault(self.start, "a time before day 90, where the trace ends"));
        }
        if end.is_some_and(|end| end < start) {
            return Err(rows.fault(self.end, "a time not before starttime [days]"));
        }
        let until = end.unwrap_or(LAST_END);
        let asked = self.kinds.get(rows.get(self.kind));
        demand.fill(0.0);
        if let Some(asked) = asked {
            demand.copy_from_slice(asked);
        }
        let found = [(Reason::RoundedTime, is_start_rounded || is_end_rounded)];
        account.suppose_where(found);
        Ok(Raw {
            line: rows.number(),
            submit: start.max(0),
            held: match end {
                _ if start < 0 => Held::Initial(until),
                Some(end) => Held::Ticks(end - start),
                None => Held::Censored(until - start),
            },
            limit: None,
            user: name(rows.get(self.tenant)),
            batch: 0,
            fate: match asked {
                Some(_) => Fate::Completed,
                None => Fate::Unplaced,
            },
        })
    }
}
