//! A speedup from measured throughputs.

use std::path::Path;

use super::{VerbError, refuse};
use crate::malleable::workload::{Speedup, SpeedupRecord};
use crate::number::Decimal;

/// Measurements, and speedups fitted to them.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// Numbers of servers, and how many times as fast as one server they were.
    pub measured: Vec<(f64, f64)>,
    /// `k^p` and Amdahl's law, the better one first.
    pub fits: [Fit; 2],
}

/// A fit.
#[derive(Clone, Debug)]
pub struct Fit {
    /// What a workload says of it.
    pub record: SpeedupRecord,
    /// The speedup.
    pub speedup: Speedup,
    /// Its name with its parameter.
    pub name: String,
    /// Root mean square of ln(fitted/measured).
    pub error: f64,
}

/// Fits `k^p` and Amdahl's law to a file with the columns `servers` and `throughput` (or `speedup`), by least squares of the
/// logarithms.
///
/// Speedups are throughputs over that of one server; where one server was not measured, its throughput is fitted, too.
///
/// # Errors
/// When the file cannot be read, or a line is no measurement; it says which.
pub fn fit(path: &Path) -> Result<Fitted, VerbError> {
    let points = read(path)?;
    let alone = points
        .iter()
        .find(|point| point.0 == 1.0)
        .map(|point| point.1);
    let power = of_power(&points, alone);
    let amdahl = of_amdahl(&points, alone);
    // Without a measurement of one server each fit has its own; the better one scales.
    let [power, amdahl] = [
        ("k^", power.0, power.1, power.2),
        ("Amdahl's law with f = ", amdahl.0, amdahl.1, amdahl.2),
    ]
    .map(|(name, value, scale, error)| {
        let value = Decimal::new((value * 1e6).round() / 1e6).unwrap_or(Decimal::ZERO);
        let record = match name {
            "k^" => SpeedupRecord::Power { p: value },
            _ => SpeedupRecord::Amdahl {
                parallel_fraction: value,
            },
        };
        let fit = |speedup| Fit {
            record: record.clone(),
            speedup,
            name: format!("{name}{value}"),
            error,
        };
        (record.check(&mut Vec::new()).map(fit), scale)
    });
    let ((Ok(power), of_one), (Ok(amdahl), of_other)) = (power, amdahl) else {
        return refuse(format!(
            "{}: more servers are no faster: neither k^p nor Amdahl's law has a parameter for that",
            path.display()
        ));
    };
    let (fits, scale) = match power.error <= amdahl.error {
        true => ([power, amdahl], of_one),
        false => ([amdahl, power], of_other),
    };
    let measured = points.into_iter().map(|(k, rate)| (k, rate / scale));
    Ok(Fitted {
        measured: measured.collect(),
        fits,
    })
}

fn read(path: &Path) -> Result<Vec<(f64, f64)>, VerbError> {
    let name = path.display();
    let text = crate::document::text_of(path).map_err(|source| VerbError::Read {
        path: name.to_string(),
        source,
    })?;
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let wrong = |line: u64, why: String| {
        let help = "write `servers,throughput` in the first line, and then a measurement a line, such as `4,310.5`";
        VerbError::Request(format!("{name}, line {line}: {why}; {help}"))
    };
    let headers = reader
        .headers()
        .map_err(|e| wrong(1, e.to_string()))?
        .clone();
    let column = |names: &[&str]| headers.iter().position(|own| names.contains(&own));
    let (Some(servers), Some(rate)) = (column(&["servers"]), column(&["throughput", "speedup"]))
    else {
        let found = headers.iter().collect::<Vec<_>>().join(", ");
        return Err(wrong(1, format!("the columns are {found}")));
    };
    let mut points: Vec<(f64, f64)> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| {
            let line = e.position().map_or(0, csv::Position::line);
            wrong(line, e.to_string())
        })?;
        let line = record.position().map_or(0, csv::Position::line);
        let number = |column: usize| {
            let text = record.get(column).unwrap_or_default();
            match text.parse::<f64>() {
                Ok(value) if value > 0.0 && (1e-60..=1e60).contains(&value) => Ok(value),
                _ => Err(wrong(line, format!("`{text}` is not a number > 0"))),
            }
        };
        points.push((number(servers)?, number(rate)?));
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    if let Some(two) = points.windows(2).find(|two| two[0].0 == two[1].0) {
        return refuse(format!(
            "{name}: {} servers were measured twice: keep one line, or their mean",
            two[0].0
        ));
    }
    let needed = if points.iter().any(|point| point.0 == 1.0) {
        2
    } else {
        3
    };
    match points.len() >= needed {
        true => Ok(points),
        false => refuse(format!(
            "{name}: {} measurements are too few: {needed} at least, on different numbers of servers",
            points.len()
        )),
    }
}

/// p, the throughput of one server, and the error.
fn of_power(points: &[(f64, f64)], alone: Option<f64>) -> (f64, f64, f64) {
    let n = points.len() as f64;
    let logs = points.iter().map(|(k, rate)| (k.ln(), rate.ln()));
    let logs: Vec<(f64, f64)> = logs.collect();
    let (p, base) = match alone {
        Some(alone) => {
            let squares: f64 = logs.iter().map(|(x, _)| x * x).sum();
            let products: f64 = logs.iter().map(|(x, y)| x * (y - alone.ln())).sum();
            (products / squares, alone.ln())
        }
        None => {
            let [x, y] = [
                logs.iter().map(|log| log.0).sum::<f64>() / n,
                logs.iter().map(|log| log.1).sum::<f64>() / n,
            ];
            let squares: f64 = logs.iter().map(|log| (log.0 - x).powi(2)).sum();
            let products: f64 = logs.iter().map(|log| (log.0 - x) * (log.1 - y)).sum();
            (products / squares, y - products / squares * x)
        }
    };
    let p = p.min(1.0);
    let squares: f64 = logs.iter().map(|(x, y)| (base + p * x - y).powi(2)).sum();
    (p, base.exp(), (squares / n).sqrt())
}

/// f, the throughput of one server, and the error.
fn of_amdahl(points: &[(f64, f64)], alone: Option<f64>) -> (f64, f64, f64) {
    let n = points.len() as f64;
    // Of one f, the best throughput of one server is a mean of logarithms.
    let at = |f: f64| {
        let speedup = Speedup::Amdahl(f);
        let gaps = points
            .iter()
            .map(|(k, rate)| rate.ln() - speedup.at(*k).ln());
        let gaps: Vec<f64> = gaps.collect();
        let base = alone.map_or_else(|| gaps.iter().sum::<f64>() / n, f64::ln);
        let squares: f64 = gaps.iter().map(|gap| (gap - base).powi(2)).sum();
        (base.exp(), (squares / n).sqrt())
    };
    // In ln(1 − f) and ln f the error has one bottom for all but odd measurements: a grid first.
    let of = |u: f64| 1.0 / (1.0 + (-u).exp());
    let grid = (-140..=360).map(|n| f64::from(n) / 10.0);
    let best = grid.min_by(|a, b| at(of(*a)).1.total_cmp(&at(of(*b)).1));
    let center = best.unwrap_or(0.0);
    let (mut low, mut high) = (center - 0.1, center + 0.1);
    for _ in 0..60 {
        let [a, b] = [low + (high - low) / 3.0, high - (high - low) / 3.0];
        match at(of(a)).1 > at(of(b)).1 {
            true => low = a,
            false => high = b,
        }
    }
    let f = of(f64::midpoint(low, high));
    let (base, error) = at(f);
    (f, base, error)
}
