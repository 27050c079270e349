use std::error::Error;

use csv::Writer;

/// A table in CSV. An apostrophe is added to cells that a spreadsheet could evaluate as a formula.
pub struct Csv(Writer<Vec<u8>>);

impl Csv {
    /// Creates a table with these column titles.
    pub fn titled<T: AsRef<str>>(titles: impl IntoIterator<Item = T>) -> csv::Result<Self> {
        let mut table = Csv(Writer::from_writer(Vec::new()));
        table.row(titles)?;
        Ok(table)
    }

    /// Adds a row. It is an error if the number of cells is not the same as in the previous rows.
    pub fn row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) -> csv::Result<()> {
        for cell in cells {
            let cell = cell.as_ref();
            // A name such as `-large` is not a formula, unless it contains a call or an operator.
            let is_formula = cell.starts_with(['=', '@', '\t', '\r'])
                || cell.starts_with(['+', '-']) && cell.contains(['(', '|', '!', '=', '*', '/']);
            let mark = if is_formula { "'" } else { "" };
            self.0.write_field(format!("{mark}{cell}"))?;
        }
        self.0.write_record(None::<&[u8]>)
    }

    /// Returns the text of the table.
    pub fn text(self) -> Result<String, Box<dyn Error>> {
        Ok(String::from_utf8(self.0.into_inner()?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_escaped_and_numbers_are_not() {
        let mut table = Csv::titled(["=1+1", "-1.5e3", "a,b"]).unwrap();
        table.row(["@x", "-large", "-2+cmd|' /C calc'!A0"]).unwrap();
        let text = "'=1+1,-1.5e3,\"a,b\"\n'@x,-large,'-2+cmd|' /C calc'!A0\n";
        assert_eq!(table.text().unwrap(), text);
        assert!(Csv::titled(["a", "b"]).unwrap().row(["1"]).is_err());
    }
}
