//! Tables for other programs.

use std::error::Error;

use csv::Writer;
/// Rows of cells, as CSV. A cell that a spreadsheet would take for a formula has an apostrophe in front.
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
            // A name such as -large is no formula; one with a call or an operator in it may be.
            let may_be =
                cell.starts_with(['+', '-']) && cell.contains(['(', '|', '!', '=', '*', '/']);
            let mark = if may_be || cell.starts_with(['=', '@', '\t', '\r']) {
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
        table.row(["@x", "-large", "-2+cmd|' /C calc'!A0"]).unwrap();
        let text = "'=1+1,-1.5e3,\"a,b\"\n'@x,-large,'-2+cmd|' /C calc'!A0\n";
        assert_eq!(table.text().unwrap(), text);
        assert!(Csv::titled(["a", "b"]).unwrap().row(["1"]).is_err());
    }
}
