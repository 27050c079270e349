//! Tables for other programs.

use std::error::Error;

use csv::Writer;

/// Rows of cells, as CSV. A cell that a spreadsheet would take for a formula, and that is no number, has an apostrophe
/// in front.
pub struct Csv(Writer<Vec<u8>>);

impl Csv {
    /// With these titles.
    ///
    /// # Errors
    /// When memory does not suffice.
    pub fn titled<T: AsRef<str>>(titles: impl IntoIterator<Item = T>) -> csv::Result<Self> {
        let mut table = Csv(Writer::from_writer(Vec::new()));
        table.row(titles)?;
        Ok(table)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// When it has not as many cells as those before.
    pub fn row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) -> csv::Result<()> {
        for cell in cells {
            let cell = cell.as_ref();
            let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
            let mark = if is_formula && cell.parse::<f64>().is_err() {
                "'"
            } else {
                ""
            };
            self.0.write_field(format!("{mark}{cell}"))?;
        }
        self.0.write_record(None::<&[u8]>)
    }

    /// Returns the text.
    ///
    /// # Errors
    /// When it cannot be put together.
    pub fn text(self) -> Result<String, Box<dyn Error>> {
        Ok(String::from_utf8(self.0.into_inner()?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_made_text_and_a_number_stays() {
        let mut table = Csv::titled(["=1+1", "-1.5e3", "a,b"]).unwrap();
        table.row(["@x", "+", ""]).unwrap();
        assert_eq!(table.text().unwrap(), "'=1+1,-1.5e3,\"a,b\"\n'@x,'+,\n");
        assert!(Csv::titled(["a", "b"]).unwrap().row(["1"]).is_err());
    }
}
