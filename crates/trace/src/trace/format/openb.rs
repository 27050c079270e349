//! Pods of Alibaba's GPU cluster, a table with a header (cluster-trace-gpu-v2023; Q. Weng et al., Beware of
//! Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent, USENIX ATC 2023).
//!
//! Resources: `cpu` in cores, `memory` in GiB, `gpu` in GPUs, which are devices: a pod may hold a fraction of one. Which model of GPU a pod
//! asks for is not looked at. Times are seconds since the trace began.

use std::path::Path;

use super::{Fate, File, Format, Line, Opened, Raw, Rows};
use crate::trace::fields::{AMOUNT, Fault, is_unknown};
use crate::trace::{Servers, Shape, Tick, TraceError};
use synth_core::number::Decimal;

/// Thousandths in a unit.
const MILLI: f64 = 1000.0;
/// MiB in a GiB.
const MIB: f64 = 1024.0;

/// Where the amount of a resource stands.
enum Amount {
    /// In this column, of which so many make the unit.
    Column(usize, f64),
    /// A number of GPUs, and thousandths of each.
    Gpus(usize, usize),
}

pub(super) fn open(file: File<'_>) -> Result<Opened, TraceError> {
    let (mut servers, mut rows) = file.table()?;
    servers.devices.push("gpu".into());
    rows.id = rows.column("name")?;
    let column = |name: &str| rows.needed(&[name]);
    let amount = |resource: &String| match resource.as_str() {
        "cpu" => Ok(Amount::Column(column("cpu_milli")?, MILLI)),
        "memory" => Ok(Amount::Column(column("memory_mib")?, MIB)),
        "gpu" => Ok(Amount::Gpus(column("num_gpu")?, column("gpu_milli")?)),
        _ => Err(rows.unreported(resource)),
    };
    let amounts = servers.resources.iter().map(amount);
    let amounts: Vec<Amount> = amounts.collect::<Result<_, _>>()?;
    let (created, scheduled) = (column("creation_time")?, column("scheduled_time")?);
    let (deleted, phase) = (column("deletion_time")?, column("pod_phase")?);
    let read = move |(rows, demand, account): Line<'_>| {
        for (demand, amount) in demand.iter_mut().zip(&amounts) {
            *demand = match *amount {
                Amount::Column(column, unit) => rows.demand(column, account)? / unit,
                Amount::Gpus(number, each) => {
                    let (count, part) =
                        (rows.demand(number, account)?, rows.demand(each, account)?);
                    if count > 1.0 && part > 0.0 && part != MILLI {
                        return Err(rows.fault(each, "1000, as several GPUs are held whole"));
                    }
                    count * part / MILLI
                }
            };
        }
        let mut time = |column: usize| rows.time(column, 1.0, "a time [s]", account);
        let submit = time(created)?;
        let there = |column: usize| !is_unknown(rows.get(column));
        let start = there(scheduled).then(|| time(scheduled)).transpose()?;
        let is_open = start.is_some() && !there(deleted);
        let mut held = -1;
        if let Some(start) = start.filter(|_| !is_open) {
            held = time(deleted)? - start;
            if held < 0 {
                return Err(rows.fault(deleted, "a time not before scheduled_time [s]"));
            }
        }
        Ok(Some(Raw {
            start,
            is_open,
            fate: match rows.get(phase) {
                b"Failed" => Fate::Broken,
                _ => Fate::Completed,
            },
            ..Raw::new(rows.number(), submit, held).of(rows.id(), submit)
        }))
    };
    Ok((Tick::Second, servers, rows, Box::new(read)))
}

/// The servers that a list of nodes tells, which has the columns `cpu_milli`, `memory_mib` and `gpu`, as the one
/// of Alibaba's cluster-trace-gpu-v2023: nodes that are alike are one shape, with `cpu` in cores, `memory` in GiB and
/// `gpu` in GPUs, whatever their model.
///
/// # Errors
/// When the file cannot be read or is no such list; any faulty line is an error.
pub fn nodes(path: &Path) -> Result<Servers, TraceError> {
    let mut rows = Rows::of_file(path, Format::Openb)?;
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
    rows.read_all(|rows| {
        let amount = |(column, unit): &(usize, f64)| {
            let amount = rows.amount(*column)?.unwrap_or(0.0) / unit;
            Decimal::new(amount).ok_or_else(|| rows.fault(*column, AMOUNT))
        };
        let capacity: Vec<Decimal> = columns.iter().map(amount).collect::<Result<_, Fault>>()?;
        match shapes.iter_mut().find(|shape| shape.capacity == capacity) {
            Some(shape) => shape.count += 1,
            None => shapes.push(Shape { count: 1, capacity }),
        }
        Ok(())
    })?;
    if shapes.is_empty() {
        return Err(rows.wrong("no line stands for a node"));
    }
    Ok(Servers {
        resources: ["cpu", "memory", "gpu"].map(String::from).to_vec(),
        devices: vec!["gpu".into()],
        shapes,
    })
}
