//! Pods of Alibaba's GPU cluster, a table with a header (cluster-trace-gpu-v2023; Q. Weng et al., Beware of
//! Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent, USENIX ATC 2023).
//!
//! Resources: `cpu` in cores, `memory` in GiB, `gpu` in GPUs, of which a pod may hold a fraction. Which model of GPU a pod
//! asks for is not looked at. Times are seconds since the trace began.

use std::path::Path;

use super::rows::{Row, Rows};
use super::{Fate, File, Format, Held, Opened, Raw};
use crate::number::Decimal;
use crate::trace::fields::{AMOUNT, Fault};
use crate::trace::{Account, Reason, Servers, Shape, Source, TraceError, input};

/// Thousandths in a unit.
const MILLI: f64 = 1000.0;
/// MiB in a GiB.
const MIB: f64 = 1024.0;

struct Openb {
    rows: Rows,
    created: usize,
    scheduled: usize,
    deleted: usize,
    phase: usize,
    /// By resource.
    amounts: Vec<Amount>,
}

/// Where the amount of a resource stands.
enum Amount {
    /// In this column, of which so many make the unit.
    Column(usize, f64),
    /// A number of GPUs, and thousandths of each.
    Gpus(usize, usize),
}

pub(super) fn open(file: File<'_>) -> Result<Opened, TraceError> {
    let servers = file.servers()?;
    let rows = Rows::open(&file.name, file.input, b',')?;
    let column = |name: &str| rows.needed(&[name], Format::Openb);
    let amount = |resource: &String| match resource.as_str() {
        "cpu" => Ok(Amount::Column(column("cpu_milli")?, MILLI)),
        "memory" => Ok(Amount::Column(column("memory_mib")?, MIB)),
        "gpu" => Ok(Amount::Gpus(column("num_gpu")?, column("gpu_milli")?)),
        _ => Err(rows.wrong(Format::Openb.without(resource))),
    };
    let amounts = servers.resources.iter().map(amount);
    let amounts = amounts.collect::<Result<_, _>>()?;
    let reader = Openb {
        created: column("creation_time")?,
        scheduled: column("scheduled_time")?,
        deleted: column("deletion_time")?,
        phase: column("pod_phase")?,
        amounts,
        rows,
    };
    Ok(Opened {
        format: Format::Openb,
        servers,
        reader: Box::new(reader),
    })
}

impl Row for Openb {
    fn rows(&mut self) -> &mut Rows {
        &mut self.rows
    }

    fn read(&self, demand: &mut [f64], account: &mut Account) -> Result<Raw, Fault> {
        let rows = &self.rows;
        let mut is_missing = false;
        let mut of = |column: usize| {
            let amount = rows.amount(column)?;
            is_missing |= amount.is_none();
            Ok(amount.unwrap_or(0.0))
        };
        for (demand, amount) in demand.iter_mut().zip(&self.amounts) {
            *demand = match amount {
                Amount::Column(column, unit) => of(*column)? / unit,
                Amount::Gpus(number, each) => of(*number)? * of(*each)? / MILLI,
            };
        }
        let mut is_rounded = false;
        let mut time = |column: usize| {
            let (ticks, rounded) = rows.time(column, 1.0, "a time [s]")?;
            is_rounded |= rounded;
            Ok(ticks)
        };
        let submit = time(self.created)?;
        let held = match rows.get(self.scheduled) {
            b"" => -1,
            _ => {
                let held = time(self.deleted)? - time(self.scheduled)?;
                if held < 0 {
                    let expected = "a time not before scheduled_time [s]";
                    return Err(rows.fault(self.deleted, expected));
                }
                held
            }
        };
        let found = [
            (Reason::NoAmount, is_missing),
            (Reason::RoundedTime, is_rounded),
        ];
        account.suppose_where(found);
        Ok(Raw {
            line: rows.number(),
            submit,
            held: Held::Ticks(held),
            limit: None,
            user: 0,
            batch: 0,
            fate: match rows.get(self.phase) {
                b"Failed" => Fate::Broken,
                _ => Fate::Completed,
            },
        })
    }
}

/// The servers that a list of nodes tells, which has the columns `cpu_milli`, `memory_mib` and `gpu`, as the one
/// of Alibaba's cluster-trace-gpu-v2023: nodes that are alike are one shape, with `cpu` in cores, `memory` in GiB and
/// `gpu` in GPUs, whatever their model.
///
/// # Errors
/// When the file cannot be read or is no such list; any faulty line is an error.
pub fn nodes(path: &Path) -> Result<Servers, TraceError> {
    let source = Source::File(path.into());
    let name = source.name();
    let input = input::open(&source).map_err(|source| TraceError::Io {
        name: name.clone(),
        line: 0,
        source,
    })?;
    let mut rows = Rows::open(&name, input, b',')?;
    let column = |name: &str| {
        rows.column(name)?.ok_or_else(|| {
            rows.wrong(format!(
                "it is no list of nodes, which has the columns cpu_milli, memory_mib and gpu; its columns are {}",
                rows.header().join(", ")
            ))
        })
    };
    let columns = [
        (column("cpu_milli")?, MILLI),
        (column("memory_mib")?, MIB),
        (column("gpu")?, 1.0),
    ];
    let mut shapes: Vec<Shape> = Vec::new();
    let mut account = Account::default();
    while rows.advance(&mut account)? {
        let capacity = columns.iter();
        let capacity = capacity.map(|(column, unit)| capacity_of(&rows, *column, *unit));
        let capacity: Result<Vec<Decimal>, Fault> = capacity.collect();
        let capacity = capacity.map_err(|fault| rows.wrong(fault.told(rows.number())))?;
        match shapes.iter_mut().find(|shape| shape.capacity == capacity) {
            Some(shape) => shape.count += 1,
            None => shapes.push(Shape { count: 1, capacity }),
        }
    }
    if let Some(fault) = account.faults.first() {
        return Err(rows.wrong(fault.clone()));
    }
    if shapes.is_empty() {
        return Err(rows.wrong("no line stands for a node".into()));
    }
    let resources = ["cpu", "memory", "gpu"].map(String::from).to_vec();
    Ok(Servers { resources, shapes })
}

fn capacity_of(rows: &Rows, column: usize, unit: f64) -> Result<Decimal, Fault> {
    let amount = rows.amount(column)?.unwrap_or(0.0) / unit;
    Decimal::new(amount).ok_or_else(|| rows.fault(column, AMOUNT))
}
