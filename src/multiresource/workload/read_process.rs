//! The arrival process in a YAML document: `{process: batches, rate: 2, sizes: [1, 5]}`.

use serde_yaml::Spanned;

use super::ArrivalProcess;
use super::check_process::wrong_batch;
use super::fault::{Part, suggest};
use super::law::read_law;
use super::parameters::{Process, Reader, Shape, Value, whole};
use super::sheet::{Located, Sheet};

/// The arrivals of type `i`; `None` once their faults are reported. An unknown process is reported
/// before its parameters, which are right or wrong only by the process.
pub(super) fn read_process(
    process: &Spanned<Process>,
    i: usize,
    job: &str,
    sheet: &Sheet<'_>,
    faults: &mut Vec<Located>,
) -> Option<ArrivalProcess> {
    let mut reader = Reader {
        parameters: process.value.parameters(),
        location: process.referenced,
        i,
        job,
        part: Part::Arrivals,
        sheet,
        faults,
    };
    let Some(Value::Single(name)) = reader.parameters.get("process") else {
        let message = "the arrivals name no process".to_owned();
        reader.refuse(process.referenced, message, "add `process: poisson`");
        return None;
    };
    let Some(shape) = shape(&name.value) else {
        let message = format!("unknown arrival process `{}`", name.value);
        let known = ArrivalProcess::PROCESSES;
        let help = suggest(&name.value, "processes known so far", known);
        reader.refuse(name.referenced, message, &help);
        return None;
    };
    reader.check_keys("process", &format!("the process `{}`", name.value), &shape);
    match name.value.as_str() {
        "poisson" => Some(ArrivalProcess::Poisson {
            rate: reader.single("rate")?,
        }),
        "renewal" => {
            let law = process.value.interarrival()?;
            let interarrival = read_law(law, (i, Part::Interarrival), job, sheet, faults)?;
            Some(ArrivalProcess::Renewal { interarrival })
        }
        "markov-modulated" => {
            let (rates, switching) = (reader.list("rates"), reader.table("switching"));
            Some(ArrivalProcess::MarkovModulated {
                rates: rates?,
                switching: switching?,
            })
        }
        _ => read_batches(&mut reader),
    }
}

fn shape(process: &str) -> Option<Shape> {
    Some(match process {
        "poisson" => Shape::of(&["rate"], "{process: poisson, rate: 4}"),
        "renewal" => Shape::of(
            &["interarrival"],
            "{process: renewal, interarrival: {law: lognormal, mean: .25, scv: 4}}",
        ),
        "markov-modulated" => Shape::of(
            &["rates", "switching"],
            "{process: markov-modulated, rates: [1, 10], switching: [[0, .1], [.2, 0]]}",
        ),
        "batches" => Shape {
            required: &["rate", "sizes"],
            optional: &["probabilities"],
            example: "{process: batches, rate: 2, sizes: [1, 5], probabilities: [.9, .1]}",
        },
        _ => return None,
    })
}

fn read_batches(reader: &mut Reader<'_>) -> Option<ArrivalProcess> {
    let (rate, found) = (reader.single("rate"), reader.list("sizes"));
    let probabilities = reader.optional_list("probabilities");
    let found = found?;
    let sizes: Vec<Option<u32>> = found.iter().map(|size| whole(*size)).collect();
    for (n, size) in found
        .iter()
        .enumerate()
        .filter(|(n, _)| sizes[*n].is_none())
    {
        let fault = wrong_batch(reader.i, reader.job, n, size);
        reader.push(fault, "sizes", &[n]);
    }
    Some(ArrivalProcess::Batches {
        rate: rate?,
        sizes: sizes.into_iter().collect::<Option<_>>()?,
        probabilities: probabilities?,
    })
}
