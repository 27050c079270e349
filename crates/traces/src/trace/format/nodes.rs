use std::path::Path;

use super::{Rows, TraceFormat};
use crate::trace::fields::{AMOUNT, Fault};
use crate::trace::{Account, ServerShape, Servers, Source, TraceError, input};
use synth_core::number::Decimal;

/// Reads a list of nodes with the columns `cpu_milli`, `memory_mib` and `gpu`, as in Alibaba's
/// cluster-trace-gpu-v2023. The result has `cpu` in cores, `memory` in GiB, and `gpu` of any model.
pub fn nodes(path: &Path) -> Result<Servers, TraceError> {
    let source = Source::File(path.into());
    let mut rows = Rows::open(&source.name(), TraceFormat::Csv, input::open(&source)?)?;
    let names = rows.header().join(", ");
    let why = format!(
        "it is not a list of nodes, which needs the columns cpu_milli, memory_mib and gpu; its columns are {names}"
    );
    let column = |name: &str| rows.column(name)?.ok_or_else(|| rows.wrong(&why));
    let columns = [
        (column("cpu_milli")?, 1000.0),
        (column("memory_mib")?, 1024.0),
        (column("gpu")?, 1.0),
    ];
    let (mut capacities, mut account) = (Vec::<Vec<Decimal>>::new(), Account::default());
    while rows.advance(&mut account)? {
        let amount = |(column, unit): &(usize, f64)| {
            let amount = rows.amount(*column)?.unwrap_or(0.0) / unit;
            Decimal::new(amount).ok_or_else(|| rows.fault(*column, AMOUNT))
        };
        let capacity = columns.iter().map(amount).collect::<Result<_, Fault>>();
        capacities.push(capacity.map_err(|fault| rows.wrong(fault.reported(rows.number)))?);
    }
    if let Some(fault) = account.faults.first() {
        return Err(rows.wrong(fault));
    }
    if capacities.is_empty() {
        return Err(rows.wrong("no line describes a node"));
    }
    Ok(Servers {
        resources: ["cpu", "memory", "gpu"].map(String::from).to_vec(),
        devices: vec!["gpu".into()],
        shapes: ServerShape::group(capacities),
    })
}
