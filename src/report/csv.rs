//! Tables for other programs.

use std::borrow::Cow;
use std::error::Error;

use csv::{ReaderBuilder, Writer};

/// The text of a table. A cell that a spreadsheet would take for a formula, and that is no number, has an apostrophe
/// in front.
///
/// # Errors
/// When the text cannot be put together.
pub fn csv_text(table: Writer<Vec<u8>>) -> Result<String, Box<dyn Error>> {
    let bytes = table.into_inner()?;
    let mut rows = ReaderBuilder::new()
        .has_headers(false)
        .from_reader(bytes.as_slice());
    let mut safe = Writer::from_writer(Vec::with_capacity(bytes.len()));
    for row in rows.records() {
        safe.write_record(row?.iter().map(|cell| plain(cell).into_owned()))?;
    }
    Ok(String::from_utf8(safe.into_inner()?)?)
}

fn plain(cell: &str) -> Cow<'_, str> {
    match cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err() {
        true => format!("'{cell}").into(),
        false => cell.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_made_text_and_a_number_stays() {
        let mut table = Writer::from_writer(Vec::new());
        table.write_record(["=1+1", "-1.5e3", "a,b"]).unwrap();
        table.write_record(["@x", "+", ""]).unwrap();
        assert_eq!(csv_text(table).unwrap(), "'=1+1,-1.5e3,\"a,b\"\n'@x,'+,\n");
    }
}
