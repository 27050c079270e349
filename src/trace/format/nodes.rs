//! Lists of nodes, which tell the servers of a trace.

use std::path::Path;

use super::openb::{MIB, MILLI};
use super::rows::Rows;
use crate::number::Decimal;
use crate::trace::fields::{AMOUNT, Fault};
use crate::trace::{Account, Servers, Shape, Source, TraceError, input};

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
