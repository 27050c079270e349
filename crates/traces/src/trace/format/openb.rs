//! Pods of Alibaba's GPU cluster, a table with a header (cluster-trace-gpu-v2023; Q. Weng et al., Beware of
//! Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent, USENIX ATC 2023).
//!
//! Resources: `cpu` in cores, `memory` in GiB, `gpu` in GPUs, which are devices: a pod may hold a fraction of one. Which model of GPU a pod
//! asks for is not looked at. Times are seconds since the trace began.

use std::path::Path;

use super::{Fate, File, Line, Opened, Raw, Rows, TraceFormat};
use crate::trace::fields::{AMOUNT, Fault, is_unknown};
use crate::trace::{ServerShape, Servers, Tick, TraceError};
use synth_core::number::Decimal;

/// Thousandths in a unit.
const MILLI: f64 = 1000.0;
/// MiB in a GiB.
const MIB: f64 = 1024.0;

pub(super) fn open(file: File<'_>) -> Result<Opened, TraceError> {
    let (mut servers, mut rows) = file.table()?;
    servers.devices.push("gpu".into());
    rows.id = rows.column("name")?;
    let column = |name: &str| rows.needed(&[name]);
    let amount = |resource: &String| match resource.as_str() {
        "cpu" => Ok((column("cpu_milli")?, None, MILLI)),
        "memory" => Ok((column("memory_mib")?, None, MIB)),
        "gpu" => Ok((column("num_gpu")?, Some(column("gpu_milli")?), MILLI)),
        _ => Err(rows.unreported(resource)),
    };
    // By resource its column, that of thousandths of each device, and how many make the unit.
    let amounts = servers.resources.iter().map(amount);
    let amounts: Vec<_> = amounts.collect::<Result<_, _>>()?;
    let (created, scheduled) = (column("creation_time")?, column("scheduled_time")?);
    let (deleted, phase) = (column("deletion_time")?, column("pod_phase")?);
    let read = move |(rows, demand, account): Line<'_>| {
        for (demand, (column, each, unit)) in demand.iter_mut().zip(&amounts) {
            *demand = rows.demand(*column, account)?;
            if let Some(each) = *each {
                let part = rows.demand(each, account)?;
                if *demand > 1.0 && part > 0.0 && part != MILLI {
                    return Err(rows.fault(each, "1000, as several GPUs are held whole"));
                }
                *demand *= part;
            }
            *demand /= unit;
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
            ..Raw::new(rows.number, submit, held).of(rows.id(), submit)
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
    let mut rows = Rows::of_file(path, TraceFormat::Openb)?;
    let names = rows.header().join(", ");
    let why = format!(
        "it is no list of nodes, which has the columns cpu_milli, memory_mib and gpu; its columns are {names}"
    );
    let column = |name: &str| rows.column(name)?.ok_or_else(|| rows.wrong(&why));
    let columns = [
        (column("cpu_milli")?, MILLI),
        (column("memory_mib")?, MIB),
        (column("gpu")?, 1.0),
    ];
    let mut capacities: Vec<Vec<Decimal>> = Vec::new();
    rows.read_all(|rows| {
        let amount = |(column, unit): &(usize, f64)| {
            let amount = rows.amount(*column)?.unwrap_or(0.0) / unit;
            Decimal::new(amount).ok_or_else(|| rows.fault(*column, AMOUNT))
        };
        capacities.push(columns.iter().map(amount).collect::<Result<_, Fault>>()?);
        Ok(())
    })?;
    if capacities.is_empty() {
        return Err(rows.wrong("no line stands for a node"));
    }
    Ok(Servers {
        resources: ["cpu", "memory", "gpu"].map(String::from).to_vec(),
        devices: vec!["gpu".into()],
        shapes: ServerShape::group(capacities),
    })
}
